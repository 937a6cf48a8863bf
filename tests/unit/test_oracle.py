"""The oracle against the published decisions on genuine documents, and against the table of the rules.

The oracle is what other tests compare with, so nothing here may come from the library.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import oracle
import pyarrow.parquet as pq
import pytest
import wordfreq
from fuzz import MAX_CHARS, fuzz_texts, hostile_text
from hypothesis import given, settings

NORMS = {"cat": 3.0, "dog": 4.0, "jury": 13.0}
ZIPF = {"cat": 1.0, "rain": 5.0, "none": 0.0}


@pytest.fixture(scope="module")
def norms(shared: Path) -> dict[str, float]:
    return oracle.load_norms(shared / "data" / "catalogues" / "aoa.parquet")


@pytest.fixture(scope="module")
def zipf() -> dict[str, float]:
    return oracle.load_zipf()


def read_published(shared: Path) -> list[tuple[str, dict[str, Any]]]:
    """Every published decision with the text it is about."""
    decisions = pq.read_table(shared / "data" / "published_decisions.parquet").to_pylist()
    texts = {
        shard: pq.read_table(shared / "data" / "shards" / shard, columns=["text"])["text"].to_pylist()
        for shard in {decision["shard"] for decision in decisions}
    }
    return [(texts[decision["shard"]][decision["row"]], decision) for decision in decisions]


def compare_with_published(
    published: list[tuple[str, dict[str, Any]]], norms: dict[str, float], zipf: dict[str, float]
) -> list[str]:
    differences = []
    for text, truth in published:
        p95, oov_ratio = oracle.p95_and_oov(text, norms, zipf)
        is_equal = (
            p95 is not None
            and oov_ratio is not None
            and math.isclose(p95, truth["p95_aoa"], rel_tol=0, abs_tol=1e-6)
            and math.isclose(oov_ratio, truth["oov_ratio"], rel_tol=0, abs_tol=1e-9)
            and oracle.lexical_keeps(p95, oov_ratio) is truth["lexical_keep"]
            and oracle.published_rules(text) == truth["notation_rules"]
        )
        if not is_equal:
            differences.append(f"{truth['shard']} row {truth['row']}: {p95} {oov_ratio} {truth}")
    return differences


def test_equals_the_published_decisions_on_every_eighth_document(
    shared: Path, norms: dict[str, float], zipf: dict[str, float]
) -> None:
    published = read_published(shared)
    assert len(published) == 15_572
    assert compare_with_published(published[::8], norms, zipf) == []


@pytest.mark.soak
def test_equals_the_published_decisions_on_every_document(
    shared: Path, norms: dict[str, float], zipf: dict[str, float]
) -> None:
    assert compare_with_published(read_published(shared), norms, zipf) == []


def read_rule_table(shared: Path) -> list[tuple[int, list[str], list[str]]]:
    """Rule number, strings that should hit, innocent strings that are hit."""
    rows = []
    for line in (shared / "docs" / "STAGES.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and cells[0].isdecimal():
            should_hit, innocent = (
                [string.replace("⏎", "\n") for string in re.findall(r"`([^`]+)`", cell)] for cell in cells[2:]
            )
            rows.append((int(cells[0]), should_hit, innocent))
    return rows


def test_every_string_of_the_rule_table_is_hit_by_its_rule(shared: Path) -> None:
    table = read_rule_table(shared)
    assert [number for number, _, _ in table] == list(range(1, 29))
    assert sum(len(should_hit) + len(innocent) for _, should_hit, innocent in table) == 97
    missed = [
        (number, string)
        for number, should_hit, innocent in table
        for string in should_hit + innocent
        if number not in oracle.published_rules(string)
    ]
    assert missed == []


@pytest.mark.parametrize(
    "text",
    [
        "y = mx + b", "x + 3 = 7", "ax + by = c", "∞", "sin 30", "|x|", "5!", "10⁻³", "∏", "square root of", "cm^2",
        "ft^2", "5^th", "x2 glasses", "B12 vitamins", "A4 paper", "CO2 in air", "MP3 player", "", "The cat sat.",
    ],
)  # fmt: skip
def test_published_rules_pass(text: str) -> None:
    assert oracle.published_rules(text) == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("m²", [1]),
        ("m ²", []),
        ("٣²", [1]),
        ("é²", []),
        ("m^2", [16]),
        ("cm³", [1]),
        ("2**10", [2]),
        ("2** 10", []),
        ("1000^2", [3]),
        ("12345^2", []),
        ("x^{}", [4]),
        ("x^{n", []),
        ("10^\u22123", [5]),
        ("10^–3", []),
        ("V ** ( 1 / 3 )", [6, 10]),
        ("x^yz", []),
        ("\\sqrt[n]{x}", [11, 17, 24]),
        ("\\sqrt[ 3 ]", [11, 17]),
        ("\\sqrt[]", [17]),
        ("³ √8", [12, 17]),
        ("Exp(2) blog(3) LN(4)", []),
        ("ARC sin (30", [15]),
        ("arccosh(1)", [15]),
        ("ſin(1)", [15]),
        ("asin(1)", []),
        ("x^25", [16]),
        ("xy^25", []),
        ("x^Nth", [19]),
        ("x^2 + 3x", [16, 20]),
        ("x^2 \u2212 3x", [16]),
        ("a \u2212 b = c", []),
        ("σ", []),
        ("\\fraction \\INT", []),
        ("1 <= n > m", [25]),
        ("1 < nm < 2", []),
        ("F(x) elf(x) f(t)", []),
        ("3Y / 4 = 1", [27]),
        ("3x = 1", []),
        ("xxH2O", [28]),
        ("H2 O", []),
        ("h2O", []),
    ],
)
def test_exact_reach_of_published_rules(text: str, rules: list[int]) -> None:
    assert oracle.published_rules(text) == rules


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("I a 7", []),
        ("Don't STOP", ["don", "stop"]),
        ("U.S. café H2O 2nd snake_case km² _it", []),
        ("cafe\u0301 co\u00adop zero\u200bwidth", ["cafe", "co", "op", "zero", "width"]),
        ("\u212aG \u0130stanbul ſo", ["kg", "stanbul"]),
        ("well-known\u2028cat", ["well", "known", "cat"]),
        ("½cup cup½", []),
    ],
)
def test_tokens(text: str, words: list[str]) -> None:
    assert oracle.tokens(text) == words


def test_age_prefers_the_norm_then_the_regression() -> None:
    assert oracle.age("cat", NORMS, ZIPF) == 3.0
    assert oracle.age("rain", NORMS, ZIPF) == 14.602716 - 1.504689 * 5.0
    assert oracle.age("none", NORMS, ZIPF) is None
    assert oracle.age("zzyzx", NORMS, ZIPF) is None


def test_p95_counts_occurrences_and_leaves_out_unknown_words() -> None:
    assert oracle.p95_and_oov("7 !", NORMS, ZIPF) == (None, None)
    assert oracle.p95_and_oov("zzyzx", NORMS, ZIPF) == (None, 1.0)
    assert oracle.p95_and_oov("cat zzyzx", NORMS, ZIPF) == (3.0, 0.5)
    p95, oov_ratio = oracle.p95_and_oov("cat cat cat dog", NORMS, ZIPF)
    assert p95 == pytest.approx(3.85, abs=1e-12)
    assert oov_ratio == 0.0


def test_lexical_limits_are_inclusive() -> None:
    assert oracle.lexical_keeps(12.0, 0.05)
    assert not oracle.lexical_keeps(math.nextafter(12.0, 13), 0.05)
    assert not oracle.lexical_keeps(12.0, math.nextafter(0.05, 1))
    assert not oracle.lexical_keeps(None, None)
    assert not oracle.lexical_keeps(None, 1.0)


def test_zipf_table_equals_wordfreq(zipf: dict[str, float]) -> None:
    words = sorted(word for word in zipf if oracle.tokens(word) == [word])[::97]
    assert len(words) > 2000
    assert [word for word in words if wordfreq.zipf_frequency(word, "en") != zipf[word]] == []
    assert min(zipf.values()) == 1.01
    assert "zzyzxq" not in zipf


def test_norms_keep_the_stored_precision(norms: dict[str, float]) -> None:
    assert len(norms) == 51_695
    assert norms["aardvark"] == 9.890000343322754


def test_blocked_words() -> None:
    scores = {"jury": 4.0, "cat": 3.9, "mitosis": math.inf}
    assert oracle.blocked_words("Mitosis! The jury's cat, a jury.", scores, 4.0) == ["jury", "mitosis"]
    assert oracle.blocked_words("The cat.", scores, 4.0) == []


def test_decision_names_every_failed_stage_in_published_order() -> None:
    scores = {"dog": 5.0}
    kept = oracle.published_decision("cat cat", NORMS, ZIPF, scores)
    assert (kept.is_kept, kept.first_failed_stage, kept.failed_stages) == (True, None, [])
    excluded = oracle.published_decision("jury dog x^2", NORMS, ZIPF, scores)
    assert (excluded.is_kept, excluded.first_failed_stage, excluded.failed_stages) == (False, 1, [1, 4, 5])
    assert (excluded.rules, excluded.words, excluded.oov_ratio) == ([16], ["dog"], 0.0)
    assert oracle.published_decision("dog", NORMS, ZIPF, scores).failed_stages == [5]
    assert oracle.published_decision("", NORMS, ZIPF, scores).failed_stages == [1]


def test_fuzz_reaches_every_rule_and_is_reproducible() -> None:
    texts = fuzz_texts(seed=1, count=4000)
    assert texts == fuzz_texts(seed=1, count=4000)
    assert texts[:10] == fuzz_texts(seed=1, count=10)
    assert texts != fuzz_texts(seed=2, count=4000)
    assert max(map(len, texts)) <= MAX_CHARS
    hits = dict.fromkeys(oracle.PUBLISHED_RULES, 0)
    for text in texts:
        text.encode("utf-8")
        for number in oracle.published_rules(text):
            hits[number] += 1
    assert min(hits.values()) >= 20, hits


@settings(max_examples=50)
@given(hostile_text())
def test_hostile_text_can_be_decided(text: str) -> None:
    decision = oracle.published_decision(text, NORMS, ZIPF, {"dog": 5.0})
    assert len(text) <= MAX_CHARS
    assert decision.is_kept == (decision.failed_stages == [])

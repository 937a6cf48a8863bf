"""The lexical signal: bit-equal to the oracle on hostile text and in any batch, both branches of the percentile, evidence."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import measuring
import numpy as np
import oracle
import pytest
from fuzz import fuzz_texts, hostile_text
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.lexicon.ages import AgeTable
from curation.signals.lexical import EVIDENCE_WORDS, LEXICAL_TYPE, measure_lexical
from curation.signals.tokens import KnownWords, TokenCounter, to_token_stream

NAMES = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "koi", "lynx")
AGES = (2.17, 2.17, 3.1, 4.26, 4.9, 5.05, 6.3, 7.77, 8.8, 9.99, 11.3, 13.37)
SMALL = KnownWords(AgeTable(NAMES, np.array(AGES)))
SMALL_NORMS = dict(zip(NAMES, AGES, strict=True))

TRICKY = [
    "\u0130stanbul S\u0130N cat\u0130 \u0130cat",
    "\u212ag o\u212a \u212a",
    "cafe\u0301 e\u0301tat cat\u0301 \u0301cat",
    "cat\u00a0dog\u00a0 water\u00a0",
    "cat_dog _cat cat_ cat __ dog",
    "cat2 2cat 22 cat 2 dog",
    "cat² ²cat cat ² m³ dog½",
    "cat٣ ٣cat ٣ cat १dog ३ dog",
    "co\u00adop zero\u200bwidth \ufeffcat",
    "don't DON'T Don’t",
    "U.S. café H2O 2nd snake_case km²",
    "ＣＡＴ 𝐜𝐚𝐭 cat",
]


@pytest.fixture(scope="module")
def tables() -> tuple[dict[str, float], dict[str, float]]:
    return oracle.load_norms(measuring.AOA), oracle.load_zipf()


def measure(texts: Sequence[str], known: KnownWords, counter: TokenCounter | None = None) -> list[dict[str, Any]]:
    tokens = (counter or TokenCounter(known)).count([to_token_stream(text) for text in texts])
    measured = measure_lexical(tokens, known.table.ages)
    assert measured.type == LEXICAL_TYPE
    assert measured.null_count == 0
    return measured.to_pylist()


def figures(rows: list[dict[str, Any]]) -> list[tuple[float | None, float | None]]:
    return [(row["p95_aoa"], row["oov_ratio"]) for row in rows]


@pytest.mark.parametrize("seed", [21, 22])
def test_bit_equal_to_the_oracle_on_fuzz(seed: int, tables: tuple[dict[str, float], dict[str, float]]) -> None:
    texts = TRICKY + fuzz_texts(seed=seed, count=2500)
    rows = measure(texts, measuring.load_known_words())
    assert figures(rows) == [oracle.p95_and_oov(text, *tables) for text in texts]
    assert [row["token_count"] for row in rows] == [len(oracle.tokens(text)) for text in texts]


@settings(max_examples=150)
@given(st.lists(hostile_text(), max_size=6))
def test_bit_equal_to_the_oracle_on_any_batch(texts: list[str]) -> None:
    assert figures(measure(texts, SMALL)) == [oracle.p95_and_oov(text, SMALL_NORMS, {}) for text in texts]


def test_nothing_depends_on_how_texts_are_batched() -> None:
    texts = ["", "", *fuzz_texts(seed=23, count=120), "", *TRICKY, "", ""]
    alone = [measure([text], measuring.load_known_words())[0] for text in texts]
    assert measure(texts, measuring.load_known_words()) == alone
    counter, rng, batched = TokenCounter(measuring.load_known_words()), random.Random(23), []
    while len(batched) < len(texts):
        size = rng.choice([1, 2, 3, 17, 64])
        batched += measure(texts[len(batched) : len(batched) + size], measuring.load_known_words(), counter)
    assert batched == alone


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_empty_texts_at_the_start_in_the_middle_and_at_the_end(place: int) -> None:
    texts = ["cat cat dog", "lynx qux", "qux"]
    rows = measure(texts, SMALL)
    assert figures(rows) == [oracle.p95_and_oov(text, SMALL_NORMS, {}) for text in texts]
    empty = {"p95_aoa": None, "oov_ratio": None, "token_count": 0, "hard_words": [], "unknown_words": []}
    texts[place:place], rows[place:place] = ["", "7 !"], [empty, empty]
    assert measure(texts, SMALL) == rows


def test_no_text_at_all() -> None:
    assert measure([], SMALL) == []


def test_every_interpolation_weight_is_exact() -> None:
    """Of 1 to 60 tokens: every fraction of the virtual index, below one half, one half and above."""
    rng = random.Random(24)
    weights = set()
    for count in range(1, 61):
        words = rng.choices(NAMES, k=count)
        weights.add(round((count - 1) * 0.95 % 1, 2))
        [row] = measure([" ".join(words)], SMALL)
        ages = [SMALL_NORMS[word] for word in words]
        assert row["p95_aoa"] == float(np.percentile(np.array(ages), 95)), count
    assert len(weights) == 20
    assert {weight >= 0.5 for weight in weights} == {True, False}


def test_both_branches_of_the_interpolation() -> None:
    # 2 tokens: index 0.95, from above; 20: 18.05, from below; 11: 9.5, the boundary, from above.
    low, high = 2.17, 13.37
    assert measure(["ant lynx"], SMALL)[0]["p95_aoa"] == high - (high - low) * (1 - 0.95)
    [row] = measure(["ant " * 19 + "lynx"], SMALL)
    assert row["p95_aoa"] == low + (high - low) * (19 * 0.95 - 18)
    [row] = measure(["ant " * 10 + "lynx"], SMALL)
    assert row["p95_aoa"] == pytest.approx((low + high) / 2, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "p95", "oov_ratio", "token_count"),
    [
        ("qux", None, 1.0, 1),
        ("qux bar qux", None, 1.0, 3),
        ("dog", 4.26, 0.0, 1),
        ("dog dog dog", 4.26, 0.0, 3),
        ("dog qux", 4.26, 0.5, 2),
        ("7 !", None, None, 0),
        ("", None, None, 0),
    ],
)
def test_few_tokens(text: str, p95: float | None, oov_ratio: float | None, token_count: int) -> None:
    [row] = measure([text], SMALL)
    assert (row["p95_aoa"], row["oov_ratio"], row["token_count"]) == (p95, oov_ratio, token_count)


def test_a_ratio_on_the_published_bound_is_not_above_it() -> None:
    [row] = measure(["cat " * 95 + "qux " * 5], SMALL)
    assert row["oov_ratio"] == 0.05
    [row] = measure(["cat " * 94 + "qux " * 5], SMALL)
    assert row["oov_ratio"] == 5 / 99 > 0.05


def test_evidence_is_the_hardest_words_and_the_most_frequent_unknown_ones() -> None:
    [first, second] = measure(["zap qux ant lynx bar qux cat lynx", "cat bar arc"], SMALL)
    assert first["hard_words"] == ["lynx", "cat", "ant"]
    assert first["unknown_words"] == ["qux", "bar", "zap"]
    assert second["hard_words"] == ["cat"]
    assert second["unknown_words"] == ["arc", "bar"]


def test_evidence_is_bounded() -> None:
    unknown = [f"zz{letter}" for letter in "lkjihgfedcba"]
    [row] = measure([" ".join([*NAMES, *unknown])], SMALL)
    assert row["hard_words"] == list(NAMES[::-1][:EVIDENCE_WORDS])
    assert row["unknown_words"] == sorted(unknown)[:EVIDENCE_WORDS]

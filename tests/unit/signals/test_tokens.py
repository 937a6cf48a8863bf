"""Tokens: every case of tests/cases/tokens.yaml, the oracle's tokens on hostile text, batches of any cut, hostile sizes."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
import yaml
from fuzz import fuzz_texts, hostile_text
from hypothesis import given, settings

from curation.lexicon.ages import AgeTable
from curation.signals.tokens import KnownWords, TokenCounter, TokenCounts, to_token_stream

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "tokens.yaml").read_text(encoding="utf-8")
)
# Ascending by age, as an age table is.
KNOWN = KnownWords(AgeTable(("cat", "dog", "the", "water", "zebra"), np.array([2.0, 3.0, 3.0, 4.0, 9.5])))


def count(texts: Sequence[str], counter: TokenCounter | None = None) -> TokenCounts:
    return (counter or TokenCounter(KNOWN)).count([to_token_stream(text) for text in texts])


def read_counts(tokens: TokenCounts) -> list[dict[str, int]]:
    rows = []
    for start, end in zip(tokens.starts[:-1].tolist(), tokens.starts[1:].tolist(), strict=True):
        words = [tokens.words[i] for i in tokens.ids[start:end].tolist()]
        assert len(set(words)) == len(words)
        rows.append(dict(zip(words, tokens.counts[start:end].tolist(), strict=True)))
    return rows


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["text"]))
def test_case(case: dict[str, Any]) -> None:
    assert Counter(oracle.tokens(case["text"])) == Counter(case["tokens"])
    tokens = count([case["text"]])
    assert read_counts(tokens) == [case["tokens"]]
    assert tokens.token_counts.tolist() == [sum(case["tokens"].values())]


def assert_equals_oracle(texts: Sequence[str]) -> None:
    tokens = count(texts)
    expected = [dict(Counter(oracle.tokens(text))) for text in texts]
    assert read_counts(tokens) == expected
    assert tokens.token_counts.tolist() == [sum(row.values()) for row in expected]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_equals_the_oracle_on_fuzz(seed: int) -> None:
    assert_equals_oracle(fuzz_texts(seed=seed, count=2000))


@settings(max_examples=200)
@given(hostile_text())
def test_equals_the_oracle_on_any_text(text: str) -> None:
    assert_equals_oracle([text])


def test_every_character_parts_or_spoils_words_as_for_the_oracle() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(characters), 4096):
        text = " ".join(f"ab{character}cd" for character in characters[start : start + 4096])
        assert read_counts(count([text])) == [dict(Counter(oracle.tokens(text)))], hex(start)


def test_ids_ascend_by_age_and_unknown_words_follow() -> None:
    tokens = count(["qux zebra the cat qux water dog bar", "bar qux cat"])
    assert [tokens.words[i] for i in tokens.ids] == [
        "cat",
        "dog",
        "the",
        "water",
        "zebra",
        "qux",
        "bar",
        "cat",
        "qux",
        "bar",
    ]
    assert tokens.counts.tolist() == [1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    assert tokens.texts.tolist() == [0] * 7 + [1] * 3
    assert tokens.starts.tolist() == [0, 7, 10]
    assert tokens.known_count == 5


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_texts_without_tokens_keep_their_place(place: int) -> None:
    texts = ["cat cat", "dog", "xylo cat"]
    texts[place:place] = ["", " 7 ", ""]
    rows = [{"cat": 2}, {"dog": 1}, {"cat": 1, "xylo": 1}]
    rows[place:place] = [{}, {}, {}]
    tokens = count(texts)
    assert read_counts(tokens) == rows
    assert tokens.token_counts.tolist() == [sum(row.values()) for row in rows]


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["7"]])
def test_batches_without_any_token(texts: list[str]) -> None:
    tokens = count(texts)
    assert len(tokens.ids) == 0
    assert tokens.starts.tolist() == [0] * (len(texts) + 1)
    assert tokens.token_counts.tolist() == [0] * len(texts)


def test_counts_do_not_depend_on_batches() -> None:
    texts = fuzz_texts(seed=5, count=600)
    whole = read_counts(count(texts))
    rng = random.Random(5)
    counter = TokenCounter(KNOWN)
    rows: list[dict[str, int]] = []
    while len(rows) < len(texts):
        rows += read_counts(count(texts[len(rows) : len(rows) + rng.choice([1, 1, 2, 7, 50])], counter))
    assert rows == whole


def test_an_unknown_word_keeps_its_id_within_a_counter() -> None:
    counter = TokenCounter(KNOWN)
    first, second = count(["qux bar"], counter), count(["bar baz qux"], counter)
    assert first.ids.tolist() == [5, 6]
    assert second.ids.tolist() == [5, 6, 7]
    assert list(second.words) == ["cat", "dog", "the", "water", "zebra", "qux", "bar", "baz"]
    assert count(["baz"]).ids.tolist() == [5]


def test_equal_streams_have_equal_tokens() -> None:
    texts = fuzz_texts(seed=6, count=2000)
    by_stream: dict[bytes, list[str]] = {}
    for text in texts:
        tokens = oracle.tokens(text)
        assert by_stream.setdefault(to_token_stream(text), tokens) == tokens


def test_a_million_distinct_junk_words() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [
        letters[i % 26]
        + letters[i // 26 % 26]
        + letters[i // 676 % 26]
        + letters[i // 17576 % 26]
        + "zq"
        + letters[i // 456976]
        for i in range(1_000_000)
    ]
    started = time.process_time()
    tokens = count([" ".join(words)])
    assert time.process_time() - started < 30
    assert tokens.token_counts.tolist() == [1_000_000]
    assert len(tokens.ids) == 1_000_000


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "\u0301" * 1_000_000, " " * 5_000_000, "é" * 1_000_000, "\u0130" * 500_000]
)
def test_hostile_lines_finish(text: str) -> None:
    started = time.process_time()
    tokens = count([text])
    assert time.process_time() - started < 20
    assert tokens.token_counts.tolist() == [1 if text[0] == "x" else 0]

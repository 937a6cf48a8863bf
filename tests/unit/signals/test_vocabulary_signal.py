"""The vocabulary signal: scored words with counts and first places, and whole words found in linear time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import measuring
import oracle
import pytest
from fuzz import fuzz_texts, hostile_text
from hypothesis import given, settings

from curation.lexicon.vocabulary import VocabularyTable
from curation.signals.tokens import TokenCounter, to_token_stream
from curation.signals.vocabulary import (
    EVIDENCE_TERMS,
    FLOOR_SCORE,
    VOCABULARY_TYPE,
    Lowered,
    ScoreIndex,
    measure_vocabulary,
)


def measure(texts: Sequence[str], scores: dict[str, float] = measuring.SCORES) -> list[list[dict[str, Any]]]:
    known = measuring.load_known_words()
    index = ScoreIndex(VocabularyTable(scores, ""), known.table.words)
    tokens = TokenCounter(known).count([to_token_stream(text) for text in texts])
    measured = measure_vocabulary(tokens, index, texts)
    assert measured.type == VOCABULARY_TYPE
    return measured.to_pylist()


def term(name: str, count: int, start: int) -> dict[str, Any]:
    return {"term": name, "score": measuring.SCORES[name], "count": count, "start": start, "end": start + len(name)}


def test_highest_first_with_counts_and_first_places() -> None:
    text = "Coefficient, zzyzx! PHOTOSYNTHESIS coefficient mitochondria."
    assert measure([text]) == [
        [term("mitochondria", 1, 47), term("zzyzx", 1, 13), term("photosynthesis", 1, 20), term("coefficient", 2, 0)]
    ]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("The garden has a number.", []),  # 1.0 and 2.999: below the floor
        ("a teacher", [term("teacher", 1, 2)]),  # 3.0: on the floor
        ("teachers teacher_ 2teacher teacheré", []),
        ("teachers, teacher", [term("teacher", 1, 10)]),
        ("\u0130 teacher", [term("teacher", 1, 2)]),
        ("北京 teacher слово", [term("teacher", 1, 3)]),
        ("l’école, un teacher", [term("teacher", 1, 12)]),
    ],
)
def test_floor_and_whole_words(text: str, terms: list[dict[str, Any]]) -> None:
    assert measure([text]) == [terms]


def test_rows_keep_their_place_around_empty_texts() -> None:
    assert measure(["", "teacher", "", "zzyzx", ""]) == [[], [term("teacher", 1, 0)], [], [term("zzyzx", 1, 0)], []]
    assert measure([]) == []


def test_at_most_so_many_terms_equals_by_name() -> None:
    words = [f"qq{letter}" for letter in "zyxwvutsrqponmlkjihg"]
    [terms] = measure([" ".join(words)], dict.fromkeys(words, 5.0))
    assert [entry["term"] for entry in terms] == sorted(words)[:EVIDENCE_TERMS]


@pytest.mark.parametrize("seed", [31, 32])
def test_equals_the_oracle_on_fuzz(seed: int) -> None:
    texts = fuzz_texts(seed=seed, count=2000)
    hit_count = 0
    for text, terms in zip(texts, measure(texts), strict=True):
        assert sorted(entry["term"] for entry in terms) == oracle.blocked_words(text, measuring.SCORES, FLOOR_SCORE)
        for entry in terms:
            assert entry["count"] == oracle.tokens(text).count(entry["term"])
            assert text[entry["start"] : entry["end"]].lower() == entry["term"]
            assert entry["term"] not in oracle.tokens(text[: entry["start"]])
        hit_count += len(terms)
    assert hit_count > 500


@pytest.mark.parametrize(
    ("text", "word", "written"),
    [
        ("\u0130\u0130 x \u0130stanbul TEACHER", "teacher", "TEACHER"),
        ("\u0130 AB\u0130 x", "abi", "AB\u0130"),
        ("\u0130 \u212aG", "kg", "\u212aG"),
        ("I\u0307 \u0130 a cat", "cat", "cat"),
        ("\u0130stanbul", "stanbul", "stanbul"),
        ("TEACHER \u0130", "teacher", "TEACHER"),
    ],
)
def test_places_are_those_of_the_text_as_written(text: str, word: str, written: str) -> None:
    start, end = Lowered(text).find_word(word)
    assert text[start:end] == written
    assert list(Lowered(text).find_words({word})) == [(word, start, end)]


def test_only_one_letter_grows_in_lower_case() -> None:
    grows = [chr(code) for code in range(0x110000) if len(chr(code).lower()) != 1]
    assert grows == ["\u0130"]
    assert len("\u0130".lower()) == 2


@settings(max_examples=200)
@given(hostile_text())
def test_every_token_is_found_where_it_stands(text: str) -> None:
    tokens = oracle.tokens(text)
    places = list(Lowered(text).find_words(set(tokens)))
    assert [word for word, _, _ in places] == tokens
    lowered = Lowered(text)
    for word in set(tokens):
        first = next((start, end) for found, start, end in places if found == word)
        assert lowered.find_word(word) == first
        # A Kelvin sign is a k, a dotted capital I is an i.
        assert text[slice(*first)].replace("\u212a", "k").replace("\u0130", "i").lower() == word
    for (_, _, end), (_, start, _) in pairwise(places):
        assert end <= start


def test_a_word_that_does_not_stand_whole_is_an_error() -> None:
    for text in ("", "teachers", "a_teacher", "teacher2 xteacher"):
        with pytest.raises(ValueError, match="substring not found"):
            Lowered(text).find_word("teacher")


@pytest.mark.parametrize("text", ["ab" * 1_000_000, "a" * 2_000_000, "\u0130" * 1_000_000, "a b " * 500_000])
def test_hostile_texts_are_searched_in_linear_time(text: str) -> None:
    word = "a" * 5000
    started = time.process_time()
    lowered = Lowered(f"{text} {word} z")
    assert lowered.find_word(word) == (len(text) + 1, len(text) + 5001)
    assert list(lowered.find_words({word})) == [(word, len(text) + 1, len(text) + 5001)]
    assert time.process_time() - started < 20

"""What a concept finds: forms, boundaries, contexts, places; and that the scan misses nothing that the plain way finds."""

from __future__ import annotations

import time

import pytest
from concept_catalogues import CELL, GAS, SLOPE, SMALL, find_all, find_words, make_catalogue, make_concept
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_concepts import find_plainly

from curation.concepts.compile import compile_concepts, expand_term, expand_verb
from curation.concepts.inflect import conjugate, pluralize
from curation.concepts.match import find_concepts


@pytest.mark.parametrize(
    ("word", "plurals"),
    [
        ("ratio", ["ratios"]),
        ("axis", ["axes"]),
        ("theory", ["theories"]),
        ("stimulus", ["stimuli", "stimuluses"]),
        ("matrix", ["matrices", "matrixes"]),
        ("mass", ["masses"]),
        ("physics", []),
        ("the", []),
        ("x", []),
    ],
)
def test_plurals(word: str, plurals: list[str]) -> None:
    assert pluralize(word) == plurals


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("solve", ["solves", "solved", "solving"]),
        ("rebut", ["rebuts", "rebutted", "rebutting"]),
        ("differ", ["differs", "differed", "differing"]),
        ("multiply", ["multiplies", "multiplied", "multiplying"]),
        ("find", ["found", "finds", "finded", "finding"]),
    ],
)
def test_verbs(word: str, forms: list[str]) -> None:
    assert conjugate(word) == forms


def test_a_term_is_expanded_at_its_end_and_around_its_of() -> None:
    forms = {form.decode() for form in expand_term("area of a circle")}
    assert {"area of a circle", "areas of circles", "area of the circle", "area of circle"} <= forms
    assert {form.decode() for form in expand_verb("oxidize")} >= {"oxidized", "oxidising", "oxidises"}
    assert {form.decode() for form in expand_term("Schrödinger equation")} >= {
        "schrodinger equation",
        "schrödinger equations",
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A compound and two COMPOUNDS.", ["compound", "COMPOUNDS"]),
        ("the compound's shape", ["compound"]),
        ("_compound_ and *compound*", ["compound", "compound"]),
        ("compound—compound…compound²", ["compound", "compound", "compound"]),
        ("molecular supercompound compounds9", []),
        ("compoundé écompound compound\u0301", []),
        (
            "noble\n   gases, noble-gas, noble\u00a0gas, noble\u2013gas",
            ["noble\n   gases", "noble-gas", "noble\u00a0gas", "noble\u2013gas"],
        ),
        ("noble         gas", []),
        ("noble. Gas", []),
        ("CO2 but not co2 or XCO2", ["CO2"]),
        ("Compound Man met a compound", ["compound"]),
        ("", []),
        ("İstanbul compound", ["compound"]),
        ("ﾟ compound 分子 compound", ["compound", "compound"]),
    ],
)
def test_forms_and_boundaries(text: str, found: list[str]) -> None:
    assert find_words(GAS, text) == found
    assert [text[a:b] for a, b in find_plainly(GAS, text)] == found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The cell has a nucleus.", 1),
        ("the nucleus of one of many cells", 0),
        ("the nucleus of one of cells", 1),
        ("the nucleus, as you may well know now, and a cell", 0),
        ("every living thing has a cell", 1),
        ("a cell phone near its nucleus", 0),
        ("the nucleus of a cell in a big prison", 1),
        ("the nucleus of a cell in prison", 0),
        ("my cell rings", 0),
    ],
)
def test_a_sense_needs_its_neighbours_and_is_cancelled_by_others(text: str, count: int) -> None:
    assert len(find_words(CELL, text)) == count
    assert len(find_plainly(CELL, text)) == count


def test_verbs_and_the_longest_of_overlapping_hits() -> None:
    assert find_words(SLOPE, "Solving for x shows the rates of change where lines intersected.") == [
        "Solving for x",
        "rates of change",
        "intersected",
    ]
    nested = make_concept(terms=["mean", "mean deviation", "deviation"])
    assert find_words(nested, "the mean deviation, a mean, a deviation") == ["mean deviation", "mean", "deviation"]


def test_signs_without_a_word_are_found() -> None:
    concept = make_concept(exact=["π", "F = ma", "m/s", "%"])
    text = "2πr, F = ma, 3 m/s, 5% of π"
    assert find_words(concept, text) == ["π", "F = ma", "m/s", "%", "π"]
    assert [text[a:b] for a, b in find_plainly(concept, text)] == ["π", "F = ma", "m/s", "%", "π"]


def test_a_batch_gives_each_text_its_own_hits() -> None:
    texts = ["noble", None, "gas compound", "", "é compound", "noble gas"]
    assert find_all(SMALL, texts) == {(2, "gas"): [(4, 12)], (4, "gas"): [(2, 10)], (5, "gas"): [(0, 9)]}
    assert find_all(SMALL, []) == {}


def test_a_concept_finds_the_same_alone_and_among_others() -> None:
    text = "The nucleus of a cell holds a compound; solve for x, the slope of the line."
    together = find_all(SMALL, [text])
    for concept in SMALL.concepts:
        alone = find_all(make_catalogue(concept), [text])
        assert alone == {key: spans for key, spans in together.items() if key[1] == concept.id}


_WORDS = (
    "compound compounds noble gas CO2 co2 cell cells nucleus living thing phone prison rate rates of the change slope line "
    "solve solving for x intersects man é ﬁ — - _ \u00a0 \n . , ' ² İ ß 3 a"
)
_PIECES = st.sampled_from([*_WORDS.split(" "), " ", "  ", ""])


@settings(max_examples=300)
@given(st.lists(st.lists(st.tuples(_PIECES, st.sampled_from(["", " ", " ", " ", "-", "\n"])), max_size=30), max_size=4))
def test_nothing_is_missed_or_added_against_the_plain_way(pieces: list[list[tuple[str, str]]]) -> None:
    texts = ["".join(word + gap for word, gap in text) for text in pieces]
    expected = {
        (index, concept.id): spans
        for index, text in enumerate(texts)
        for concept in SMALL.concepts
        if (spans := find_plainly(concept, text))
    }
    assert find_all(SMALL, texts) == expected


def test_hostile_texts_take_linear_time() -> None:
    compiled = compile_concepts(SMALL.concepts)
    for text in ("noble " * 40_000, "compound " * 40_000, "é compound " * 40_000, "noble" + " " * 400_000 + "gas"):
        began = time.process_time()
        find_concepts(compiled, [text])
        assert time.process_time() - began < 5


def test_a_phrase_of_many_ofs_is_expanded_at_once() -> None:
    began = time.process_time()
    forms = expand_term("cat of a dog of a cat of a dog of a cat of a dog of a cat of a dog of a cat of a dog")
    assert len(forms) == 64
    assert time.process_time() - began < 1

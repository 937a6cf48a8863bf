"""Senses of occurrences: the homographs that a school text has, windows to the token, and agreement of the two readings."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.lexicon.senses import SenseContext, SenseRule
from curation.signals.senses import SenseCounts, SenseMeter

CELL = SenseRule(
    term="cell",
    counts_if=(SenseContext(words=("nucleus", "membrane", "biology")),),
    innocent_if=(SenseContext(words=("prison", "jail", "phone")),),
)


def context(*words: str, left: int = 0, right: int = 0) -> SenseContext:
    return SenseContext(words=words, left=left, right=right)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Each cell has a nucleus.", SenseCounts(counted=1)),
        ("He sat in a prison cell.", SenseCounts(innocent=1)),
        ("Call me on my CELL phone!", SenseCounts(innocent=1)),
        ("A cell of the honeycomb.", SenseCounts(other=1)),
        ("In biology a prison cell is a joke.", SenseCounts(counted=1)),  # what counts goes first
        ("Cells and cellular walls, a1cell, cell2.", None),  # no token of it
        ("", None),
        ("Die Zelle, la célula.", None),
        ("cell cell", SenseCounts(other=2)),
    ],
)
def test_a_cell_is_told_apart(text: str, counts: SenseCounts | None) -> None:
    assert SenseMeter([CELL]).count(text).get("cell") == counts


def test_windows_end_where_they_say() -> None:
    rule = SenseRule(term="log", counts_if=(context("base", right=2),), innocent_if=(context("fire", left=3),))
    meter = SenseMeter([rule])
    assert meter.count("the log of base ten")["log"] == SenseCounts(counted=1)
    assert meter.count("the log of the base ten")["log"] == SenseCounts(other=1)
    assert meter.count("fire eats this log")["log"] == SenseCounts(innocent=1)
    assert meter.count("fire eats up this log")["log"] == SenseCounts(other=1)
    assert meter.count("base log fire")["log"] == SenseCounts(other=1)
    # Numbers and single letters are no tokens: they take no room.
    assert meter.count("the log, x = 2: 100 base")["log"] == SenseCounts(counted=1)


def test_an_occurrence_is_not_its_own_context() -> None:
    rule = SenseRule(term="mean", counts_if=(SenseContext(words=("mean",), left=1, right=1),))
    assert SenseMeter([rule]).count("a mean old man")["mean"] == SenseCounts(other=1)
    assert SenseMeter([rule]).count("a mean mean man")["mean"] == SenseCounts(counted=2)


@given(st.text(st.sampled_from("cel nuprisomb.İ0é\n"), max_size=60), st.integers(0, 3), st.integers(1, 3))
def test_places_and_counts_agree(text: str, left: int, right: int) -> None:
    rule = SenseRule(
        term="cell",
        counts_if=(context("nu", "cell", left=left, right=right),),
        innocent_if=(context("prison", "mb", left=right),),
    )
    meter = SenseMeter([rule])
    places = list(meter.find_places(text))
    counts = meter.count(text).get("cell", SenseCounts())
    assert Counter(place.sense for place in places) == Counter(
        {sense: count for sense in ("counted", "innocent", "other") if (count := getattr(counts, sense))}
    )
    for place in places:
        assert text[place.start : place.end].lower() == "cell"

"""Long documents: which windows are taken, in which order, within which budget."""

from __future__ import annotations

import re

import pytest

from curation.training.judge.excerpt import MIN_BUDGET_CHARS, take_excerpt

BUDGET = 20_000
WORDS = [f"w{number:05d}" for number in range(20_000)]  # 7 characters with the space
LONG = " ".join(WORDS)


def _take(text: str, seed: int = 1, budget_chars: int = BUDGET) -> tuple[str, int, bool]:
    excerpt = take_excerpt(text, budget_chars=budget_chars, seed=seed, text_sha256="ab")
    return excerpt.text, excerpt.chars, excerpt.is_whole


def test_short_document_is_sent_as_it_is() -> None:
    text = "  a\n" * 5_000
    assert _take(text) == (text, 20_000, True)
    assert _take(text + "x")[2] is False


def test_first_last_and_drawn_windows() -> None:
    text, chars, is_whole = _take(LONG)
    assert not is_whole
    assert BUDGET - 3_200 < chars <= BUDGET
    assert text.startswith("w00000 w00001 ")
    assert text.endswith(" w19999")
    pieces = re.split(r"\n\n\[[\d,]+ characters of the document are left out here\]\n\n|\n\n", text)
    assert sum(map(len, pieces)) == chars
    assert all(piece in LONG for piece in pieces)
    numbers = [int(word[1:]) for piece in pieces for word in piece.split()]
    assert numbers == sorted(set(numbers))
    left_out = [int(count.replace(",", "")) for count in re.findall(r"\[([\d,]+) characters", text)]
    assert len(left_out) >= 2
    assert sum(left_out) + chars <= len(LONG)


def test_seed_and_text_draw_the_middle() -> None:
    assert _take(LONG) == _take(LONG)
    assert _take(LONG, seed=2)[0] != _take(LONG)[0]
    other = take_excerpt(LONG, budget_chars=BUDGET, seed=1, text_sha256="cd")
    assert other.text != _take(LONG)[0]


@pytest.mark.parametrize("text", ["x" * 300_000, "x " * 150_000, "x" + " " * 300_000 + "y", "\n" * 300_000 + "z"])
def test_any_text_stays_in_the_smallest_budget(text: str) -> None:
    excerpt = take_excerpt(text, budget_chars=MIN_BUDGET_CHARS, seed=0, text_sha256="")
    assert 0 < excerpt.chars <= MIN_BUDGET_CHARS
    assert (
        len(excerpt.text) < MIN_BUDGET_CHARS + 2_000
    )  # 25 windows of 600 characters at most, each with a line before it


def test_too_small_a_budget() -> None:
    with pytest.raises(ValueError, match="needs 15000 characters"):
        _take(LONG, budget_chars=MIN_BUDGET_CHARS - 1)

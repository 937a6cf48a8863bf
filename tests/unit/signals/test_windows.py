"""Windows: exact offsets, whole coverage, the sampled case, and linear time on text that tries to prevent it."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.signals.windows import MAX_WINDOW_CHARS, Window, split_windows


def words(count: int, word: str = "ab") -> str:
    return " ".join([word] * count)


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0\u3000"])
def test_blank_text_has_no_window(text: str) -> None:
    assert split_windows(text, seed=0) == ([], False, 0)


def test_short_text_is_one_window_without_the_white_space_around_it() -> None:
    assert split_windows("  one two\n", seed=0) == ([Window(2, 9)], False, 1)


def test_a_full_window_ends_on_its_last_word() -> None:
    text = words(450)
    assert split_windows(text, seed=0).windows == [Window(0, 899), Window(900, 1349)]
    assert [len(text[s:e].split()) for s, e in split_windows(text, seed=0).windows] == [300, 150]


def test_a_last_window_shorter_than_half_joins_the_one_before() -> None:
    assert split_windows(words(449), seed=0).windows == [Window(0, 1346)]
    assert split_windows("a b c d e", words_per_window=4, seed=0).windows == [Window(0, 9)]
    assert split_windows("a b c d e f", words_per_window=4, seed=0).windows == [Window(0, 7), Window(8, 11)]


def test_text_without_white_space_is_cut_by_characters() -> None:
    split = split_windows("x" * 15_000, seed=0)
    assert split.windows == [Window(0, 6000), Window(6000, 12000), Window(12000, 15000)]
    assert split_windows("字" * 14_000, seed=0).windows == [Window(0, 6000), Window(6000, 14000)]


def test_the_character_limit_gives_a_cut_word_to_the_next_window() -> None:
    text = "start " + "y" * 5_990 + " " + "z" * 5_000
    assert split_windows(text, seed=0).windows == [Window(0, 5996), Window(5997, 10997)]
    assert split_windows("a " + "y" * 6_001, seed=0).windows == [Window(0, 1), Window(2, 6003)]


def test_a_gulf_of_white_space_never_makes_a_giant_window() -> None:
    text = "a" + " " * 20_000 + "b"
    assert split_windows(text, seed=0).windows == [Window(0, 1), Window(20_001, 20_002)]


def test_above_the_maximum_the_ends_stay_and_the_rest_is_sampled_in_order() -> None:
    text = words(300 * 100)
    every = split_windows(text, max_windows=1_000, seed=7)
    some = split_windows(text, max_windows=10, seed=7)
    assert (every.is_sampled, every.total_count, len(every.windows)) == (False, 100, 100)
    assert (some.is_sampled, some.total_count, len(some.windows)) == (True, 100, 10)
    assert some.windows[0] == every.windows[0]
    assert some.windows[-1] == every.windows[-1]
    assert some.windows == sorted(set(some.windows))
    assert set(some.windows) <= set(every.windows)
    assert some == split_windows(text, max_windows=10, seed=7)
    assert some != split_windows(text, max_windows=10, seed=8)


@pytest.mark.parametrize(("words_per_window", "max_windows"), [(1, 64), (300, 1)])
def test_a_split_that_cannot_be_made_is_refused(words_per_window: int, max_windows: int) -> None:
    with pytest.raises(ValueError, match="two words and two windows"):
        split_windows("a b c", words_per_window=words_per_window, max_windows=max_windows, seed=0)


@given(st.text(alphabet="ab \n\u00a0字", max_size=400), st.integers(2, 7))
def test_every_word_lies_in_exactly_one_window(text: str, words_per_window: int) -> None:
    windows = split_windows(text, words_per_window=words_per_window, max_windows=10_000, seed=0).windows
    assert [word for start, end in windows for word in text[start:end].split()] == text.split()
    assert all(a.end <= b.start for a, b in pairwise(windows))
    assert all(len(text[s:e].split()) <= 1.5 * words_per_window and text[s:e] == text[s:e].strip() for s, e in windows)


@pytest.mark.parametrize("unit", ["x", " ", "x ", "x" * 5_999 + " ", "a" + " " * 5_999, "\U0001f600"])
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        begun = time.process_time()
        split = split_windows(text, seed=0)
        assert len(split.windows) <= 64
        assert all(end - start <= 1.5 * MAX_WINDOW_CHARS for start, end in split.windows)
        return time.process_time() - begun

    assert seconds(8_000_000) < 20 * seconds(1_000_000) + 0.5


def test_fifty_million_characters_without_white_space() -> None:
    split = split_windows("x" * 50_000_000, seed=3)
    assert split.is_sampled
    assert split.total_count == 8_333
    assert split.windows[0] == Window(0, 6_000)
    assert split.windows[-1].end == 50_000_000

"""Cuts a document into windows: stretches of whole words that the graders score one by one.

Offsets only; scores live with the graders. Invariant: windows do not overlap, stand in order, start and end on a
character that is not white space, and the work is linear in the length of the text whatever the text is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

WORDS_PER_WINDOW = 300
MAX_WINDOWS = 64
# 300 words of twenty characters. Prose stays near 1,800; only tables, links and text without white space reach it.
MAX_WINDOW_CHARS = 6_000

_SPACE = re.compile(r"\s*+")


class Window(NamedTuple):
    """text[start:end], in characters of the text that was cut."""

    start: int
    end: int


class WindowSplit(NamedTuple):
    """`windows` in order of the text; `total_count` is how many there were before sampling."""

    windows: list[Window]
    is_sampled: bool
    total_count: int


def split_windows(
    text: str, *, words_per_window: int = WORDS_PER_WINDOW, max_windows: int = MAX_WINDOWS, seed: int
) -> WindowSplit:
    """Runs of at most `words_per_window` words (white space delimits) and at most 6,000 characters.

    A word longer than that is cut. A last window of fewer than half the words and half the characters joins the one
    before it, so only a last window can be longer: up to one and a half times. Above `max_windows` the first, the
    last and a sample drawn with `seed` are returned. Blank text has no window. Raises ValueError for fewer than two
    words a window or two windows.
    """
    if words_per_window < 2 or max_windows < 2:
        raise ValueError(f"a split needs two words and two windows, not {words_per_window} and {max_windows}")
    windows, last_word_count = _cut(text, words_per_window)
    _merge_short_tail(windows, last_word_count, words_per_window)
    total_count = len(windows)
    places = choose_windows(total_count, max_windows=max_windows, seed=seed)
    return WindowSplit([windows[i] for i in places], len(places) < total_count, total_count)


def choose_windows(total_count: int, *, max_windows: int, seed: int) -> Sequence[int]:
    """Which of a document's windows are read: all, or the first, the last and a sample drawn with `seed`, in order."""
    if total_count <= max_windows:
        return range(total_count)
    between = sorted(random.Random(seed).sample(range(1, total_count - 1), max_windows - 2))
    return (0, *between, total_count - 1)


def _cut(text: str, words_per_window: int) -> tuple[list[Window], int]:
    # Possessive: a run that fails to go on is never tried again from a shorter prefix.
    run = re.compile(rf"(?:\S++\s++){{0,{words_per_window - 1}}}+\S*+")
    windows: list[Window] = []
    last_word_count = 0
    start = _skip_space(text, 0)
    while start < len(text):
        limit = min(start + MAX_WINDOW_CHARS, len(text))
        match = run.match(text, start, limit)
        end = match.end() if match else limit
        piece = text[start:end]
        is_inside_word = end < len(text) and not text[end].isspace() and not text[end - 1].isspace()
        if end == limit and is_inside_word:
            # The character limit fell into a word: give the word to the next window, unless it is all there is.
            piece = _drop_last_word(piece)
        piece = piece.rstrip()
        windows.append(Window(start, start + len(piece)))
        last_word_count = len(piece.split())
        start = _skip_space(text, start + len(piece))
    return windows, last_word_count


def _merge_short_tail(windows: list[Window], last_word_count: int, words_per_window: int) -> None:
    if len(windows) < 2:
        return
    before, last = windows[-2:]
    is_short = 2 * last_word_count < words_per_window and 2 * (last.end - last.start) < MAX_WINDOW_CHARS
    # White space between the two counts here: a page of blank lines must not make one giant window.
    if is_short and 2 * (last.end - before.start) <= 3 * MAX_WINDOW_CHARS:
        windows[-2:] = [Window(before.start, last.end)]


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _drop_last_word(piece: str) -> str:
    words = piece.rsplit(maxsplit=1)
    return piece[: len(piece) - len(words[1])] if len(words) == 2 else piece

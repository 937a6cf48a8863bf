"""The shape of a notation rule: a name, the clues without which it cannot hit, and a scan that yields its spans.

Holds no pattern. Spans come left to right and do not overlap; a scan is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]
Scan = Callable[[str], Iterator[Span]]


@dataclass(frozen=True, slots=True)
class PublishedRule:
    """One rule of the published filter; `clues`: the rule cannot hit a text that shows none of them."""

    name: str
    intent: str
    clues: int
    scan: Scan


@dataclass(frozen=True, slots=True)
class RecommendedRule:
    """One corrected rule. `claim`, examples in `hits` and `passes`, and `judgement` are its documentation.

    `scan` reads the text as `mask_markup` leaves it; `clues` are looked for in the text before that.
    """

    name: str
    claim: str
    hits: tuple[str, ...]
    passes: tuple[str, ...]
    judgement: str
    clues: int
    scan: Scan


def scan_pattern(pattern: re.Pattern[str]) -> Scan:
    """The scan that takes every match of `pattern`."""

    def scan(text: str) -> Iterator[Span]:
        for match in pattern.finditer(text):
            yield match.span()

    return scan


def scan_accepted(pattern: re.Pattern[str], is_accepted: Callable[[re.Match[str]], bool]) -> Scan:
    """The scan that takes the matches which `is_accepted`; after a refusal it goes on one character further.

    Linear only where `pattern` matches a bounded number of characters and `is_accepted` reads a bounded context.
    """

    def scan(text: str) -> Iterator[Span]:
        match = pattern.search(text)
        while match is not None:
            if is_accepted(match):
                yield match.span()
                match = pattern.search(text, match.end())
            else:
                match = pattern.search(text, match.start() + 1)

    return scan


def scan_near(
    anchor: re.Pattern[str],
    reach: int,
    starts: re.Pattern[str],
    pattern: re.Pattern[str],
    is_accepted: Callable[[re.Match[str]], bool] = bool,
) -> Scan:
    """The scan of a `pattern` that holds an `anchor` (one rare character): it is tried only at the `starts` (one character,
    with what may stand before it) at most `reach` characters left of an anchor.

    Every start is tried once at most, so the scan is linear under the conditions of `scan_accepted`.
    """

    def scan(text: str) -> Iterator[Span]:
        untried = 0
        for found in anchor.finditer(text):
            stop = found.start() + 1
            for start in starts.finditer(text, max(untried, stop - 1 - reach), stop):
                if start.start() < untried:
                    continue
                match = pattern.match(text, start.start())
                if match is not None and is_accepted(match):
                    yield match.span()
                    untried = match.end()
            untried = max(untried, stop)

    return scan

"""In which sense a word stands: every occurrence of words that rules tell apart, judged by the tokens around it.

Measures what curators declared; whether a word is blocked at all is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from curation.lexicon.senses import SenseContext, SenseRule
from curation.signals.tokens import list_tokens, to_token_stream
from curation.signals.vocabulary import Lowered

SENSES_VERSION = "1"

Sense = Literal["counted", "innocent", "other"]


@dataclass(frozen=True)
class SenseCounts:
    """Occurrences of a word in one text: `counted` where a context says so, `innocent` where one excuses it, `other` elsewhere."""

    counted: int = 0
    innocent: int = 0
    other: int = 0


@dataclass(frozen=True)
class SensePlace:
    """text[start:end] is an occurrence of `term`, and the sense it stands in."""

    term: str
    start: int
    end: int
    sense: Sense


@dataclass(frozen=True)
class _Context:
    words: frozenset[str]
    left: int
    right: int

    def holds(self, tokens: Sequence[str], place: int) -> bool:
        before = tokens[max(place - self.left, 0) : place]
        return not self.words.isdisjoint(before) or not self.words.isdisjoint(
            tokens[place + 1 : place + 1 + self.right]
        )


class SenseMeter:
    """Rules, ready to be asked about many texts."""

    def __init__(self, senses: Sequence[SenseRule]) -> None:
        self._rules = {rule.term: (_prepare(rule.counts_if), _prepare(rule.innocent_if)) for rule in senses}

    def count(self, text: str) -> dict[str, SenseCounts]:
        """Counts of every word with a rule that the text holds."""
        tokens = [token.decode() for token in list_tokens(to_token_stream(text))]
        found: dict[str, dict[Sense, int]] = {}
        for place, token in enumerate(tokens):
            if token in self._rules:
                counts = found.setdefault(token, {"counted": 0, "innocent": 0, "other": 0})
                counts[self._judge(tokens, place)] += 1
        return {term: SenseCounts(**counts) for term, counts in found.items()}

    def find_places(self, text: str) -> Iterator[SensePlace]:
        """Every occurrence of a word with a rule, in order of the text."""
        found = list(Lowered(text).find_tokens())
        tokens = [token for token, _, _ in found]
        for place, (token, start, end) in enumerate(found):
            if token in self._rules:
                yield SensePlace(token, start, end, self._judge(tokens, place))

    def _judge(self, tokens: Sequence[str], place: int) -> Sense:
        counts_if, innocent_if = self._rules[tokens[place]]
        if any(context.holds(tokens, place) for context in counts_if):
            return "counted"
        return "innocent" if any(context.holds(tokens, place) for context in innocent_if) else "other"


def _prepare(contexts: Sequence[SenseContext]) -> tuple[_Context, ...]:
    return tuple(_Context(frozenset(context.words), context.left, context.right) for context in contexts)

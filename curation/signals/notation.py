"""The notation signal: which rules of each set hit a text, and where. Which hits exclude is a profile's matter.

The caller chooses the text: published rules read the raw (and the normalised) one, recommended rules the normalised.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from curation.notation.clues import find_clues
from curation.notation.hit import Hit
from curation.notation.published.rules import PUBLISHED_RULES
from curation.notation.recommended.markup import mask_markup
from curation.notation.recommended.rules import RECOMMENDED_RULES

NOTATION_VERSION = "1"

__all__ = [
    "NOTATION_VERSION",
    "find_all_published",
    "find_all_recommended",
    "find_clues",
    "find_published",
    "find_recommended",
]

_PUBLISHED_CLUES = reduce(or_, (rule.clues for rule in PUBLISHED_RULES), 0)
_RECOMMENDED_CLUES = reduce(or_, (rule.clues for rule in RECOMMENDED_RULES), 0)


def _mask(text: str, clues: int) -> tuple[str, int]:
    """The text that recommended rules read, and its clues: with markup gone a name may stand beside its argument."""
    if not clues and not any(mark in text for mark in "<*_"):
        return text, 0
    masked = mask_markup(text)
    return masked, clues if masked == text else clues | find_clues(masked, _RECOMMENDED_CLUES)


def find_published(text: str, clues: int | None = None) -> list[Hit]:
    """The leftmost hit of each published rule that hits `text`, in rule order; `Hit.rule` is "1" to "28".

    `clues`: what `find_clues(text)` gave, for a caller that puts one text to both sets; None looks for them.
    """
    if clues is None:
        clues = find_clues(text, _PUBLISHED_CLUES)
    if not clues:
        return []
    rules = [rule for rule in PUBLISHED_RULES if rule.clues & clues]
    return [Hit(rule.name, *span) for rule in rules if (span := next(rule.scan(text), None)) is not None]


def find_recommended(text: str, clues: int | None = None) -> list[Hit]:
    """The leftmost hit of each recommended rule that hits `text`, in rule order; `Hit.rule` is the rule's name.

    `clues` as in `find_published`.
    """
    if clues is None:
        clues = find_clues(text, _RECOMMENDED_CLUES)
    masked, clues = _mask(text, clues)
    if not clues:
        return []
    rules = [rule for rule in RECOMMENDED_RULES if rule.clues & clues]
    return [Hit(rule.name, *span) for rule in rules if (span := next(rule.scan(masked), None)) is not None]


def find_all_published(text: str) -> list[Hit]:
    """Every hit of every published rule: in rule order, and within a rule left to right without overlap."""
    clues = find_clues(text, _PUBLISHED_CLUES)
    return [Hit(rule.name, *span) for rule in PUBLISHED_RULES if rule.clues & clues for span in rule.scan(text)]


def find_all_recommended(text: str) -> list[Hit]:
    """Every hit of every recommended rule, ordered as `find_all_published` orders."""
    masked, clues = _mask(text, find_clues(text, _RECOMMENDED_CLUES))
    return [Hit(rule.name, *span) for rule in RECOMMENDED_RULES if rule.clues & clues for span in rule.scan(masked)]

"""Finding concepts the plain way: every form of every term as a regular expression over the text, one concept at a time."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

from curation.concepts.catalogue import Concept
from curation.concepts.compile import expand_term, expand_verb

_GAPS = set(
    " \t\n\v\f\r-_\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u2010\u2011\u2012\u2013\u2212"
) | {chr(code) for code in range(0x2000, 0x200B)}
Span = tuple[int, int]


def find_plainly(concept: Concept, text: str) -> list[Span]:
    """The hits of a concept in a normalised text, in order."""
    folded = "".join(_fold(character) for character in text)
    hits: set[Span] = set()
    for term in concept.terms:
        hits |= _find_all(expand_term(term), folded)
    for term in concept.verbs:
        hits |= _find_all(expand_verb(term), folded)
    for spelling in concept.exact:
        form = " ".join("".join(map(_fold, spelling)).split())
        hits |= {(a, b) for a, b in _find_all([form.encode()], folded) if " ".join(text[a:b].split()) == spelling}
    for sense in concept.senses:
        for term in sense.terms:
            for span in _find_all(expand_term(term), folded):
                if _stands_near(sense.near, sense.within, folded, span):
                    hits.add(span)
    hits = {span for span in hits if not _stands_near(concept.not_near, concept.within, folded, span)}
    innocent = [span for phrase in concept.innocent for span in _find_all(expand_term(phrase), folded)]
    chosen: list[Span] = []
    for start, end in sorted(hits, key=lambda span: (span[0], -span[1])):
        touches = any(start < stop and first < end for first, stop in innocent)
        if not touches and (not chosen or start >= chosen[-1][1]):
            chosen.append((start, end))
    return chosen


def count_plainly(
    concepts: Iterable[Concept], texts: Sequence[str | None]
) -> dict[tuple[int, str], tuple[int, int, int]]:
    """By text and concept: how many hits, and where the first is."""
    found = {}
    for concept in concepts:
        for index, text in enumerate(texts):
            if text is not None and (spans := find_plainly(concept, text)):
                found[index, concept.id] = (len(spans), *spans[0])
    return found


def _fold(character: str) -> str:
    lowered = character.lower()
    character = lowered if len(lowered) == 1 else character
    return " " if character in _GAPS else character


def _find_all(forms: Iterable[bytes], folded: str) -> set[Span]:
    found: set[Span] = set()
    for form in {form.decode() for form in forms}:
        pattern = re.compile(" {1,8}".join(map(re.escape, form.split(" "))))
        match = pattern.search(folded)
        while match is not None:
            before, after = folded[: match.start()][-1:], folded[match.end() :][:1]
            begins = not (_is_letter(form[0]) and _is_word(before))
            ends = not (_is_letter(form[-1]) and _is_word(after))
            if begins and ends:
                found.add(match.span())
            match = pattern.search(folded, match.start() + 1)
    return found


def _is_letter(character: str) -> bool:
    return character.isalnum() and not "\u0370" <= character <= "\u03ff"


def _is_word(character: str) -> bool:
    if not character:
        return False
    if character.isascii():
        return character.isalnum()
    return character.isalpha() or character.isdecimal() or unicodedata.category(character)[0] == "M"


def _stands_near(words: Sequence[str], within: int, folded: str, span: Span) -> bool:
    pattern = re.compile("[a-z0-9\x80-\U0010ffff]+")
    sides = [pattern.findall(folded[: span[0]])[-within:], pattern.findall(folded[span[1] :])[:within]]
    for word in words:
        for form in expand_term(word):
            wanted = pattern.findall(form.decode())
            for side in sides:
                if any(side[i : i + len(wanted)] == wanted for i in range(len(side) - len(wanted) + 1)):
                    return True
    return False


def group_hits(
    texts: Iterable[int], concepts: Iterable[str], spans: Iterable[Span]
) -> dict[tuple[int, str], list[Span]]:
    grouped: dict[tuple[int, str], list[Span]] = defaultdict(list)
    for text, concept, span in zip(texts, concepts, spans, strict=True):
        grouped[text, concept].append(span)
    return dict(grouped)

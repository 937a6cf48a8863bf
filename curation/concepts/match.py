"""Finding concepts in texts: candidates of the multi-pattern scan, confirmed one by one, with their places.

What one concept finds in one text depends on nothing else. Of overlapping finds of a concept the leftmost longest counts;
what touches an innocent phrase of the concept does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curation.concepts.compile import WORD, CompiledCatalogue, Form, InnocentPhrase, Window
from curation.concepts.fold import find_characters, fold, is_word_byte_after, is_word_byte_before

_END_OF_TEXT = b"\n"  # no fold holds one
_WORDS_ALONE = bytes(byte if byte < 0x80 and chr(byte).isalnum() else 0x20 for byte in range(256))
_BYTES_A_WORD = 24  # how far a window of words is looked for; only words longer than that on average end it early
_Span = tuple[int, int]


@dataclass(frozen=True)
class Hits:
    """Every hit in some texts, ordered by text, concept and place. `texts`, `concepts`: indices; `starts`, `ends`: characters
    of the text that was given, end exclusive."""

    texts: npt.NDArray[np.int64]
    concepts: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.texts)


def find_concepts(catalogue: CompiledCatalogue, texts: Sequence[str | None]) -> Hits:
    """The hits of normalised texts (`curation.normalize`); None stands for a text that could not be read and has none."""
    folds = [b"" if text is None else fold(text) for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(piece) + 1 for piece in folds], dtype=np.int64)])
    forms, places = _scan(catalogue, _END_OF_TEXT.join(folds))
    found: list[tuple[int, int, int, int]] = []
    if forms:
        order = np.argsort(np.array(places), kind="stable")
        owners = np.searchsorted(offsets, np.array(places)[order], side="right") - 1
        firsts = np.flatnonzero(np.diff(owners, prepend=-1)).tolist()
        for first, last in zip(firsts, [*firsts[1:], len(owners)], strict=True):
            index = int(owners[first])
            text, offset = texts[index], int(offsets[index])
            assert text is not None
            candidates = [(forms[i], places[i] - offset) for i in order[first:last].tolist()]
            found += [(index, *hit) for hit in _confirm(catalogue, text, folds[index], candidates)]
    columns = np.array(found, np.int64).reshape(-1, 4)
    return Hits(*(np.ascontiguousarray(columns[:, i]) for i in range(4)))


def _scan(catalogue: CompiledCatalogue, folded: bytes) -> tuple[list[tuple[Form, ...]], list[int]]:
    """The forms that may stand in the fold, and by key found the byte at which it begins."""
    forms: list[tuple[Form, ...]] = []
    places: list[int] = []
    if catalogue.words.scanner is not None:
        by_key = catalogue.words.forms

        def note_word(key: int, _start: int, end: int, _flags: int, _context: object) -> None:
            forms.append(by_key[key])
            places.append(end)

        catalogue.words.scanner.scan(b" " + folded.translate(_WORDS_ALONE) + b" ", match_event_handler=note_word)
        # The scan began with a space, and the key ends with one.
        places = [end - 2 - len(found[0].key) for end, found in zip(places, forms, strict=True)]
    if catalogue.signs.scanner is not None:
        signs = catalogue.signs.forms

        def note_sign(key: int, _start: int, end: int, _flags: int, _context: object) -> None:
            forms.append(signs[key])
            places.append(end - len(signs[key][0].key))

        catalogue.signs.scanner.scan(folded, match_event_handler=note_sign)
    return forms, places


def _confirm(
    catalogue: CompiledCatalogue, text: str, folded: bytes, candidates: list[tuple[tuple[Form, ...], int]]
) -> list[tuple[int, int, int]]:
    """Concept, start and end (characters) of what holds up."""
    hits: dict[int, list[_Span]] = {}
    for form, start, end in _find_forms(folded, candidates):
        for use in form.uses:
            if use.spelling is not None and not _is_spelled(use.spelling, text, folded, start, end):
                continue
            if use.near is not None and not _stands_near(use.near, folded, start, end):
                continue
            hits.setdefault(use.concept, []).append((start, end))
    found = [
        (concept, span)
        for concept in sorted(hits)
        for span in _choose(
            span
            for span in hits[concept]
            if not _is_excused(catalogue.innocent[concept], folded, *span)
            and not _is_excluded(catalogue.excluded[concept], folded, *span)
        )
    ]
    places = find_characters(folded, [place for _, span in found for place in span])
    return [(concept, places[2 * i], places[2 * i + 1]) for i, (concept, _) in enumerate(found)]


def _find_forms(folded: bytes, candidates: list[tuple[tuple[Form, ...], int]]) -> Iterator[tuple[Form, int, int]]:
    """The forms that stand whole and between words, with their bytes."""
    for forms, key in candidates:
        for form in forms:
            start, end = key, key + len(form.key)
            if form.after is not None:
                after = form.after.match(folded, key)
                if after is None:
                    continue
                end = after.end()
            if form.before is not None:
                before = form.before.search(folded, max(0, key - form.reach), key)
                if before is None:
                    continue
                start = before.start()
            if not _is_inside_word(form, folded, start, end):
                yield form, start, end


def _is_inside_word(form: Form | InnocentPhrase, folded: bytes, start: int, end: int) -> bool:
    return (form.begins_word and is_word_byte_before(folded, start)) or (
        form.ends_word and is_word_byte_after(folded, end)
    )


def _is_spelled(spelling: str, text: str, folded: bytes, start: int, end: int) -> bool:
    first, last = find_characters(folded, (start, end))
    return " ".join(text[first:last].split()) == spelling


def _is_excused(phrases: tuple[InnocentPhrase, ...], folded: bytes, start: int, end: int) -> bool:
    """Whether an innocent phrase touches the hit."""
    for phrase in phrases:
        first, last = max(0, start - phrase.longest + 1), end + phrase.longest - 1
        match = phrase.pattern.search(folded, first, last)
        while match is not None:
            touches = match.start() < end and start < match.end()
            if touches and not _is_inside_word(phrase, folded, *match.span()):
                return True
            match = phrase.pattern.search(folded, match.start() + 1, last)
    return False


def _is_excluded(excluded: Window | None, folded: bytes, start: int, end: int) -> bool:
    return excluded is not None and _stands_near(excluded, folded, start, end)


def _stands_near(window: Window, folded: bytes, start: int, end: int) -> bool:
    """Whether one of the window's phrases stands wholly within so many words on one side of the hit."""
    reach = window.within * _BYTES_A_WORD
    stretch = folded[max(0, start - reach) : end + reach]
    if not any(head in stretch for head in window.heads):  # most hits of a common word end here
        return False
    left = WORD.findall(folded, max(0, start - reach), start)[-window.within :]
    right = WORD.findall(folded, end, end + reach)[: window.within]
    around = b" " + b" ".join(left) + b" \n " + b" ".join(right) + b" "
    return any(phrase in around for phrase in window.phrases)


def _choose(hits: Iterable[_Span]) -> list[_Span]:
    """Leftmost longest of overlapping hits."""
    chosen: list[_Span] = []
    taken = 0
    for start, end in sorted(set(hits), key=lambda span: (span[0], -span[1])):
        if start >= taken:
            chosen.append((start, end))
            taken = end
    return chosen

"""A word in its contexts, line by line, from kept and excluded documents: what a curator reads before ruling on it.

Of very many documents a seeded sample is read, a row group at a time, and the concordance says so. Offsets are in characters of
the form (raw or normalised) that the profile reads. Texts are never logged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from curation.decide import EXCLUDE, KEEP, REASONS
from curation.errors import LedgerError, ProfileError
from curation.index.decided import Decided
from curation.index.query import Outcome, Query
from curation.index.signal_index import RowAddress
from curation.index.texts import TextReader
from curation.ledger.store import SliceRef
from curation.lexicon.senses import SenseRule
from curation.normalize import normalize
from curation.run_folder import RunFolder
from curation.signals.senses import Sense, SenseMeter
from curation.signals.vocabulary import Lowered
from curation.vocabulary_audit.impact import draw_position_keys
from curation.web_address import read_address

LineSort = Literal["document", "left", "right", "domain"]

DEFAULT_MAX_DOCUMENTS = 200
# A row group of web text takes 5 to 20 ms to read: so many stay below a second.
DEFAULT_MAX_GROUPS = 30
# Of one row group, so that a sample is not one stretch of a shard.
_DOCUMENTS_A_GROUP = 20
DEFAULT_LINES_A_DOCUMENT = 5
DEFAULT_CONTEXT_CHARS = 80

_NAMES: dict[int, Outcome] = {KEEP: "kept", EXCLUDE: "excluded"}


@dataclass(frozen=True)
class Line:
    """One occurrence: text[start:end], the text before and after it on one line, and where it stands. `outcome` and `decided_by`
    are of its document; `sense` is what the vocabulary's rule makes of it, None where the word has none."""

    address: RowAddress
    domain: str
    outcome: Outcome
    decided_by: str | None
    start: int
    end: int
    left: str
    match: str
    right: str
    sense: Sense | None


@dataclass(frozen=True)
class Concordance:
    """`lines` in the order asked for. `documents`: those that hold the word and were asked for, of which `documents_read` were
    read; `is_sampled`: not all, but a sample drawn with `seed`. `occurrences`: in the documents that were read, also those beyond
    the lines of a document."""

    term: str
    form: str
    documents: int
    documents_read: int
    is_sampled: bool
    seed: int
    occurrences: int
    lines: list[Line]


@dataclass(frozen=True)
class ConcordanceQuery:
    """Which documents and lines. `outcome` None: whatever was decided. `domain`: that host and all below it. `excluded_by`: a
    reason, `is_sole` where nothing else excludes."""

    term: str
    outcome: Outcome | None = None
    domain: str | None = None
    excluded_by: str | None = None
    is_sole: bool = False
    sort: LineSort = "document"
    seed: int = 0
    max_documents: int = DEFAULT_MAX_DOCUMENTS
    max_groups: int | None = DEFAULT_MAX_GROUPS
    lines_a_document: int = DEFAULT_LINES_A_DOCUMENT
    context_chars: int = DEFAULT_CONTEXT_CHARS


class ConcordanceReader:
    """Concordances of one run through a decision set over its index. Threads may share it."""

    def __init__(self, folder: RunFolder) -> None:
        self._texts = TextReader(folder)
        self._slices = {(ref.shard.index, ref.piece.index): ref for ref in folder.ledger.slices()}

    def read(self, decided: Decided, query: ConcordanceQuery) -> Concordance:
        """Raises ProfileError for what is no token, SourceError where a shard is gone or has changed."""
        term = query.term.strip().lower()
        if not (len(term) >= 2 and term.isascii() and term.isalpha()):
            raise ProfileError(f"{query.term!r} is no token.", hint="A token is two or more letters a-z, one word.")
        wanted = Query(
            term=term,
            outcome=query.outcome,
            domain=query.domain,
            has_subdomains=True,
            excluded_by=query.excluded_by,
            sole="certain" if query.is_sole else None,
        )
        positions = decided.select(wanted)
        chosen = self._choose(decided, positions, query)
        rules = [rule for rule in decided.request.vocabulary.senses if rule.term == term]
        lines: list[Line] = []
        occurrences = 0
        for address, text in self._read_texts(decided, chosen):
            places = _find_places(text, term, rules)
            occurrences += len(places)
            lines += _describe(decided, address, text, places[: query.lines_a_document], query.context_chars)
        return Concordance(
            term,
            decided.request.bound.profile.form,
            len(positions),
            len(chosen),
            len(chosen) < len(positions),
            query.seed,
            occurrences,
            sort_lines(lines, query.sort),
        )

    def _choose(
        self, decided: Decided, positions: npt.NDArray[np.int64], query: ConcordanceQuery
    ) -> npt.NDArray[np.int64]:
        """All of them, ascending, or a sample: the row groups of documents in a seeded order, of each the first few by that order."""
        index = decided.index
        keys = draw_position_keys(index, positions, query.seed, "concordance")
        order = np.argsort(keys, kind="stable")
        taken: list[int] = []
        seen: set[tuple[str, int]] = set()
        for place in order.tolist():
            if len(taken) >= query.max_documents or (query.max_groups is not None and len(seen) >= query.max_groups):
                break
            position = int(positions[place])
            ref, row = self._locate(decided, position)
            group = self._texts.find_group(ref, row)
            if (ref.id, group.start) in seen:
                continue
            seen.add((ref.id, group.start))
            first, end = np.searchsorted(positions, [position - (row - group.start), position + (group.stop - row)])
            here = first + np.argsort(keys[first:end], kind="stable")
            limit = _DOCUMENTS_A_GROUP if len(positions) > query.max_documents else len(here)
            taken += positions[here[:limit]].tolist()
        return np.sort(np.array(taken[: query.max_documents], np.int64))

    def _read_texts(self, decided: Decided, positions: npt.NDArray[np.int64]) -> Iterator[tuple[RowAddress, str]]:
        is_raw = decided.request.bound.profile.form == "raw"
        for address in decided.index.describe_rows(positions):
            ref, row = self._locate(decided, address.position)
            text, error = self._texts.read(ref, row)
            if text is None:
                raise LedgerError(
                    f"{address.shard} row {row} was measured and cannot be read now ({error}).",
                    hint="Restore the shard, or start a new run.",
                )
            yield address, text if is_raw else normalize(text).text

    def _locate(self, decided: Decided, position: int) -> tuple[SliceRef, int]:
        piece = decided.index.find_slice(position)
        _, [row] = decided.index.locate(np.array([position]))
        return self._slices[piece.shard, piece.piece], int(row)


def _find_places(text: str, term: str, rules: Sequence[SenseRule]) -> list[tuple[int, int, Sense | None]]:
    if rules:
        return [(place.start, place.end, place.sense) for place in SenseMeter(rules).find_places(text)]
    return [(start, end, None) for _, start, end in Lowered(text).find_words({term})]


def _describe(
    decided: Decided,
    address: RowAddress,
    text: str,
    places: Sequence[tuple[int, int, Sense | None]],
    context_chars: int,
) -> Iterator[Line]:
    decisions = decided.decisions_at(np.array([address.position]))
    by = int(decisions.decided_by[0])
    domain = read_address(address.url).host if address.url else ""
    for start, end, sense in places:
        yield Line(
            address,
            domain,
            _NAMES.get(int(decisions.kept[0]), "undecided"),
            None if by < 0 else REASONS[by],
            start,
            end,
            " ".join(_cut_left(text, start, context_chars).split()),
            text[start:end],
            " ".join(_cut_right(text, end, context_chars).split()),
            sense,
        )


def _cut_left(text: str, start: int, chars: int) -> str:
    """Whole words before a place; the first one whole even where it is longer."""
    begin = max(start - chars, 0)
    cut = text[begin:start]
    if begin and not text[begin - 1].isspace():
        _, gap, rest = _split_at_space(cut)
        return rest if gap else cut
    return cut


def _cut_right(text: str, end: int, chars: int) -> str:
    stop = min(end + chars, len(text))
    cut = text[end:stop]
    if stop < len(text) and not text[stop].isspace():
        rest, gap, _ = _split_at_space(cut[::-1])
        return cut[: len(cut) - len(rest)] if gap else cut
    return cut


def _split_at_space(text: str) -> tuple[str, str, str]:
    for place, character in enumerate(text):
        if character.isspace():
            return text[:place], character, text[place + 1 :]
    return text, "", ""


def sort_lines(lines: Sequence[Line], sort: LineSort) -> list[Line]:
    """By the words to the right, by those to the left from the nearest on, by host, or as documents stand in the run; equal ones in
    that order."""
    ordered = sorted(lines, key=lambda line: (line.address.position, line.start))
    match sort:
        case "left":
            return sorted(ordered, key=lambda line: line.left.casefold().split()[::-1])
        case "right":
            return sorted(ordered, key=lambda line: line.right.casefold().split())
        case "domain":
            return sorted(ordered, key=lambda line: tuple(reversed(line.domain.split("."))))
    return ordered

"""A run's concept layer over its index: the same report as from the ledger, and concordances, without deciding every row again.

Mentions are read once a catalogue and kept with the index; a report then counts outcome codes, a few hundred, instead of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from curation.chance import draw_row_keys
from curation.concepts.catalogue import Catalogue, Concept
from curation.concepts.compile import compile_concepts
from curation.concepts.concordance import DEFAULT_CONTEXT_CHARS, ConceptLine, make_line
from curation.concepts.interval import find_interval
from curation.concepts.layer import index_concepts, read_concepts
from curation.concepts.match import find_concepts
from curation.concepts.report import ConceptReport, Counts, Judgement, Outcome
from curation.decide import EXCLUDE, KEEP, REASONS, UNDECIDED
from curation.errors import LedgerError
from curation.index.decided import Decided
from curation.index.outcomes import Outcome as OutcomeOfRow
from curation.index.signal_index import SignalIndex
from curation.index.texts import TextReader
from curation.ledger.store import Ledger
from curation.normalize import normalize
from curation.run_folder import RunFolder

# A row group of web text takes 5 to 20 ms to read: so many stay below a second.
DEFAULT_MAX_GROUPS = 30
# Rows that are looked at for each one wanted, once no more row groups may be read.
_CANDIDATES = 50
_KEPT_CODES: dict[Outcome, int] = {"kept": KEEP, "excluded": EXCLUDE, "undecided": UNDECIDED}

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Concepts that are counted together: row `positions[i]` mentions one of `names[numbers[i]]`, once a row; `hits` in all."""

    names: tuple[str, ...]
    numbers: npt.NDArray[np.int64]
    positions: Positions
    hits: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Mentions:
    """Row `positions[i]` mentions concept `concepts[i]` of the catalogue `counts[i]` times; ordered by row and concept."""

    catalogue: Catalogue
    positions: Positions
    concepts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    def find_rows(self, concept: Concept) -> Positions:
        """The rows that mention a concept, ascending."""
        found: Positions = self.positions[self.concepts == self.catalogue.concepts.index(concept)]
        return found

    @property
    def weight_bytes(self) -> int:
        # The groups weigh about as much again as the columns, each.
        return 4 * (self.positions.nbytes + self.concepts.nbytes + self.counts.nbytes) + 1_000

    @cached_property
    def by_concept(self) -> Group:
        return self._group(lambda concept: concept.id)

    @cached_property
    def by_subject(self) -> Group:
        return self._group(lambda concept: concept.subject)

    @cached_property
    def by_band(self) -> Group:
        return self._group(lambda concept: concept.band)

    @cached_property
    def by_standard(self) -> Group:
        return self._group(lambda concept: concept.standard or "")

    def _group(self, name: Callable[[Concept], str]) -> Group:
        names = tuple(dict.fromkeys(name(concept) for concept in self.catalogue.concepts))
        places = {key: place for place, key in enumerate(names)}
        numbers = np.array([places[name(concept)] for concept in self.catalogue.concepts], np.int64)[self.concepts]
        hits = np.bincount(numbers, weights=self.counts, minlength=len(names)).astype(np.int64)
        size = len(names)
        # Ordered by row already: a sort that finds runs has little to do.
        keys = np.sort(self.positions * size + numbers, kind="stable")
        keys = keys[np.diff(keys, prepend=-1) != 0]
        return Group(names, keys % size, keys // size, hits)


def open_mentions(index: SignalIndex, ledger: Ledger, catalogue: Catalogue) -> Mentions:
    """Read or remembered. Raises LedgerError where a slice was not measured with the catalogue."""
    return index.cache.get(
        ("concept mentions", catalogue.sha256),
        lambda: _read_mentions(index, ledger, catalogue),
        lambda found: found.weight_bytes,
    )


def _read_mentions(index: SignalIndex, ledger: Ledger, catalogue: Catalogue) -> Mentions:
    refs = {(ref.shard.index, ref.piece.index): ref for ref in ledger.slices()}
    columns: tuple[list[npt.NDArray[np.int64]], ...] = ([], [], [])
    for start, piece in zip(index.slice_starts.tolist(), index.description.slices, strict=False):
        layer = read_concepts(ledger, refs[piece.shard, piece.piece].id, catalogue)
        columns[0].append(layer["row"].to_numpy() - piece.first_row + start)
        columns[1].append(index_concepts(catalogue, layer))
        columns[2].append(layer["count"].to_numpy().astype(np.int64))
    nothing = np.zeros(0, np.int64)
    return Mentions(catalogue, *(np.concatenate([nothing, *column]) for column in columns))


def report_indexed(decided: Decided, mentions: Mentions, *, judgements: int = 0) -> ConceptReport:
    """What `report_concepts` finds from the ledger, remembered with the index."""
    return decided.index.cache.get(
        ("concept report", decided.request.key, mentions.catalogue.sha256, judgements),
        lambda: _report(decided, mentions, judgements),
        lambda report: 1_000 * (len(report.concepts) + len(report.standards) + judgements),
    )


def _report(decided: Decided, mentions: Mentions, judgements: int) -> ConceptReport:
    is_kept = decided.table.select(lambda outcome: outcome.kept == KEEP)
    kept = int(decided.documents_by_code[is_kept].sum())
    leaks = mentions.positions[is_kept[decided.codes[mentions.positions]]]
    leaking = int(np.count_nonzero(np.diff(leaks, prepend=-1)))
    catalogue = mentions.catalogue
    return ConceptReport(
        catalogue=catalogue.label,
        catalogue_sha256=catalogue.sha256,
        documents=len(decided),
        kept=kept,
        leaking=leaking,
        leak_interval=find_interval(leaking, kept),
        concepts=_count(decided, mentions.by_concept),
        subjects=_count(decided, mentions.by_subject),
        bands=_count(decided, mentions.by_band),
        standards=_count(decided, mentions.by_standard),
        to_judge=[judgement for _, judgement in pick_judgements(decided, mentions, judgements)],
    )


def _count(decided: Decided, group: Group) -> dict[str, Counts]:
    codes, size, names = decided.codes[group.positions].astype(np.int64), len(decided.table), len(group.names)
    tokens = decided.index.columns["tokens"][group.positions].astype(np.float64)
    keys = group.numbers * size + codes
    documents = np.bincount(keys, minlength=names * size).reshape(names, size)
    # Sums of whole numbers below 2 ** 53 are exact in double precision.
    weights = np.bincount(keys, weights=tokens, minlength=names * size).reshape(names, size).astype(np.int64)

    def total(table: npt.NDArray[np.int64], condition: Callable[[OutcomeOfRow], bool]) -> list[int]:
        return table[:, decided.table.select(condition)].sum(axis=1).tolist()  # type: ignore[no-any-return]

    found = [
        Counts(documents=count, hits=hits, tokens=token_count)
        for count, hits, token_count in zip(
            documents.sum(axis=1).tolist(), group.hits.tolist(), weights.sum(axis=1).tolist(), strict=True
        )
    ]
    for name, values in {
        "kept": total(documents, lambda outcome: outcome.kept == KEEP),
        "kept_tokens": total(weights, lambda outcome: outcome.kept == KEEP),
        "excluded": total(documents, lambda outcome: outcome.kept == EXCLUDE),
        "excluded_tokens": total(weights, lambda outcome: outcome.kept == EXCLUDE),
        "undecided": total(documents, lambda outcome: outcome.kept == UNDECIDED),
    }.items():
        for counts, value in zip(found, values, strict=True):
            setattr(counts, name, value)
    for bit, reason in enumerate(REASONS):
        by_reason = total(documents, partial(_is_excluded_by, bit=bit))
        alone = total(documents, partial(_is_excluded_by, bit=bit, is_sole=True))
        for counts, excluded, sole in zip(found, by_reason, alone, strict=True):
            if excluded:
                counts.excluded_by[reason] = excluded
            if sole:
                counts.sole_cause[reason] = sole
    return dict(zip(group.names, found, strict=True))


def _is_excluded_by(outcome: OutcomeOfRow, *, bit: int, is_sole: bool = False) -> bool:
    is_excluded = outcome.kept == EXCLUDE and bool(outcome.failed >> bit & 1)
    return is_excluded and (not is_sole or _is_sole(outcome))


def _is_sole(outcome: OutcomeOfRow) -> bool:
    return outcome.missing == 0 and outcome.failed_count == 1


def pick_judgements(decided: Decided, mentions: Mentions, limit: int) -> list[tuple[int, Judgement]]:
    """Kept rows that mention most concepts, with their positions: most concepts first, then most hits, then in the run's order."""
    if not limit:
        return []
    is_kept = decided.table.select(lambda outcome: outcome.kept == KEEP)
    leaks = np.flatnonzero(is_kept[decided.codes[mentions.positions]])
    rows, firsts, numbers = np.unique(mentions.positions[leaks], return_index=True, return_counts=True)
    hits = np.add.reduceat(mentions.counts[leaks], firsts) if len(rows) else rows
    chosen = np.lexsort((rows, -hits, -numbers))[:limit]
    found = []
    for place, address in zip(chosen.tolist(), decided.index.describe_rows(rows[chosen]), strict=True):
        span = leaks[firsts[place] : firsts[place] + numbers[place]]
        ids = tuple(mentions.catalogue.concepts[number].id for number in mentions.concepts[span].tolist())
        judgement = Judgement(address.shard, address.row, address.doc_id, address.url, ids, int(hits[place]))
        found.append((address.position, judgement))
    return found


def select_mentioning(
    decided: Decided,
    mentions: Mentions,
    concept: Concept,
    *,
    outcome: Outcome | None = None,
    excluded_by: str | None = None,
    is_sole: bool = False,
) -> Positions:
    """The rows that mention a concept, ascending: of one outcome, excluded by a reason, or by it alone."""

    def is_wanted(found: OutcomeOfRow) -> bool:
        if outcome is not None and found.kept != _KEPT_CODES[outcome]:
            return False
        if excluded_by is not None and not _is_excluded_by(found, bit=REASONS.index(excluded_by)):
            return False
        return not is_sole or (found.kept == EXCLUDE and _is_sole(found))

    positions = mentions.find_rows(concept)
    return positions[decided.table.select(is_wanted)[decided.codes[positions]]]


class ConceptConcordance:
    """Concordances of one run. Threads may share it."""

    def __init__(self, folder: RunFolder, index: SignalIndex) -> None:
        self._index = index
        self._texts = TextReader(folder)
        self._refs = {(ref.shard.index, ref.piece.index): ref for ref in folder.ledger.slices()}

    def choose(
        self, positions: Positions, *, max_documents: int, seed: int, max_groups: int = DEFAULT_MAX_GROUPS
    ) -> Positions:
        """Of very many rows a seeded sample that lies in so many row groups at most, ascending."""
        shards, rows = self._index.locate(positions)
        keys = np.zeros(len(positions), np.uint64)
        for shard in self._index.description.shards:
            is_here = shards == shard.index
            keys[is_here] = draw_row_keys(shard.sha256, rows[is_here], seed, "concept concordance")
        taken: list[int] = []
        groups: set[tuple[str, int]] = set()
        for place in np.argsort(keys, kind="stable")[: _CANDIDATES * max_documents].tolist():
            if len(taken) == max_documents:
                break
            piece = self._index.find_slice(int(positions[place]))
            ref = self._refs[piece.shard, piece.piece]
            group = ref.id, self._texts.find_group(ref, int(rows[place])).start
            if group in groups or len(groups) < max_groups:
                groups.add(group)
                taken.append(int(positions[place]))
        return np.sort(np.array(taken, np.int64))

    def read_text(self, position: int) -> str:
        """The normalised text of a row that mentions something. Raises LedgerError where it cannot be read any more."""
        text, error = self._read(position)
        if text is None:
            [address] = self._index.describe_rows([position])
            raise LedgerError(
                f"{address.shard} row {address.row} was measured and cannot be read now ({error}).",
                hint="Restore the shard, or start a new run.",
            )
        return normalize(text).text

    def find_text(self, position: int) -> str | None:
        """The normalised text of any row; None where there is none."""
        text, _ = self._read(position)
        return None if text is None else normalize(text).text

    def _read(self, position: int) -> tuple[str | None, str | None]:
        piece = self._index.find_slice(position)
        _, [row] = self._index.locate(np.array([position]))
        return self._texts.read(self._refs[piece.shard, piece.piece], int(row))

    def read_lines(
        self, concept: Concept, positions: Sequence[int], *, context_chars: int = DEFAULT_CONTEXT_CHARS
    ) -> list[tuple[int, ConceptLine]]:
        """Every hit of a concept in rows, with the row's position."""
        compiled = compile_concepts([concept])
        lines = []
        for address in self._index.describe_rows(np.array(positions, np.int64)):
            text = self.read_text(address.position)
            hits = find_concepts(compiled, [text])
            for span in zip(hits.starts.tolist(), hits.ends.tolist(), strict=True):
                line = make_line(
                    concept.id,
                    text,
                    span,
                    url=address.url,
                    shard=address.shard,
                    row=address.row,
                    context_chars=context_chars,
                )
                lines.append((address.position, line))
        return lines

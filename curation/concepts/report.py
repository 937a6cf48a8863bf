"""What the boundary does to each concept: documents kept and excluded, by which stage, leaks, and documents worth a judgement.

Counts come from the ledger alone; only concordances and documents to read open a shard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.chance import draw_row_keys
from curation.concepts.catalogue import Catalogue, Concept
from curation.concepts.compile import compile_concepts
from curation.concepts.concordance import DEFAULT_CONTEXT_CHARS, ConceptLine, make_line
from curation.concepts.interval import find_interval
from curation.concepts.layer import index_concepts, read_concepts
from curation.concepts.match import find_concepts
from curation.curate import DecisionSet
from curation.decide import EXCLUDE, KEEP, REASONS, Decisions, name_reasons
from curation.errors import LedgerError
from curation.index.texts import TextReader
from curation.ledger.counts import count_tokens
from curation.ledger.signals import DecidedSlice, decide_ledger
from curation.ledger.store import SliceRef
from curation.normalize import normalize

Outcome = Literal["kept", "excluded", "undecided"]
_OUTCOMES: dict[int, Outcome] = {KEEP: "kept", EXCLUDE: "excluded", -1: "undecided"}

DEFAULT_JUDGEMENTS = 50


@dataclass
class Counts:
    """Documents that mention something, by what was decided. `excluded_by`: by every stage that excludes them, so its sum may
    exceed `excluded`; `sole_cause`: by the only stage that does, every stage having been measured."""

    documents: int = 0
    hits: int = 0
    tokens: int = 0
    kept: int = 0
    kept_tokens: int = 0
    excluded: int = 0
    excluded_tokens: int = 0
    undecided: int = 0
    excluded_by: dict[str, int] = field(default_factory=dict)
    sole_cause: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgement:
    """A kept document that mentions concepts: the more of them, the sooner somebody should read it."""

    shard: str
    row: int
    doc_id: str | None
    url: str | None
    concepts: tuple[str, ...]
    hits: int


@dataclass(frozen=True)
class ConceptReport:
    """`concepts`, `subjects`, `bands` and `standards` count documents, each once a line however many of its concepts it holds;
    `standards` has "" for concepts without a code. `leaking`: kept documents that mention any concept, of all `kept`;
    `leak_interval`: 95 %, exact."""

    catalogue: str
    catalogue_sha256: str
    documents: int
    kept: int
    leaking: int
    leak_interval: tuple[float, float]
    concepts: dict[str, Counts]
    subjects: dict[str, Counts]
    bands: dict[str, Counts]
    standards: dict[str, Counts]
    to_judge: list[Judgement]

    @property
    def leak_share(self) -> float:
        return self.leaking / self.kept if self.kept else 0.0


def report_concepts(
    decisions: DecisionSet, catalogue: Catalogue, *, judgements: int = DEFAULT_JUDGEMENTS
) -> ConceptReport:
    """Count every concept over a run's decisions. Raises LedgerError where a slice was not measured with the catalogue."""
    tallies = [
        _Tally([concept.id for concept in catalogue.concepts], range(len(catalogue.concepts))),
        *(
            _Tally.by(catalogue, name)
            for name in (
                lambda concept: concept.subject,
                lambda concept: concept.band,
                lambda concept: concept.standard or "",
            )
        ),
    ]
    documents = kept = leaking = 0
    to_judge: list[Judgement] = []
    for decided in _decide(decisions):
        core, outcome = decided.signals.core, decided.decisions
        layer = read_concepts(decisions.folder.ledger, decided.ref.id, catalogue)
        places = np.searchsorted(core["row"].to_numpy(), layer["row"].to_numpy())
        concepts, counts = index_concepts(catalogue, layer), layer["count"].to_numpy()
        tokens, _ = count_tokens(core)
        documents += core.num_rows
        is_kept = outcome.kept == KEEP
        kept += int(is_kept.sum())
        leaks = np.unique(places[is_kept[places]])
        leaking += len(leaks)
        for tally in tallies:
            tally.add(places, concepts, counts, tokens, outcome)
        to_judge = _pick_judgements(
            [*to_judge, *_describe_leaks(decided, catalogue, core, leaks, places, concepts, counts, judgements)],
            judgements,
        )
    by_concept, subjects, bands, standards = (tally.report() for tally in tallies)
    return ConceptReport(
        catalogue=catalogue.label,
        catalogue_sha256=catalogue.sha256,
        documents=documents,
        kept=kept,
        leaking=leaking,
        leak_interval=find_interval(leaking, kept),
        concepts=by_concept,
        subjects=subjects,
        bands=bands,
        standards=standards,
        to_judge=to_judge,
    )


def read_lines(
    decisions: DecisionSet,
    catalogue: Catalogue,
    concept: Concept,
    *,
    outcome: Outcome = "kept",
    excluded_by: str | None = None,
    max_documents: int = 50,
    seed: int = 0,
    context_chars: int = DEFAULT_CONTEXT_CHARS,
) -> list[ConceptLine]:
    """The concordance of a concept in kept (its leaks), excluded or undecided documents: of very many a seeded sample, in order
    of shard and row. `excluded_by`: only documents that this stage excludes.

    Raises LedgerError where a slice was not measured or a row cannot be read any more.
    """
    chosen: list[tuple[int, SliceRef, int, str | None]] = []
    for decided in _decide(decisions):
        core, result = decided.signals.core, decided.decisions
        layer = read_concepts(decisions.folder.ledger, decided.ref.id, catalogue)
        index = catalogue.concepts.index(concept)
        wanted = layer["row"].to_numpy()[index_concepts(catalogue, layer) == index]
        places = np.searchsorted(core["row"].to_numpy(), wanted)
        matches = np.array([_OUTCOMES[code] == outcome for code in result.kept[places].tolist()], bool)
        if excluded_by is not None:
            matches &= (result.failed[places] >> REASONS.index(excluded_by) & 1).astype(bool)
        places = places[matches]
        rows = core["row"].to_numpy()[places]
        keys = draw_row_keys(decided.ref.shard.sha256, rows, seed, "concept concordance")
        urls = core["url"].take(pa.array(places)).to_pylist()
        chosen += [
            (key, decided.ref, row, url) for key, row, url in zip(keys.tolist(), rows.tolist(), urls, strict=True)
        ]
        chosen = sorted(chosen, key=lambda entry: entry[0])[:max_documents]
    chosen.sort(key=lambda entry: (entry[1].shard.index, entry[2]))
    reader = TextReader(decisions.folder)
    compiled = compile_concepts([concept])
    lines: list[ConceptLine] = []
    for _, ref, row, url in chosen:
        text, error = reader.read(ref, row)
        if text is None:
            raise LedgerError(
                f"{ref.shard.name} row {row} was measured and cannot be read now ({error}).",
                hint="Restore the shard, or start a new run.",
            )
        normalized = normalize(text).text
        hits = find_concepts(compiled, [normalized])
        lines += [
            make_line(
                concept.id,
                normalized,
                span,
                url=url,
                shard=ref.shard.name,
                row=row,
                context_chars=context_chars,
            )
            for span in zip(hits.starts.tolist(), hits.ends.tolist(), strict=True)
        ]
    return lines


def _decide(decisions: DecisionSet) -> Iterator[DecidedSlice]:
    return decide_ledger(
        decisions.folder.ledger,
        decisions.bound,
        decisions.word_scores,
        decisions.overrides,
        decisions.source_rules,
    )


class _Tally:
    """Counts by group of concepts; a document counts once in a group."""

    def __init__(self, names: Sequence[str], group_of: Sequence[int]) -> None:
        self._names = list(names)
        self._group_of = np.array(group_of, np.int64)
        self._counts = [Counts() for _ in names]

    @classmethod
    def by(cls, catalogue: Catalogue, name_group: Callable[[Concept], str]) -> _Tally:
        names = list(dict.fromkeys(name_group(concept) for concept in catalogue.concepts))
        return cls(names, [names.index(name_group(concept)) for concept in catalogue.concepts])

    def add(
        self,
        places: npt.NDArray[np.int64],
        concepts: npt.NDArray[np.int64],
        counts: npt.NDArray[np.int32],
        tokens: npt.NDArray[np.int64],
        decisions: Decisions,
    ) -> None:
        """Count one slice: row `places[i]` mentions `concepts[i]` `counts[i]` times."""
        size = len(self._names)
        groups = self._group_of[concepts]
        hits = np.bincount(groups, weights=counts, minlength=size)
        pairs = np.unique(groups * max(len(tokens), 1) + places)
        groups, places = pairs // max(len(tokens), 1), pairs % max(len(tokens), 1)
        kept, failed, missing = decisions.kept[places], decisions.failed[places], decisions.missing[places]
        is_kept, is_excluded = kept == KEEP, kept == EXCLUDE
        is_sole = is_excluded & (missing == 0) & (failed & (failed - np.uint16(1)) == 0)

        def count(where: npt.NDArray[np.bool_]) -> list[int]:
            return np.bincount(groups[where], minlength=size).tolist()  # type: ignore[no-any-return]

        def add_tokens(where: npt.NDArray[np.bool_]) -> list[int]:
            sums = np.zeros(size, np.int64)
            np.add.at(sums, groups[where], tokens[places[where]])
            return sums.tolist()

        everywhere = np.ones(len(groups), bool)
        sums = {
            "documents": count(everywhere),
            "hits": hits.astype(np.int64).tolist(),
            "tokens": add_tokens(everywhere),
            "kept": count(is_kept),
            "kept_tokens": add_tokens(is_kept),
            "excluded": count(is_excluded),
            "excluded_tokens": add_tokens(is_excluded),
            "undecided": count(~is_kept & ~is_excluded),
        }
        for name, values in sums.items():
            for entry, value in zip(self._counts, values, strict=True):
                setattr(entry, name, getattr(entry, name) + value)
        for bit in name_reasons(int(np.bitwise_or.reduce(failed[is_excluded], initial=0))):
            has_failed = is_excluded & (failed >> REASONS.index(bit) & 1).astype(bool)
            for entry, excluded, sole in zip(self._counts, count(has_failed), count(has_failed & is_sole), strict=True):
                if excluded:
                    entry.excluded_by[bit] = entry.excluded_by.get(bit, 0) + excluded
                if sole:
                    entry.sole_cause[bit] = entry.sole_cause.get(bit, 0) + sole

    def report(self) -> dict[str, Counts]:
        return dict(zip(self._names, self._counts, strict=True))


def _describe_leaks(
    decided: DecidedSlice,
    catalogue: Catalogue,
    core: pa.Table,
    leaks: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    concepts: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int32],
    limit: int,
) -> list[Judgement]:
    """The kept rows of a slice with most concepts. The layer is ordered by row, so a row's entries stand together."""
    firsts, lasts = np.searchsorted(places, leaks), np.searchsorted(places, leaks, side="right")
    order = np.argsort(-(lasts - firsts), kind="stable")[:limit]
    found = []
    for index in order.tolist():
        place, span = int(leaks[index]), slice(int(firsts[index]), int(lasts[index]))
        found.append(
            Judgement(
                decided.ref.shard.name,
                int(core["row"][place].as_py()),
                core["doc_id"][place].as_py(),
                core["url"][place].as_py(),
                tuple(catalogue.concepts[concept].id for concept in concepts[span].tolist()),
                int(counts[span].sum()),
            )
        )
    return found


def _pick_judgements(found: list[Judgement], limit: int) -> list[Judgement]:
    """Most concepts first, then most hits; equal ones in the order of the run."""
    return sorted(found, key=lambda judgement: (-len(judgement.concepts), -judgement.hits))[:limit]

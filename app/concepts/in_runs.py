"""Answers about concepts in a run: the report, concordances, the documents of a concept. From the run's index and its layer."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.concepts.catalogue import Catalogue, Concept
from curation.concepts.concordance import ConceptLine
from curation.concepts.indexed import (
    ConceptConcordance,
    Mentions,
    open_mentions,
    pick_judgements,
    report_indexed,
    select_mentioning,
)
from curation.concepts.interval import find_interval
from curation.concepts.layer import name_concepts_layer
from curation.concepts.probe import PUBLISHED_NGRAMS, PUBLISHED_SHARE
from curation.concepts.report import Counts
from curation.decide import EXCLUDE, KEEP, REASONS, name_reasons
from curation.index import Decided
from primer.app.concepts import repository
from primer.app.concepts.content import read_catalogue
from primer.app.concepts.measuring import is_measured
from primer.app.concepts.run_schemas import (
    ConceptConcordanceLine,
    ConceptConcordanceRequest,
    ConceptConcordanceView,
    ConceptCounts,
    ConceptReportRequest,
    ConceptReportView,
    GroupCounts,
    JudgementView,
    LineSort,
    MentioningPage,
    MentioningRequest,
    Outcome,
    PublishedView,
)
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotFound
from primer.app.core.paging import decode_id_cursor, encode_cursor
from primer.app.documents.decisions import OpenDecisions
from primer.app.documents.service import describe_rows
from primer.app.models import CatalogueRecord

PUBLISHED = PublishedView(ngrams=PUBLISHED_NGRAMS, share=PUBLISHED_SHARE)

# Each takes about 4 ms, and most concepts of a catalogue leak as rarely as others.
find_exact_interval = lru_cache(maxsize=20_000)(find_interval)
_LOOKED_AT = 50  # versions, newest first


def report(context: Context, found: OpenDecisions, body: ConceptReportRequest) -> ConceptReportView:
    """Raises NotFound, Conflict where the version is not measured in the run."""
    record, mentions = open_measured(context, found, body.version)
    decided = found.opened.index.decide(found.request)
    told = report_indexed(decided, mentions)
    described = {concept.id: concept for concept in mentions.catalogue.concepts}
    return ConceptReportView(
        version=record.version,
        documents=told.documents,
        kept=told.kept,
        leaking=told.leaking,
        leak_share=told.leak_share,
        leak_interval=told.leak_interval,
        published=PUBLISHED,
        concepts=[
            ConceptCounts(
                concept=concept_id,
                **{name: getattr(described[concept_id], name) for name in ("name", "subject", "band", "standard")},
                **_describe_counts(counts, told.kept),
            )
            for concept_id, counts in told.concepts.items()
        ],
        subjects=_describe_groups(told.subjects, told.kept),
        bands=_describe_groups(told.bands, told.kept),
        standards=_describe_groups(told.standards, told.kept),
        to_judge=[
            JudgementView(
                position=position,
                shard=judgement.shard,
                row=judgement.row,
                doc_id=judgement.doc_id,
                url=judgement.url,
                concepts=list(judgement.concepts),
                hits=judgement.hits,
            )
            for position, judgement in pick_judgements(decided, mentions, body.judgements)
        ],
    )


def read_concordance(
    context: Context, found: OpenDecisions, concept_id: str, body: ConceptConcordanceRequest
) -> ConceptConcordanceView:
    """Raises NotFound, Conflict as above, LedgerError where a document cannot be read any more."""
    record, mentions = open_measured(context, found, body.version)
    concept = require_concept(mentions.catalogue, concept_id)
    decided = found.opened.index.decide(found.request)
    positions = select_mentioning(
        decided, mentions, concept, outcome=body.outcome, excluded_by=body.excluded_by, is_sole=body.is_sole
    )
    reader = open_concordance(found)
    chosen = reader.choose(positions, max_documents=body.max_documents, seed=body.seed)
    lines = reader.read_lines(concept, chosen.tolist(), context_chars=body.context_chars)
    return ConceptConcordanceView(
        version=record.version,
        concept=concept_id,
        documents=len(positions),
        documents_read=len(chosen),
        is_sampled=len(chosen) < len(positions),
        hits=len(lines),
        lines=_sort(_describe_lines(decided, lines, body.lines_a_document), body.sort),
    )


def list_documents(context: Context, found: OpenDecisions, concept_id: str, body: MentioningRequest) -> MentioningPage:
    """In the run's order. Raises as above."""
    record, mentions = open_measured(context, found, body.version)
    concept = require_concept(mentions.catalogue, concept_id)
    decided = found.opened.index.decide(found.request)
    positions = select_mentioning(
        decided, mentions, concept, outcome=body.outcome, excluded_by=body.excluded_by, is_sole=body.is_sole
    )
    start = decode_id_cursor(body.cursor)
    rest = positions if start is None else positions[np.searchsorted(positions, start, side="right") :]
    page = rest[: body.limit]
    return MentioningPage(
        version=record.version,
        concept=concept_id,
        items=describe_rows(found, decided, page, ()),
        next=encode_cursor(int(page[-1])) if len(rest) > body.limit else None,
        total=len(positions),
    )


def open_measured(context: Context, found: OpenDecisions, version: int | None) -> tuple[CatalogueRecord, Mentions]:
    """A version and what it finds in the run; None: the newest that the run was measured with. Raises NotFound, Conflict where it was
    not."""
    record = _choose_version(context, found, version)
    catalogue = read_catalogue(record)
    if not _knows(found, catalogue):
        raise Conflict(
            f"Version {record.version} of the catalogue was not measured in the run of job {found.job.id}.",
            hint=f"Let it be measured: POST /api/v1/jobs/{found.job.id}/concepts/measure with version {record.version}.",
        )
    return record, open_mentions(found.opened.index, found.opened.folder.ledger, catalogue)


def _choose_version(context: Context, found: OpenDecisions, version: int | None) -> CatalogueRecord:
    with context.database.reading() as session:
        if version is not None:
            return repository.require_version(session, version)
        for listed in repository.list_versions(session, before=None, limit=_LOOKED_AT):
            record = repository.require_version(session, listed.version)
            if _knows(found, read_catalogue(record)):
                return record
        return repository.require_version(session, None)


def _knows(found: OpenDecisions, catalogue: Catalogue) -> bool:
    """A layer that is whole stays so: that is remembered with the index."""
    cache, key = found.opened.index.cache, ("concept layer", name_concepts_layer(catalogue))

    def look() -> bool:
        if not is_measured(found.opened.folder.ledger, catalogue):
            raise _NotMeasured
        return True

    try:
        return cache.get(key, look, lambda _: 100)
    except _NotMeasured:
        return False


class _NotMeasured(Exception):
    pass


def open_concordance(found: OpenDecisions) -> ConceptConcordance:
    """One a run that is open: it remembers texts that were decoded last."""
    return found.opened.index.cache.get(
        "concept concordance",
        lambda: ConceptConcordance(found.opened.folder, found.opened.index),
        lambda _: 64_000_000,
    )


def require_concept(catalogue: Catalogue, concept_id: str) -> Concept:
    """Raises NotFound."""
    concept = catalogue.by_id.get(concept_id)
    if concept is None:
        raise NotFound(
            f"Version {catalogue.version} has no concept {concept_id!a}.", hint="See the concepts of this version."
        )
    return concept


def name_outcome(kept: int) -> Outcome:
    return "kept" if kept == KEEP else "excluded" if kept == EXCLUDE else "undecided"


def _describe_counts(counts: Counts, kept: int) -> dict[str, Any]:
    named = ("documents", "hits", "tokens", "kept", "kept_tokens", "excluded", "excluded_tokens", "undecided")
    return {
        **{name: getattr(counts, name) for name in (*named, "excluded_by", "sole_cause")},
        "kept_share": counts.kept / kept if kept else 0.0,
        "kept_interval": find_exact_interval(counts.kept, kept),
    }


def _describe_groups(groups: dict[str, Counts], kept: int) -> list[GroupCounts]:
    return [GroupCounts(name=name, **_describe_counts(counts, kept)) for name, counts in groups.items()]


def _describe_lines(
    decided: Decided, lines: list[tuple[int, ConceptLine]], lines_a_document: int
) -> list[ConceptConcordanceLine]:
    positions: npt.NDArray[np.int64] = np.array([position for position, _ in lines], np.int64)
    decisions = decided.decisions_at(positions)
    shown: list[ConceptConcordanceLine] = []
    seen: dict[int, int] = {}
    for place, (position, line) in enumerate(lines):
        seen[position] = seen.get(position, 0) + 1
        if seen[position] > lines_a_document:
            continue
        by = int(decisions.decided_by[place])
        shown.append(
            ConceptConcordanceLine(
                position=position,
                shard=line.shard,
                row=line.row,
                domain=line.domain,
                outcome=name_outcome(int(decisions.kept[place])),
                decided_by=None if by < 0 else REASONS[by],
                excluded_by=name_reasons(int(decisions.failed[place])),
                start=line.start,
                end=line.end,
                left=line.left,
                hit=line.hit,
                right=line.right,
            )
        )
    return shown


def _sort(lines: list[ConceptConcordanceLine], sort: LineSort) -> list[ConceptConcordanceLine]:
    """By the words to the right, by those to the left from the nearest on, or by host; equal ones as documents stand in the run."""
    match sort:
        case "left":
            return sorted(lines, key=lambda line: line.left.casefold().split()[::-1])
        case "right":
            return sorted(lines, key=lambda line: line.right.casefold().split())
        case "domain":
            return sorted(lines, key=lambda line: tuple(reversed(line.domain.split("."))))
    return lines

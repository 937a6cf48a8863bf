"""What an edit of the catalogue would change, before anybody saves it: the difference, and what it means for a run.

What is removed is counted from the layer that is there. What is added or changed is known of documents that are read again: of a
sample at once, of all once the new version is measured.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from curation.concepts.catalogue import Catalogue, CatalogueDiff, Concept, diff_catalogues
from curation.concepts.compile import CompiledCatalogue, compile_concepts
from curation.concepts.concordance import make_line
from curation.concepts.indexed import Mentions, open_mentions
from curation.concepts.match import find_concepts
from curation.concepts.measure import plan_measuring
from curation.decide import KEEP
from curation.index import Decided
from primer.app.concepts import repository
from primer.app.concepts.in_runs import name_outcome, open_concordance
from primer.app.concepts.measuring import is_measured
from primer.app.concepts.schemas import (
    CatalogueDiffView,
    CatalogueImpactView,
    CatalogueRunImpact,
    CatalogueSampleChange,
    CatalogueSampleLine,
    ConceptChange,
)
from primer.app.core.context import Context
from primer.app.documents.decisions import OpenDecisions

_MAX_LINES = 50


def describe_diff(old: Catalogue, new: Catalogue, diff: CatalogueDiff) -> CatalogueDiffView:
    """Changes in the order of the newer one, what was removed last."""
    before, after, remeasured = old.by_id, new.by_id, set(diff.remeasured)
    fields = {**diff.changed, **diff.reworded}
    ids = [concept.id for concept in new.concepts if concept.id in remeasured or concept.id in fields]
    return CatalogueDiffView(
        before=old.version,
        after=new.version,
        changes=[
            ConceptChange(
                id=concept_id,
                fields=list(fields.get(concept_id, ())),
                is_remeasured=concept_id in remeasured,
                before=before.get(concept_id),
                after=after.get(concept_id),
            )
            for concept_id in (*ids, *diff.removed)
        ],
        remeasured=list(diff.remeasured),
    )


def describe_impact(
    context: Context, old: Catalogue, new: Catalogue, found: OpenDecisions | None, *, sample: int, seed: int
) -> CatalogueImpactView:
    """`found`: the run to ask, None for none. Raises LedgerError where a document cannot be read any more."""
    diff = diff_catalogues(old, new)
    with context.database.reading() as session:
        measured = repository.list_jobs_measured_with(session, old.version)
    return CatalogueImpactView(
        diff=describe_diff(old, new, diff),
        measured_jobs=measured,
        run=None if found is None else _describe_run(found, old, new, diff, sample, seed),
    )


def _describe_run(
    found: OpenDecisions, old: Catalogue, new: Catalogue, diff: CatalogueDiff, sample: int, seed: int
) -> CatalogueRunImpact:
    index, ledger = found.opened.index, found.opened.folder.ledger
    decided = index.decide(found.request)
    plan = plan_measuring(found.opened.folder, new)
    removed = _count_removed(decided, open_mentions(index, ledger, old), diff) if is_measured(ledger, old) else None
    read, changes, lines = _try_sample(found, decided, old, new, diff, sample, seed)
    return CatalogueRunImpact(
        job_id=found.job.id,
        documents=len(index),
        documents_to_read=len(index) if plan.concepts else 0,
        slices_to_measure=plan.slices_missing,
        slices=plan.slices,
        removed_documents=removed[0] if removed else None,
        removed_alone=removed[1] if removed else None,
        removed_alone_kept=removed[2] if removed else None,
        sample_documents=read,
        sample=changes,
        lines=lines,
    )


def _count_removed(decided: Decided, mentions: Mentions, diff: CatalogueDiff) -> tuple[int, int, int]:
    """Documents that mention removed concepts, those that mention no other, and the kept ones among these."""
    removed = set(diff.removed)
    is_removed = np.array([concept.id in removed for concept in mentions.catalogue.concepts], bool)[mentions.concepts]
    touched = np.unique(mentions.positions[is_removed])
    alone = np.setdiff1d(touched, mentions.positions[~is_removed], assume_unique=False)
    return len(touched), len(alone), int((decided.decisions_at(alone).kept == KEEP).sum())


def _try_sample(
    found: OpenDecisions,
    decided: Decided,
    old: Catalogue,
    new: Catalogue,
    diff: CatalogueDiff,
    sample: int,
    seed: int,
) -> tuple[int, list[CatalogueSampleChange], list[CatalogueSampleLine]]:
    before = [old.by_id[concept_id] for concept_id in (*diff.changed, *diff.removed)]
    after = [new.by_id[concept_id] for concept_id in diff.remeasured]
    if not sample or not (before or after):
        return 0, [], []
    reader = open_concordance(found)
    everything = np.arange(len(decided), dtype=np.int64)
    chosen = reader.choose(everything, max_documents=sample, seed=seed)
    compiled_before, compiled_after = compile_concepts(before), compile_concepts(after)
    gained: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    lines: list[CatalogueSampleLine] = []
    outcomes = decided.decisions_at(chosen).kept.tolist()
    for address, outcome in zip(decided.index.describe_rows(chosen), outcomes, strict=True):
        text = reader.find_text(address.position)
        if text is None:
            continue
        was, is_now = _find_spans(compiled_before, text), _find_spans(compiled_after, text)
        for change, mine, other, counts in (("gained", is_now, was, gained), ("lost", was, is_now, lost)):
            counts.update({concept for concept, _ in mine} - {concept for concept, _ in other})
            for concept, span in sorted(mine - other, key=lambda entry: entry[1]):
                line = make_line(concept, text, span, url=address.url, shard=address.shard, row=address.row)
                lines.append(
                    CatalogueSampleLine(
                        change=change,
                        concept=concept,
                        position=address.position,
                        shard=address.shard,
                        row=address.row,
                        outcome=name_outcome(outcome),
                        left=line.left,
                        hit=line.hit,
                        right=line.right,
                    )
                )
    named = _list_ids(before, after)
    changes = [CatalogueSampleChange(concept=name, gained=gained[name], lost=lost[name]) for name in named]
    return len(chosen), changes, lines[:_MAX_LINES]


def _find_spans(compiled: CompiledCatalogue, text: str) -> set[tuple[str, tuple[int, int]]]:
    hits = find_concepts(compiled, [text])
    spans = zip(hits.concepts.tolist(), hits.starts.tolist(), hits.ends.tolist(), strict=True)
    return {(compiled.concepts[concept].id, (start, end)) for concept, start, end in spans}


def _list_ids(before: list[Concept], after: list[Concept]) -> list[str]:
    return list(dict.fromkeys(concept.id for concept in (*after, *before)))

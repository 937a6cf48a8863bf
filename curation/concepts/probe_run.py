"""The leak probe over the kept documents of a run, whether or not its concepts were measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from curation.concepts.catalogue import Catalogue
from curation.concepts.probe import DEFAULT_LINES, ProbedText, ProbeReport, probe_texts
from curation.curate import DecisionSet
from curation.decide import KEEP
from curation.errors import LedgerError
from curation.ledger.signals import decide_ledger


def probe_run(
    decisions: DecisionSet,
    catalogue: Catalogue,
    *,
    max_lines: int = DEFAULT_LINES,
    checkpoint: Callable[[], None] = lambda: None,
) -> ProbeReport:
    """Probe what a decision set keeps. What `checkpoint` raises, between batches, ends the work.

    Raises LedgerError where a slice is not measured or a kept row cannot be read any more, SourceError where a shard is gone or has
    changed.
    """
    return probe_texts(catalogue, _read_kept(decisions), max_lines=max_lines, checkpoint=checkpoint)


def _read_kept(decisions: DecisionSet) -> Iterator[list[ProbedText]]:
    decided_slices = decide_ledger(
        decisions.folder.ledger,
        decisions.bound,
        decisions.word_scores,
        decisions.overrides,
        decisions.source_rules,
    )
    for decided in decided_slices:
        is_kept = decided.decisions.kept == KEEP
        if not is_kept.any():
            continue
        ref, urls = decided.ref, decided.signals.core["url"].to_pylist()
        for batch in decisions.folder.read_rows(ref):
            offset = batch.first_row - ref.piece.first_row
            kept: list[ProbedText] = []
            for place in np.flatnonzero(is_kept[offset : offset + len(batch)]).tolist():
                text = batch.texts[place]
                if text is None:
                    raise LedgerError(
                        f"{ref.shard.name} row {batch.first_row + place} was measured and cannot be read now.",
                        hint="Restore the shard, or start a new run.",
                    )
                kept.append(ProbedText(text, urls[offset + place], ref.shard.name, batch.first_row + place))
            yield kept

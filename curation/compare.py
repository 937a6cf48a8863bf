"""Two decision sets over one run, side by side: what the second keeps that the first does not, and the other way round.

From the ledger alone; no text is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from curation.curate import DecisionSet
from curation.decide import EXCLUDE, KEEP, UNDECIDED
from curation.funnel import Funnel
from curation.ledger.counts import count_tokens
from curation.ledger.signals import DecidedSlice, decide_ledger
from curation.overrides import StrayRulings

MAX_EXAMPLES = 20

# How a row moves: (before, after).
MOVES = {
    "now_kept": (EXCLUDE, KEEP),
    "now_excluded": (KEEP, EXCLUDE),
    "now_undecided": (None, UNDECIDED),
    "no_longer_undecided": (UNDECIDED, None),
}


@dataclass
class Flips:
    """Documents and tokens that moved one way, and the first MAX_EXAMPLES of them."""

    documents: int = 0
    tokens: int = 0
    examples: list[dict[str, object]] = field(default_factory=list)


@dataclass
class Comparison:
    """`funnel` is of the second decision set, and `strays` of its rulings; `flips` by the names of MOVES."""

    funnel: Funnel
    baseline: Funnel
    strays: StrayRulings = field(default_factory=StrayRulings)
    flips: dict[str, Flips] = field(default_factory=lambda: {move: Flips() for move in MOVES})

    def report(self) -> dict[str, object]:
        return {
            "funnel": self.funnel.report(),
            "baseline": self.baseline.report(),
            "flips": {
                move: {"documents": flips.documents, "tokens": flips.tokens, "examples": flips.examples}
                for move, flips in self.flips.items()
            },
            "rulings_without_row": self.strays.report(),
        }


def compare_decisions(baseline: DecisionSet, wanted: DecisionSet) -> Comparison:
    """Both decision sets must be of the same run. Memory holds one slice."""
    comparison = Comparison(Funnel(wanted.bound.stages), Funnel(baseline.bound.stages), _find_strays(wanted))
    for before, after in zip(_decide(baseline), _decide(wanted), strict=True):
        tokens, _ = count_tokens(after.signals.core)
        comparison.baseline.add(before.decisions, tokens)
        comparison.funnel.add(after.decisions, tokens)
        for move, (old, new) in MOVES.items():
            moved = before.decisions.kept != after.decisions.kept
            if old is not None:
                moved &= before.decisions.kept == old
            if new is not None:
                moved &= after.decisions.kept == new
            _count_flips(comparison.flips[move], after, np.flatnonzero(moved), tokens)
    return comparison


def _find_strays(decisions: DecisionSet) -> StrayRulings:
    if decisions.overrides is None:
        return StrayRulings()
    shards = decisions.folder.ledger.read_shards()
    return decisions.overrides.find_strays((shard.sha256, shard.name, shard.row_count) for shard in shards)


def _decide(decisions: DecisionSet) -> Iterator[DecidedSlice]:
    return decide_ledger(
        decisions.folder.ledger, decisions.bound, decisions.word_scores, decisions.overrides, decisions.source_rules
    )


def _count_flips(flips: Flips, decided: DecidedSlice, places: np.ndarray, tokens: np.ndarray) -> None:
    flips.documents += len(places)
    flips.tokens += int(tokens[places].sum())
    for place in places[: MAX_EXAMPLES - len(flips.examples)].tolist():
        row = decided.signals.core.slice(place, 1).select(["row", "doc_id", "url"]).to_pylist()[0]
        flips.examples.append({"shard": decided.ref.shard.name, **row})

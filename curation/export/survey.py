"""First pass over a run: every row's decision and tokens, and which rows make the curriculum.

Reads the ledger alone, never a shard. Memory is 9 bytes a row, 17 with the keys of the control and 25 with its strata.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curation.chance import draw_row_keys
from curation.decide import KEEP, OVERRIDE, REASONS, SOURCE_RULE
from curation.errors import UndecidedRows
from curation.export.control import name_strata
from curation.export.request import ControlMatch, ExportRequest
from curation.funnel import Funnel
from curation.ledger.counts import count_tokens
from curation.ledger.signals import decide_ledger
from curation.ledger.store import SliceRef

_KEPT, _OVERRIDDEN, _AVAILABLE = 1, 2, 4  # bits of Survey.flags


@dataclass(frozen=True)
class Survey:
    """Rows of all slices in order: slice i has positions `offsets[i]` to `offsets[i + 1]`.

    `control_keys`: uint64. `strata`: uint64, None where the control matches tokens alone.
    """

    slices: tuple[SliceRef, ...]
    offsets: npt.NDArray[np.int64]
    flags: npt.NDArray[np.uint8]
    tokens: npt.NDArray[np.int64]
    control_keys: npt.NDArray[np.uint64]
    strata: npt.NDArray[np.uint64] | None
    funnel: Funnel
    estimated_count: int

    @property
    def is_available(self) -> npt.NDArray[np.bool_]:
        """Which rows the control may draw: those that could be read and that no source rule bars."""
        return _has_bit(self.flags, _AVAILABLE)

    def is_kept(self, index: int) -> npt.NDArray[np.bool_]:
        return _has_bit(self.flags[self.span(index)], _KEPT)

    def is_overridden(self, index: int) -> npt.NDArray[np.bool_]:
        return _has_bit(self.flags[self.span(index)], _OVERRIDDEN)

    def span(self, index: int) -> slice:
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))

    def rows(self, index: int) -> npt.NDArray[np.int64]:
        """The rows of a slice, 0-based in its shard."""
        piece = self.slices[index].piece
        return np.arange(piece.first_row, piece.first_row + piece.row_count, dtype=np.int64)


def survey_run(request: ExportRequest, on_slice: Callable[[], None]) -> Survey:
    """Decide every row. Raises UndecidedRows, LedgerError when one was not measured."""
    slices = tuple(request.run.ledger.slices())
    offsets = np.concatenate([[0], np.cumsum([ref.piece.row_count for ref in slices], dtype=np.int64)])
    n = int(offsets[-1])
    flags = np.zeros(n, np.uint8)
    tokens = np.zeros(n, np.int64)
    control_keys = np.zeros(n, np.uint64)
    strata = None if request.control is ControlMatch.TOKENS else np.zeros(n, np.uint64)
    funnel = Funnel(request.bound.stages)
    estimated_count = 0
    override = REASONS.index(OVERRIDE)
    barred = np.uint16(1 << REASONS.index(SOURCE_RULE))
    decided_slices = decide_ledger(
        request.run.ledger, request.bound, request.word_scores, request.overrides, request.source_rules
    )
    for index, decided in enumerate(decided_slices):
        span = slice(int(offsets[index]), int(offsets[index + 1]))
        signals, decisions = decided.signals.signals, decided.decisions
        tokens[span], is_estimated = count_tokens(decided.signals.core)
        flags[span] = (
            (decisions.kept == KEEP) * _KEPT
            + (decisions.decided_by == override) * _OVERRIDDEN
            + (~signals.has_error & (decisions.failed & barred == 0)) * np.uint8(_AVAILABLE)
        )
        control_keys[span] = draw_row_keys(signals.shard_sha256, signals.rows, request.control_seed, "control")
        if strata is not None:
            with_hosts = request.control is ControlMatch.TOKENS_LENGTH_DOMAIN
            urls = decided.signals.core["url"].to_pylist() if with_hosts else None
            strata[span] = name_strata(tokens[span], urls)
        funnel.add(decisions, tokens[span])
        estimated_count += int(is_estimated.sum())
        on_slice()
    _require_decided(funnel)
    return Survey(slices, offsets, flags, tokens, control_keys, strata, funnel, estimated_count)


def _require_decided(funnel: Funnel) -> None:
    if undecided := funnel.documents["undecided"]:
        missing = ", ".join(f"{stage} for {count:,}" for stage, count in funnel.undecided_for().items())
        raise UndecidedRows(
            f"{undecided:,} of {funnel.document_count:,} documents are undecided; signals missing: {missing}.",
            hint="Measure those documents (`primer measure`), or choose a profile that does not read the missing signal.",
        )


def choose_curriculum(survey: Survey, request: ExportRequest) -> npt.NDArray[np.bool_]:
    """Which positions the curriculum takes: what is kept, in the export's order, up to the budget."""
    chosen = _has_bit(survey.flags, _KEPT)
    if request.token_budget is None:
        return chosen
    positions = np.flatnonzero(chosen)
    if request.shuffle_seed is not None:
        keys = np.concatenate(
            [draw_shuffle_keys(survey, index, request.shuffle_seed) for index in range(len(survey.slices))]
            or [np.zeros(0, np.uint64)]
        )
        positions = positions[np.argsort(keys[positions], kind="stable")]
    # float64 sums are exact up to 2 ** 53 tokens and cannot wrap round, whatever count a source states.
    totals = np.cumsum(survey.tokens[positions], dtype=np.float64)
    taken = int(np.searchsorted(totals, request.token_budget, side="right"))
    chosen[positions[taken:]] = False
    return chosen


def draw_shuffle_keys(survey: Survey, index: int, seed: int) -> npt.NDArray[np.uint64]:
    """The keys by which a slice's rows are shuffled; equal keys (a shard listed twice) stay in order of position."""
    ref = survey.slices[index]
    return draw_row_keys(ref.shard.sha256, survey.rows(index), seed, "shuffle")


def _has_bit(flags: npt.NDArray[np.uint8], bit: int) -> npt.NDArray[np.bool_]:
    return (flags & np.uint8(bit)).astype(bool)

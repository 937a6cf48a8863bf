"""What was decided of each row, as a two-byte code into a table of the distinct outcomes: a few hundred at most.

Everything that is asked of decisions is asked of the table, once for each outcome instead of once for each row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curation.decide import REASONS, UNDECIDED, Decisions
from curation.funnel import Funnel
from curation.stages import STAGES

Codes = npt.NDArray[np.uint16]

# An outcome as one number: failed, missing, decided_by + 1, kept + 1. What is missing are stages, which come first.
_MISSING_SHIFT = len(REASONS)
_BY_SHIFT = _MISSING_SHIFT + len(STAGES)
_KEPT_SHIFT = _BY_SHIFT + len(REASONS).bit_length()
_KEY_BITS = _KEPT_SHIFT + 2


@dataclass(frozen=True)
class Outcome:
    """As `Decisions`, of one row."""

    kept: int
    failed: int
    unknown: int
    decided_by: int
    missing: int

    @property
    def failed_count(self) -> int:
        return self.failed.bit_count()


class OutcomeTable:
    """Numbers outcomes as they come; threads may encode at the same time."""

    def __init__(self, other: OutcomeTable | None = None) -> None:
        self._codes: npt.NDArray[np.int32] = np.full(1 << _KEY_BITS, -1, np.int32)
        self._keys: list[int] = []
        if other is not None:
            self._codes, self._keys = other._codes.copy(), list(other._keys)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._keys)

    def encode(self, decisions: Decisions) -> Codes:
        keys = decisions.failed.astype(np.int32)
        keys |= decisions.missing.astype(np.int32) << _MISSING_SHIFT
        keys |= (decisions.decided_by.astype(np.int32) + 1) << _BY_SHIFT
        keys |= (decisions.kept.astype(np.int32) + 1) << _KEPT_SHIFT
        codes = self._codes[keys]
        if len(codes) and codes.min() < 0:
            with self._lock:
                for key in np.unique(keys[codes < 0]).tolist():
                    if self._codes[key] < 0:
                        self._codes[key] = len(self._keys)
                        self._keys.append(key)
            codes = self._codes[keys]
        return codes.astype(np.uint16)

    def list_outcomes(self) -> list[Outcome]:
        """By code."""
        return [_unpack(key) for key in self._keys]

    def select(self, condition: Callable[[Outcome], bool]) -> npt.NDArray[np.bool_]:
        """For each code whether its outcome meets the condition."""
        return np.array([condition(outcome) for outcome in self.list_outcomes()], bool)

    def decode(self, codes: Codes) -> Decisions:
        outcomes = self.list_outcomes()
        fields = {
            "kept": np.int8,
            "failed": np.uint16,
            "unknown": np.uint16,
            "decided_by": np.int8,
            "missing": np.uint16,
        }
        return Decisions(
            **{
                name: np.array([getattr(outcome, name) for outcome in outcomes], dtype)[codes]
                for name, dtype in fields.items()
            }
        )


def _unpack(key: int) -> Outcome:
    missing = key >> _MISSING_SHIFT & ((1 << len(STAGES)) - 1)
    kept = (key >> _KEPT_SHIFT) - 1
    return Outcome(
        kept=kept,
        failed=key & ((1 << len(REASONS)) - 1),
        # `decide` names what is unknown exactly where that leaves a row undecided.
        unknown=missing if kept == UNDECIDED else 0,
        decided_by=(key >> _BY_SHIFT & ((1 << (_KEPT_SHIFT - _BY_SHIFT)) - 1)) - 1,
        missing=missing,
    )


def build_funnel(
    stages: tuple[str, ...],
    outcomes: list[Outcome],
    documents: npt.NDArray[np.int64],
    tokens: npt.NDArray[np.int64],
) -> Funnel:
    """The funnel of rows counted by outcome code."""
    funnel = Funnel(stages)
    counted = Funnel(stages)
    for outcome, count, total in zip(outcomes, documents.tolist(), tokens.tolist(), strict=True):
        if count:
            place = (outcome.failed, outcome.missing, outcome.kept)
            before = counted.outcomes.get(place, (0, 0))
            counted.outcomes[place] = (before[0] + count, before[1] + total)
    funnel.merge(counted)
    return funnel

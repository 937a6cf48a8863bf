"""A numeric column as a decision set sees it: in the form that its profile reads, counted by its rules and vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.errors import ProfileError
from curation.index.layout import HAS_ERROR
from curation.index.query import GRADES, LENGTHS, LEXICAL
from curation.index.request import DecisionRequest
from curation.index.signal_index import SignalIndex, Where
from curation.index.threads import map_threads

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class ColumnReader:
    """`read(where)` gives the values in the type they are stored in, so that a bound compares as a threshold does: whole numbers
    with -1, others with NaN where a row has none. `extent`: the least and greatest finite value, None where there is none."""

    name: str
    dtype: np.dtype[Any]
    read: Callable[[Where], Values]
    extent: tuple[float, float] | None

    def is_present(self, values: Values) -> npt.NDArray[np.bool_]:
        return np.greater_equal(values, 0) if self.dtype.kind in "iu" else ~np.isnan(values)

    def round_bound(self, bound: float) -> float:
        """A bound as the stored values are: of single precision where they are. Whole numbers are compared as they are."""
        return float(np.float32(bound)) if self.dtype == np.float32 else bound

    def read_floats(self, where: Where) -> npt.NDArray[np.float64]:
        """NaN where a row has no value."""
        values = self.read(where)
        floats = values.astype(np.float64)
        floats[~self.is_present(values)] = np.nan
        return floats


def rule_set(request: DecisionRequest) -> str:
    """The notation rules of a profile; the published ones where it asks for none, as the flat view shows them."""
    stage = request.bound.profile.notation
    return stage.rules if stage is not None else "published"


def open_column(index: SignalIndex, request: DecisionRequest, name: str) -> ColumnReader:
    """Raises ProfileError where the column needs a stage that the profile does not have."""
    form = request.bound.profile.form
    if name in (*LENGTHS, *GRADES):
        return _open_stored(index, name, name)
    if name in LEXICAL:
        return _open_stored(index, name, f"{name}_{form}")
    if name == "rule_count":
        stage = request.bound.profile.notation
        rules = index.count_rules_by_code(rule_set(request), stage.ignore if stage is not None else ())
        codes = index.columns[f"rules_{rule_set(request)}_{form}"]
        greatest = int(rules.max())
        return ColumnReader(
            name, rules.dtype, lambda where: rules[codes[where]], (0.0, float(greatest)) if greatest >= 0 else None
        )
    if "vocabulary" not in request.bound.stages:
        raise ProfileError(
            f"Profile {request.bound.profile.name} has no vocabulary stage, so nobody said which words count.",
            hint=f"Choose a profile with one to ask for {name}.",
        )
    flags = index.columns["flags"]
    if name == "term_count":
        counts = index.count_terms(request)

        def read_counts(where: Where) -> Values:
            return np.where(flags[where] & np.uint8(HAS_ERROR), np.int32(-1), counts[where])

        return ColumnReader(name, counts.dtype, read_counts, (0.0, float(counts.max())) if len(counts) else None)
    assert name == "top_term_score", name
    tops = index.find_top_scores(request)

    def read_tops(where: Where) -> Values:
        return np.where(np.isneginf(tops[where]), np.nan, tops[where])

    return ColumnReader(name, tops.dtype, read_tops, _find_extent(index, tops))


def _open_stored(index: SignalIndex, name: str, stored: str) -> ColumnReader:
    column = index.columns[stored]
    return ColumnReader(name, column.dtype, lambda where: column[where], index.description.extents.get(stored))


def _find_extent(index: SignalIndex, values: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    def find(span: slice) -> tuple[float, float]:
        finite = values[span][np.isfinite(values[span])]
        return (float(finite.min()), float(finite.max())) if len(finite) else (np.inf, -np.inf)

    found = map_threads(find, index.spans)
    least, greatest = min((low for low, _ in found), default=np.inf), max((high for _, high in found), default=-np.inf)
    return (least, greatest) if least <= greatest else None

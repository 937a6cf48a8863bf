"""Rows by the value of a column, what was decided of them apart. Bins are closed below and open above; the last is closed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curation.decide import EXCLUDE, KEEP, UNDECIDED
from curation.index.column_reader import ColumnReader
from curation.index.threads import map_threads

OUTCOMES = {"kept": KEEP, "excluded": EXCLUDE, "undecided": UNDECIDED}


@dataclass(frozen=True)
class Histogram:
    """`counts[outcome][i]`: rows with edges[i] <= value < edges[i + 1]. `below`, `above`: rows with a value outside the edges;
    `missing`: rows without one; each by outcome."""

    column: str
    edges: list[float]
    counts: dict[str, list[int]]
    below: dict[str, int]
    above: dict[str, int]
    missing: dict[str, int]


def draw_histogram(
    spans: Sequence[slice],
    column: ColumnReader,
    codes: npt.NDArray[np.uint16],
    kept_by_code: npt.NDArray[np.int8],
    flags: npt.NDArray[np.bool_] | None,
    bins: int,
    low: float | None,
    high: float | None,
) -> Histogram:
    """`flags` None: all rows. A column of whole numbers gets edges on whole numbers."""
    edges = _choose_edges(column, bins, low, high)
    size = len(edges) + 2  # below, the bins, above, missing
    # In the type of the values, as a threshold is compared.
    bounds = edges.astype(np.float32) if column.dtype == np.float32 else edges
    scale = (len(edges) - 1) / float(bounds[-1] - bounds[0])
    padded = np.concatenate([[-np.inf], bounds, [np.inf]]).astype(bounds.dtype)
    last = len(edges) - 2
    parts = (kept_by_code.astype(np.int64) + 1) * size

    def count(span: slice) -> npt.NDArray[np.int64]:
        values, outcomes = column.read(span), codes[span]
        if flags is not None:
            chosen = np.flatnonzero(flags[span])
            values, outcomes = values[chosen], outcomes[chosen]
        if not len(values):
            return np.zeros(3 * size, np.int64)
        is_present = column.is_present(values)
        values = values.astype(bounds.dtype, copy=False)
        guess = np.clip((values - bounds[0]) * bounds.dtype.type(scale), -1, len(edges) - 1)
        places = np.nan_to_num(np.floor(guess), nan=0, posinf=len(edges) - 1, neginf=-1).astype(np.int64)
        # The product may round across an edge; the edges themselves decide.
        places -= values < padded[places + 1]
        places += values >= padded[places + 2]
        places[values == bounds[-1]] = last
        places[~is_present] = len(edges)
        return np.bincount(parts[outcomes] + places + 1, minlength=3 * size).astype(np.int64)

    counted = sum(map_threads(count, spans), np.zeros(3 * size, np.int64)).reshape(3, size)
    rows = {name: counted[kept + 1].tolist() for name, kept in OUTCOMES.items()}
    return Histogram(
        column.name,
        edges.tolist(),
        {name: row[1 : last + 2] for name, row in rows.items()},
        {name: row[0] for name, row in rows.items()},
        {name: row[last + 2] for name, row in rows.items()},
        {name: row[last + 3] for name, row in rows.items()},
    )


def _choose_edges(column: ColumnReader, bins: int, low: float | None, high: float | None) -> npt.NDArray[np.float64]:
    if bins < 1:
        raise ValueError(f"a histogram has at least one bin, not {bins}")
    least, greatest = column.extent or (0.0, 1.0)
    low, high = least if low is None else low, greatest if high is None else high
    if column.dtype.kind in "iu":
        first, stop = math.floor(low), math.floor(max(low, high)) + 1
        width = max(1, -(-(stop - first) // bins))
        return np.arange(first, stop + width, width, dtype=np.float64)[: -(-(stop - first) // width) + 1]
    if not low < high:
        high = low + 1.0
    return np.linspace(low, high, bins + 1)

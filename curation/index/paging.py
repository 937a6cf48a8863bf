"""One page of selected rows in an order, without ordering the rest: each chunk gives its best few, the best of those are the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curation.index.column_reader import ColumnReader
from curation.index.query import PageKey, Sort
from curation.index.threads import map_threads

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Page:
    """`positions` in the order asked for; `next_key` is None where nothing follows."""

    positions: Positions
    next_key: PageKey | None


def find_page(
    spans: Sequence[slice],
    flags: npt.NDArray[np.bool_],
    column: ColumnReader | None,
    sort: Sort,
    limit: int,
    after: PageKey | None,
) -> Page:
    """`limit` flagged rows after `after`: by value, equal ones and those without a value in ledger order, these last."""
    if limit < 1:
        raise ValueError(f"a page has at least one row, not {limit}")
    wanted = limit + 1  # one more says whether anything follows
    if column is None:
        positions = _walk(spans, flags, None, wanted, -1 if after is None else after.position)
        return _cut(positions, None, limit)
    found = np.zeros(0, np.int64)
    values = np.zeros(0)
    if after is None or after.value is not None:
        found, values = _find_best(spans, flags, column, sort, wanted, after)
    if len(found) < wanted:
        begin = after.position if after is not None and after.value is None else -1
        rest = _walk(spans, flags, column, wanted - len(found), begin)
        found, values = np.concatenate([found, rest]), np.concatenate([values, np.full(len(rest), np.nan)])
    return _cut(found, values, limit)


def _cut(positions: Positions, values: npt.NDArray[np.float64] | None, limit: int) -> Page:
    if len(positions) <= limit:
        return Page(positions, None)
    value = None if values is None or np.isnan(values[limit - 1]) else float(values[limit - 1])
    return Page(positions[:limit], PageKey(value=value, position=int(positions[limit - 1])))


def _walk(
    spans: Sequence[slice], flags: npt.NDArray[np.bool_], column: ColumnReader | None, wanted: int, after: int
) -> Positions:
    """The first flagged rows behind a position; of a column: those without a value."""
    found: list[Positions] = [np.zeros(0, np.int64)]
    count = 0
    for span in spans:
        if span.stop <= after + 1 or count >= wanted:
            continue
        chosen = flags[span]
        if column is not None and chosen.any():
            chosen = chosen & ~column.is_present(column.read(span))
        positions = np.flatnonzero(chosen) + span.start
        positions = positions[positions > after][: wanted - count]
        found.append(positions)
        count += len(positions)
    return np.concatenate(found)


def _find_best(
    spans: Sequence[slice],
    flags: npt.NDArray[np.bool_],
    column: ColumnReader,
    sort: Sort,
    wanted: int,
    after: PageKey | None,
) -> tuple[Positions, npt.NDArray[np.float64]]:
    sign = -1.0 if sort.is_descending else 1.0
    worst = [np.inf]  # what the last of a full page has; a chunk may see an older one, which only lets more through

    def find(span: slice) -> tuple[Positions, npt.NDArray[np.float64]]:
        chosen = np.flatnonzero(flags[span])
        if not len(chosen):
            return chosen, np.zeros(0)
        values = column.read(span)
        if len(chosen) < len(values):
            values = values[chosen]
        is_candidate = column.is_present(values)
        keys = values.astype(np.float64) * sign
        is_candidate &= keys <= worst[0]
        positions = chosen + span.start
        if after is not None and after.value is not None:
            begin = after.value * sign
            is_candidate &= (keys > begin) | ((keys == begin) & (positions > after.position))
        positions, keys = positions[is_candidate], keys[is_candidate]
        if len(positions) > wanted:
            bound = np.partition(keys, wanted - 1)[wanted - 1]
            worst[0] = min(worst[0], float(bound))
            is_best = keys <= bound
            positions, keys = positions[is_best], keys[is_best]
            order = np.argsort(keys, kind="stable")[:wanted]
            positions, keys = positions[order], keys[order]
        return positions, keys

    found = map_threads(find, spans)
    positions = np.concatenate([np.zeros(0, np.int64), *(part for part, _ in found)])
    keys = np.concatenate([np.zeros(0), *(part for _, part in found)])
    order = np.lexsort((positions, keys))[:wanted]
    return positions[order], keys[order] * sign

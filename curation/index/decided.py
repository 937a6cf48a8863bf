"""A decision set over an index: one code a row, and every question to it. Immutable; threads may share one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from curation.compare import MAX_EXAMPLES, MOVES, Comparison, Flips
from curation.decide import EXCLUDE, KEEP, UNDECIDED, Decisions, decide
from curation.funnel import Funnel
from curation.index.column_reader import ColumnReader, open_column
from curation.index.conditions import Flags, Positions, find_barred, list_conditions
from curation.index.facets import Counts, Facets, count_facets, count_rows
from curation.index.histogram import Histogram, draw_histogram
from curation.index.layout import HAS_ERROR
from curation.index.outcomes import Codes, OutcomeTable, build_funnel
from curation.index.paging import Page, find_page
from curation.index.query import PageKey, Query, Sort
from curation.index.request import DecisionRequest
from curation.index.signal_index import Chunk, SignalIndex
from curation.index.threads import map_threads
from curation.index.verdicts import VocabularyReader, decide_all
from curation.overrides import Overrides, StrayRulings

EVERYTHING = Query()


@dataclass(frozen=True)
class Selection:
    """The rows of a query: one flag a row."""

    flags: Flags
    count: int

    @property
    def positions(self) -> Positions:
        return np.flatnonzero(self.flags)


@dataclass(frozen=True)
class Decided:
    """`codes[position]` is the row's outcome in `table`. `rulings`: the positions that a ruling in force keeps or excludes."""

    index: SignalIndex
    request: DecisionRequest
    codes: Codes
    table: OutcomeTable
    rulings: dict[str, Positions]

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def weight_bytes(self) -> int:
        return self.codes.nbytes + sum(positions.nbytes for positions in self.rulings.values())

    @property
    def stages(self) -> tuple[str, ...]:
        return self.request.bound.stages

    def decisions_at(self, positions: Positions | slice) -> Decisions:
        """The decisions of rows, as `decide` gives them."""
        return self.table.decode(self.codes[positions])

    # Whole decision set.

    @cached_property
    def documents_by_code(self) -> npt.NDArray[np.int64]:
        return self._counted[0]

    @cached_property
    def tokens_by_code(self) -> npt.NDArray[np.int64]:
        return self._counted[1]

    @cached_property
    def _counted(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        tokens, size = self.index.columns["tokens"], len(self.table)

        def count(span: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
            codes = self.codes[span]
            # Sums of whole numbers below 2 ** 53 are exact in double precision.
            weighed = np.bincount(codes, weights=tokens[span].astype(np.float64), minlength=size)
            return np.bincount(codes, minlength=size), weighed

        found = map_threads(count, self.index.spans)
        documents = sum((documents for documents, _ in found), np.zeros(size, np.int64))
        totals = sum((total.astype(np.int64) for _, total in found), np.zeros(size, np.int64))
        return documents, totals

    @cached_property
    def funnel(self) -> Funnel:
        return build_funnel(self.stages, self.table.list_outcomes(), self.documents_by_code, self.tokens_by_code)

    # Queries.

    def select(self, query: Query = EVERYTHING) -> Positions:
        """The positions of the rows that the query names, ascending."""
        return self.find(query).positions

    def count(self, query: Query = EVERYTHING) -> int:
        return self.find(query).count

    def find(self, query: Query = EVERYTHING) -> Selection:
        """The rows that the query names; remembered for the pages and facets that follow."""
        return self.index.cache.get(
            ("selection", self.request.key, query), lambda: self._find(query), lambda found: found.flags.nbytes
        )

    def _find(self, query: Query) -> Selection:
        conditions = list_conditions(self.index, self.request, self.codes, self.table, self.rulings, query)
        flags = np.ones(len(self), bool)

        def fill(span: slice) -> int:
            if not conditions:
                return int(span.stop - span.start)
            met = conditions[0](span)
            for condition in conditions[1:]:
                if not met.any():
                    break
                met = met & condition(span)
            flags[span] = met
            return int(np.count_nonzero(met))

        return Selection(flags, sum(map_threads(fill, self.index.spans)))

    def page(
        self, query: Query = EVERYTHING, sort: Sort | None = None, *, limit: int = 50, after: PageKey | None = None
    ) -> Page:
        """The next `limit` rows after `after` in the order of `sort`."""
        sort = sort or Sort()
        column = self.column(sort.column) if sort.column is not None else None
        return find_page(self.index.spans, self.find(query).flags, column, sort, limit, after)

    def column(self, name: str) -> ColumnReader:
        """A numeric column as this decision set sees it."""
        return open_column(self.index, self.request, name)

    def read_values(self, name: str, positions: Positions) -> npt.NDArray[np.float64]:
        """Values of a column for a page's rows; NaN where a row has none."""
        return self.column(name).read_floats(positions)

    def facets(self, query: Query = EVERYTHING) -> Facets:
        """Exact counts of the rows that the query names."""
        return self.index.cache.get(
            ("facets", self.request.key, query),
            lambda: self._count_facets(query),
            lambda _: 10_000,
        )

    def _count_facets(self, query: Query) -> Facets:
        flags = self.find(query).flags
        return count_facets(self.index, self.request, self.codes, self.table, flags, lambda: self._whole)

    @cached_property
    def _whole(self) -> Counts:
        return count_rows(self.index, self.request, self.codes, self.table, np.ones(len(self), bool))

    def histogram(
        self,
        column: str,
        bins: int = 40,
        *,
        query: Query = EVERYTHING,
        low: float | None = None,
        high: float | None = None,
    ) -> Histogram:
        """Rows of the query by value, kept, excluded and undecided apart, between `low` and `high` (None: the extent of the column)."""
        flags = None if query == EVERYTHING else self.find(query).flags
        kept = np.array([outcome.kept for outcome in self.table.list_outcomes()], np.int8)
        return draw_histogram(self.index.spans, self.column(column), self.codes, kept, flags, bins, low, high)

    # Two decision sets.

    def find_flips(self, other: Decided) -> dict[str, Positions]:
        """The rows that `other` decides otherwise, by the names of `curation.compare.MOVES`, ascending."""
        moves = self._number_moves(other)

        def find(span: slice) -> list[Positions]:
            numbers = moves(span)
            return [np.flatnonzero(numbers == number) + span.start for number in range(1, len(MOVES) + 1)]

        found = map_threads(find, self.index.spans)
        return {
            move: np.concatenate([np.zeros(0, np.int64), *(pieces[place] for pieces in found)])
            for place, move in enumerate(MOVES)
        }

    def count_flips(self, other: Decided) -> dict[str, tuple[int, int]]:
        """Documents and tokens that `other` decides otherwise, by move."""
        counted = self._count_moves(other)
        return {move: counted[place] for place, move in enumerate(MOVES)}

    def _count_moves(self, other: Decided) -> list[tuple[int, int]]:
        moves, tokens = self._number_moves(other), self.index.columns["tokens"]
        size = len(MOVES) + 1

        def count(span: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
            numbers = moves(span)
            changed = np.flatnonzero(numbers)
            numbers = numbers[changed]
            weights = tokens[span][changed].astype(np.float64)
            return np.bincount(numbers, minlength=size), np.bincount(numbers, weights=weights, minlength=size)

        found = map_threads(count, self.index.spans)
        documents = sum((part for part, _ in found), np.zeros(size, np.int64))
        totals = sum((part for _, part in found), np.zeros(size))
        return [(int(documents[number]), int(totals[number])) for number in range(1, size)]

    def _number_moves(self, other: Decided) -> Callable[[slice], npt.NDArray[np.int8]]:
        """A function from a span to each row's move: its place in MOVES plus one, or 0."""
        before = np.array([outcome.kept for outcome in self.table.list_outcomes()], np.int8)
        after = np.array([outcome.kept for outcome in other.table.list_outcomes()], np.int8)
        numbers = np.zeros((3, 3), np.int8)  # by what was decided plus one
        for place, (old, new) in enumerate(MOVES.values(), 1):
            for was in (UNDECIDED, EXCLUDE, KEEP):
                for is_now in (UNDECIDED, EXCLUDE, KEEP):
                    if was != is_now and old in (None, was) and new in (None, is_now):
                        numbers[was + 1, is_now + 1] = place
        flat = numbers.ravel()
        before_parts, after_parts = (before + 1) * 3, after + 1
        return lambda span: flat[before_parts[self.codes[span]] + after_parts[other.codes[span]]]

    def what_if(self, other: Decided) -> Comparison:
        """This decision set beside another one over the same run, as `compare_decisions` finds them from the ledger."""
        flips = {}
        first = self._find_first(other)
        for move, (documents, tokens) in self.count_flips(other).items():
            examples: list[dict[str, object]] = [
                {"shard": row.shard, "row": row.row, "doc_id": row.doc_id, "url": row.url}
                for row in self.index.describe_rows(first[move])
            ]
            flips[move] = Flips(documents, tokens, examples)
        strays = StrayRulings()
        if other.request.overrides is not None:
            shards = ((shard.sha256, shard.name, shard.row_count) for shard in self.index.description.shards)
            strays = other.request.overrides.find_strays(shards)
        return Comparison(copy_funnel(other.funnel), copy_funnel(self.funnel), strays, flips)

    def _find_first(self, other: Decided) -> dict[str, list[int]]:
        moves = self._number_moves(other)
        first: dict[str, list[int]] = {move: [] for move in MOVES}
        for span in self.index.spans:
            numbers = moves(span)
            if not numbers.any():
                continue
            for place, move in enumerate(MOVES, 1):
                room = MAX_EXAMPLES - len(first[move])
                if room:
                    first[move] += (np.flatnonzero(numbers == place)[:room] + span.start).tolist()
            if all(len(rows) == MAX_EXAMPLES for rows in first.values()):
                break
        return first


def copy_funnel(funnel: Funnel) -> Funnel:
    """A copy: funnels can be added to, and those of decision sets are shared."""
    copy = Funnel(funnel.stages)
    copy.merge(funnel)
    return copy


def compute_decided(index: SignalIndex, request: DecisionRequest) -> Decided:
    """Decide every row: by signals, which is remembered apart, and then those rows again that people ruled on."""
    codes, table = index.cache.get(
        ("measured", request.measured_key), lambda: decide_all(index, request), lambda found: found[0].nbytes
    )
    rulings = _find_rulings(index, request.overrides)
    barred = find_barred(index, request.source_rules)
    touched = np.union1d(np.concatenate([rulings["keep"], rulings["exclude"]]), barred)
    if not len(touched):
        return Decided(index, request, codes, table, rulings)
    codes, table = codes.copy(), OutcomeTable(table)
    hits = VocabularyReader(index, request)

    def decide_again(chunk: Chunk) -> None:
        first, end = np.searchsorted(touched, [chunk.start, chunk.stop])
        where = touched[first:end]
        if not len(where):
            return
        signals = index.read_signals(chunk, where, request.bound, hits.read(where))
        rows = {
            int(position) - chunk.start + chunk.first_row: action == "keep"
            for action, positions in rulings.items()
            for position in positions[slice(*np.searchsorted(positions, [chunk.start, chunk.stop]))]
        }
        is_barred = np.isin(where, barred, assume_unique=True)
        codes[where] = table.encode(decide(signals, request.bound, rows, is_barred))

    map_threads(decide_again, index.chunks)
    return Decided(index, request, codes, table, rulings)


def _find_rulings(index: SignalIndex, overrides: Overrides | None) -> dict[str, Positions]:
    """The positions of rulings in force on rows that could be read, by action."""
    found: dict[str, list[Positions]] = {"keep": [np.zeros(0, np.int64)], "exclude": [np.zeros(0, np.int64)]}
    if overrides is not None:
        actions = np.array([entry.action for entry in overrides.rulings])
        for shard in index.description.shards:
            rows, entries = overrides.find_in_force(shard.sha256, shard.name)
            if len(rows):
                for action, parts in found.items():
                    parts.append(index.find_rows(shard, rows[actions[entries] == action]))
    flags = index.columns["flags"]
    positions = {action: np.sort(np.concatenate(parts)) for action, parts in found.items()}
    return {action: rows[(flags[rows] & np.uint8(HAS_ERROR)) == 0] for action, rows in positions.items()}

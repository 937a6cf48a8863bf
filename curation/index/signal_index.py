"""An open index: the columns of a run in memory maps, and the decision sets that were computed over them.

Read-only and shared by threads. Decisions are those of `curation.decide.decide`, a chunk of rows of one shard at a time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from curation.decide import Signals, VocabularyHits
from curation.errors import LedgerError
from curation.index.cache import BoundedCache
from curation.index.hosts import Hosts
from curation.index.layout import (
    BAND_BITS,
    BANDS,
    COLUMN_TYPES,
    HAS_ERROR,
    IS_ESTIMATED,
    NOT_MEASURED_CODE,
    Description,
    IndexedShard,
    IndexedSlice,
    column_path,
    map_array,
    read_description,
)
from curation.index.names import Names
from curation.index.query import READINGS
from curation.index.request import DecisionRequest
from curation.index.senses import add_counts, add_scores, find_sensed_rows, has_senses
from curation.index.threads import CHUNK_ROWS, map_threads
from curation.index.word_places import ADDED_RANK, NO_RANK, BlockedWords, WordPlaces
from curation.profile import BoundProfile
from curation.source_rules import has_licence_rule

if TYPE_CHECKING:
    from curation.index.decided import Decided

DEFAULT_CACHE_BYTES = 300_000_000

Where = slice | npt.NDArray[np.int64]
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Chunk:
    """Positions [start, stop): neighbouring rows of one shard from `first_row` on."""

    start: int
    stop: int
    shard: int
    first_row: int
    has_fasttext: bool

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class RowAddress:
    """A row and where it is from."""

    position: int
    shard: str
    shard_sha256: str
    row: int
    doc_id: str | None
    url: str | None


class SignalIndex:
    """Use `open_index`. `cache_bytes` bounds what decision sets, term counts and selections may keep."""

    def __init__(self, folder: Path, description: Description, cache_bytes: int) -> None:
        self.folder = folder
        self.description = description
        self.cache = BoundedCache(cache_bytes)
        self.columns: dict[str, Column] = {name: map_array(column_path(folder, name)) for name in COLUMN_TYPES}
        self.hosts = Hosts(folder / "hosts.arrow")
        table = pq.read_table(folder / "table.parquet")
        self.words: list[str] = table["word"].to_pylist()
        self.scores: npt.NDArray[np.float64] = table["score"].to_numpy()
        self.places = WordPlaces(folder / "words", self.words)
        self.names = Names(folder / "names", [piece.row_count for piece in description.slices])
        self.slice_starts = np.concatenate(
            [[0], np.cumsum([piece.row_count for piece in description.slices], dtype=np.int64)]
        )
        self._shards = {shard.index: shard for shard in description.shards}

    def __len__(self) -> int:
        return self.description.row_count

    @property
    def run_id(self) -> str:
        return self.description.run_id

    @cached_property
    def chunks(self) -> list[Chunk]:
        """All rows, in order; a chunk lies in one shard and, unless it is one itself, holds no gap between rows."""
        joined: list[Chunk] = []
        for start, piece in zip(self.slice_starts.tolist(), self.description.slices, strict=False):
            last = joined[-1] if joined else None
            if (
                last is not None
                and (last.shard, last.has_fasttext) == (piece.shard, piece.has_fasttext)
                and last.first_row + len(last) == piece.first_row
            ):
                joined[-1] = Chunk(
                    last.start, last.stop + piece.row_count, last.shard, last.first_row, last.has_fasttext
                )
            else:
                joined.append(Chunk(start, start + piece.row_count, piece.shard, piece.first_row, piece.has_fasttext))
        return [
            Chunk(
                start, min(start + CHUNK_ROWS, run.stop), run.shard, run.first_row + start - run.start, run.has_fasttext
            )
            for run in joined
            for start in range(run.start, run.stop, CHUNK_ROWS)
        ]

    @cached_property
    def spans(self) -> list[slice]:
        """All positions in equal pieces, for work that does not ask for shards."""
        return [slice(start, min(start + CHUNK_ROWS, len(self))) for start in range(0, len(self), CHUNK_ROWS)]

    @cached_property
    def shard_spans(self) -> list[tuple[IndexedShard, int, int]]:
        """The shards with their positions [start, stop), in order."""
        spans: list[tuple[IndexedShard, int, int]] = []
        for start, piece in zip(self.slice_starts.tolist(), self.description.slices, strict=False):
            shard = self._shards[piece.shard]
            begin = spans.pop()[1] if spans and spans[-1][0] == shard else start
            spans.append((shard, begin, start + piece.row_count))
        return spans

    # Rows and their names.

    def locate(self, positions: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The shard (its index) and the row of each position."""
        pieces = np.searchsorted(self.slice_starts, positions, side="right") - 1
        shards = np.array([piece.shard for piece in self.description.slices], np.int64)
        first_rows = np.array([piece.first_row for piece in self.description.slices], np.int64)
        return shards[pieces], first_rows[pieces] + positions - self.slice_starts[pieces]

    def find_slice(self, position: int) -> IndexedSlice:
        """The slice that holds a position."""
        place = int(np.searchsorted(self.slice_starts, position, side="right")) - 1
        return self.description.slices[place]

    def is_estimated(self, position: int) -> bool:
        """Whether a row's tokens are estimated, because the source gives none."""
        return bool(self.columns["flags"][position] & IS_ESTIMATED)

    def find_rows(self, shard: IndexedShard, rows: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The positions of those of the rows of a shard that are indexed, ascending."""
        wanted = np.unique(np.array(rows, np.int64))
        found = [np.zeros(0, np.int64)]
        for start, piece in zip(self.slice_starts.tolist(), self.description.slices, strict=False):
            if piece.shard == shard.index:
                first, end = np.searchsorted(wanted, [piece.first_row, piece.first_row + piece.row_count])
                found.append(wanted[first:end] - piece.first_row + start)
        return np.concatenate(found)

    def find_position(self, shard_sha256: str, row: int) -> int | None:
        """Where a row stands; None where it is not in this index. Of two shards with equal bytes the first answers."""
        for shard in self.description.shards:
            if shard.sha256 == shard_sha256 and len(found := self.find_rows(shard, [row])):
                return int(found[0])
        return None

    def describe_rows(self, positions: Sequence[int] | npt.NDArray[np.int64]) -> list[RowAddress]:
        """Shard, row, id and URL of each, in the order given."""
        wanted = np.array(positions, np.int64)
        shards, rows = self.locate(wanted)
        names = self.names.read(wanted.tolist())
        return [
            RowAddress(position, self._shards[shard].name, self._shards[shard].sha256, row, doc_id, url)
            for position, shard, row, (doc_id, url) in zip(
                wanted.tolist(), shards.tolist(), rows.tolist(), names, strict=True
            )
        ]

    # Signals and decisions.

    def decide(self, request: DecisionRequest) -> Decided:
        """The decisions of every row, computed or remembered.

        Raises LedgerError when a rule asks for licences that the run does not know.
        """
        from curation.index.decided import compute_decided

        self._require_licences(request)
        request = replace(request, has_senses=has_senses(self, request.vocabulary.senses))
        return self.cache.get(
            ("decided", request.key), lambda: compute_decided(self, request), lambda decided: decided.weight_bytes
        )

    def _require_licences(self, request: DecisionRequest) -> None:
        is_known = self.description.has_licences or not self.description.slices
        if has_licence_rule(request.source_rules) and not is_known:
            raise LedgerError(
                "A source rule names a licence, but no document of this run states one.",
                hint="Use rules of kind domain or url_prefix, or a source with a column license or licence.",
            )

    def read_signals(self, chunk: Chunk, where: Where, bound: BoundProfile, hits: VocabularyHits) -> Signals:
        """What `decide` reads of rows of one chunk for the profile's stages: all (its slice) or some (positions, ascending)."""
        profile = bound.profile
        rows = np.arange(chunk.start, chunk.stop, dtype=np.int64) if isinstance(where, slice) else where
        rows = rows - chunk.start + chunk.first_row
        grades = {}
        if chunk.has_fasttext and profile.fasttext is not None:
            stage = profile.fasttext
            asked = (stage.top_band, "document" if stage.min_k5_document is not None else None,
                     "window" if stage.min_k5_window is not None else None)  # fmt: skip
            for reading in {reading for reading in asked if reading is not None}:
                is_whole = reading == stage.top_band
                grades[str(reading)] = self._read_grades(f"fasttext_{reading}", where, len(rows), is_whole=is_whole)
        encoder = np.broadcast_to(np.float32(np.nan), (len(rows), len(BANDS)))
        is_encoded = np.zeros(len(rows), bool)
        if "encoder" in bound.stages and profile.encoder is not None:
            reading = f"encoder_{profile.encoder.reads}"
            encoder = self._read_grades(reading, where, len(rows), is_whole=profile.encoder.top_band is not None)
            is_encoded = self.read_bands(reading, where) != NOT_MEASURED_CODE
        columns, form = self.columns, profile.form
        token_counts: npt.NDArray[np.int64] = np.zeros(len(rows), np.int64)
        if profile.vocabulary is not None:
            np.maximum(columns[f"lexical_tokens_{form}"][where], 0, out=token_counts)
        return Signals(
            shard_sha256=self._shards[chunk.shard].sha256,
            rows=rows,
            has_error=(columns["flags"][where] & np.uint8(HAS_ERROR)) != 0,
            p95_aoa=columns[f"p95_aoa_{form}"][where],
            oov_ratio=columns[f"oov_ratio_{form}"][where],
            token_counts=token_counts,
            grades=grades,
            encoder=encoder,
            is_encoded=is_encoded,
            rule_hits=self._count_rule_hits(bound, where, len(rows)),
            vocabulary=hits,
        )

    def _read_grades(self, reading: str, where: Where, count: int, *, is_whole: bool) -> npt.NDArray[np.float32]:
        """(n, 4). A minimum asks for P(K5) alone: then every column is that one, seen four times, and the others stay unread."""
        if not is_whole:
            k5 = self.columns[f"{reading}_{BANDS[0]}"][where]
            return np.broadcast_to(k5[:, np.newaxis], (count, len(BANDS)))
        return np.stack([self.columns[f"{reading}_{band}"][where] for band in BANDS], axis=1)

    def read_bands(self, reading: str, where: Where) -> npt.NDArray[np.uint16]:
        """The likeliest band of each row: 0 to 3, UNREADABLE_CODE or NOT_MEASURED_CODE."""
        shift = np.uint16(BAND_BITS * READINGS.index(reading))
        return (self.columns["bands"][where] >> shift) & np.uint16((1 << BAND_BITS) - 1)

    def count_rules_by_code(self, rules: str, ignore: Sequence[str] = ()) -> npt.NDArray[np.int64]:
        """For each code of a `rules_*` column how many rules hit; -1 where nothing was measured."""
        names, masks = self.description.rule_names[rules], self.description.rule_masks[rules]
        counted = sum(1 << bit for bit, name in enumerate(names) if name not in ignore)
        return np.array([-1 if mask is None else (mask & counted).bit_count() for mask in masks], np.int64)

    def _count_rule_hits(self, bound: BoundProfile, where: Where, count: int) -> npt.NDArray[np.int64]:
        stage = bound.profile.notation
        if stage is None:
            return np.zeros(count, np.int64)
        hits = np.maximum(self.count_rules_by_code(stage.rules, stage.ignore), 0)
        return hits[self.columns[f"rules_{stage.rules}_{bound.profile.form}"][where]]

    # The vocabulary.

    def plan_words(self, request: DecisionRequest) -> BlockedWords | None:
        """The words that a request blocks, without those that it tells apart by sense; None where its profile has no vocabulary
        stage."""
        stage = request.bound.profile.vocabulary
        if stage is None:
            return None
        # Scores descend, so the words of the least score or more are the first ones.
        rank_count = int(np.searchsorted(-self.scores, -stage.min_score, side="right"))
        sensed = {rule.term for rule in request.vocabulary.senses}
        blocked = [word for word in request.vocabulary.block if word not in sensed]
        allowed = sorted({*request.vocabulary.allow, *sensed})
        return self.places.plan(request.bound.profile.form, rank_count, blocked, allowed)

    def count_terms(self, request: DecisionRequest, *, is_possible: bool = False) -> npt.NDArray[np.int32]:
        """For every row how many distinct blocked words it holds; with `is_possible` those too that count in a sense which may be
        the one that nobody measured."""
        wanted = self.plan_words(request)
        assert wanted is not None
        counts = self.cache.get(
            ("term counts", wanted.key), lambda: self._count_terms(wanted), lambda counts: counts.nbytes
        )
        if not (sensed := find_sensed_rows(self, request)):
            return counts
        key = ("sensed counts", wanted.key, request.words_key, is_possible)
        return self.cache.get(
            key, lambda: add_counts(counts, sensed, is_possible=is_possible), lambda counts: counts.nbytes
        )

    def _count_terms(self, wanted: BlockedWords) -> npt.NDArray[np.int32]:
        counts = np.zeros(len(self), np.int32)

        def count(number: int) -> None:
            block = self.places.count_words(number, wanted)
            start = self.places.first_position(number)
            counts[start : start + len(block)] = block

        map_threads(count, range(self.places.block_count))
        return counts

    def find_top_scores(self, request: DecisionRequest, *, is_possible: bool = False) -> npt.NDArray[np.float64]:
        """For every row the highest score among its blocked words: infinity for one that curators blocked, minus infinity
        where there is none. `is_possible` as for `count_terms`."""
        wanted = self.plan_words(request)
        assert wanted is not None
        tops = self.cache.get(
            ("top scores", wanted.key), lambda: self._find_top_scores(wanted), lambda tops: tops.nbytes
        )
        if not (sensed := find_sensed_rows(self, request)):
            return tops
        key = ("sensed scores", wanted.key, request.words_key, is_possible)
        return self.cache.get(key, lambda: add_scores(tops, sensed, is_possible=is_possible), lambda tops: tops.nbytes)

    def _find_top_scores(self, wanted: BlockedWords) -> npt.NDArray[np.float64]:
        tops = np.full(len(self), -np.inf)
        by_rank = np.append(self.scores, [-np.inf, np.inf])

        def find(number: int) -> None:
            ranks = self.places.find_lowest_ranks(number, wanted)
            ranks[ranks == NO_RANK] = len(self.scores)
            ranks[ranks == ADDED_RANK] = len(self.scores) + 1
            start = self.places.first_position(number)
            tops[start : start + len(ranks)] = by_rank[ranks]

        map_threads(find, range(self.places.block_count))
        return tops

    def score_word(self, word: str) -> float:
        """The table's score of one of its words."""
        return float(self.scores[self.places.rank(word)])

    def find_score(self, word: str) -> float:
        """The table's score of any word; minus infinity for one that it does not have."""
        return self.score_word(word) if self.places.has_rank(word) else -np.inf

    def find_term(self, term: str, form: str) -> npt.NDArray[np.int64]:
        """The positions of the rows that hold a word, ascending."""
        key: Hashable = ("term", term, form)
        return self.cache.get(key, lambda: self.places.find_rows(term, form), lambda found: found.nbytes)


def open_index(path: Path, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> SignalIndex:
    """Open a built index. Raises LedgerError when it is damaged or of another version: build it again then."""
    return SignalIndex(path, read_description(path), cache_bytes)

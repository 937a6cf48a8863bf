"""Which rows hold which word: for every word of every row, two bytes. Written a slice at a time, answered by binary search.

A block is at most BLOCK_ROWS rows of one slice. Words of the vocabulary's table are known by their rank (highest score
first), so the rows of all words from some score on are the first part of a block; other words by a 64-bit hash.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.index.array_file import ArrayFile
from curation.index.layout import map_array
from curation.ledger import schema

_FORM_SHIFT = 14  # a place holds the row in its low bits and the form of the posting above
_FORM_ROWS = 1 << _FORM_SHIFT
_PLACE_MASK = np.uint16(_FORM_ROWS - 1)
BLOCK_ROWS = _FORM_ROWS

_FILES = {
    "places": "<u2",
    "words": "<u4",
    "starts": "<u4",
    "unlisted_hashes": "<u8",
    "unlisted_places": "<u2",
    "blocks": "<i8",
}
_BLOCK_FIELDS = 5  # first position, rows, and where words, places and unlisted ones begin

NO_RANK = np.iinfo(np.int64).max
ADDED_RANK = -1

_PRIME = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class BlockPlaces:
    """One block, as arrays: `places[starts[i]:starts[i + 1]]` are those of the word of rank `words[i]`; ranks ascend."""

    first_row: int
    row_count: int
    words: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    places: npt.NDArray[np.uint16]
    unlisted_hashes: npt.NDArray[np.uint64]
    unlisted_places: npt.NDArray[np.uint16]


def arrange_slice(postings: pa.Table, ranked_words: pa.Array, first_row: int, row_count: int) -> list[BlockPlaces]:
    """The blocks of one slice's postings."""
    words = postings["word"].combine_chunks()
    dictionary = words.dictionary.cast(pa.string())
    ids = words.indices.to_numpy()
    rows = postings["row"].to_numpy() - first_row
    forms = postings["form"].to_numpy().astype(np.uint16)
    places = (rows % BLOCK_ROWS).astype(np.uint16) | (forms << np.uint16(_FORM_SHIFT))
    ranks = pc.index_in(dictionary, value_set=ranked_words).fill_null(-1).to_numpy()
    hashes = hash_words(dictionary)
    blocks = []
    for start in range(0, row_count, BLOCK_ROWS):
        rows_here = min(BLOCK_ROWS, row_count - start)
        if row_count <= BLOCK_ROWS:
            blocks.append(_arrange_block(first_row, rows_here, ids, places, ranks, hashes))
        else:
            here = (rows >= start) & (rows < start + rows_here)
            blocks.append(_arrange_block(first_row + start, rows_here, ids[here], places[here], ranks, hashes))
    return blocks


def _arrange_block(
    first_row: int,
    row_count: int,
    ids: npt.NDArray[np.int32],
    places: npt.NDArray[np.uint16],
    ranks: npt.NDArray[np.int32],
    hashes: npt.NDArray[np.uint64],
) -> BlockPlaces:
    # Postings are ordered by word, so the postings of a word are a run.
    sizes = np.bincount(ids, minlength=len(ranks))
    starts = np.cumsum(sizes) - sizes
    listed = np.flatnonzero((sizes > 0) & (ranks >= 0))
    listed = listed[np.argsort(ranks[listed], kind="stable")]
    unlisted = np.flatnonzero((sizes > 0) & (ranks < 0))
    unlisted = unlisted[np.argsort(hashes[unlisted], kind="stable")]
    return BlockPlaces(
        first_row,
        row_count,
        ranks[listed].astype(np.uint32),
        np.concatenate([[0], np.cumsum(sizes[listed])]).astype(np.uint32),
        places[_join_runs(starts[listed], sizes[listed])],
        np.repeat(hashes[unlisted], sizes[unlisted]),
        places[_join_runs(starts[unlisted], sizes[unlisted])],
    )


def _join_runs(starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The numbers start, start + 1 … of every run, one run after the other."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def hash_words(words: pa.Array) -> npt.NDArray[np.uint64]:
    """64 bits of each word: a polynomial over its bytes, mixed. Two words of one hash are as unlikely as for any other hash
    of that size; nobody gains by making some, because only words that curators name are looked up."""
    words = words.cast(pa.large_binary())
    _, offsets_buffer, data_buffer = words.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int64)[words.offset : words.offset + len(words) + 1]
    sizes = np.diff(offsets)
    if not len(words) or offsets[-1] == offsets[0]:
        return np.zeros(len(words), np.uint64)
    characters = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]].astype(np.uint64) + np.uint64(1)
    starts = offsets[:-1] - offsets[0]
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(int(sizes.max()), _PRIME, np.uint64), dtype=np.uint64)
        within = np.arange(len(characters)) - np.repeat(starts, sizes)
        values = np.zeros(len(words), np.uint64)
        has_bytes = sizes > 0
        values[has_bytes] = np.add.reduceat(characters * powers[within], starts[has_bytes])
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))


@dataclass(frozen=True)
class BlockedWords:
    """The words that count: ranks below `rank_count` less `taken_ranks`, and the `added` ones (word, rank or None, hash)."""

    form: str
    rank_count: int
    taken_ranks: npt.NDArray[np.int64]
    added: tuple[tuple[str, int | None, np.uint64], ...]

    @property
    def key(self) -> Hashable:
        """Equal for equal words."""
        return self.form, self.rank_count, tuple(self.taken_ranks.tolist()), tuple(word for word, _, _ in self.added)


class PlacesWriter:
    """Appends blocks in ledger order."""

    def __init__(self, folder: Path) -> None:
        self._files = {name: ArrayFile(folder / f"{name}.npy", dtype) for name, dtype in _FILES.items()}

    def append(self, position: int, block: BlockPlaces) -> None:
        files = self._files
        begins = (files["words"].length, files["places"].length, files["unlisted_places"].length)
        files["blocks"].append(np.array([position, block.row_count, *begins], np.int64))
        for name in ("words", "starts", "places", "unlisted_hashes", "unlisted_places"):
            files[name].append(getattr(block, name))

    def close(self) -> None:
        for file in self._files.values():
            file.close()


class WordPlaces:
    """The places of every word of an indexed run. `ranked_words` as they were when it was written."""

    def __init__(self, folder: Path, ranked_words: Sequence[str]) -> None:
        self._arrays = {name: map_array(folder / f"{name}.npy") for name in _FILES}
        self._blocks = np.array(self._arrays["blocks"], np.int64).reshape(-1, _BLOCK_FIELDS)
        self._words = ranked_words
        self._ranks = {word: rank for rank, word in enumerate(ranked_words)}

    @property
    def block_count(self) -> int:
        return len(self._blocks)

    def rank(self, word: str) -> int:
        """The place of a word of the table among its words, highest score first."""
        return self._ranks[word]

    def has_rank(self, word: str) -> bool:
        """Whether the table has the word."""
        return word in self._ranks

    def first_position(self, number: int) -> int:
        return int(self._blocks[number, 0])

    def read_block(self, number: int) -> BlockPlaces:
        """`first_row` is the block's first position here."""
        position, rows, words, places, unlisted = self._blocks[number].tolist()
        if number + 1 < len(self._blocks):
            _, _, words_end, _, unlisted_end = self._blocks[number + 1].tolist()
        else:
            words_end, unlisted_end = len(self._arrays["words"]), len(self._arrays["unlisted_places"])
        # One start more than words in every block.
        starts = self._arrays["starts"][words + number : words_end + number + 1]
        return BlockPlaces(
            position,
            rows,
            self._arrays["words"][words:words_end],  # type: ignore[arg-type]
            starts,  # type: ignore[arg-type]
            self._arrays["places"][places : places + int(starts[-1])],  # type: ignore[arg-type]
            self._arrays["unlisted_hashes"][unlisted:unlisted_end],  # type: ignore[arg-type]
            self._arrays["unlisted_places"][unlisted:unlisted_end],  # type: ignore[arg-type]
        )

    def find_rows(self, word: str, form: str) -> npt.NDArray[np.int64]:
        """The positions of the rows whose text of this form holds the word, ascending."""
        rank = self._ranks.get(word)
        wanted_hash = hash_words(pa.array([word], pa.string()))[0]
        found = [
            block.first_row + np.sort(_drop_other_form(_find_word(block, rank, wanted_hash), form)).astype(np.int64)
            for block in map(self.read_block, range(self.block_count))
        ]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def plan(
        self, form: str, rank_count: int, blocked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> BlockedWords:
        """The words of the first `rank_count` ranks less `allowed`, and `blocked` ones whatever their rank."""
        named = [self._ranks[word] for word in (*allowed, *blocked) if word in self._ranks]
        # A blocked word is added apart, so it is taken from the ranks: it must not count twice.
        taken = np.array(sorted(rank for rank in named if rank < rank_count), np.int64)
        hashes = hash_words(pa.array(list(blocked), pa.string()))
        added = tuple((word, self._ranks.get(word), value) for word, value in zip(blocked, hashes, strict=True))
        return BlockedWords(form, rank_count, taken, added)

    def count_words(self, number: int, wanted: BlockedWords) -> npt.NDArray[np.int64]:
        """How many distinct ones of the wanted words each row of a block holds."""
        block = self.read_block(number)
        end = int(np.searchsorted(block.words, wanted.rank_count))
        counts = _count_places(block.places[: int(block.starts[end])], wanted.form)
        if len(wanted.taken_ranks):
            counts -= _count_places(_find_ranks(block, wanted.taken_ranks), wanted.form)
        for _, rank, value in wanted.added:
            counts += _count_places(_find_word(block, rank, value), wanted.form)
        return counts[: block.row_count]

    def find_lowest_ranks(self, number: int, wanted: BlockedWords) -> npt.NDArray[np.int64]:
        """For each row of a block the lowest rank of the wanted words that it holds: ADDED_RANK for one that was added by name,
        NO_RANK where it holds none."""
        block = self.read_block(number)
        rows, ranks = _find_wanted(block, wanted)
        lowest = np.full(block.row_count, NO_RANK)
        lowest[rows[::-1]] = ranks[::-1]  # of equal rows the last is written, and ranks ascend
        return lowest

    def pair_words(
        self, number: int, rank_count: int, form: str
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64]]:
        """The row of the block and the rank of every word of the first `rank_count` ranks that a row holds; ranks ascend."""
        return _find_wanted(self.read_block(number), self.plan(form, rank_count))

    def list_words(self, position: int, wanted: BlockedWords) -> list[str]:
        """The wanted words that one row holds, sorted."""
        number = int(np.searchsorted(self._blocks[:, 0], position, side="right")) - 1
        block = self.read_block(number)
        rows, ranks = _find_wanted(block, wanted)
        held = ranks[rows == position - block.first_row]
        found = [self._words[rank] for rank in held.tolist() if rank != ADDED_RANK]
        row = position - block.first_row
        for word, rank, value in wanted.added:
            if row in _drop_other_form(_find_word(block, rank, value), wanted.form):
                found.append(word)
        return sorted(found)


def _find_wanted(block: BlockPlaces, wanted: BlockedWords) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int64]]:
    """The row of the block and the rank of every wanted word of every row; ranks ascend."""
    end = int(np.searchsorted(block.words, wanted.rank_count))
    starts = block.starts[: end + 1].astype(np.int64)
    places = block.places[: int(starts[-1])]
    ranks = np.repeat(block.words[:end].astype(np.int64), np.diff(starts))
    if len(wanted.taken_ranks):
        is_left = ~np.isin(ranks, wanted.taken_ranks)
        places, ranks = places[is_left], ranks[is_left]
    if wanted.added:
        more = np.concatenate([_find_word(block, rank, value) for _, rank, value in wanted.added])
        places = np.concatenate([more, places])
        ranks = np.concatenate([np.full(len(more), ADDED_RANK), ranks])
    is_of_form = _is_of_form(places, wanted.form)
    return (places & _PLACE_MASK)[is_of_form], ranks[is_of_form]


def _count_places(places: npt.NDArray[np.uint16], form: str) -> npt.NDArray[np.int64]:
    """How often each row of a block stands in `places`. Form and row are counted together: telling them apart first costs more."""
    counts = np.bincount(places, minlength=4 * _FORM_ROWS)
    number = schema.FORM_RAW if form == "raw" else schema.FORM_NORMALIZED
    return counts[:_FORM_ROWS] + counts[number * _FORM_ROWS : (number + 1) * _FORM_ROWS]


def _find_ranks(block: BlockPlaces, ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.uint16]:
    """The places of several words of the table, in any form."""
    found = np.searchsorted(block.words, ranks)
    found = found[block.words[np.minimum(found, len(block.words) - 1)] == ranks] if len(block.words) else found[:0]
    starts = block.starts[found].astype(np.int64)
    return block.places[_join_runs(starts, block.starts[found + 1].astype(np.int64) - starts)]


def _find_word(block: BlockPlaces, rank: int | None, value: np.uint64) -> npt.NDArray[np.uint16]:
    """The places of one word in any form; `rank` None: it is known by its hash."""
    if rank is None:
        start, end = (
            np.searchsorted(block.unlisted_hashes, value),
            np.searchsorted(block.unlisted_hashes, value, side="right"),
        )
        return block.unlisted_places[start:end]
    place = int(np.searchsorted(block.words, rank))
    if place == len(block.words) or block.words[place] != rank:
        return block.places[:0]
    return block.places[int(block.starts[place]) : int(block.starts[place + 1])]


def _is_of_form(places: npt.NDArray[np.uint16], form: str) -> npt.NDArray[np.bool_]:
    unwanted = schema.FORM_NORMALIZED if form == "raw" else schema.FORM_RAW
    return (places >> np.uint16(_FORM_SHIFT)) != unwanted  # type: ignore[no-any-return]


def _drop_other_form(places: npt.NDArray[np.uint16], form: str) -> npt.NDArray[np.uint16]:
    return (places & _PLACE_MASK)[_is_of_form(places, form)]

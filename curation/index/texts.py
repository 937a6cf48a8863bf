"""The text of a row, read from its shard by row group, with a small memory of what was decoded last. Texts are never logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from curation.index.cache import BoundedCache
from curation.ledger.store import SliceRef
from curation.run_folder import RunFolder
from curation.shards.rows import RowBatch, open_parquet, read_slice

DEFAULT_CACHE_BYTES = 64_000_000
_BYTES_A_CHARACTER = 2  # between plain ASCII and what most other scripts need; the bound is rough


@dataclass(frozen=True)
class _Group:
    number: int
    first_row: int
    row_count: int


class TextReader:
    """Reads rows of one run. Threads may share it."""

    def __init__(self, folder: RunFolder, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._folder = folder
        self._cache = BoundedCache(cache_bytes)
        self._text_field = folder.ledger.read_plan().recipe.text_field

    def read(self, ref: SliceRef, row: int) -> tuple[str | None, str | None]:
        """The text of a row of a slice, or None and why it cannot be read. Raises SourceError when the shard is gone or has changed."""
        group = self._find_group(ref, row)
        batches = self._cache.get((ref.id, group.first_row), lambda: self._read_group(ref, group), _weigh)
        for batch in batches:
            if batch.first_row <= row < batch.first_row + len(batch):
                return batch.texts[row - batch.first_row], batch.errors[row - batch.first_row]
        raise AssertionError(f"row {row} is in no batch of its row group")

    def find_group(self, ref: SliceRef, row: int) -> range:
        """The rows that are read together with a row."""
        group = self._find_group(ref, row)
        return range(group.first_row, group.first_row + group.row_count)

    def _find_group(self, ref: SliceRef, row: int) -> _Group:
        groups = self._cache.get(("groups", ref.id), lambda: self._list_groups(ref), lambda groups: 200 * len(groups))
        return next(group for group in groups if group.first_row <= row < group.first_row + group.row_count)

    def _list_groups(self, ref: SliceRef) -> list[_Group]:
        with self._folder.slice_file(ref.shard, ref.piece) as path:
            metadata = open_parquet(path, ref.shard.name).metadata
        first_row, groups = ref.piece.first_row, []
        end = first_row + ref.piece.row_count
        for number in ref.piece.row_groups:
            row_count = min(metadata.row_group(number).num_rows, end - first_row)
            groups.append(_Group(number, first_row, row_count))
            first_row += row_count
        return groups

    def _read_group(self, ref: SliceRef, group: _Group) -> list[RowBatch]:
        piece = ref.piece.model_copy(
            update={"first_row": group.first_row, "row_count": group.row_count, "row_groups": (group.number,)}
        )
        with self._folder.slice_file(ref.shard, ref.piece) as path:
            # Only the texts are kept: the other columns would weigh as much again.
            return [replace(batch, table=None) for batch in read_slice(path, ref.shard.name, piece, self._text_field)]


def _weigh(batches: Sequence[RowBatch]) -> int:
    return sum(_BYTES_A_CHARACTER * len(text or "") + 100 for batch in batches for text in batch.texts)

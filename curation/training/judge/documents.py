"""The documents of a source, row by row, in shard order; remote shards come from the cache, lines are staged.

Can be read more than once: the first reading opens each shard, later ones go by what was found. Memory holds one batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from curation.recipe import DEFAULT_SLICE_BYTES
from curation.shards.manifest import ShardManifest, Slice
from curation.shards.prepare import prepare_shard
from curation.shards.rows import RowBatch, decode_strings, file_gone, read_slice
from curation.shards.source import SourceShard

_ID_COLUMN = "id"


@dataclass(frozen=True)
class Document:
    """`row` is 0-based in the shard; `text` None exactly where `error` says why; `doc_id` None where the source has none."""

    shard: str
    shard_sha256: str
    row: int
    doc_id: str | None
    text: str | None
    error: str | None


class DocumentReader:
    """Reads the first `row_limit` rows (None: all) of the shards. `staging` is a folder for re-chunked lines."""

    def __init__(
        self,
        shards: Sequence[SourceShard],
        *,
        staging: Path,
        text_field: str,
        row_limit: int | None,
        cache_quota_bytes: int | None = None,
    ) -> None:
        self._shards = shards
        self._staging = staging
        self._text_field = text_field
        self._row_limit = row_limit
        self._cache_quota_bytes = cache_quota_bytes
        self._manifests: dict[int, ShardManifest] = {}

    @property
    def shard_errors(self) -> dict[str, str]:
        """By shard name, why rows may be missing; of the shards read so far."""
        return {found.name: found.error for found in self._manifests.values() if found.error is not None}

    def read(self) -> Iterator[Document]:
        """Raises SourceError when a shard cannot be found or has changed since it was opened."""
        left = self._row_limit
        for index, shard in enumerate(self._shards):
            if left == 0:
                return
            with self._local_file(shard) as path:
                manifest = self._open(index, shard, path, left)
                for piece in manifest.slices:
                    place = self._staging / manifest.staging / piece.file if manifest.staging else path
                    yield from self._read_slice(place, manifest, piece)
            if left is not None:
                left -= manifest.row_count

    def _open(self, index: int, shard: SourceShard, path: Path, row_limit: int | None) -> ShardManifest:
        if index not in self._manifests:
            self._manifests[index] = prepare_shard(
                path,
                shard.name,
                index,
                staging_root=self._staging,
                text_field=self._text_field,
                slice_bytes=DEFAULT_SLICE_BYTES,
                row_limit=row_limit,
            )
        return self._manifests[index]

    @contextmanager
    def _local_file(self, shard: SourceShard) -> Iterator[Path]:
        if shard.remote is not None:
            # Imported here: HTTP file systems take a second to load, and local sources need none.
            from curation.shards.cache import ShardCache

            with ShardCache(quota_bytes=self._cache_quota_bytes).get(shard.remote) as path:
                yield path
            return
        path = Path(shard.location)
        if not path.is_file():
            raise file_gone(shard.name, path)
        yield path

    def _read_slice(self, path: Path, manifest: ShardManifest, piece: Slice) -> Iterator[Document]:
        for batch in read_slice(path, manifest.name, piece, self._text_field):
            ids = _read_ids(batch)
            for offset, (text, error) in enumerate(zip(batch.texts, batch.errors, strict=True)):
                row = batch.first_row + offset
                yield Document(manifest.name, manifest.sha256, row, ids[offset], text, error)


def _read_ids(batch: RowBatch) -> list[str | None]:
    if batch.table is None or _ID_COLUMN not in batch.table.schema.names:
        return [None] * len(batch)
    column: pa.Array = batch.table.column(_ID_COLUMN)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        column = column.cast(pa.string())
    return [value if isinstance(value, str) else None for value in decode_strings(column)]

"""Opening a shard: hash it, count its rows, stage it where it cannot be sought, and cut it into slices.

Slice boundaries follow from the shard's bytes and the recipe's slice size alone.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pyarrow.parquet as pq

from curation.errors import SourceError
from curation.shards import staging
from curation.shards.jsonl import require_lines
from curation.shards.manifest import ShardManifest, Slice
from curation.shards.rows import open_parquet

_PARQUET_MAGIC = b"PAR1"
PARQUET_SUFFIX = ".parquet"
_PARQUET_NAME = re.compile(r"\.parquet(#\d+)?$")  # a name that was taken carries a number

# A row group above this many slices is staged: a slice should not wait behind a gigabyte that one task alone can read.
_GIANT_GROUP_SLICES = 2


def prepare_shard(
    path: Path, name: str, index: int, *, staging_root: Path, text_field: str, slice_bytes: int, row_limit: int | None
) -> ShardManifest:
    """Open one local file. A file whose rows cannot be counted gives a manifest with no rows and an error, not an exception.

    `row_limit` cuts the shard after that many rows; None means no limit, 0 means no row. Raises SourceError when the disk
    does not give the file's bytes, QuotaError when staging fills it.
    """
    try:
        sha256 = hash_file(path)
        size_bytes = path.stat().st_size
    except OSError as error:
        raise SourceError(
            f"{name}: cannot be read ({error.strerror}).", hint="Check the file's permissions and its disk."
        ) from error

    def build(
        slices: tuple[Slice, ...], *, staging_name: str = "", blank: int = 0, error: str | None = None
    ) -> ShardManifest:
        return ShardManifest(
            index=index,
            name=name,
            sha256=sha256,
            size_bytes=size_bytes,
            row_count=sum(piece.row_count for piece in slices),
            blank_line_count=blank,
            staging=staging_name,
            slices=slices,
            error=error,
        )

    try:
        is_parquet = _is_parquet(path, name)
        if is_parquet:
            file = open_parquet(path, name)
            if not _has_giant_group(file, slice_bytes):
                return build(_cut_row_groups(file, slice_bytes, row_limit))
        folder_name = staging.name_staging(
            sha256, name, text_field=text_field, slice_bytes=slice_bytes, row_limit=row_limit
        )
        folder = staging_root / folder_name
        if staging.read_staging(folder) is None:
            if is_parquet:
                staging.stage_row_groups(path, name, folder, slice_bytes=slice_bytes, row_limit=row_limit)
            else:
                require_lines(path, name)
                staging.stage_lines(
                    path, name, folder, text_field=text_field, slice_bytes=slice_bytes, row_limit=row_limit
                )
        staged = staging.read_staging(folder)
    except SourceError as error:
        return build((), error=str(error))
    if staged is None:
        raise SourceError(f"{name}: its staged copy vanished while it was made.", hint="Run the same command again.")
    slices, blank, reason = staged
    return build(slices, staging_name=folder_name, blank=blank, error=reason)


def hash_file(path: Path) -> str:
    """The sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_parquet(path: Path, name: str) -> bool:
    with path.open("rb") as file:
        magic = file.read(len(_PARQUET_MAGIC))
    if magic == _PARQUET_MAGIC:
        return True
    if _PARQUET_NAME.search(name):
        problem = "is empty" if not magic else "does not begin as Parquet does"
        raise SourceError(f"{name}: {problem}.", hint="Fetch the file again: its rows cannot be counted.")
    return False


def _has_giant_group(file: pq.ParquetFile, slice_bytes: int) -> bool:
    metadata = file.metadata
    giant = _GIANT_GROUP_SLICES * slice_bytes
    return any(
        metadata.row_group(i).total_byte_size > giant and metadata.row_group(i).num_rows > 1
        for i in range(metadata.num_row_groups)
    )


def _cut_row_groups(file: pq.ParquetFile, slice_bytes: int, row_limit: int | None) -> tuple[Slice, ...]:
    slices: list[Slice] = []
    groups: list[int] = []
    first_row = rows = size = 0
    left = file.metadata.num_rows if row_limit is None else min(row_limit, file.metadata.num_rows)

    def close() -> None:
        nonlocal groups, first_row, rows, size
        slices.append(Slice(index=len(slices), first_row=first_row, row_count=rows, file="", row_groups=tuple(groups)))
        first_row, groups, rows, size = first_row + rows, [], 0, 0

    for index in range(file.metadata.num_row_groups):
        metadata = file.metadata.row_group(index)
        taken = min(metadata.num_rows, left)
        if taken == 0:
            continue
        if groups and size + metadata.total_byte_size > slice_bytes:
            close()
        groups.append(index)
        rows, size, left = rows + taken, size + metadata.total_byte_size, left - taken
    if groups:
        close()
    return tuple(slices)

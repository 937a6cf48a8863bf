"""Re-chunking of inputs that cannot be sought (line-delimited JSON, one giant row group) into local Parquet files.

One staged file is one slice. A staging folder appears whole, by one rename, or not at all; its bytes depend on the
shard and the settings alone.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import QuotaError
from curation.shards.jsonl import Line, LineCounts, read_lines
from curation.shards.manifest import Slice
from curation.shards.rows import ERROR_COLUMN, batch_rows, describe_error, open_parquet

STAGING_VERSION = "1"

_ROW_GROUP_BYTES = 2 << 20
_COMPRESSION = {"compression": "zstd", "compression_level": 1}  # written once, read twice: speed counts
MANIFEST = "staged.json"


def name_staging(sha256: str, *, text_field: str, slice_bytes: int, row_limit: int | None) -> str:
    """The folder name of a staged shard: everything its bytes depend on."""
    key = json.dumps([STAGING_VERSION, sha256, text_field, slice_bytes, row_limit])
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def read_staging(folder: Path) -> tuple[tuple[Slice, ...], int, str | None] | None:
    """Slices, blank lines and error of a finished staging folder; None where there is none."""
    manifest = folder / MANIFEST
    if not manifest.exists():
        return None
    found = json.loads(manifest.read_text())
    return tuple(Slice.model_validate(piece) for piece in found["slices"]), found["blank_line_count"], found["error"]


def stage_lines(
    path: Path, name: str, folder: Path, *, text_field: str, slice_bytes: int, row_limit: int | None
) -> None:
    """Line-delimited JSON into `folder`."""
    counts = LineCounts()
    with _new_folder(folder) as work:
        slices: list[Slice] = []
        chunk: list[Line] = []
        chunk_bytes = first_row = 0

        def close_chunk() -> None:
            nonlocal chunk, chunk_bytes, first_row
            slices.append(_write_chunk(work, len(slices), first_row, chunk, chunk_bytes))
            first_row += len(chunk)
            chunk, chunk_bytes = [], 0

        for line in read_lines(path, name, text_field, counts):
            if row_limit is not None and first_row + len(chunk) >= row_limit:
                break
            chunk.append(line)
            chunk_bytes += line.size_bytes
            if chunk_bytes >= slice_bytes:
                close_chunk()
        if chunk:
            close_chunk()
        _write_manifest(work, slices, counts)


def stage_row_groups(path: Path, name: str, folder: Path, *, slice_bytes: int, row_limit: int | None) -> None:
    """A Parquet file with giant row groups into `folder`. Rows that cannot be decoded become rows with an error."""
    file = open_parquet(path, name)
    schema = file.schema_arrow.append(pa.field(ERROR_COLUMN, pa.string()))
    counts = LineCounts()
    left = file.metadata.num_rows if row_limit is None else min(row_limit, file.metadata.num_rows)
    with _new_folder(folder) as work:
        slices: list[Slice] = []
        first_row = 0
        batches = _decode_all(file, path, name, schema, left)
        batch = next(batches, None)
        while batch is not None:
            file_name = _chunk_name(len(slices))
            rows = written_bytes = groups = 0
            with pq.ParquetWriter(work / file_name, schema, **_COMPRESSION) as writer:
                while batch is not None and written_bytes < slice_bytes:
                    writer.write_batch(batch)
                    groups, rows, written_bytes = groups + 1, rows + batch.num_rows, written_bytes + batch.nbytes
                    batch = next(batches, None)
            slices.append(
                Slice(
                    index=len(slices),
                    first_row=first_row,
                    row_count=rows,
                    file=file_name,
                    row_groups=tuple(range(groups)),
                )
            )
            first_row += rows
        _write_manifest(work, slices, counts)


def _decode_all(file: pq.ParquetFile, path: Path, name: str, schema: pa.Schema, left: int) -> Iterator[pa.RecordBatch]:
    row = 0
    for group in range(file.num_row_groups):
        expected = min(file.metadata.row_group(group).num_rows, left)
        read = 0
        reason = "it ends early"
        try:
            for batch in file.iter_batches(batch_size=batch_rows(file, group), row_groups=[group], use_threads=False):
                batch = batch.slice(0, expected - read)
                if batch.num_rows:
                    errors = pa.nulls(batch.num_rows, pa.string())
                    yield pa.RecordBatch.from_arrays([*batch.columns, errors], schema=schema)
                    read += batch.num_rows
                if read == expected:
                    break
        except (pa.ArrowException, OSError) as error:
            reason = describe_error(error, path)
        if read < expected:
            message = (
                f"{name}: row group {group}: unreadable from row {row + read} on ({reason}). Fetch the file again."
            )
            missing = expected - read
            columns = [pa.nulls(missing, field.type) for field in schema][:-1]
            yield pa.RecordBatch.from_arrays([*columns, pa.array([message] * missing, pa.string())], schema=schema)
        row += expected
        left -= expected


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A work folder beside `folder` that becomes it on success; another process may have been first, which is as good."""
    work = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    work.mkdir(parents=True)
    try:
        yield work
        try:
            os.rename(work, folder)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise QuotaError(
                "The disk is full while staging.",
                hint="Free space or choose another --out, then run the same command again.",
            ) from error
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _chunk_name(index: int) -> str:
    return f"chunk-{index:05d}.parquet"


def _write_manifest(work: Path, slices: list[Slice], counts: LineCounts) -> None:
    content = {
        "slices": [piece.model_dump() for piece in slices],
        "blank_line_count": counts.blank,
        "error": counts.error,
    }
    (work / MANIFEST).write_text(json.dumps(content))


def _write_chunk(work: Path, index: int, first_row: int, lines: list[Line], size_bytes: int) -> Slice:
    table = build_table([line.record or {} for line in lines], [line.error for line in lines])
    file_name = _chunk_name(index)
    group_rows = max(1, len(lines) * _ROW_GROUP_BYTES // max(size_bytes, 1))
    pq.write_table(table, work / file_name, row_group_size=group_rows, **_COMPRESSION)
    groups = -(-len(lines) // group_rows)
    return Slice(
        index=index, first_row=first_row, row_count=len(lines), file=file_name, row_groups=tuple(range(groups))
    )


def build_table(records: list[dict[str, object]], errors: list[str | None]) -> pa.Table:
    """Records as columns in the order they are first met. A column whose values share no Arrow type is kept as JSON text."""
    names = dict.fromkeys(key for record in records for key in record)
    columns = {name: _build_column([record.get(name) for record in records]) for name in names}
    return pa.table({**columns, ERROR_COLUMN: pa.array(errors, pa.string())})


def _build_column(values: list[object]) -> pa.Array:
    try:
        column = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return _as_json(values)
    return column if _is_storable(column.type) else _as_json(values)


def _as_json(values: list[object]) -> pa.Array:
    texts = [value if value is None or isinstance(value, str) else orjson.dumps(value).decode() for value in values]
    return pa.array(texts, pa.string())


def _is_storable(kind: pa.DataType) -> bool:
    """Parquet has no struct without fields (JSON's `{}`)."""
    if pa.types.is_struct(kind):
        return kind.num_fields > 0 and all(_is_storable(field.type) for field in kind)
    if pa.types.is_list(kind):
        return _is_storable(kind.value_type)
    return True

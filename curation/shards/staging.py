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
from itertools import islice
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import QuotaError
from curation.shards.jsonl import Line, LineCounts, read_lines
from curation.shards.manifest import Slice
from curation.shards.rows import ERROR_COLUMN, MAX_BATCH_ROWS, batch_rows, describe_error, open_parquet

STAGING_VERSION = "2"

_ROW_GROUP_BYTES = 2 << 20
# JSON may name a new field in every record. A field costs a value in every row, so that such a chunk would take the
# square of its size: it is closed once it has more values than these and than bytes.
_SPARSE_VALUES = 1 << 20
# An object inside a column becomes a struct up to these bounds and is kept as JSON text beyond them; Parquet reads back
# a depth of 100, of which a list takes two.
_MAX_STRUCT_FIELDS = 256
_MAX_STRUCT_DEPTH = 16
_COMPRESSION = {"compression": "zstd", "compression_level": 1}  # written once, read twice: speed counts
MANIFEST = "staged.json"


def name_staging(sha256: str, name: str, *, text_field: str, slice_bytes: int, row_limit: int | None) -> str:
    """The folder name of a staged shard: everything its bytes depend on (`name` stands in the errors of its rows)."""
    key = json.dumps([STAGING_VERSION, sha256, name, text_field, slice_bytes, row_limit])
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def read_staging(folder: Path) -> tuple[tuple[Slice, ...], int, str | None] | None:
    """Slices, blank lines and error of a finished staging folder; None where there is none.

    A folder whose manifest a dying machine left half-written is removed.
    """
    try:
        found = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        shutil.rmtree(folder)
        return None
    return tuple(Slice.model_validate(piece) for piece in found["slices"]), found["blank_line_count"], found["error"]


def stage_lines(
    path: Path, name: str, folder: Path, *, text_field: str, slice_bytes: int, row_limit: int | None
) -> None:
    """Line-delimited JSON into `folder`."""
    counts = LineCounts()
    with _new_folder(folder) as work:
        slices: list[Slice] = []
        chunk: list[Line] = []
        fields: set[str] = set()
        chunk_bytes = first_row = 0

        def close_chunk() -> None:
            nonlocal chunk, fields, chunk_bytes, first_row
            slices.append(_write_chunk(work, len(slices), first_row, chunk, chunk_bytes))
            first_row += len(chunk)
            chunk, fields, chunk_bytes = [], set(), 0

        for line in islice(read_lines(path, name, text_field, counts), row_limit):
            chunk.append(line)
            chunk_bytes += line.size_bytes
            fields.update(line.record or ())
            if chunk_bytes >= slice_bytes or len(chunk) * len(fields) > max(chunk_bytes, _SPARSE_VALUES):
                close_chunk()
        if chunk:
            close_chunk()
        _write_manifest(work, slices, counts)


def stage_row_groups(path: Path, name: str, folder: Path, *, slice_bytes: int, row_limit: int | None) -> None:
    """A Parquet file with giant row groups into `folder`. Rows that cannot be decoded become rows with an error."""
    file = open_parquet(path, name)
    # Rows that cannot be decoded are null in every column, whatever the source declares.
    kept = [field.with_nullable(True) for field in file.schema_arrow if field.name != ERROR_COLUMN]
    schema = pa.schema([*kept, pa.field(ERROR_COLUMN, pa.string())])
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
                    columns = [
                        column
                        for column, column_name in zip(batch.columns, batch.schema.names, strict=True)
                        if column_name != ERROR_COLUMN
                    ]
                    columns.append(pa.nulls(batch.num_rows, pa.string()))
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)
                    read += batch.num_rows
                if read == expected:
                    break
        except (pa.ArrowException, OSError) as error:
            reason = describe_error(error, path)
        message = f"{name}: row group {group}: unreadable from row {row + read} on ({reason}). Fetch the file again."
        while read < expected:
            missing = min(MAX_BATCH_ROWS, expected - read)
            columns = [pa.nulls(missing, field.type) for field in schema][:-1]
            yield pa.RecordBatch.from_arrays([*columns, pa.array([message] * missing, pa.string())], schema=schema)
            read += missing
        row += expected
        left -= expected


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A work folder beside `folder` that becomes it on success; another process may have been first, which is as good."""
    work = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        work.mkdir(parents=True)
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
    names = dict.fromkeys(key for record in records for key in record if key != ERROR_COLUMN)
    columns = {name: _build_column([record.get(name) for record in records]) for name in names}
    return pa.table({**columns, ERROR_COLUMN: pa.array(errors, pa.string())})


def _build_column(values: list[object]) -> pa.Array:
    if not _has_small_shape(values):
        return _as_json(values)
    try:
        column = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return _as_json(values)
    return column if _is_storable(column.type) else _as_json(values)


def _has_small_shape(values: list[object]) -> bool:
    """Whether the objects of a column have few fields in all and do not nest deeply. Linear in the values."""
    fields: dict[tuple[int, str | None], int] = {}
    level: list[tuple[int, object]] = [(0, value) for value in values if isinstance(value, dict | list)]
    for _ in range(_MAX_STRUCT_DEPTH):
        below: list[tuple[int, object]] = []
        for parent, value in level:
            members = value.items() if isinstance(value, dict) else ((None, item) for item in value)  # type: ignore[attr-defined]
            for key, member in members:
                field = fields.setdefault((parent, key), len(fields) + 1)
                if len(fields) > _MAX_STRUCT_FIELDS:
                    return False
                if isinstance(member, dict | list):
                    below.append((field, member))
        if not below:
            return True
        level = below
    return False


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

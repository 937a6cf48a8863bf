"""Rows of Parquet row groups as Python texts, with an error for every row that has no readable text.

A damaged row group costs its own rows from the damage on, never the rest of the shard. Memory holds one batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import SourceError
from curation.shards.manifest import Slice

# A column of staged files only: why a line of the origin gave no record.
ERROR_COLUMN = "_primer_error"

BATCH_BYTES = 4 << 20  # uncompressed bytes a batch aims at: large enough for vectorised signals, small against a slice
MAX_BATCH_ROWS = 1024
_READ_BUFFER_BYTES = (
    1 << 20
)  # streams column chunks; without it a row group of 1 GB is read whole (measured: 516 MB against 124 MB)
_MESSAGE_CHARS = 200
_NAMED_COLUMNS = 20


@dataclass(frozen=True)
class RowBatch:
    """`len(texts)` rows from `first_row` (0-based in the shard). `texts[i]` is None exactly where `errors[i]` is a message.

    `table` holds every source column of these rows; None where they could not be decoded at all (all rows have errors).
    """

    first_row: int
    texts: list[str | None]
    errors: list[str | None]
    table: pa.RecordBatch | None

    def __len__(self) -> int:
        return len(self.texts)


def file_gone(name: str, path: Path) -> SourceError:
    return SourceError(f"{name}: there is no file {path} any more.", hint="Restore it where it was.")


def open_parquet(path: Path, name: str) -> pq.ParquetFile:
    """Open for bounded-memory reading. Raises SourceError when the file is gone, or its footer missing, damaged or contradictory."""
    try:
        file = pq.ParquetFile(
            path,
            buffer_size=_READ_BUFFER_BYTES,
            pre_buffer=False,
            memory_map=False,
            page_checksum_verification=True,  # where a writer left checksums, damage is found before it reads as text
        )
        _ = file.schema_arrow.names  # decoded here: a damaged name raises
    except FileNotFoundError:
        raise file_gone(name, path) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"{name}: not a readable Parquet file ({describe_error(error, path)}).",
            hint="Fetch the file again: its rows cannot be counted.",
        ) from error
    group_rows: list[int] = [_group_rows(file, group) for group in range(file.num_row_groups)]
    if min(group_rows, default=0) < 0 or sum(group_rows) != file.metadata.num_rows:
        raise SourceError(
            f"{name}: its footer gives {file.metadata.num_rows} rows, its row groups {sum(group_rows)}.",
            hint="Fetch the file again: its rows cannot be counted.",
        )
    return file


def read_slice(path: Path, name: str, piece: Slice, text_field: str) -> Iterator[RowBatch]:
    """The rows of one slice, in order, in batches; exactly `piece.row_count` of them whatever is damaged."""
    file = open_parquet(path, name)
    remaining = piece.row_count
    next_row = piece.first_row
    for group in piece.row_groups:
        for batch in _read_row_group(
            file, path, name, group, next_row, min(remaining, _group_rows(file, group)), text_field
        ):
            if piece.file:
                batch = _take_staged_errors(batch)
            yield batch
            next_row += len(batch)
            remaining -= len(batch)
        if remaining == 0:
            break
    if remaining:
        raise SourceError(
            f"{name}: {remaining} rows fewer than when the shard was opened.",
            hint="The file has changed: start a new run.",
        )


def _group_rows(file: pq.ParquetFile, group: int) -> int:
    return int(file.metadata.row_group(group).num_rows)


def batch_rows(file: pq.ParquetFile, group: int) -> int:
    """How many rows of a row group make a batch of about BATCH_BYTES."""
    metadata = file.metadata.row_group(group)
    row_bytes: int = max(metadata.total_byte_size // max(metadata.num_rows, 1), 1)
    return max(1, min(MAX_BATCH_ROWS, BATCH_BYTES // row_bytes))


def _read_row_group(
    file: pq.ParquetFile, path: Path, name: str, group: int, first_row: int, row_count: int, text_field: str
) -> Iterator[RowBatch]:
    read = 0
    try:
        for table in file.iter_batches(batch_size=batch_rows(file, group), row_groups=[group], use_threads=False):
            if read + table.num_rows > row_count:
                table = table.slice(0, row_count - read)
            if table.num_rows:
                yield _decode_batch(table, first_row + read, name, group, text_field)
            read += table.num_rows
            if read == row_count:
                return
        reason = "it ends early"
    except (pa.ArrowException, OSError) as error:
        reason = describe_error(error, path)
    message = f"{name}: row group {group}: unreadable from row {first_row + read} on ({reason}). Fetch the file again."
    while read < row_count:
        size = min(MAX_BATCH_ROWS, row_count - read)
        yield RowBatch(first_row + read, [None] * size, [message] * size, None)
        read += size


def _decode_batch(table: pa.RecordBatch, first_row: int, name: str, group: int, text_field: str) -> RowBatch:
    rows = table.num_rows
    names = table.schema.names
    if twice := sorted({column for column in names if names.count(column) > 1}):
        message = f"{name}: two columns of one name: {', '.join(map(repr, twice))}. Rename one of them."
        return RowBatch(first_row, [None] * rows, [message] * rows, None)
    if text_field not in names:
        message = (
            f"{name}: no column {text_field!r} (columns: {', '.join(names[:_NAMED_COLUMNS])}). "
            "Name the text column with --text-field."
        )
        return RowBatch(first_row, [None] * rows, [message] * rows, table)
    values = decode_strings(table.column(text_field))
    errors: list[str | None] = [None] * rows
    texts: list[str | None] = [None] * rows
    for i, value in enumerate(values):
        if isinstance(value, str):
            texts[i] = value
        else:
            problem = "the text is null" if value is None else value.reason
            errors[i] = f"{name}: row group {group}, row {first_row + i}: {problem}."
    return RowBatch(first_row, texts, errors, table)


def _take_staged_errors(batch: RowBatch) -> RowBatch:
    """A batch of a staged file: the error that was found when it was staged comes first, and its column goes."""
    if batch.table is None or ERROR_COLUMN not in batch.table.schema.names:
        return batch
    staged = batch.table.column(ERROR_COLUMN).to_pylist()
    return RowBatch(
        batch.first_row,
        [text if error is None else None for text, error in zip(batch.texts, staged, strict=True)],
        [found if error is None else error for found, error in zip(batch.errors, staged, strict=True)],
        batch.table.drop_columns([ERROR_COLUMN]),
    )


@dataclass(frozen=True)
class Unreadable:
    """A value that is no text, and why."""

    reason: str


def decode_strings(column: pa.Array) -> Sequence[str | Unreadable | None]:
    """A text column as Python strings, in whatever type it is stored: string, binary, dictionary-encoded or null."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return [None] * len(column)
    is_string = (
        pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type)
    )
    is_binary = (
        pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type) or pa.types.is_binary_view(column.type)
    )
    if not is_string and not is_binary:
        return [Unreadable(f"the column has type {column.type}, not text")] * len(column)
    if is_string:
        try:
            return column.to_pylist()  # type: ignore[no-any-return]
        except UnicodeDecodeError:
            column = column.cast(pa.large_binary())
    return [_decode_value(value) for value in column.to_pylist()]


def _decode_value(value: bytes | None) -> str | Unreadable | None:
    if value is None:
        return None
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        return Unreadable(f"not UTF-8 ({error.reason} at byte {error.start})")


def describe_error(error: BaseException, path: Path) -> str:
    """The first line of an error without the machine's path, so that ledgers are the same everywhere."""
    first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
    return first_line.replace(str(path), path.name)[:_MESSAGE_CHARS]

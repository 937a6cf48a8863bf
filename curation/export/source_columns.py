"""The source's columns over all shards: which there are, in first-seen order, each in one type; and a batch brought to them.

A column whose types no type holds together is JSON text. The text column is always a string. No value is changed,
but that bytes which are not UTF-8 in a column of text (a loader would fail on them) become U+FFFD.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import ExportError
from curation.export.source_types import cast_array, to_plain, unify_types
from curation.ledger.store import SliceRef
from curation.run_folder import RunFolder
from curation.shards.rows import ERROR_COLUMN, open_parquet


@dataclass(frozen=True)
class SourceColumns:
    """`schema` of the export's source columns; `json_columns` are those kept as JSON text."""

    schema: pa.Schema
    json_columns: frozenset[str]

    def conform(self, rows: pa.RecordBatch | pa.Table, shard_name: str) -> list[pa.Array]:
        """Rows of one shard in these columns; a column that the shard lacks is null."""
        arrays = []
        for field in self.schema:
            if field.name not in rows.schema.names:
                arrays.append(pa.nulls(rows.num_rows, field.type))
                continue
            column = rows.column(field.name)
            array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            try:
                array = _to_json(array) if field.name in self.json_columns else cast_array(array, field.type)
                arrays.append(_repair_text(array))
            except (pa.ArrowException, UnicodeDecodeError) as error:
                raise ExportError(
                    f"{shard_name}: column {field.name!r} cannot be written as {field.type} ({error}).",
                    hint="Leave the column out of the shard, or store it in one type in every shard.",
                ) from error
        return arrays


def plan_columns(run: RunFolder, slices: Sequence[SliceRef], text_field: str, reserved: Sequence[str]) -> SourceColumns:
    """Read the schema of every file of the run. Raises ExportError for a column that has a `reserved` name, or two of one name."""
    kinds: dict[str, list[pa.DataType]] = {}
    wide: set[str] = set()
    for shard_name, file in _open_files(run, slices):
        schema = file.schema_arrow
        _require_names(schema, shard_name, reserved)
        for field in schema:
            if field.name == ERROR_COLUMN:
                continue
            found = kinds.setdefault(field.name, [])
            if field.type not in found:
                found.append(field.type)
            if pa.types.is_integer(field.type) and field.type.bit_width == 64 and not _are_small(file, field.name):
                wide.add(field.name)
    fields, json_columns = [], set()
    for name, found in kinds.items():
        kind = _choose_text_type(found) if name == text_field else None
        kind = kind or unify_types(found, are_integers_small=name not in wide)
        if kind is None:
            json_columns.add(name)
        fields.append(pa.field(name, kind or pa.string()))
    return SourceColumns(pa.schema(fields), frozenset(json_columns))


def _open_files(run: RunFolder, slices: Sequence[SliceRef]) -> Iterator[tuple[str, pq.ParquetFile]]:
    """Every Parquet file that holds rows of the run, once."""
    last: tuple[int, str] | None = None
    for ref in slices:
        # Slices of one file follow each other.
        place = (ref.shard.index, ref.piece.file)
        if place != last:
            with run.slice_file(ref.shard, ref.piece) as path:
                yield ref.shard.name, open_parquet(path, ref.shard.name)
        last = place


def _require_names(schema: pa.Schema, shard_name: str, reserved: Sequence[str]) -> None:
    if taken := sorted(set(schema.names) & set(reserved)):
        raise ExportError(
            f"{shard_name} has columns of the export's own already: {', '.join(taken)}.",
            hint="It looks like an export: measure the source that it was made from, or rename those columns.",
        )
    if len(set(schema.names)) < len(schema.names):
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        raise ExportError(
            f"{shard_name} has two columns of one name: {', '.join(map(repr, twice))}.", hint="Rename one of them."
        )


def _choose_text_type(kinds: Sequence[pa.DataType]) -> pa.DataType | None:
    """Text is text even where a shard stores it as bytes: a row that is kept is known to be UTF-8."""
    plain = [to_plain(kind) for kind in kinds]
    is_large = any(pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) for kind in plain)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    if all(pa.types.is_null(kind) or any(is_text(kind) for is_text in texts) for kind in plain):
        return pa.large_string() if is_large else pa.string()
    return None


def _are_small(file: pq.ParquetFile, name: str) -> bool:
    """Whether the footer says that no whole number of the column exceeds 2 ** 53."""
    metadata = file.metadata
    columns = [i for i in range(metadata.num_columns) if metadata.schema.column(i).path == name]
    for group in range(metadata.num_row_groups):
        for column in columns:
            chunk = metadata.row_group(group).column(column)
            statistics = chunk.statistics
            if statistics is not None and statistics.has_null_count and statistics.null_count == chunk.num_values:
                continue
            if statistics is None or not statistics.has_min_max:
                return False
            if max(abs(statistics.min), abs(statistics.max)) > 1 << 53:
                return False
    return bool(columns)


def _repair_text(array: pa.Array) -> pa.Array:
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return array
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        values = array.cast(pa.large_binary()).to_pylist()
        return pa.array([None if value is None else value.decode("utf-8", "replace") for value in values], array.type)
    return array


def _to_json(array: pa.Array) -> pa.Array:
    plain = cast_array(array, to_plain(array.type)) if not pa.types.is_map(array.type) else array
    return pa.array([_dump_value(value) for value in _repair_text(plain).to_pylist()], pa.string())


def _dump_value(value: object) -> str | None:
    """None stays null; bytes become base64, what JSON has no word for its usual spelling."""
    if value is None:
        return None
    return orjson.dumps(value, default=_spell, option=orjson.OPT_NON_STR_KEYS).decode()


def _spell(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)

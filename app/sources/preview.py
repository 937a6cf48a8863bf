"""The first rows of a source, for a person to see what they have named. Texts are cut, and leave as JSON strings alone."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import SourceError
from curation.shards.jsonl import LineCounts, read_lines, require_lines
from curation.shards.prepare import PARQUET_SUFFIX
from curation.shards.remote_reader import RemoteReader
from curation.shards.rows import describe_error, open_parquet
from curation.shards.source import SourceShard
from primer.app.sources.facts import is_parquet, open_remote_parquet

MAX_TEXT_CHARS = 500
_MAX_ITEMS = 20
_MAX_COLUMNS = 200
_MAX_DEPTH = 4
_HEAD_BYTES = 4 << 20  # of a file of lines: a first line that is longer than this is not shown


@dataclass(frozen=True)
class Preview:
    """`columns`: name and type, in the source's order; `rows`: values as JSON has them, cut; `notes`: what could not be read."""

    shard: str
    columns: list[tuple[str, str]]
    rows: list[dict[str, Any]]
    notes: list[str]


def preview_shard(shard: SourceShard, text_field: str, row_count: int) -> Preview:
    """Raises SourceError when the shard cannot be read."""
    with open_columns(shard) as file:
        if file is not None:
            return _preview_parquet(shard, file, row_count)
    with take_head(shard) as path:
        return _preview_lines(shard, path, text_field, row_count)


@contextmanager
def open_columns(shard: SourceShard) -> Iterator[pq.ParquetFile | None]:
    """The shard as Parquet; None where it is none."""
    if shard.remote is not None:
        if shard.remote.path.partition("?")[0].endswith(PARQUET_SUFFIX):
            with open_remote_parquet(shard.remote, shard.name) as file:
                yield file
            return
        yield None
        return
    path = Path(shard.location)
    try:
        has_footer = path.name.endswith(PARQUET_SUFFIX) or is_parquet(path)
    except OSError as error:
        raise SourceError(f"{shard.name}: cannot be read ({error.strerror}).", hint="Scan the source again.") from error
    if has_footer:
        with open_parquet(path, shard.name) as file:
            yield file
        return
    yield None


def _preview_parquet(shard: SourceShard, file: pq.ParquetFile, row_count: int) -> Preview:
    schema = file.schema_arrow
    columns = [(_clean(field.name), _clean(str(field.type))) for field in schema][:_MAX_COLUMNS]
    rows: list[dict[str, Any]] = []
    names = schema.names[:_MAX_COLUMNS]
    if len(set(schema.names)) < len(schema.names):
        return Preview(shard.name, columns, [], ["Two columns have one name: rename one of them."])
    try:
        for batch in file.iter_batches(batch_size=row_count, columns=names, use_threads=False):
            rows += batch.slice(0, row_count - len(rows)).to_pylist()
            if len(rows) >= row_count:
                break
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        note = f"Unreadable from row {len(rows)} on ({describe_error(error, Path(shard.name))})."
        return Preview(shard.name, columns, [_cut_row(row) for row in rows], [_clean(note)])
    return Preview(shard.name, columns, [_cut_row(row) for row in rows], [])


@contextmanager
def take_head(shard: SourceShard) -> Iterator[Path]:
    """The beginning of a file of lines, in a file of its own."""
    with tempfile.TemporaryDirectory(prefix="primer-preview-") as folder:
        path = Path(folder) / "head"
        try:
            if shard.remote is not None:
                path.write_bytes(RemoteReader(shard.remote).read(_HEAD_BYTES) or b"")
            else:
                with open(shard.location, "rb") as file:
                    path.write_bytes(file.read(_HEAD_BYTES))
        except OSError as error:
            raise SourceError(
                f"{shard.name}: cannot be read ({error.strerror}).", hint="Scan the source again."
            ) from error
        yield path


def _preview_lines(shard: SourceShard, path: Path, text_field: str, row_count: int) -> Preview:
    require_lines(path, shard.name)
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    types: dict[str, str] = {}
    is_whole = path.stat().st_size < _HEAD_BYTES
    counts = LineCounts()
    for line in islice(read_lines(path, shard.name, text_field, counts), row_count):
        if line.record is None:
            notes.append(_clean(line.error or ""))
            continue
        for name, value in islice(line.record.items(), _MAX_COLUMNS):
            if len(types) < _MAX_COLUMNS:
                types.setdefault(_clean(name), _name_type(value))
        rows.append(_cut_row(line.record))
    if counts.error and is_whole:
        notes.append(_clean(counts.error))
    elif not rows and not is_whole:
        notes.append(f"The first {_HEAD_BYTES >> 20} MiB hold no whole line that can be shown.")
    return Preview(shard.name, list(types.items()), rows, notes)


def _name_type(value: object) -> str:
    names: Sequence[tuple[type, str]] = (
        (bool, "boolean"),
        (int, "number"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _cut_row(row: dict[str, Any]) -> dict[str, Any]:
    return {_clean(str(name)): _cut(value, 0) for name, value in islice(row.items(), _MAX_COLUMNS)}


def _cut(value: Any, depth: int) -> Any:
    match value:
        case None | bool():
            return value
        case int():
            return value if abs(value) < 1 << 53 else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case str():
            return _clean(value)
        case bytes():
            return _clean(value[: 4 * MAX_TEXT_CHARS].decode("utf-8", "replace"))
        case dict() | list() if depth >= _MAX_DEPTH:
            return "…"
        case dict():
            return {_clean(str(key)): _cut(item, depth + 1) for key, item in islice(value.items(), _MAX_ITEMS)}
        case list() | tuple():
            return [_cut(item, depth + 1) for item in value[:_MAX_ITEMS]]
    return _clean(str(value))


def _clean(text: str) -> str:
    """Cut, and without what no JSON text can hold."""
    cut = text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + "…"
    return cut.encode("utf-8", "replace").decode()

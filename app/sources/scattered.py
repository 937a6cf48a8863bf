"""Documents from all over a source, in one small file: what a trial measures.

Places lie evenly over the source's bytes; at each, rows are taken from one row group, and of a file of lines from its
beginning. Bounded in rows, bytes and time, whatever the source holds.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import PrimerError
from curation.ledger.licences import LICENCE_COLUMNS
from curation.shards.jsonl import Line, LineCounts, read_lines, require_lines
from curation.shards.rows import Unreadable, batch_rows, decode_strings, describe_error
from curation.shards.source import SourceShard
from primer.app.sources.preview import open_columns, take_head

PLACES = 20
TEXT = "text"  # the column's name in the file, whatever it is called in the source
MAX_TEXT_BYTES = 1 << 20  # a longer document is passed over: one of them would take a trial's time
_MAX_BYTES = 48 << 20  # of all that is kept
_MAX_PLACE_BYTES = 64 << 20  # of all that is read at one place
_SPREAD = (
    64  # at a place, rows are taken from so many times as many as are wanted; of a remote file from the first alone
)
_GROUP_ROWS = 8
_SCHEMA = pa.schema(
    {TEXT: pa.large_string(), "url": pa.string(), "token_count": pa.int64(), LICENCE_COLUMNS[0]: pa.string()}
)


@dataclass(frozen=True)
class Reach:
    """A shard and how many of its first rows count; None: all."""

    shard: SourceShard
    row_count: int | None = None


@dataclass
class Scattered:
    """`rows` in an order that makes every beginning of it a fair part. `too_long`: how many documents were passed over.
    `notes`: what could not be read."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    too_long: int = 0
    notes: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """As a Parquet file of small row groups."""
        pq.write_table(pa.Table.from_pylist(self.rows, _SCHEMA), path, row_group_size=_GROUP_ROWS)


def draw_scattered(reaches: Sequence[Reach], text_field: str, count: int, *, deadline: float) -> Scattered:
    """Up to `count` rows. Stops at `deadline`, of time.monotonic(), with what it has."""
    found, kept_bytes = Scattered(), 0
    places: dict[int, list[float]] = {}
    for position, fraction in _choose_places(reaches):
        places.setdefault(position, []).append(fraction)
    for position, fractions in places.items():
        rows = max(1, math.ceil(count * len(fractions) / PLACES))
        try:
            for row in _read_places(reaches[position], text_field, fractions, rows):
                size = len(row[TEXT].encode()) if row[TEXT] is not None else 0
                if size > MAX_TEXT_BYTES:
                    found.too_long += 1
                    continue
                kept_bytes += size
                found.rows.append(row)
                if kept_bytes > _MAX_BYTES or time.monotonic() > deadline:
                    break
        except PrimerError as error:
            found.notes.append(error.message)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            shard = reaches[position].shard
            found.notes.append(f"{shard.name}: cannot be read ({describe_error(error, Path(shard.location))}).")
        if kept_bytes > _MAX_BYTES or time.monotonic() > deadline:
            break
    random.Random(0).shuffle(found.rows)
    del found.rows[count:]
    return found


def _choose_places(reaches: Sequence[Reach]) -> list[tuple[int, float]]:
    """Shard and how far into it, evenly over the bytes of all."""
    sizes = [max(reach.shard.size_bytes, 1) for reach in reaches]
    total, places = sum(sizes), []
    position, start = 0, 0
    for number in range(PLACES):
        byte = (number + 0.5) / PLACES * total
        while byte >= start + sizes[position]:
            start += sizes[position]
            position += 1
        places.append((position, (byte - start) / sizes[position]))
    return places


def _read_places(reach: Reach, text_field: str, fractions: Sequence[float], row_count: int) -> Iterator[dict[str, Any]]:
    """Raises SourceError, and what Arrow and the system raise."""
    with open_columns(reach.shard) as file:
        if file is not None:
            yield from _read_groups(file, reach, text_field, fractions, row_count)
            return
    with take_head(reach.shard) as path:
        require_lines(path, reach.shard.name)
        yield from _read_head(path, reach, text_field, row_count)


def _read_groups(
    file: pq.ParquetFile, reach: Reach, text_field: str, fractions: Sequence[float], row_count: int
) -> Iterator[dict[str, Any]]:
    metadata = file.metadata
    sizes = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    total = min(metadata.num_rows, reach.row_count if reach.row_count is not None else metadata.num_rows)
    hits = Counter(_find_group(sizes, int(fraction * total)) for fraction in fractions)
    names = [name for name in (text_field, *_SCHEMA.names[1:], *LICENCE_COLUMNS) if name in file.schema_arrow.names]
    for group, count in hits.items():
        if sizes[group] == 0:
            continue
        wanted = max(1, math.ceil(row_count * count / len(fractions)))
        spread = 1 if reach.shard.remote is not None else _SPREAD
        reached = min(sizes[group], total - sum(sizes[:group]), wanted * spread)
        places = {number * reached // wanted for number in range(wanted)}
        row = read_bytes = 0
        batches = file.iter_batches(
            batch_size=batch_rows(file, group),
            row_groups=[group],
            columns=list(dict.fromkeys(names)),
            use_threads=False,
        )
        for batch in batches:
            chosen = [place for place in range(batch.num_rows) if row + place in places]
            yield from _decode_rows(batch.take(pa.array(chosen, pa.int64())), text_field)
            row += batch.num_rows
            read_bytes += batch.nbytes
            if row >= reached or read_bytes > _MAX_PLACE_BYTES:
                break


def _find_group(sizes: Sequence[int], row: int) -> int:
    start = 0
    for group, size in enumerate(sizes):
        if row < start + size:
            return group
        start += size
    return max(0, len(sizes) - 1)


def _read_head(path: Path, reach: Reach, text_field: str, row_count: int) -> Iterator[dict[str, Any]]:
    """Evenly of the lines that the head holds whole."""
    lines: list[Line] = []
    for line in read_lines(path, reach.shard.name, text_field, LineCounts()):
        if reach.row_count is not None and len(lines) >= reach.row_count:
            break
        lines.append(line)
    for line in lines[:: max(1, len(lines) // row_count)][:row_count]:
        record = line.record or {}
        licence = next((record[name] for name in LICENCE_COLUMNS if name in record), None)
        text, url, tokens = record.get(text_field), record.get("url"), record.get("token_count")
        yield {
            TEXT: text if isinstance(text, str) else None,
            "url": url if isinstance(url, str) else None,
            "token_count": tokens if isinstance(tokens, int) and 0 <= tokens < 1 << 62 else None,
            LICENCE_COLUMNS[0]: licence if isinstance(licence, str) else None,
        }


def _decode_rows(batch: pa.RecordBatch, text_field: str) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    licence = next((name for name in LICENCE_COLUMNS if name in names), "")
    texts, urls, licences = (_read_strings(batch, name) for name in (text_field, "url", licence))
    counts: list[int | None] = [None] * batch.num_rows
    if "token_count" in names and pa.types.is_integer(batch.column("token_count").type):
        counts = batch.column("token_count").to_pylist()
    for text, url, count, value in zip(texts, urls, counts, licences, strict=True):
        yield {
            TEXT: text,
            "url": url,
            "token_count": count if count is not None and 0 <= count < 1 << 62 else None,
            LICENCE_COLUMNS[0]: value,
        }


def _read_strings(batch: pa.RecordBatch, name: str) -> list[str | None]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    return [None if isinstance(value, Unreadable) else value for value in decode_strings(batch.column(name))]

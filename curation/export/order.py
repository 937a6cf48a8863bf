"""An external sort: rows with keys go in as they come and come out by key, with bounded memory.

Rows that do not fit in memory are split by ranges of the key into files, and a file that is still too large is split
again. The order depends on keys and positions alone, never on how many files there were.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

# What is held before it is spilled or sorted: three such amounts are in memory at once while a bucket is sorted.
BUFFER_BYTES = 64 << 20
# 64 files of 64 MiB a level: two levels sort 256 GiB, and each spill writes about a megabyte to each file.
BUCKETS = 64


class KeyedSpool:
    """Add rows, then drain once. Keys are uint64; equal keys come out by position."""

    def __init__(
        self,
        folder: Path,
        schema: pa.Schema,
        *,
        buckets: int = BUCKETS,
        buffer_bytes: int = BUFFER_BYTES,
        low: int = 0,
        width: int = 1 << 64,
    ) -> None:
        if buckets < 2:
            raise ValueError("a bucket that is too large is split: that takes two buckets or more")
        self._folder, self._schema = folder, schema
        # By place, not by name: a source may name its columns anything.
        self._spill_schema = schema.append(pa.field("key", pa.uint64())).append(pa.field("position", pa.int64()))
        self._buckets, self._buffer_bytes = buckets, buffer_bytes
        self._low, self._width = low, width
        self._bucket_width = max(-(-width // buckets), 1)
        self._buffer: list[pa.Table] = []
        self._buffered_bytes = 0
        self._spilled: set[int] = set()

    def add(self, rows: pa.Table, keys: npt.NDArray[np.uint64], positions: npt.NDArray[np.int64]) -> None:
        if rows.num_rows:
            self._add(
                pa.Table.from_arrays(
                    [*rows.columns, pa.chunked_array([pa.array(keys)]), pa.chunked_array([pa.array(positions)])],
                    schema=self._spill_schema,
                )
            )

    def drain(self) -> Iterator[tuple[pa.Table, npt.NDArray[np.int64]]]:
        """The rows by key, in tables of at most about BUFFER_BYTES, each with its positions."""
        for table in self._drain():
            positions = table.column(table.num_columns - 1).to_numpy()
            columns = table.columns[: len(self._schema)]
            yield pa.Table.from_arrays(columns, schema=self._schema), positions

    def _add(self, table: pa.Table) -> None:
        self._buffer.append(table)
        self._buffered_bytes += table.nbytes
        if self._buffered_bytes >= self._buffer_bytes and self._width > 1:
            self._spill()

    def _drain(self) -> Iterator[pa.Table]:
        if not self._spilled:
            if self._buffer:
                yield self._sort(self._take_buffer())
            return
        self._spill()
        for bucket in sorted(self._spilled):
            path = self._path(bucket)
            low = self._low + bucket * self._bucket_width
            width = min(self._bucket_width, self._low + self._width - low)
            inner = KeyedSpool(
                self._folder / f"{bucket:04d}",
                self._schema,
                buckets=self._buckets,
                buffer_bytes=self._buffer_bytes,
                low=low,
                width=width,
            )
            for table in _read_streams(path):
                inner._add(table)
            path.unlink()
            yield from inner._drain()

    def _spill(self) -> None:
        table = self._take_buffer()
        if not table.num_rows:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        buckets = self._find_buckets(_read_keys(table))
        order = np.argsort(buckets, kind="stable")
        table, buckets = table.take(pa.array(order)), buckets[order]
        numbers, starts = np.unique(buckets, return_index=True)
        ends = [*starts[1:].tolist(), len(buckets)]
        for bucket, start, end in zip(numbers.tolist(), starts.tolist(), ends, strict=True):
            part = table.slice(start, end - start)
            self._spilled.add(bucket)
            # One stream a spill, appended: no file stays open.
            with self._path(bucket).open("ab") as file:
                options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
                with pa.ipc.new_stream(file, self._spill_schema, options=options) as writer:
                    writer.write_table(part)

    def _find_buckets(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        return (keys - np.uint64(self._low)) // np.uint64(self._bucket_width)

    def _take_buffer(self) -> pa.Table:
        table = pa.concat_tables(self._buffer) if self._buffer else self._spill_schema.empty_table()
        self._buffer, self._buffered_bytes = [], 0
        return table

    def _sort(self, table: pa.Table) -> pa.Table:
        positions = table.column(table.num_columns - 1).to_numpy()
        return table.take(pa.array(np.lexsort((positions, _read_keys(table)))))

    def _path(self, bucket: int) -> Path:
        return self._folder / f"{bucket:04d}.arrows"


def _read_keys(table: pa.Table) -> npt.NDArray[np.uint64]:
    return table.column(table.num_columns - 2).to_numpy()  # type: ignore[no-any-return]


def _read_streams(path: Path) -> Iterator[pa.Table]:
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            with pa.ipc.open_stream(file) as stream:
                yield stream.read_all()

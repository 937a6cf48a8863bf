"""Rows into numbered Parquet files of about one size, with the same bytes for the same rows however they arrive.

Row groups end by the weight of their rows alone, so neither batches nor buckets show in the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.export.request import ExportedFile
from curation.shards.prepare import hash_file

# Uncompressed. A reader decodes a row group at a time: small enough for many readers, large enough to compress.
ROW_GROUP_BYTES = 16 << 20
_OPTIONS = {"compression": "zstd", "compression_level": 3, "write_statistics": True, "store_schema": True}
# What a row weighs besides its texts: the fixed-width columns of a source like FineWeb-Edu and of the grade bands.
_ROW_BYTES = 128
_LIST_ITEM_BYTES = 8

OnWrite = Callable[[int, int, int], None]


class RotatingWriter:
    """One split of one config. Call `close` to get its files; without rows it is one file with the schema alone."""

    def __init__(
        self, root: Path, config: str, split: str, schema: pa.Schema, shard_bytes: int, on_write: OnWrite
    ) -> None:
        self._root, self._config, self._split = root, config, split
        self._schema, self._shard_bytes, self._on_write = schema, shard_bytes, on_write
        self._pending: list[pa.Table] = []
        self._pending_tokens: list[npt.NDArray[np.int64]] = []
        self._pending_bytes = 0
        self._files: list[ExportedFile] = []
        self._writer: pq.ParquetWriter | None = None

    def add(self, rows: pa.Table, tokens: npt.NDArray[np.int64]) -> None:
        """Append rows of the writer's schema; `tokens`: one a row."""
        ends = self._pending_bytes + np.cumsum(_weigh_rows(rows))
        start = 0
        while start < rows.num_rows:
            # The row that reaches the weight is the last of its group.
            end = min(int(np.searchsorted(ends, ROW_GROUP_BYTES)) + 1, rows.num_rows)
            self._pending.append(rows.slice(start, end - start))
            self._pending_tokens.append(tokens[start:end])
            self._pending_bytes = int(ends[end - 1])
            if self._pending_bytes >= ROW_GROUP_BYTES:
                ends -= self._pending_bytes
                self._flush()
            start = end

    def close(self) -> list[ExportedFile]:
        """Write what is pending and give the files their final names."""
        self._flush()
        if not self._files:
            self._open()
        self._end_file()
        return [self._rename(file, len(self._files)) for file in self._files]

    def _flush(self) -> None:
        if not self._pending:
            return
        # One chunk: pages would otherwise break where batches did.
        group = pa.concat_tables(self._pending).combine_chunks()
        tokens = sum(int(part) for array in self._pending_tokens for part in array.tolist())
        self._pending, self._pending_tokens, self._pending_bytes = [], [], 0
        if self._writer is None:
            self._open()
        assert self._writer is not None
        before = self._written_bytes()
        self._writer.write_table(group, row_group_size=group.num_rows)
        last = self._files[-1]
        self._files[-1] = replace(last, rows=last.rows + group.num_rows, tokens=last.tokens + tokens)
        written = self._written_bytes()
        self._on_write(group.num_rows, tokens, written - before)
        if written >= self._shard_bytes:
            self._end_file()

    def _open(self) -> None:
        path = f"data/{self._config}/{self._split}-{len(self._files):05d}.parquet"
        (self._root / path).parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(self._root / path, self._schema, **_OPTIONS)
        self._files.append(ExportedFile(path, self._config, self._split, "", 0, 0, 0))

    def _end_file(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        path = self._root / self._files[-1].path
        self._files[-1] = replace(self._files[-1], sha256=hash_file(path), size_bytes=path.stat().st_size)

    def _written_bytes(self) -> int:
        return (self._root / self._files[-1].path).stat().st_size

    def _rename(self, file: ExportedFile, total: int) -> ExportedFile:
        path = file.path.removesuffix(".parquet") + f"-of-{total:05d}.parquet"
        (self._root / file.path).rename(self._root / path)
        return replace(file, path=path)


def _weigh_rows(rows: pa.Table) -> npt.NDArray[np.int64]:
    """Bytes of each row: its texts exactly, lists by their items, everything else as a constant."""
    weights = np.full(rows.num_rows, _ROW_BYTES, np.int64)
    for column in rows.columns:
        if _has_bytes(column.type):
            lengths, unit = pc.binary_length(column), 1
        elif pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            lengths, unit = pc.list_value_length(column), _LIST_ITEM_BYTES
        else:
            continue
        weights += lengths.fill_null(0).to_numpy().astype(np.int64) * unit
    return weights


def _has_bytes(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(kind) for is_kind in kinds)

"""Files rotate by size, and their bytes do not show how rows arrived."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.export import writer as writer_module
from curation.export.writer import RotatingWriter

SCHEMA = pa.schema([("text", pa.string()), ("tags", pa.list_(pa.string())), ("n", pa.int64())])


def make_table(count: int) -> pa.Table:
    generator = np.random.default_rng(2)
    texts = [generator.bytes(int(generator.integers(0, 400))).hex() for _ in range(count)]
    return pa.table({"text": texts, "tags": [["a"] * (i % 5) for i in range(count)], "n": list(range(count))}, SCHEMA)


def write(root: Path, table: pa.Table, batch: int, shard_bytes: int) -> list[tuple[str, str, int, int]]:
    written: list[int] = []
    writer = RotatingWriter(root, "curriculum", "train", SCHEMA, shard_bytes, lambda rows, *_: written.append(rows))
    tokens = np.arange(table.num_rows)
    for start in range(0, table.num_rows, batch):
        writer.add(table.slice(start, batch), tokens[start : start + batch])
    files = writer.close()
    assert sum(written) == table.num_rows
    return [(file.path, file.sha256, file.rows, file.tokens) for file in files]


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "ROW_GROUP_BYTES", 8192)


def test_batches_do_not_show_in_the_bytes(tmp_path: Path) -> None:
    table = make_table(300)
    one = write(tmp_path / "one", table, 300, 60_000)
    assert one == write(tmp_path / "two", table, 1, 60_000)
    assert one == write(tmp_path / "three", table, 37, 60_000)
    assert len(one) > 1
    assert [path for path, *_ in one] == [
        f"data/curriculum/train-{i:05d}-of-{len(one):05d}.parquet" for i in range(len(one))
    ]
    read = pa.concat_tables([pq.read_table(tmp_path / "one" / path) for path, *_ in one])
    assert read.equals(table)
    assert sum(tokens for *_, tokens in one) == sum(range(300))


def test_row_groups_and_files_end_where_they_should(tmp_path: Path) -> None:
    files = write(tmp_path, make_table(300), 50, 60_000)
    sizes = [(tmp_path / path).stat().st_size for path, *_ in files]
    assert all(60_000 <= size < 60_000 + 3 * 8192 for size in sizes[:-1])
    metadata = pq.read_metadata(tmp_path / files[0][0])
    assert metadata.num_row_groups > 3
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    assert b"pandas" not in (metadata.metadata or {})


def test_no_rows_give_one_file_with_the_schema(tmp_path: Path) -> None:
    [(path, _, rows, tokens)] = write(tmp_path, make_table(0), 10, 60_000)
    assert (path, rows, tokens) == ("data/curriculum/train-00000-of-00001.parquet", 0, 0)
    assert pq.read_schema(tmp_path / path) == SCHEMA

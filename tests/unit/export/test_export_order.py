"""The external sort equals a sort in memory, whatever it spills and into however many files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from curation.export.order import KeyedSpool

SCHEMA = pa.schema([("key", pa.string()), ("position", pa.int64())])


def sort_through(folder: Path, keys: np.ndarray, *, buckets: int, buffer_bytes: int) -> tuple[list[int], list[str]]:
    spool = KeyedSpool(folder, SCHEMA, buckets=buckets, buffer_bytes=buffer_bytes)
    for start in range(0, len(keys), 7):
        positions = np.arange(start, min(start + 7, len(keys)))
        rows = pa.table({"key": [f"row {i}" for i in positions], "position": -positions}, schema=SCHEMA)
        spool.add(rows, keys[positions], positions)
    positions_out: list[int] = []
    names: list[str] = []
    for table, positions in spool.drain():
        assert table.schema == SCHEMA
        assert table["position"].to_pylist() == (-positions).tolist()
        positions_out.extend(positions.tolist())
        names.extend(table["key"].to_pylist())
    return positions_out, names


@pytest.mark.parametrize("buckets", [2, 3, 64])
@pytest.mark.parametrize("buffer_bytes", [1 << 8, 1 << 12, 1 << 30])
def test_any_number_of_buckets_gives_the_sorted_order(tmp_path: Path, buckets: int, buffer_bytes: int) -> None:
    keys = np.random.default_rng(1).integers(0, 1 << 64, 500, np.uint64)
    keys[:4] = [0, (1 << 64) - 1, 1 << 63, (1 << 63) - 1]
    keys[100:140] = keys[99]
    expected = np.lexsort((np.arange(len(keys)), keys)).tolist()
    positions, names = sort_through(tmp_path / "spool", keys, buckets=buckets, buffer_bytes=buffer_bytes)
    assert positions == expected
    assert names == [f"row {i}" for i in expected]


def test_equal_keys_alone_end_and_stay_in_order(tmp_path: Path) -> None:
    keys = np.full(300, 12345, np.uint64)
    positions, _ = sort_through(tmp_path / "spool", keys, buckets=2, buffer_bytes=256)
    assert positions == list(range(300))


def test_nothing_gives_nothing(tmp_path: Path) -> None:
    assert list(KeyedSpool(tmp_path / "spool", SCHEMA).drain()) == []
    assert not (tmp_path / "spool").exists()


def test_one_bucket_is_refused() -> None:
    with pytest.raises(ValueError, match="two buckets"):
        KeyedSpool(Path("unused"), SCHEMA, buckets=1)

"""Staged shards: same rows, same order, bounded chunks; a staging folder is whole or is not there."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.errors import QuotaError
from curation.shards import staging
from curation.shards.manifest import Slice
from curation.shards.rows import ERROR_COLUMN, RowBatch, read_slice
from curation.shards.staging import build_table, name_staging, read_staging, stage_lines, stage_row_groups

NAME = "a"


def read_all(folder: Path) -> list[RowBatch]:
    """Every row of a staging folder, after checking that slices and rows follow each other without a gap."""
    staged = read_staging(folder)
    assert staged is not None
    batches: list[RowBatch] = []
    row = 0
    for index, piece in enumerate(staged[0]):
        assert (piece.index, piece.first_row, piece.file) == (index, row, f"chunk-{index:05d}.parquet")
        for batch in read_slice(folder / piece.file, NAME, piece, "text"):
            assert batch.first_row == row
            row += len(batch)
            batches.append(batch)
    return batches


def texts_of(batches: list[RowBatch]) -> list[str | None]:
    return [text for batch in batches for text in batch.texts]


def errors_of(batches: list[RowBatch]) -> list[str | None]:
    return [error for batch in batches for error in batch.errors]


def stage(tmp_path: Path, content: bytes, *, slice_bytes: int = 1 << 20, row_limit: int | None = None) -> Path:
    path = tmp_path / "lines"
    path.write_bytes(content)
    folder = tmp_path / "staged" / f"{slice_bytes}-{row_limit}"
    stage_lines(path, NAME, folder, text_field="text", slice_bytes=slice_bytes, row_limit=row_limit)
    return folder


def to_lines(records: list[object]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_lines_keep_rows_order_errors_and_blank_lines(tmp_path: Path) -> None:
    folder = stage(tmp_path, b'{"text":"a","id":"1"}\n\n[]\n{"text":"b"}\noops\n{"id":"x"}')
    batches = read_all(folder)
    assert texts_of(batches) == ["a", None, "b", None, None]
    assert errors_of(batches) == [
        None,
        f"{NAME}: line 3: a JSON list, expected an object with a field 'text'.",
        None,
        f"{NAME}: line 5: not JSON (unexpected character, expected a JSON value at character 0).",
        f"{NAME}: line 6: no field 'text' (fields: id). Name the text field with --text-field.",
    ]
    staged = read_staging(folder)
    assert staged is not None
    assert staged[1:] == (1, None)


def test_a_chunk_of_broken_lines_alone_keeps_their_messages(tmp_path: Path) -> None:
    batches = read_all(stage(tmp_path, b"[]\n[]\n"))
    problem = "a JSON list, expected an object with a field 'text'."
    assert errors_of(batches) == [f"{NAME}: line 1: {problem}", f"{NAME}: line 2: {problem}"]


def test_chunks_close_by_bytes_and_each_is_one_slice(tmp_path: Path) -> None:
    records: list[object] = [{"text": f"{i:04d}" + "x" * 85} for i in range(100)]
    folder = stage(tmp_path, to_lines(records), slice_bytes=1000)
    staged = read_staging(folder)
    assert staged is not None
    line_bytes = len(to_lines(records[:1]))
    rows_a_slice = -(-1000 // line_bytes)
    assert [piece.row_count for piece in staged[0]][:-1] == [rows_a_slice] * (len(staged[0]) - 1)
    assert texts_of(read_all(folder)) == [record["text"] for record in records]  # type: ignore[index]


def test_staged_bytes_are_the_same_every_time(tmp_path: Path) -> None:
    content = to_lines([{"text": f"t{i}", "n": i} for i in range(500)])
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first, second = (stage(tmp_path / side, content, slice_bytes=2000) for side in ("one", "two"))
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


@pytest.mark.parametrize(("limit", "rows"), [(0, 0), (1, 1), (3, 3), (4, 4), (99, 4)])
def test_a_row_limit_counts_rows_not_lines_and_reads_no_further(tmp_path: Path, limit: int, rows: int) -> None:
    content = b'{"text":"a"}\n\n{"text":"b"}\n{"text":"c"}\n\noops\n'
    folder = stage(tmp_path, content, row_limit=limit)
    assert len(texts_of(read_all(folder))) == rows
    staged = read_staging(folder)
    assert staged is not None
    assert staged[1] == {0: 0, 1: 0, 3: 1, 4: 2, 99: 2}[limit]


def test_a_break_behind_the_row_limit_is_not_reported(tmp_path: Path) -> None:
    import gzip

    content = gzip.compress(b'{"text":"a"}\n{"text":"b"}\n') + b"garbage"
    assert read_staging(stage(tmp_path, content, row_limit=2))[2] is None  # type: ignore[index]
    assert read_staging(stage(tmp_path, content, row_limit=3))[2] is not None  # type: ignore[index]


@pytest.mark.parametrize(
    ("values", "kind", "stored"),
    [
        ([1, 2.5], pa.float64(), [1.0, 2.5]),
        ([1, "a"], pa.string(), ["1", "a"]),
        ([True, 1], pa.string(), ["true", "1"]),
        ([2**63, -1], pa.string(), ["9223372036854775808", "-1"]),
        ([2**60, 2.5], pa.string(), ["1152921504606846976", "2.5"]),
        ([{"a": 1}, [1]], pa.string(), ['{"a":1}', "[1]"]),
        ([{"a": 1}, {"a": "x"}], pa.string(), ['{"a":1}', '{"a":"x"}']),
        ([{}, None], pa.string(), ["{}", None]),
        ([[{}], []], pa.string(), ["[{}]", "[]"]),
        ([None, None], pa.null(), [None, None]),
    ],
)
def test_a_column_without_a_common_type_is_json_text(values: list[object], kind: pa.DataType, stored: object) -> None:
    table = build_table([{"text": "x", "n": value} for value in values], [None] * len(values))
    assert table.schema.names == ["text", "n", ERROR_COLUMN]
    assert table["n"].type == kind
    assert table["n"].to_pylist() == stored


def test_nested_objects_stay_columns(tmp_path: Path) -> None:
    meta = {"a": {"b": [1, 2]}, "c": "x"}
    (batch,) = read_all(stage(tmp_path, to_lines([{"text": "t", "meta": meta}])))
    assert batch.table is not None
    assert batch.table.column("meta").to_pylist() == [meta]


def nest(depth: int, *, in_lists: bool) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value] if in_lists else {"a": value}
    return value


@pytest.mark.parametrize("in_lists", [True, False])
@pytest.mark.parametrize("depth", [3, 15, 16, 17, 60, 250])
def test_deep_nesting_is_read_back(tmp_path: Path, depth: int, in_lists: bool) -> None:
    value = nest(depth, in_lists=in_lists)
    (batch,) = read_all(stage(tmp_path, to_lines([{"text": "t", "n": value}])))
    assert batch.texts == ["t"]
    assert batch.table is not None
    (found,) = batch.table.column("n").to_pylist()
    assert found == (value if depth <= 16 else json.dumps(value, separators=(",", ":")))


def test_an_object_with_other_keys_in_every_row_is_json_text() -> None:
    table = build_table([{"text": "t", "by_url": {f"http://{i}": i}} for i in range(3000)], [None] * 3000)
    assert table["by_url"].type == pa.string()
    assert table["by_url"][2999].as_py() == '{"http://2999":2999}'


def test_a_new_field_in_every_row_closes_chunks_early(tmp_path: Path) -> None:
    records: list[object] = [{"text": f"t{i}", f"k{i}": i} for i in range(2500)]
    folder = stage(tmp_path, to_lines(records), slice_bytes=1 << 30)
    staged = read_staging(folder)
    assert staged is not None
    assert [piece.row_count for piece in staged[0]] == [1024, 1024, 452]
    assert texts_of(read_all(folder)) == [f"t{i}" for i in range(2500)]


def test_types_may_change_between_chunks(tmp_path: Path) -> None:
    records: list[object] = [
        {"text": "a" * 50, "n": 1},
        {"text": "b" * 50, "n": "x"},
        {"text": "c" * 50, "n": {"k": 1}},
    ]
    batches = read_all(stage(tmp_path, to_lines(records), slice_bytes=60))
    tables = [batch.table for batch in batches if batch.table is not None]
    assert [table.column("n").to_pylist() for table in tables] == [[1], ["x"], [{"k": 1}]]


def test_a_source_field_named_like_the_error_column_does_no_harm(tmp_path: Path) -> None:
    batches = read_all(stage(tmp_path, to_lines([{"text": "a", ERROR_COLUMN: 5}, {"text": "b"}])))
    assert (texts_of(batches), errors_of(batches)) == (["a", "b"], [None, None])
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({ERROR_COLUMN: [1, 2], "text": ["a", "b"]}), path)
    stage_row_groups(path, NAME, tmp_path / "groups", slice_bytes=1, row_limit=None)
    batches = read_all(tmp_path / "groups")
    assert (texts_of(batches), errors_of(batches)) == (["a", "b"], [None, None])


def test_a_giant_row_group_keeps_rows_order_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    kinds = pa.schema(
        [
            pa.field("text", pa.string(), nullable=False),
            ("views", pa.string_view()),
            ("tags", pa.list_(pa.string())),
            ("kind", pa.dictionary(pa.int32(), pa.string())),
        ]
    )
    rows = [{"text": f"t{i}", "views": f"v{i}", "tags": [str(i)], "kind": f"k{i % 3}"} for i in range(3000)]
    pq.write_table(pa.Table.from_pylist(rows, kinds), path)
    stage_row_groups(path, NAME, tmp_path / "staged", slice_bytes=20_000, row_limit=None)
    batches = read_all(tmp_path / "staged")
    found = [row for batch in batches if batch.table is not None for row in batch.table.to_pylist()]
    assert found == rows
    assert errors_of(batches) == [None] * 3000
    assert len(read_staging(tmp_path / "staged")[0]) > 1  # type: ignore[index]


@pytest.mark.parametrize("limit", [0, 1, 1023, 1024, 1025, 1500, 1501, 3000, 4000])
def test_a_row_limit_over_giant_row_groups(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"t{i}" for i in range(3000)]}), path, row_group_size=1500)
    stage_row_groups(path, NAME, tmp_path / "staged", slice_bytes=4000, row_limit=limit)
    assert texts_of(read_all(tmp_path / "staged")) == [f"t{i}" for i in range(min(limit, 3000))]


def damage_group(path: Path, group: int) -> None:
    """Overwrite the text column's pages of one row group."""
    column = pq.ParquetFile(path).metadata.row_group(group).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)


def test_a_damaged_giant_row_group_costs_its_own_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    schema = pa.schema([pa.field("text", pa.string(), nullable=False), pa.field("n", pa.int64(), nullable=False)])
    pq.write_table(
        pa.table({"text": [f"t{i}" for i in range(9000)], "n": range(9000)}, schema), path, row_group_size=3000
    )
    damage_group(path, 1)
    stage_row_groups(path, NAME, tmp_path / "staged", slice_bytes=5000, row_limit=None)
    batches = read_all(tmp_path / "staged")
    texts, errors = texts_of(batches), errors_of(batches)
    assert texts == [f"t{i}" if not 3000 <= i < 6000 else None for i in range(9000)]
    assert [i for i, error in enumerate(errors) if error is not None] == list(range(3000, 6000))
    (message,) = set(errors[3000:6000])
    assert message is not None
    assert message.startswith(f"{NAME}: row group 1: unreadable from row 3000 on (")
    assert message.endswith("). Fetch the file again.")
    assert str(tmp_path) not in message


def test_a_damaged_group_beyond_a_writers_row_group_size_loses_no_row(tmp_path: Path) -> None:
    rows = (1 << 20) + 5  # pyarrow splits a written batch at 1,048,576 rows
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["t"] * rows}), path, row_group_size=rows)
    damage_group(path, 0)
    stage_row_groups(path, NAME, tmp_path / "staged", slice_bytes=1 << 40, row_limit=None)
    batches = read_all(tmp_path / "staged")
    assert sum(map(len, batches)) == rows
    assert texts_of(batches).count(None) == rows


def test_the_folder_name_holds_everything_that_the_bytes_depend_on() -> None:
    options = {"text_field": "text", "slice_bytes": 1, "row_limit": None}
    names = {
        name_staging("a" * 64, "x", **options),  # type: ignore[arg-type]
        name_staging("b" * 64, "x", **options),  # type: ignore[arg-type]
        name_staging("a" * 64, "y", **options),  # type: ignore[arg-type]
        *(
            name_staging("a" * 64, "x", **{**options, **change})  # type: ignore[arg-type]
            for change in ({"text_field": "t"}, {"slice_bytes": 2}, {"row_limit": 0})
        ),
    }
    assert len(names) == 6


_STAGE_FOR_EVER = """
import itertools, sys, time
from pathlib import Path
from curation.shards import staging
from curation.shards.jsonl import Line
def endless(*_):
    for i in itertools.count():
        yield Line({"text": f"t{i}"}, None, 100)
        if i == 50: print("half", flush=True); time.sleep(600)
staging.read_lines = endless
staging.stage_lines(Path("x"), "a", Path(sys.argv[1]), text_field="text", slice_bytes=1000, row_limit=None)
"""


def test_a_killed_staging_leaves_nothing_that_counts(tmp_path: Path) -> None:
    folder = tmp_path / "staged" / "key"
    process = subprocess.Popen([sys.executable, "-c", _STAGE_FOR_EVER, str(folder)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"half\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert list(folder.parent.glob(".key.*/chunk-*.parquet")), "the staging was killed before it wrote anything"
    assert read_staging(folder) is None
    path = tmp_path / "lines"
    path.write_bytes(b'{"text":"a"}\n')
    stage_lines(path, NAME, folder, text_field="text", slice_bytes=1000, row_limit=None)
    assert texts_of(read_all(folder)) == ["a"]


_STAGE = """
import sys
from pathlib import Path
from curation.shards.staging import stage_lines
sys.stdin.readline()
stage_lines(Path(sys.argv[1]), "a", Path(sys.argv[2]), text_field="text", slice_bytes=20000, row_limit=None)
"""


def test_two_processes_may_stage_one_shard_at_once(tmp_path: Path) -> None:
    path, folder = tmp_path / "lines", tmp_path / "staged" / "key"
    path.write_bytes(to_lines([{"text": f"t{i}"} for i in range(5000)]))
    processes = [
        subprocess.Popen([sys.executable, "-c", _STAGE, str(path), str(folder)], stdin=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
    assert [process.wait() for process in processes] == [0, 0]
    assert texts_of(read_all(folder)) == [f"t{i}" for i in range(5000)]
    assert [entry.name for entry in folder.parent.iterdir()] == ["key"]


def test_a_staging_that_is_there_already_stays(tmp_path: Path) -> None:
    folder = stage(tmp_path, b'{"text":"first"}\n')
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    stage(tmp_path, b'{"text":"first"}\n')
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert [entry.name for entry in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("content", [b"", b'{"slices": [', b"\x00" * 40])
def test_a_torn_staging_is_removed_and_made_again(tmp_path: Path, content: bytes) -> None:
    folder = stage(tmp_path, b'{"text":"a"}\n')
    (folder / staging.MANIFEST).write_bytes(content)
    assert read_staging(folder) is None
    assert not folder.exists()
    assert texts_of(read_all(stage(tmp_path, b'{"text":"a"}\n'))) == ["a"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_quota_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(QuotaError) as raised:
        stage(tmp_path, b'{"text":"a"}\n')
    assert str(raised.value) == (
        "The disk is full while staging. Free space or choose another --out, then run the same command again."
    )
    assert list((tmp_path / "staged").iterdir()) == []


def test_other_errors_of_the_disk_are_not_called_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="Input/output error"):
        stage(tmp_path, b'{"text":"a"}\n')
    assert list((tmp_path / "staged").iterdir()) == []


def test_a_slice_of_a_staged_shard_reads_without_the_others(tmp_path: Path) -> None:
    folder = stage(tmp_path, to_lines([{"text": f"t{i:03d}"} for i in range(100)]), slice_bytes=200)
    pieces: tuple[Slice, ...] = read_staging(folder)[0]  # type: ignore[index]
    kept = pieces[len(pieces) // 2]
    for piece in pieces:
        if piece != kept:
            (folder / piece.file).unlink()
    (batch,) = read_slice(folder / kept.file, NAME, kept, "text")
    assert batch.texts == [f"t{i:03d}" for i in range(kept.first_row, kept.first_row + kept.row_count)]

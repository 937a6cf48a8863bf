"""Rows of Parquet: exact numbers and messages for every kind of text column and of damage."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.errors import SourceError
from curation.shards import rows
from curation.shards.manifest import Slice
from curation.shards.rows import RowBatch, open_parquet, read_slice

NAME = "a.parquet"


def read(path: Path, row_count: int, groups: tuple[int, ...], first_row: int = 0, file: str = "") -> list[RowBatch]:
    piece = Slice(index=0, first_row=first_row, row_count=row_count, file=file, row_groups=groups)
    return list(read_slice(path, NAME, piece, "text"))


def read_column(tmp_path: Path, column: pa.Array, name: str = "text") -> RowBatch:
    path = tmp_path / NAME
    pq.write_table(pa.table({"id": [str(i) for i in range(len(column))], name: column}), path)
    (batch,) = read(path, len(column), (0,))
    return batch


def as_text(values: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """Bytes that claim to be text, unchecked."""
    binary = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return pa.array(values, pa.binary()).cast(binary[kind]).view(kind)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_text_reads_the_same_in_every_type(tmp_path: Path, kind: pa.DataType) -> None:
    values = ["one", "", None, "nul\x00inside", "é 漢 🎈", "one"]
    if pa.types.is_dictionary(kind):
        column = pa.array(values).dictionary_encode()
    else:
        column = pa.array([v if v is None else v.encode() for v in values], pa.binary()).cast(kind)
    batch = read_column(tmp_path, column)
    assert batch.texts == values
    assert batch.errors == [None, None, f"{NAME}: row group 0, row 2: the text is null.", None, None, None]
    assert batch.table is not None
    assert batch.table.column("id").to_pylist() == ["0", "1", "2", "3", "4", "5"]


def test_null_type_column_is_all_null(tmp_path: Path) -> None:
    batch = read_column(tmp_path, pa.nulls(2))
    assert batch.texts == [None, None]
    assert batch.errors == [f"{NAME}: row group 0, row {i}: the text is null." for i in (0, 1)]


@pytest.mark.parametrize(
    "column",
    [pa.array([1, 2], pa.int64()), pa.array([["a"], ["b"]]), pa.array([{"a": 1}, {"a": 2}])],
    ids=["int", "list", "struct"],
)
def test_a_column_of_another_type_flags_every_row(tmp_path: Path, column: pa.Array) -> None:
    batch = read_column(tmp_path, column)
    stored = pq.read_schema(tmp_path / NAME).field("text").type
    assert batch.texts == [None, None]
    assert batch.errors == [f"{NAME}: row group 0, row {i}: the column has type {stored}, not text." for i in (0, 1)]


def test_a_missing_column_is_named_with_what_there_is(tmp_path: Path) -> None:
    batch = read_column(tmp_path, pa.array(["x"]), name="content")
    assert batch.errors == [f"{NAME}: no column 'text' (columns: id, content). Name the text column with --text-field."]
    assert batch.table is not None


def test_a_missing_column_names_at_most_twenty(tmp_path: Path) -> None:
    path = tmp_path / NAME
    pq.write_table(pa.table({f"c{i}": ["x"] for i in range(500)}), path)
    (batch,) = read(path, 1, (0,))
    assert batch.errors[0] is not None
    assert "c19)" in batch.errors[0]
    assert "c20" not in batch.errors[0]


def test_two_columns_of_one_name_flag_the_rows_instead_of_raising(tmp_path: Path) -> None:
    path = tmp_path / NAME
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["id", "id"]), path)
    (batch,) = read(path, 1, (0,))
    assert (batch.texts, batch.table) == ([None], None)
    assert batch.errors == [f"{NAME}: two columns of one name: 'id'. Rename one of them."]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_invalid_utf8_costs_its_row_alone(tmp_path: Path, kind: pa.DataType) -> None:
    cesu = "\ud83c\udf88".encode("utf-8", "surrogatepass")
    batch = read_column(tmp_path, as_text([b"before", b"ab\xff", cesu, None, b"after"], kind))
    place = f"{NAME}: row group 0, row"
    assert batch.texts == ["before", None, None, None, "after"]
    assert batch.errors == [
        None,
        f"{place} 1: not UTF-8 (invalid start byte at byte 2).",
        f"{place} 2: not UTF-8 (invalid continuation byte at byte 0).",
        f"{place} 3: the text is null.",
        None,
    ]


def test_invalid_utf8_in_another_column_costs_no_row(tmp_path: Path) -> None:
    path = tmp_path / NAME
    pq.write_table(pa.table({"id": as_text([b"\xff", b"b"], pa.string()), "text": ["x", "y"]}), path)
    (batch,) = read(path, 2, (0,))
    assert (batch.texts, batch.errors) == (["x", "y"], [None, None])


def test_row_numbers_run_on_over_groups_and_batches(tmp_path: Path) -> None:
    path = tmp_path / NAME
    texts = [f"t{i}" for i in range(2500)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=1500)
    batches = read(path, 2500, (0, 1))
    assert [batch.first_row for batch in batches] == [0, 1024, 1500]
    assert [text for batch in batches for text in batch.texts] == texts


def test_a_slice_may_end_inside_a_row_group(tmp_path: Path) -> None:
    path = tmp_path / NAME
    pq.write_table(pa.table({"text": [f"t{i}" for i in range(20)]}), path, row_group_size=10)
    batches = read(path, 3, (1,), first_row=10)
    assert [(batch.first_row, batch.texts) for batch in batches] == [(10, ["t10", "t11", "t12"])]


def test_a_file_with_fewer_rows_than_the_slice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    pq.write_table(pa.table({"text": ["x"]}), path)
    with pytest.raises(SourceError) as raised:
        read(path, 3, (0,))
    assert str(raised.value) == (
        f"{NAME}: 2 rows fewer than when the shard was opened. The file has changed: start a new run."
    )


def test_a_wide_row_makes_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BATCH_BYTES", 1000)
    path = tmp_path / NAME
    pq.write_table(pa.table({"text": ["x" * 400 + str(i) for i in range(10)]}), path, use_dictionary=False)
    assert [len(batch) for batch in read(path, 10, (0,))] == [2, 2, 2, 2, 2]


def test_page_checksums_are_verified_where_a_writer_left_them(tmp_path: Path) -> None:
    path = tmp_path / NAME
    table = pa.table({"text": [f"t{i:04d}" for i in range(200)]})
    options = {"row_group_size": 100, "compression": "none", "use_dictionary": False}
    pq.write_table(table, path, write_page_checksum=True, **options)
    path.write_bytes(path.read_bytes().replace(b"t0007", b"t0X07", 1))
    batches = read(path, 200, (0, 1))
    assert [len(batch) for batch in batches] == [100, 100]
    assert batches[0].texts == [None] * 100
    assert batches[0].errors[7] is not None
    assert batches[0].errors[7].startswith(f"{NAME}: row group 0: unreadable from row 0 on (")
    assert "CRC" in batches[0].errors[7]
    assert batches[1].texts == [f"t{i:04d}" for i in range(100, 200)]


def test_a_footer_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    pq.write_table(pa.table({"text": ["x"] * 208}), path, row_group_size=60)
    content = path.read_bytes()
    footer_size = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - footer_size : -8]
    # The file's row count is the third field of the footer: zigzag varint of 208 is a0 03.
    assert footer.count(b"\x16\xa0\x03\x19") == 1
    path.write_bytes(content.replace(b"\x16\xa0\x03\x19", b"\x16\xa2\x03\x19"))
    with pytest.raises(SourceError) as raised:
        open_parquet(path, NAME)
    assert str(raised.value) == (
        f"{NAME}: its footer gives 209 rows, its row groups 208. Fetch the file again: its rows cannot be counted."
    )


def test_a_column_named_like_the_staging_error_is_data_in_a_source(tmp_path: Path) -> None:
    path = tmp_path / NAME
    pq.write_table(pa.table({"text": ["x", "y"], rows.ERROR_COLUMN: [1, 2]}), path)
    (batch,) = read(path, 2, (0,))
    assert (batch.texts, batch.errors) == (["x", "y"], [None, None])


def test_a_staged_error_comes_before_any_other(tmp_path: Path) -> None:
    path = tmp_path / "chunk-00000.parquet"
    pq.write_table(pa.table({"text": ["x", None, None], rows.ERROR_COLUMN: [None, "broken", None]}), path)
    (batch,) = read(path, 3, (0,), file=path.name)
    assert batch.texts == ["x", None, None]
    assert batch.errors == [None, "broken", f"{NAME}: row group 0, row 2: the text is null."]
    assert batch.table is not None
    assert batch.table.schema.names == ["text"]


def test_messages_hold_no_path_of_the_machine(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"PAR1 and nothing else that is Parquet")
    with pytest.raises(SourceError) as raised:
        open_parquet(path, NAME)
    assert str(tmp_path) not in str(raised.value)
    assert str(raised.value).startswith(f"{NAME}: not a readable Parquet file (")
    assert str(raised.value).endswith("Fetch the file again: its rows cannot be counted.")


def test_a_file_that_is_gone_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^a\.parquet: there is no file .*/a\.parquet any more\.") as raised:
        open_parquet(tmp_path / NAME, NAME)
    assert raised.value.hint == "Restore it where it was."

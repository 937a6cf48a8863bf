"""Opening a shard: its manifest for every input, and slices that partition the rows exactly."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.errors import SourceError
from curation.shards import prepare
from curation.shards.manifest import ShardManifest
from curation.shards.prepare import prepare_shard
from curation.shards.rows import read_slice


def open_shard(
    path: Path, *, name: str | None = None, slice_bytes: int = 1 << 20, row_limit: int | None = None
) -> ShardManifest:
    return prepare_shard(
        path,
        name or path.name,
        3,
        staging_root=path.parent / "staged",
        text_field="text",
        slice_bytes=slice_bytes,
        row_limit=row_limit,
    )


def read_all(path: Path, manifest: ShardManifest) -> list[str | None]:
    """Every row's text, or its error where it has none."""
    found: list[str | None] = []
    for piece in manifest.slices:
        file = path.parent / "staged" / manifest.staging / piece.file if manifest.staging else path
        assert bool(piece.file) == bool(manifest.staging)
        assert piece.first_row == len(found)
        for batch in read_slice(file, manifest.name, piece, "text"):
            assert batch.first_row == len(found)
            found += [text if error is None else error for text, error in zip(batch.texts, batch.errors, strict=True)]
        assert len(found) == piece.first_row + piece.row_count
    assert len(found) == manifest.row_count
    return found


def write_groups(path: Path, group_rows: list[int], width: int = 10) -> list[str]:
    """A Parquet file with these row groups; its texts."""
    texts = [f"{i:05d}".ljust(width, "x") for i in range(sum(group_rows))]
    schema = pa.schema([("text", pa.string())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        row = 0
        for rows in group_rows:
            writer.write_table(pa.table({"text": texts[row : row + rows]}, schema), row_group_size=max(rows, 1))
            row += rows
    return texts


def test_a_manifest_says_what_the_file_is(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = write_groups(path, [5, 5])
    manifest = open_shard(path)
    assert manifest.model_dump() == {
        "index": 3,
        "name": "a.parquet",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "size_bytes": path.stat().st_size,
        "row_count": 10,
        "blank_line_count": 0,
        "staging": "",
        "slices": ({"index": 0, "first_row": 0, "row_count": 10, "file": "", "row_groups": (0, 1)},),
        "error": None,
    }
    assert manifest.slice_id(manifest.slices[0]) == "000003-00000"
    assert read_all(path, manifest) == texts
    assert not (tmp_path / "staged").exists()


@settings(max_examples=60)
@given(
    group_rows=st.lists(st.integers(0, 40), max_size=12),
    slice_bytes=st.integers(1, 3000),
    row_limit=st.none() | st.integers(0, 500),
)
def test_slices_partition_the_rows_exactly(group_rows: list[int], slice_bytes: int, row_limit: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        texts = write_groups(path, group_rows)
        manifest = open_shard(path, slice_bytes=slice_bytes, row_limit=row_limit)
        assert read_all(path, manifest) == texts[:row_limit]
        assert [piece.index for piece in manifest.slices] == list(range(len(manifest.slices)))
        assert all(piece.row_count > 0 for piece in manifest.slices)
        if not manifest.staging:
            groups = [group for piece in manifest.slices for group in piece.row_groups]
            assert groups == sorted(set(groups))


@settings(max_examples=30)
@given(lengths=st.lists(st.integers(0, 300), max_size=60), slice_bytes=st.integers(1, 2000))
def test_slices_of_lines_partition_the_rows_exactly(lengths: list[int], slice_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        texts = [str(i % 10) * length for i, length in enumerate(lengths)]
        path.write_text("".join(f'{{"text":"{text}"}}\n' for text in texts))
        manifest = open_shard(path, slice_bytes=slice_bytes)
        assert read_all(path, manifest) == texts


def test_groups_join_until_a_slice_is_full(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_groups(path, [10] * 7)
    group_bytes = pq.ParquetFile(path).metadata.row_group(0).total_byte_size
    manifest = open_shard(path, slice_bytes=3 * group_bytes)
    assert [piece.row_groups for piece in manifest.slices] == [(0, 1, 2), (3, 4, 5), (6,)]
    assert manifest == open_shard(path, slice_bytes=4 * group_bytes - 1)
    assert [piece.row_groups for piece in open_shard(path, slice_bytes=4 * group_bytes).slices] == [
        (0, 1, 2, 3),
        (4, 5, 6),
    ]


@pytest.mark.parametrize(
    ("limit", "slices"),
    [
        (0, []),
        (1, [(0, 1, (0,))]),
        (10, [(0, 10, (0,))]),
        (11, [(0, 10, (0,)), (10, 1, (1,))]),
        (30, [(0, 10, (0,)), (10, 10, (1,)), (20, 10, (2,))]),
        (31, [(0, 10, (0,)), (10, 10, (1,)), (20, 10, (2,))]),
    ],
)
def test_a_row_limit_cuts_slices(tmp_path: Path, limit: int, slices: list[tuple[int, int, tuple[int, ...]]]) -> None:
    path = tmp_path / "a.parquet"
    texts = write_groups(path, [10, 10, 10])
    size = pq.ParquetFile(path).metadata.row_group(0).total_byte_size
    manifest = open_shard(path, slice_bytes=size, row_limit=limit)
    assert [(piece.first_row, piece.row_count, piece.row_groups) for piece in manifest.slices] == slices
    assert read_all(path, manifest) == texts[:limit]


def test_only_a_giant_group_is_staged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = write_groups(path, [200])
    size = pq.ParquetFile(path).metadata.row_group(0).total_byte_size
    assert open_shard(path, slice_bytes=-(-size // 2)).staging == ""
    manifest = open_shard(path, slice_bytes=size // 2 - 1)
    assert manifest.staging != ""
    assert read_all(path, manifest) == texts


def test_one_giant_row_is_not_staged(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    texts = write_groups(path, [1], width=100_000)
    manifest = open_shard(path, slice_bytes=1)
    assert (manifest.staging, read_all(path, manifest)) == ("", texts)


def test_slices_do_not_depend_on_the_files_place_or_name(tmp_path: Path) -> None:
    first, second = tmp_path / "a.parquet", tmp_path / "deeper" / "b.parquet"
    second.parent.mkdir()
    write_groups(first, [10, 10, 10])
    second.write_bytes(first.read_bytes())
    assert open_shard(first, slice_bytes=200).slices == open_shard(second, slice_bytes=200).slices


def test_equal_files_of_two_names_keep_their_own_messages(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b"oops\n")
    for name in ("a.jsonl", "b.jsonl"):
        (message,) = read_all(tmp_path / name, open_shard(tmp_path / name))
        assert message == f"{name}: line 1: not JSON (unexpected character, expected a JSON value at character 0)."


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.parquet", b"", "a.parquet: is empty. Fetch the file again: its rows cannot be counted."),
        ("a.parquet#2", b"", "a.parquet#2: is empty. Fetch the file again: its rows cannot be counted."),
        (
            "a.parquet",
            b'{"text":"x"}',
            "a.parquet: does not begin as Parquet does. Fetch the file again: its rows cannot be counted.",
        ),
        (
            "a.jsonl.gz",
            b"",
            "a.jsonl.gz: is empty, not even a compressed file of no rows. Fetch the file again.",
        ),
        (
            "a.jsonl",
            b"\x89\xff\xfe\x00",
            "a.jsonl: neither Parquet nor line-delimited JSON. Give .parquet, .jsonl, .jsonl.gz or .jsonl.zst files.",
        ),
    ],
)
def test_a_file_that_cannot_be_counted_has_an_error_and_no_rows(
    tmp_path: Path, name: str, content: bytes, error: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    manifest = open_shard(path, name=name)
    assert manifest.error == error
    assert (manifest.row_count, manifest.slices, manifest.staging) == (0, (), "")
    assert manifest.sha256 == hashlib.sha256(content).hexdigest()
    assert not (tmp_path / "staged").exists()


def test_an_empty_text_file_has_no_rows_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n\n")
    manifest = open_shard(path)
    assert (manifest.row_count, manifest.slices, manifest.error, manifest.blank_line_count) == (0, (), None, 2)


def test_a_wrong_suffix_does_not_matter_where_the_bytes_speak(tmp_path: Path) -> None:
    source = tmp_path / "a.parquet"
    texts = write_groups(source, [3])
    path = tmp_path / "a.jsonl"
    path.write_bytes(source.read_bytes())
    assert read_all(path, open_shard(path)) == texts
    path.write_bytes(gzip.compress(b'{"text":"x"}'))
    assert read_all(path, open_shard(path)) == ["x"]


@pytest.mark.parametrize("share", [0.0001, 0.3, 0.7, 0.99, 0.9999])
def test_truncated_parquet_has_an_error_and_no_rows(tmp_path: Path, share: float) -> None:
    path = tmp_path / "a.parquet"
    write_groups(path, [500, 500])
    content = path.read_bytes()
    path.write_bytes(content[: max(4, int(len(content) * share))])
    manifest = open_shard(path)
    assert (manifest.row_count, manifest.slices) == (0, ())
    assert manifest.error is not None
    assert manifest.error.startswith("a.parquet: not a readable Parquet file (")
    assert str(tmp_path) not in manifest.error


def test_a_broken_off_file_keeps_its_rows_and_its_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text":"x"}\n{"text":"y"}\n') + b"\x1f\x8b")
    manifest = open_shard(path)
    assert read_all(path, manifest) == ["x", "y"]
    assert manifest.error is not None
    assert manifest.error.startswith("a.jsonl.gz: breaks off after line 2 (")
    assert open_shard(path) == manifest


def test_columns_may_differ_between_files(tmp_path: Path) -> None:
    for name, table in {
        "a.parquet": pa.table({"text": ["a"], "n": [1]}),
        "b.parquet": pa.table({"n": ["x"], "text": pa.array([b"b"])}),
    }.items():
        pq.write_table(table, tmp_path / name)
    assert read_all(tmp_path / "a.parquet", open_shard(tmp_path / "a.parquet")) == ["a"]
    assert read_all(tmp_path / "b.parquet", open_shard(tmp_path / "b.parquet")) == ["b"]


def test_bytes_that_the_disk_does_not_give_are_a_source_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_path: Path) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = tmp_path / "a.parquet"
    write_groups(path, [1])
    monkeypatch.setattr(prepare, "hash_file", fail)
    with pytest.raises(SourceError) as raised:
        open_shard(path)
    assert str(raised.value) == (
        "a.parquet: cannot be read (Permission denied). Check the file's permissions and its disk."
    )


def test_a_folder_in_the_place_of_a_file_is_a_source_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").mkdir()
    with pytest.raises(SourceError, match=r"^a\.parquet: cannot be read \(Is a directory\)\."):
        open_shard(tmp_path / "a.parquet")

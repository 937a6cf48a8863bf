"""A run's folder: whose it is, where its shards lie, and the way back from a slice to its rows."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation import run_folder
from curation.errors import LedgerError, SourceError
from curation.ledger.store import Plan, PlannedShard, SliceRef
from curation.recipe import Recipe
from curation.run_folder import RunFolder
from curation.shards.prepare import prepare_shard
from curation.shards.source import SourceShard, list_shards

PLAN = Plan(
    recipe=Recipe(artifacts={}, frequencies="list"),
    shards=(PlannedShard(name="a.parquet", size_bytes=None),),
    row_limit=None,
)


def open_run(tmp_path: Path, content: bytes | None = None) -> tuple[RunFolder, Path, list[SliceRef]]:
    """A run over one shard of ten rows: Parquet, or the lines given."""
    source = tmp_path / ("a.parquet" if content is None else "a.jsonl")
    if content is None:
        pq.write_table(pa.table({"text": [f"t{i}" for i in range(10)]}), source, row_group_size=4)
    else:
        source.write_bytes(content)
    folder = RunFolder(tmp_path / "run")
    folder.claim()
    folder.ledger.create(PLAN)
    folder.write_locations(list_shards([str(source)]))
    manifest = prepare_shard(
        source, source.name, 0, staging_root=folder.staging, text_field="text", slice_bytes=1 << 20, row_limit=None
    )
    return folder, source, [SliceRef(manifest, piece) for piece in manifest.slices]


def read_texts(folder: RunFolder, refs: list[SliceRef]) -> list[str | None]:
    return [text for ref in refs for batch in folder.read_rows(ref) for text in batch.texts]


def test_rows_are_read_back_from_the_shard(tmp_path: Path) -> None:
    folder, _, refs = open_run(tmp_path)
    assert read_texts(folder, refs) == [f"t{i}" for i in range(10)]
    assert read_texts(RunFolder(folder.folder), refs) == [f"t{i}" for i in range(10)]


def test_rows_are_read_back_from_the_staged_copy_without_the_shard(tmp_path: Path) -> None:
    folder, source, refs = open_run(tmp_path, b'{"text":"a"}\n{"text":"b"}\n')
    source.unlink()
    assert read_texts(folder, refs) == ["a", "b"]


def test_a_staged_copy_that_is_gone_says_so(tmp_path: Path) -> None:
    folder, _, refs = open_run(tmp_path, b'{"text":"a"}\n')
    (folder.staging / refs[0].shard.staging / refs[0].piece.file).unlink()
    with pytest.raises(SourceError) as raised:
        read_texts(folder, refs)
    assert str(raised.value) == "a.jsonl: its staged copy is gone. Run the same `primer run` command again."


def test_a_shard_that_is_gone_says_so(tmp_path: Path) -> None:
    folder, source, refs = open_run(tmp_path)
    source.unlink()
    with pytest.raises(SourceError) as raised:
        read_texts(folder, refs)
    assert str(raised.value) == f"a.parquet: there is no file {source.resolve()} any more. Restore it where it was."


@pytest.mark.parametrize("is_same_size", [True, False])
def test_a_shard_that_changed_is_refused(tmp_path: Path, is_same_size: bool) -> None:
    folder, source, refs = open_run(tmp_path)
    content = source.read_bytes()
    source.write_bytes(content[:4] + b"\xff" + content[5:] if is_same_size else content + b"x")
    with pytest.raises(SourceError) as raised:
        read_texts(folder, refs)
    assert str(raised.value) == ("a.parquet has changed since it was measured. Restore the file or start a new run.")
    source.write_bytes(content)
    assert read_texts(folder, refs) == [f"t{i}" for i in range(10)]


def test_a_shard_that_changes_after_it_was_checked_is_noticed(tmp_path: Path) -> None:
    folder, source, refs = open_run(tmp_path)
    content = source.read_bytes()
    assert read_texts(folder, refs) == [f"t{i}" for i in range(10)]
    source.write_bytes(content[:4] + b"\xff" + content[5:])
    with pytest.raises(SourceError, match=r"a\.parquet has changed"):
        read_texts(folder, refs)
    source.write_bytes(content)
    assert read_texts(folder, refs) == [f"t{i}" for i in range(10)]


@pytest.mark.parametrize("is_gone", [True, False])
def test_what_was_read_of_a_shard_that_changed_meanwhile_is_refused(tmp_path: Path, is_gone: bool) -> None:
    folder, source, refs = open_run(tmp_path)
    content = source.read_bytes()

    def read_and_harm() -> None:
        with folder.slice_file(refs[0].shard, refs[0].piece) as path:
            assert path.read_bytes() == content
            source.unlink()
            if not is_gone:
                source.write_bytes(content[::-1])

    with pytest.raises(SourceError, match="there is no file" if is_gone else "has changed"):
        read_and_harm()


def test_a_checked_shard_is_not_hashed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _, refs = open_run(tmp_path)
    read_texts(folder, refs)
    monkeypatch.delattr(run_folder, "hash_file")
    assert read_texts(folder, refs) == [f"t{i}" for i in range(10)]


def test_bytes_that_the_disk_does_not_give_are_a_source_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_path: Path) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    folder, _, refs = open_run(tmp_path)
    monkeypatch.setattr(run_folder, "hash_file", fail)
    with pytest.raises(SourceError) as raised:
        read_texts(folder, refs)
    assert str(raised.value) == (
        "a.parquet: cannot be read (Input/output error). Check the file's permissions and its disk."
    )


def test_a_new_or_empty_folder_may_be_claimed_and_a_run_again(tmp_path: Path) -> None:
    RunFolder(tmp_path / "new").claim()
    assert not (tmp_path / "new").exists()
    (tmp_path / "empty").mkdir()
    RunFolder(tmp_path / "empty").claim()
    folder, _, _ = open_run(tmp_path)
    folder.claim()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    for name in ("d", "b", "c", "a", "ledger"):
        (tmp_path / name).mkdir()
    with pytest.raises(LedgerError) as raised:
        RunFolder(tmp_path).claim()
    assert str(raised.value) == f"{tmp_path} is not empty (a, b, c). Choose a new or empty folder for --out."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c", "d", "ledger"]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"mine")
    with pytest.raises(LedgerError) as raised:
        RunFolder(tmp_path / "out").claim()
    assert str(raised.value) == f"{tmp_path / 'out'} is a file. Choose a new or empty folder for --out."
    assert (tmp_path / "out").read_bytes() == b"mine"


def test_another_part_may_lay_the_plan_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(tmp_path)
    real_iterdir = Path.iterdir

    def list_late(path: Path):  # type: ignore[no-untyped-def]
        if path == tmp_path:
            folder.ledger.create(PLAN)
            (tmp_path / "request.json").touch()
        return real_iterdir(path)

    monkeypatch.setattr(Path, "iterdir", list_late)
    folder.claim()
    assert (tmp_path / "request.json").exists()


@pytest.mark.parametrize("content", [None, b"", b"{", b"{}"], ids=repr)
def test_an_unknown_place_says_what_to_do(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "locations.json").write_bytes(content)
    with pytest.raises(SourceError) as raised:
        RunFolder(tmp_path).locate("a.parquet")
    assert str(raised.value) == (
        "Nobody said where a.parquet is. Run `primer run` with its source and this --out once."
    )


def test_places_are_remembered_by_name(tmp_path: Path) -> None:
    shards = [SourceShard("a.parquet", "/data/a.parquet", 5), SourceShard("b.parquet", "/data/b.parquet", 6)]
    RunFolder(tmp_path).write_locations(shards)
    assert RunFolder(tmp_path).locate("b.parquet") == shards[1]
    assert set(json.loads((tmp_path / "locations.json").read_bytes())) == {"a.parquet", "b.parquet"}


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="There is no run in"):
        RunFolder(tmp_path).require_run()


def test_sweeping_takes_what_a_killed_process_was_staging_and_nothing_else(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    for name in (".0123456789abcdef.5d2c", "0123456789abcdef"):
        (run.staging / name).mkdir(parents=True)
        (run.staging / name / "chunk-00000.parquet").write_bytes(b"half")
    run.sweep_staging()
    assert [path.name for path in run.staging.iterdir()] == ["0123456789abcdef"]

"""Listing local sources: what is found, in which order, under which name, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from curation.errors import SourceError
from curation.shards.source import list_local_shards, list_shards


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * len(name))


def names_of(*sources: Path | str) -> list[str]:
    return [shard.name for shard in list_shards([str(source) for source in sources])]


def test_a_file_is_a_shard_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, "_odd.txt")
    (shard,) = list_shards([str(tmp_path / "_odd.txt")])
    assert (shard.name, shard.location, shard.size_bytes, shard.remote) == (
        "_odd.txt",
        str((tmp_path / "_odd.txt").resolve()),
        8,
        None,
    )


def test_a_folder_is_searched_to_the_bottom_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.parquet", "a.jsonl", "deep/er/c.jsonl.gz", "deep/d.jsonl.zst", "e.ndjson", "f.json", "g.json.gz")
    make(tmp_path, "README.md", "h.csv", "i.parquet.tmp", "_SUCCESS", ".hidden.parquet", "_j.parquet")
    make(tmp_path, "_temporary/k.parquet", ".cache/l.parquet", "deep/_m/n.parquet")
    assert names_of(tmp_path) == [
        "a.jsonl",
        "b.parquet",
        "deep/d.jsonl.zst",
        "deep/er/c.jsonl.gz",
        "e.ndjson",
        "f.json",
        "g.json.gz",
    ]


def test_a_folder_may_itself_be_hidden_or_named_like_a_shard(tmp_path: Path) -> None:
    make(tmp_path, ".data/_x/a.parquet", "b.parquet/part-0.parquet")
    assert names_of(tmp_path / ".data" / "_x") == ["a.parquet"]
    assert names_of(tmp_path / "b.parquet") == ["part-0.parquet"]
    assert names_of(tmp_path) == ["b.parquet/part-0.parquet"]


def test_patterns_name_shards_from_their_first_wildcard(tmp_path: Path) -> None:
    make(tmp_path, "x/1/a.parquet", "x/2/a.parquet", "x/2/deep/b.parquet", "x/a.parquet", "x/c.jsonl")
    make(tmp_path, "x/.hidden.parquet")
    assert names_of(tmp_path / "x/*.parquet") == ["a.parquet"]
    assert names_of(tmp_path / "x/[12]/a.parquet") == ["1/a.parquet", "2/a.parquet"]
    assert names_of(tmp_path / "x/**/*.parquet") == ["1/a.parquet", "2/a.parquet", "2/deep/b.parquet", "a.parquet"]
    assert names_of(tmp_path / "*/c.jsonl") == ["x/c.jsonl"]


def test_a_relative_pattern_is_named_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.parquet")
    monkeypatch.chdir(tmp_path)
    assert names_of("*.parquet") == ["a.parquet"]
    assert names_of("a.parquet") == ["a.parquet"]
    assert names_of(".") == ["a.parquet"]


def test_a_file_with_wildcards_in_its_name_is_that_file(tmp_path: Path) -> None:
    make(tmp_path, "a[1].parquet", "a1.parquet")
    assert names_of(tmp_path / "a[1].parquet") == ["a[1].parquet"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "missing.parquet",
            "There is no file or folder {root}/missing.parquet. Check the path; a pattern must be quoted from the shell.",
        ),
        (
            "*.parquet",
            "{root}/*.parquet holds no shards. Shards end in "
            ".parquet, .jsonl, .jsonl.gz, .jsonl.zst, .json.gz, .ndjson, .json.",
        ),
        (
            "empty",
            "{root}/empty holds no shards. Shards end in "
            ".parquet, .jsonl, .jsonl.gz, .jsonl.zst, .json.gz, .ndjson, .json.",
        ),
    ],
)
def test_nothing_found_is_said(tmp_path: Path, source: str, message: str) -> None:
    make(tmp_path, "empty/README.md")
    with pytest.raises(SourceError) as raised:
        list_shards([str(tmp_path / source)])
    assert str(raised.value) == message.format(root=tmp_path)


def test_one_missing_source_among_others_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "a.parquet")
    with pytest.raises(SourceError, match="There is no file or folder"):
        list_shards([str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")])


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    make(tmp_path, "x/a.parquet", "y/a.parquet", "y/a.parquet#2", "z/a.parquet")
    sources = [tmp_path / "x/a.parquet", tmp_path / "y/a.parquet#2", tmp_path / "y", tmp_path / "z"]
    shards = list_shards([str(source) for source in sources])
    assert [(shard.name, Path(shard.location).parent.name) for shard in shards] == [
        ("a.parquet", "x"),
        ("a.parquet#2", "y"),
        ("a.parquet#3", "y"),
        ("a.parquet#4", "z"),
    ]


def test_a_place_counts_once_however_it_is_named(tmp_path: Path) -> None:
    make(tmp_path, "a.parquet", "b.parquet")
    (tmp_path / "c.parquet").symlink_to(tmp_path / "a.parquet")
    sources = [tmp_path / "b.parquet", tmp_path, tmp_path / "x/../a.parquet", tmp_path / "*.parquet"]
    (tmp_path / "x").mkdir()
    assert names_of(*sources) == ["b.parquet", "a.parquet"]


def test_the_order_of_sources_is_kept(tmp_path: Path) -> None:
    make(tmp_path, "x/b.parquet", "y/a.parquet")
    assert names_of(tmp_path / "x", tmp_path / "y") == ["b.parquet", "a.parquet"]
    assert names_of(tmp_path / "y", tmp_path / "x") == ["a.parquet", "b.parquet"]


@pytest.mark.parametrize("source", ["", "*.parquet"], ids=["folder", "pattern"])
def test_a_link_to_nothing_is_refused_not_passed_over(tmp_path: Path, source: str) -> None:
    make(tmp_path, "a.parquet")
    (tmp_path / "b.parquet").symlink_to(tmp_path / "gone")
    with pytest.raises(SourceError) as raised:
        list_local_shards(str(tmp_path / source))
    assert str(raised.value) == (
        f"{tmp_path / 'b.parquet'} is a link to nothing. Restore what it points to, or remove the link."
    )


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"a\xff.parquet")).write_bytes(b"x")
    with pytest.raises(SourceError) as raised:
        list_local_shards(str(tmp_path))
    assert str(raised.value).endswith("a\\udcff.parquet' has a name that is not UTF-8. Rename the file.")

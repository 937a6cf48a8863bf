"""The allow-list against every way out of it: dots, links, percent signs, user names, odd schemes and spellings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from curation.errors import PrimerError
from curation.shards.source import SourceShard
from primer.app.core.errors import NotAllowed, Unprocessable
from primer.app.sources.listing import list_allowed
from primer.app.sources.places import HUB, Places, Prefix, normalize_location, normalize_prefix


def find(prefix: str, location: str) -> str:
    """The prefix under which the location is."""
    return Places([Prefix(normalize_prefix(prefix))]).find(normalize_location(location)).text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An allowed folder beside one that is not."""
    root, outside = tmp_path / "allowed", tmp_path / "outside"
    for folder in (root, outside, tmp_path / "allowed-not"):
        folder.mkdir()
        (folder / "a.jsonl").write_text('{"text": "x"}\n')
    return root


def test_what_lies_below_a_folder_is_allowed(root: Path) -> None:
    for location in (
        root,
        root / "a.jsonl",
        f"{root}/",
        f"{root}/*.jsonl",
        f"{root}/**/*.jsonl",
        f"file://{root}/a.jsonl",
    ):
        assert find(str(root), str(location)) == str(root)
    assert find(str(root), f"{root}/../allowed/a.jsonl") == str(root)


@pytest.mark.parametrize(
    "location",
    [
        "{root}/../outside/a.jsonl",
        "{root}/./../outside",
        "{root}-not/a.jsonl",
        "{root}/..",
        "file://{root}/../outside/a.jsonl",
        "FILE://{root}/../outside",
        "/etc/passwd",
        "file:///etc/passwd",
        "/",
        "/*",
        "{outer}/*/a.jsonl",
        "{outer}/allowe[d]/a.jsonl",
        "/proc/self/environ",
    ],
)
def test_what_lies_elsewhere_is_not(root: Path, location: str) -> None:
    with pytest.raises(NotAllowed, match="is under no place that sources may name"):
        find(str(root), location.format(root=root, outer=root.parent))


@pytest.mark.parametrize(
    "location",
    [
        "relative/a.jsonl",
        "../outside",
        "~/a.jsonl",
        "{root}/*/../../outside/a.jsonl",
        "file://host{root}/a.jsonl",
        "file:{root}",
        "{root}/x://y",
        "{root}/a\0b",
        "{root}/a\nb",
        " {root}",
        "local://{root}",
        "memory://x",
        "ftp://example.org/x",
        "sftp://example.org/x",
        "smb://example.org/x",
        "gopher://example.org/x",
        "data:text/plain,x",
        "zip://a.jsonl::{root}/a.zip",
        "simplecache::https://example.org/a",
        "reference://x",
        "github://owner:name@/x",
        "hf://models/owner/name",
        "hf://datasets/owner/name/../x",
        "hf://spaces/owner/name",
        "",
    ],
)
def test_what_has_no_plain_meaning_is_refused(root: Path, location: str) -> None:
    with pytest.raises(PrimerError) as raised:
        find(str(root), location.format(root=root))
    assert not isinstance(raised.value, NotAllowed)


def test_a_link_out_of_the_folder_is_followed_before_it_is_judged(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    (root / "file.jsonl").symlink_to("/etc/passwd")
    (root / "inside").symlink_to(root)
    assert find(str(root), f"{root}/inside/a.jsonl") == str(root)
    for location in (root / "link", root / "link" / "a.jsonl", root / "file.jsonl", f"{root}/link/*.jsonl"):
        with pytest.raises(NotAllowed):
            find(str(root), str(location))
    (root / "loop").symlink_to(root / "loop")
    with pytest.raises(PrimerError):
        find(str(root), f"{root}/loop/a.jsonl")


def test_a_prefix_is_where_its_links_lead(root: Path) -> None:
    (root.parent / "alias").symlink_to(root)
    assert normalize_prefix(f"{root.parent}/alias") == str(root)
    assert find(f"{root.parent}/alias", str(root / "a.jsonl")) == str(root)


def test_every_shard_that_is_found_must_lie_in_the_folder(root: Path) -> None:
    places = Places([Prefix(str(root))])
    assert [shard.name for shard in list_allowed(places, [str(root)])] == ["a.jsonl"]
    (root / "b.jsonl").symlink_to(root.parent / "outside" / "a.jsonl")
    for location in (root, root / "*.jsonl"):
        with pytest.raises(NotAllowed, match=r"outside/a\.jsonl"):
            list_allowed(places, [str(location)])
    (root / "b.jsonl").unlink()
    (root / "folder").symlink_to(root.parent / "outside")
    with pytest.raises(NotAllowed):
        list_allowed(places, [f"{root}/*/*.jsonl"])


def test_a_folder_that_becomes_a_link_after_it_was_registered_is_no_way_out(root: Path) -> None:
    places = Places([Prefix(str(root))])
    (root / "part").mkdir()
    (root / "part" / "a.jsonl").write_text("{}\n")
    registered = normalize_location(f"{root}/part")
    assert len(list_allowed(places, [registered])) == 1
    os.rename(root / "part", root / "old")
    (root / "part").symlink_to(root.parent / "outside")
    with pytest.raises(NotAllowed):
        list_allowed(places, [registered])


@pytest.mark.parametrize(
    ("location", "normal"),
    [
        ("https://data.example.org/corpus/a.parquet", "https://data.example.org/corpus/a.parquet"),
        ("HTTPS://Data.Example.ORG:443/corpus/x/../a.parquet", "https://data.example.org/corpus/a.parquet"),
        ("https://data.example.org./corpus/%61.parquet?v=1", "https://data.example.org/corpus/a.parquet?v=1"),
        ("https://data.example.org/x/%2e%2E/corpus/a", "https://data.example.org/corpus/a"),
        ("https://data.example.org/corpus/*.parquet", "https://data.example.org/corpus/*.parquet"),
        ("https://data.example.org/corpus", "https://data.example.org/corpus"),
    ],
)
def test_a_web_address_is_brought_into_one_spelling(location: str, normal: str) -> None:
    assert normalize_location(location) == normal
    assert normalize_location(normal) == normal
    assert find("https://DATA.example.org/corpus/", location) == "https://data.example.org/corpus"


@pytest.mark.parametrize(
    "location",
    [
        "https://data.example.org/corpus/../secret/a",
        "https://data.example.org/corpus/%2e%2e/secret/a",
        "https://data.example.org/corpus/.%2E/secret",
        "https://data.example.org/corpus2/a",
        "https://data.example.org/Corpus/a",
        "https://data.example.org/",
        "http://data.example.org/corpus/a",
        "https://data.example.org:444/corpus/a",
        "https://data.example.org:80/corpus/a",
        "https://data.example.org.evil.net/corpus/a",
        "https://evil.net/https://data.example.org/corpus/a",
        "https://evil.net/corpus/a",
        "https://sub.data.example.org/corpus/a",
        "s3://data.example.org/corpus/a",
    ],
)
def test_another_place_of_the_web_is_not_allowed(location: str) -> None:
    with pytest.raises(NotAllowed):
        find("https://data.example.org/corpus", location)


@pytest.mark.parametrize(
    "location",
    [
        "https://data.example.org@evil.net/corpus/a",
        "https://evil.net@data.example.org/corpus/a",
        "https://user:hunter2@data.example.org/corpus/a",
        "https://data.example.org\\@evil.net/corpus/a",
        "https://data.example.org/corpus\\..\\secret",
        "https://data.example.org/corpus/%2fsecret",
        "https://data.example.org/corpus/..%2Fsecret",
        "https://data.example.org/corpus/..%5csecret",
        "https://data.example.org/corpus/%252e%252e/secret",
        "https://data.example.org/corpus/%25252e%25252e/secret",
        "https://data.example.org/corpus/%252fsecret",
        "https://data.example.org/corpus/a%00.parquet",
        "https://data.example.org/corpus/a#fragment",
        "https://data.example.org/corpus/a?token=hunter2",
        "https://data.example.org/corpus/a?X-Amz-Signature=hunter2",
        "https://data%2eexample.org/corpus/a",
        "https://data.example.org:99999999/corpus/a",
        "https:///corpus/a",
        "https://",
        "https://data.example.org /corpus",
        "https://[::1/corpus",
    ],
)
def test_an_address_that_clients_may_read_differently_is_refused(location: str) -> None:
    with pytest.raises(Unprocessable) as raised:
        find("https://data.example.org/corpus", location)
    assert "hunter2" not in str(raised.value)


def test_a_bucket_is_matched_by_whole_segments() -> None:
    for location in ("s3://corpora/web/a.parquet", "s3://corpora/web/*.parquet", "S3://corpora/web"):
        assert find("s3://corpora/web/", location) == "s3://corpora/web"
    for location in (
        "s3://corpora/website/a",
        "s3://corpora/we*/a",
        "s3://corpora2/web/a",
        "gs://corpora/web/a",
        "s3://c*/web",
    ):
        with pytest.raises(NotAllowed):
            find("s3://corpora/web", location)
    for location in ("s3://corpora/web/../private", "s3://", "s3://key:secret@corpora/web", "s3:///web"):
        with pytest.raises(Unprocessable):
            find("s3://corpora/web", location)


def test_the_hub_is_allowed_whole_by_owner_or_by_name() -> None:
    location = "hf://datasets/owner/name@main/data/*.parquet"
    for prefix in (HUB, "hf://datasets", "hf://datasets/owner", "hf://datasets/owner/", "hf://datasets/owner/name"):
        assert find(prefix, location).startswith(HUB)
    for prefix in (
        "hf://datasets/own",
        "hf://datasets/owner2",
        "hf://datasets/owner/nam",
        "https://huggingface.co/",
        "/srv",
    ):
        with pytest.raises(NotAllowed):
            find(prefix, location)


@pytest.mark.parametrize(
    "prefix",
    ["/", "//", "relative", "https://", "https://example.org/*", "/srv/*", "https://u@example.org/", "hf://models/x",
     "hf://datasets/a/b/c", "hf://datasets/../x", "ftp://example.org", "https://example.org/?x=1", "s3://", ""],
)  # fmt: skip
def test_a_prefix_that_is_none_is_refused(prefix: str) -> None:
    with pytest.raises(PrimerError):
        normalize_prefix(prefix)


def test_nothing_is_allowed_until_an_admin_says_so(root: Path) -> None:
    for location in (str(root), "https://example.org/a", "s3://b/a", "hf://datasets/owner/name"):
        with pytest.raises(NotAllowed):
            Places([]).find(normalize_location(location))
    with pytest.raises(NotAllowed):
        Places([]).require_shard(SourceShard("a", str(root / "a.jsonl"), 1))

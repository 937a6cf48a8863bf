"""Addresses on the Hub and what is listed behind them."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import replace

import pytest
from fakes.hub_server import CONTENT, TOKEN, Fault, HubServer, name_commit

from curation.errors import SourceError
from curation.shards.hub import HubSource, list_hub_shards, parse_hub_url
from curation.shards.retries import RetryPolicy

URL = "hf://datasets/owner/name"
COMMIT = name_commit("first")


def put_files(hub: HubServer, *paths: str, card: str | None = None) -> None:
    files = hub.commits[COMMIT]
    files.clear()
    files.update({path: path.encode() for path in paths})
    if card is not None:
        files["README.md"] = card.encode()


def list_paths(
    policy: RetryPolicy, url: str = URL, *, config: str | None = None, split: str | None = None
) -> list[str]:
    return [shard.path for shard in list_hub_shards(parse_hub_url(url), config=config, split=split, policy=policy)]


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("hf://datasets/o/n", HubSource("o/n", None, "")),
        ("hf://datasets/o/n/", HubSource("o/n", None, "")),
        ("hf://datasets/o/n@v1.2", HubSource("o/n", "v1.2", "")),
        ("hf://datasets/o/n/sample/10BT/*.parquet", HubSource("o/n", None, "sample/10BT/*.parquet")),
        ("hf://datasets/o/n@abc/sample/", HubSource("o/n", "abc", "sample")),
        (
            "hf://datasets/o/n@refs/convert/parquet/en/0.parquet",
            HubSource("o/n", "refs/convert/parquet", "en/0.parquet"),
        ),
        ("hf://datasets/o/n@feature%2Fx/a", HubSource("o/n", "feature/x", "a")),
    ],
)
def test_parse_hub_url(url: str, source: HubSource) -> None:
    assert parse_hub_url(url) == source


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hf://",
        "hf://datasets",
        "hf://datasets/o",
        "hf://o/n",
        "hf://models/o/n",
        "hf://spaces/o/n",
        "https://huggingface.co/datasets/o/n",
        "s3://o/n",
        "hf://datasets/o/n@",
        "hf://datasets/o/n/a//b",
        "hf://datasets/o/n/../x",
        "hf://datasets/o/n/a/**.parquet",
        "hf://datasets/o o/n",
    ],
)
def test_parse_refuses(url: str) -> None:
    with pytest.raises(SourceError, match=r"hf://datasets/OWNER/NAME"):
        parse_hub_url(url)


def test_listing_is_pinned_and_carries_no_token(hub: HubServer, policy: RetryPolicy) -> None:
    (shard,) = list_hub_shards(parse_hub_url(f"{URL}@main"), config=None, split=None, policy=policy)
    assert shard.uri == f"hf://datasets/owner/name@{COMMIT}/data/a.parquet"
    assert shard.path == "data/a.parquet"
    assert shard.size_bytes == len(CONTENT)
    assert shard.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert shard.revision == COMMIT
    assert shard.url == f"{hub.url}/datasets/owner/name/resolve/{COMMIT}/data/a.parquet"
    assert TOKEN.encode() not in pickle.dumps(shard)
    assert [request.headers["authorization"] for request in hub.requests] == [f"Bearer {TOKEN}"] * len(hub.requests)
    assert [request.path for request in hub.requests] == [
        "/api/datasets/owner/name/revision/main",
        f"/datasets/owner/name/resolve/{COMMIT}/README.md",
        f"/api/datasets/owner/name/tree/{COMMIT}",
    ]


def test_branch_that_moves_does_not_move_shards(hub: HubServer, policy: RetryPolicy) -> None:
    before = list_hub_shards(parse_hub_url(URL), policy=policy)
    later = name_commit("second")
    hub.commits[later] = {"data/a.parquet": b"other"}
    hub.branches["main"] = later
    assert list_hub_shards(parse_hub_url(f"{URL}@{COMMIT}"), policy=policy) == before
    assert list_hub_shards(parse_hub_url(URL), policy=policy)[0].revision == later


def test_pages_are_followed_and_paths_sorted(hub: HubServer, policy: RetryPolicy) -> None:
    paths = [f"data/{number:03}.parquet" for number in range(25)]
    put_files(hub, *reversed(paths), "data/notes.txt", "LICENSE")
    hub.page_size = 10
    assert list_paths(policy) == paths
    assert len(hub.find_requests("hub", "/tree/")) == 3


def test_only_readable_kinds_are_kept(hub: HubServer, policy: RetryPolicy) -> None:
    kept = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.json.gz", "A.PARQUET", "a.parquet"]
    put_files(hub, *kept, "a.csv", "a.json", "a.txt", "parquet", "a.parquet.md5", ".hidden.parquet", "__x/a.parquet")
    assert list_paths(policy) == sorted(kept)


def test_file_in_git_itself_has_no_sha256(hub: HubServer, policy: RetryPolicy) -> None:
    hub.plain_paths.add("data/a.parquet")
    (shard,) = list_hub_shards(parse_hub_url(URL), policy=policy)
    assert shard.sha256 is None
    assert shard.size_bytes == len(CONTENT)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("sample/10BT/*.parquet", ["sample/10BT/0.parquet", "sample/10BT/1.parquet"]),
        ("sample/10BT", ["sample/10BT/0.parquet", "sample/10BT/1.parquet", "sample/10BT/deep/2.parquet"]),
        ("sample/10BT/1.parquet", ["sample/10BT/1.parquet"]),
        ("sample/*/0.parquet", ["sample/100BT/0.parquet", "sample/10BT/0.parquet"]),
        ("sample/10BT/**/2.*", ["sample/10BT/deep/2.parquet"]),
        ("**/0.parquet", ["sample/100BT/0.parquet", "sample/10BT/0.parquet"]),
        ("sample/10BT/[!0].parquet", ["sample/10BT/1.parquet"]),
        ("sample/10BT/?.parquet", ["sample/10BT/0.parquet", "sample/10BT/1.parquet"]),
    ],
)
def test_path_selects(hub: HubServer, policy: RetryPolicy, path: str, found: list[str]) -> None:
    put_files(
        hub,
        "sample/10BT/0.parquet",
        "sample/10BT/1.parquet",
        "sample/10BT/deep/2.parquet",
        "sample/100BT/0.parquet",
        "top.parquet",
    )
    assert list_paths(policy, f"{URL}/{path}") == found
    assert hub.find_requests("hub", "README.md") == []


def test_only_the_folder_is_listed(hub: HubServer, policy: RetryPolicy) -> None:
    put_files(hub, "sample/10BT/0.parquet", "data/1.parquet")
    list_paths(policy, f"{URL}/sample/10BT/*.parquet")
    assert [request.path for request in hub.find_requests("hub", "/tree/")] == [
        f"/api/datasets/owner/name/tree/{COMMIT}/sample/10BT"
    ]


@pytest.mark.parametrize("path", ["nothing", "data/*.jsonl", "data/b.parquet", "dat"])
def test_nothing_there(hub: HubServer, policy: RetryPolicy, path: str) -> None:
    with pytest.raises(SourceError, match=f"no data files there at commit {COMMIT}"):
        list_paths(policy, f"{URL}/{path}")


CARD = """---
license: odc-by
configs:
- config_name: default
  default: true
  data_files:
  - split: train
    path: data/*/*
- config_name: sample-10BT
  data_files:
  - split: train
    path: sample/10BT/*
  - split: test
    path: [extra/t1.parquet, "extra/t2.*"]
- config_name: list
  data_files: [sample/10BT/0.parquet, extra/*]
- config_name: text
  data_files: extra/t1.parquet
- config_name: mapping
  data_files: {train: sample/**, validation: [extra/t1.parquet]}
- config_name: folder
  data_dir: sample
- config_name: folder-files
  data_dir: ./sample/
  data_files: 10BT/1.parquet
- config_name: 2024
  data_files: top.parquet
---
# Text
configs:
"""
CARD_FILES = [
    "data/x/0.parquet",
    "data/y/1.parquet",
    "sample/10BT/0.parquet",
    "sample/10BT/1.parquet",
    "extra/t1.parquet",
    "extra/t2.jsonl.gz",
    "top.parquet",
]


@pytest.mark.parametrize(
    ("config", "split", "found"),
    [
        (None, None, ["data/x/0.parquet", "data/y/1.parquet"]),
        ("default", "train", ["data/x/0.parquet", "data/y/1.parquet"]),
        ("sample-10BT", "train", ["sample/10BT/0.parquet", "sample/10BT/1.parquet"]),
        ("sample-10BT", "test", ["extra/t1.parquet", "extra/t2.jsonl.gz"]),
        (
            "sample-10BT",
            None,
            ["extra/t1.parquet", "extra/t2.jsonl.gz", "sample/10BT/0.parquet", "sample/10BT/1.parquet"],
        ),
        ("list", "train", ["extra/t1.parquet", "extra/t2.jsonl.gz", "sample/10BT/0.parquet"]),
        ("text", None, ["extra/t1.parquet"]),
        ("mapping", "train", ["sample/10BT/0.parquet", "sample/10BT/1.parquet"]),
        ("mapping", "validation", ["extra/t1.parquet"]),
        ("folder", "train", ["sample/10BT/0.parquet", "sample/10BT/1.parquet"]),
        ("folder-files", None, ["sample/10BT/1.parquet"]),
        ("2024", None, ["top.parquet"]),
    ],
)
def test_card_selects(
    hub: HubServer, policy: RetryPolicy, config: str | None, split: str | None, found: list[str]
) -> None:
    put_files(hub, *CARD_FILES, card=CARD)
    assert list_paths(policy, config=config, split=split) == found


def test_path_narrows_a_config(hub: HubServer, policy: RetryPolicy) -> None:
    put_files(hub, *CARD_FILES, card=CARD)
    assert list_paths(policy, f"{URL}/data/y", config="default") == ["data/y/1.parquet"]


def test_unknown_config_and_split_list_the_choices(hub: HubServer, policy: RetryPolicy) -> None:
    put_files(hub, *CARD_FILES, card=CARD)
    with pytest.raises(
        SourceError,
        match=r"has no config 'sample'\. Name one of its configs: 2024, default, folder, folder-files, list, ",
    ):
        list_paths(policy, config="sample")
    with pytest.raises(SourceError, match=r"has no split 'dev'\. Its splits: test, train"):
        list_paths(policy, config="sample-10BT", split="dev")
    assert hub.find_requests("hub", "/tree/") == []


@pytest.mark.parametrize(
    ("marks", "problem"),
    [(("", ""), "2 configs and no default"), (("default: true", "default: true"), "2 configs and 2 default")],
)
def test_ambiguous_configs(hub: HubServer, policy: RetryPolicy, marks: tuple[str, str], problem: str) -> None:
    entries = "".join(f"- config_name: c{n}\n  data_files: '*.parquet'\n  {mark}\n" for n, mark in enumerate(marks))
    put_files(hub, "a.parquet", card=f"---\nconfigs:\n{entries}---\n")
    with pytest.raises(SourceError, match=rf"{problem}\. Name one of its configs: c0, c1"):
        list_paths(policy)
    assert list_paths(policy, config="c1") == ["a.parquet"]


@pytest.mark.parametrize(
    ("front_matter", "problem"),
    [
        ("configs: [", "cannot be read"),
        ("configs: 5", "configs is not a list"),
        ("configs: [{data_files: x}]", "without config_name"),
        ("configs: [{config_name: c, data_files: [5]}]", "not text"),
        ("configs: [{config_name: c, data_files: [{split: a}]}]", "other than"),
        ("configs: [{config_name: c, data_files: [{split: a, path: x}, {split: a, path: y}]}]", "'a' twice"),
        ("configs: [{config_name: c, data_files: ../x}]", "outside"),
        ("configs: [{config_name: c, data_files: 'https://example.org/x.parquet'}]", "outside"),
        ("configs: [{config_name: c, data_files: 'x/**.parquet'}]", r"\*\* inside"),
        ("configs: " + "[" * 5000, "cannot be read"),
    ],
)
def test_bad_cards(hub: HubServer, policy: RetryPolicy, front_matter: str, problem: str) -> None:
    put_files(hub, "a.parquet", card=f"---\n{front_matter}\n---\n")
    with pytest.raises(SourceError, match=problem):
        list_paths(policy)


@pytest.mark.parametrize(
    "card", [None, "", "# no block", "---\nlicense: mit\n---\n", "---\nnever closed", "---\n5\n---"]
)
def test_without_configs_all_is_train(hub: HubServer, policy: RetryPolicy, card: str | None) -> None:
    put_files(hub, "a.parquet", "sub/b.parquet", card=card)
    assert list_paths(policy) == ["a.parquet", "sub/b.parquet"]
    assert list_paths(policy, split="train") == ["a.parquet", "sub/b.parquet"]
    with pytest.raises(SourceError, match="Its splits: train"):
        list_paths(policy, split="test")
    with pytest.raises(SourceError, match="Name one of its configs: default"):
        list_paths(policy, config="en")


@pytest.mark.parametrize(
    ("files", "splits"),
    [
        (
            [
                "data/train-00000-of-00002.parquet",
                "data/train-00001-of-00002-ab12.parquet",
                "data/odd-00000-of-00001.parquet",
            ],
            {"train": [0, 1], "odd": [2]},
        ),
        (["train/a.parquet", "my-dev-set/b.parquet", "other/c.parquet"], {"train": [0], "validation": [1]}),
        (["x_train_1.parquet", "valid.parquet", "eval2.parquet"], {"train": [0], "validation": [1], "test": [2]}),
        (["trains.parquet", "latest.parquet"], {"train": [0, 1]}),
        (["train/test.parquet"], {"train": [0]}),
    ],
)
def test_splits_by_names(hub: HubServer, policy: RetryPolicy, files: list[str], splits: dict[str, list[int]]) -> None:
    put_files(hub, *files)
    for split, numbers in splits.items():
        assert list_paths(policy, split=split) == sorted(files[number] for number in numbers)
    with pytest.raises(SourceError, match=f"Its splits: {', '.join(sorted(splits))}[.]$"):
        list_paths(policy, split="no-such-split")


def test_split_below_a_path(hub: HubServer, policy: RetryPolicy) -> None:
    put_files(hub, "test/train/a.parquet", "test/dev/b.parquet", "train/c.parquet")
    assert list_paths(policy, f"{URL}/test", split="validation") == ["test/dev/b.parquet"]
    with pytest.raises(SourceError, match="Its splits: train, validation"):
        list_paths(policy, f"{URL}/test", split="test")


def test_listing_survives_a_shaky_api(hub: HubServer, policy: RetryPolicy) -> None:
    hub.api_faults.extend([Fault(status=503), Fault(status=503)])
    assert list_paths(policy) == ["data/a.parquet"]
    assert len(hub.find_requests("hub", "/api/")) == 4
    hub.api_faults.extend([Fault(status=429, headers={"Retry-After": "0"})] * 4)
    with pytest.raises(SourceError, match=r"HTTP 429 .*4 attempts in a row"):
        list_paths(policy)


def test_missing_things(hub: HubServer, policy: RetryPolicy) -> None:
    with pytest.raises(SourceError, match=r"no such revision\. Choose a branch"):
        list_paths(policy, f"{URL}@nowhere")
    assert len(hub.requests) == 1
    with pytest.raises(SourceError, match=r"HTTP 401.*set HF_TOKEN"):
        list_paths(policy, "hf://datasets/owner/other")
    assert len(hub.requests) == 2


def test_offline_mode(hub: HubServer, policy: RetryPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(SourceError, match="HF_HUB_OFFLINE"):
        list_paths(policy)
    assert hub.requests == []


def test_hostile_pattern_is_not_slow(hub: HubServer, policy: RetryPolicy) -> None:
    name = "a" * 2000 + ".parquet"
    put_files(hub, name, card="---\nconfigs: [{config_name: c, data_files: '" + "a*" * 200 + "b'}]\n---\n")
    with pytest.raises(SourceError, match="no data files"):
        list_paths(replace(policy, read_timeout_seconds=5.0))

"""Pushing an export to a local Hub: what arrives, what is sent again, what is refused, and where the token goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from export_requests import Measured, make_request, read_bytes
from fakes.hub_server import REPOSITORY, TOKEN, Fault, HubServer
from huggingface_hub import constants

import curation.export.push as push_module
from curation.errors import ExportError
from curation.export.build import write_export
from curation.export.push import Pushed, push_export
from curation.export.request import CONTROL, CURRICULUM
from curation.shards.hub import list_hub_shards, parse_hub_url


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A Hub without the repository, spoken to in plain Git LFS."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(push_module, "_FILES_AT_ONCE", 1)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with HubServer({}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        server.is_created = False
        server.needs_token = True
        server.plain_paths = set()
        yield server


@pytest.fixture
def folder(measured: Measured) -> Path:
    return write_export(make_request(measured.tmp, measured.run, measured.tmp / "pushed", shard_bytes=1)).folder


def push(
    folder: Path, *, revision: str = "main", is_private: bool = True, checkpoint: Callable[[], None] = lambda: None
) -> Pushed:
    return push_export(folder, REPOSITORY, revision=revision, is_private=is_private, token=TOKEN, checkpoint=checkpoint)


def list_uploads(hub: HubServer) -> list[str]:
    return [request.path for request in hub.find_requests("cdn", "/lfs/")]


def test_what_arrives_is_the_export_in_one_commit(hub: HubServer, folder: Path) -> None:
    pushed = push(folder)
    assert hub.branches == {"main": pushed.commit}
    assert hub.commits[pushed.commit] == read_bytes(folder)
    assert len(hub.commits) == 2
    assert hub.is_private
    assert pushed.url == f"{hub.url}/datasets/{REPOSITORY}/tree/main"


def test_the_hub_lists_it_as_a_data_set_with_its_configs(hub: HubServer, folder: Path) -> None:
    push(folder)
    for config in (CURRICULUM, CONTROL):
        shards = list_hub_shards(parse_hub_url(f"hf://datasets/{REPOSITORY}"), config=config, split="train")
        files = sorted((folder / "data" / config).glob("train-*.parquet"))
        assert [shard.size_bytes for shard in shards] == [file.stat().st_size for file in files]
        assert pq.read_metadata(files[0]).num_rows > 0


def test_the_token_goes_to_the_hub_and_not_to_its_store(hub: HubServer, folder: Path) -> None:
    push(folder)
    assert list_uploads(hub)
    assert all("authorization" not in request.headers for request in hub.find_requests("cdn"))
    posts = [request for request in hub.find_requests("hub") if "commit" in request.path or "batch" in request.path]
    assert {request.headers["authorization"] for request in posts} == {f"Bearer {TOKEN}"}


def test_a_push_that_broke_off_sends_only_what_is_missing(hub: HubServer, folder: Path) -> None:
    class Stopped(Exception):
        pass

    calls = 0

    def stop_after_one() -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise Stopped

    with pytest.raises(Stopped):
        push(folder, checkpoint=stop_after_one)
    sent = list_uploads(hub)
    assert len(sent) == 1
    assert [*hub.commits.values()] == [{}]  # nobody sees half of it
    pushed = push(folder)
    assert hub.commits[pushed.commit] == read_bytes(folder)
    assert len(list_uploads(hub)) == len(set(list_uploads(hub))) == len(list(folder.rglob("*.parquet")))


def test_pushed_again_nothing_is_sent_and_nothing_committed(hub: HubServer, folder: Path) -> None:
    first = push(folder)
    sent = list_uploads(hub)
    assert push(folder).commit == first.commit
    assert list_uploads(hub) == sent


def test_files_of_an_earlier_export_go_and_others_stay(hub: HubServer, folder: Path) -> None:
    [commit] = hub.commits
    hub.commits[commit] = {"data/curriculum/train-99999.parquet": b"old", "notes.txt": b"keep me"}
    pushed = push(folder, is_private=False)
    assert hub.commits[pushed.commit] == {**read_bytes(folder), "notes.txt": b"keep me"}


def test_a_branch_is_made_and_main_left_alone(hub: HubServer, folder: Path) -> None:
    pushed = push(folder, revision="v2")
    assert hub.commits[hub.branches["v2"]] == read_bytes(folder)
    assert hub.commits[hub.branches["main"]] == {}
    assert pushed.url.endswith("/tree/v2")


def test_what_must_be_private_does_not_go_where_all_can_read(hub: HubServer, folder: Path) -> None:
    hub.is_created = True
    with pytest.raises(ExportError, match="is there already, and public"):
        push(folder)
    assert not hub.find_requests("hub", "/api/repos/create")
    assert list_uploads(hub) == []
    assert push(folder, is_private=False).commit == hub.branches["main"]


def test_a_refusal_says_what_to_do_and_names_no_secret(hub: HubServer, folder: Path) -> None:
    with pytest.raises(ExportError) as caught:
        push_export(folder, REPOSITORY, revision="main", is_private=True, token="hf_wrong")
    assert "(HTTP 401). Set HF_TOKEN, where the workers run" in str(caught.value)
    assert "hf_wrong" not in str(caught.value)


def test_a_store_that_fails_once_is_tried_again(hub: HubServer, folder: Path) -> None:
    hub.upload_faults.append(Fault(status=500))
    pushed = push(folder)
    assert hub.commits[pushed.commit] == read_bytes(folder)
    assert len(list_uploads(hub)) == 3


def test_a_store_that_refuses_ends_the_push_and_the_next_one_goes_on(hub: HubServer, folder: Path) -> None:
    hub.upload_faults.append(Fault(status=403))
    with pytest.raises(RuntimeError, match="Error while uploading"):
        push(folder)
    assert len(hub.commits) == 1
    pushed = push(folder)
    assert hub.commits[pushed.commit] == read_bytes(folder)

"""An export end to end on a real worker: curate, overrule, export, download in parts, repeat from the command line, push."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import servers
from accounts import open_program
from cli_runs import SAMPLE, digest_folder, run_json, run_primer
from exported_runs import EXPORTS, list_decisions
from fakes.hub_server import REPOSITORY, TOKEN, HubServer
from service_stack import Stack, running_stack

from curation.curate import open_decision_set
from curation.export.load_back import load_back
from curation.export.request import CONTROL, CURRICULUM
from curation.run_folder import RunFolder
from curation.shards.hub import list_hub_shards, parse_hub_url
from primer.app.auth.actor import SYSTEM
from primer.app.auth.roles import Role
from primer.app.jobs import service as jobs
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import JobState
from primer.app.main import create_app


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer({}) as server:
        server.is_created, server.needs_token, server.plain_paths = False, True, set()
        yield server


@pytest.fixture
def stack(tmp_path: Path, hub: HubServer) -> Iterator[Stack]:
    broker = servers.ValkeyServer(tmp_path / "valkey")
    environment = {"PRIMER_LEASE": "60", "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    try:
        with running_stack(
            tmp_path / "stack", database_url=f"sqlite:///{tmp_path}/primer.sqlite3", broker_url=broker.url
        ) as stack:
            stack.start_worker("--concurrency", "1", environment=environment)
            yield stack
    finally:
        broker.kill()


def test_overruled_documents_go_in_and_out_of_an_export_that_can_be_repeated(
    stack: Stack, hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = JobOptions(has_encoder=False)
    source_id, profile_id = stack.add_source(SAMPLE), stack.add_profile()
    base = jobs.start_job(stack.context, SYSTEM, source_id=source_id, profile_id=profile_id, options=options)
    assert stack.wait_for(base.id, seconds=300).state == JobState.SUCCEEDED
    run = stack.run_folder(base.id)
    decisions = list_decisions(open_decision_set(RunFolder(run)))
    lost = next(row for row, (is_kept, _) in decisions.items() if is_kept)
    gained = next(row for row, (is_kept, tokens) in decisions.items() if tokens and not is_kept)

    client = open_program(create_app(stack.settings), Role.OPERATOR)
    for (shard, row), action in ((lost, "exclude"), (gained, "keep")):
        body = {"shard_sha256": shard, "row": row, "action": action, "reason": "read by a teacher"}
        assert client.post(f"/api/v1/sources/{source_id}/rulings", json=body).status_code == 201
    asked = client.post(EXPORTS, json={"base_job_id": base.id, "validation_share": 0.1, "shuffle_seed": 3}).json()
    done = stack.wait_for(asked["job_id"], seconds=300)
    assert (done.state, done.error) == (JobState.SUCCEEDED, None)
    export = client.get(f"{EXPORTS}/{asked['id']}").json()
    assert export["manifest"]["overrides"]["revision"] == export["overrides_revision"] == 2
    assert (export["checks"][0]["is_sound"], export["checks"][0]["problem_count"]) == (True, 0)

    downloaded = tmp_path / "downloaded"
    for file in export["files"]:
        path = downloaded / file["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        url, half = f"{EXPORTS}/{export['id']}/files/{file['path']}", file["size_bytes"] // 2
        parts = [client.get(url, headers={"Range": f"bytes={span}"}) for span in (f"0-{half - 1}", f"{half}-")]
        assert [part.status_code for part in parts] == [206, 206]
        path.write_bytes(b"".join(part.content for part in parts))
        assert hashlib.sha256(path.read_bytes()).hexdigest() == file["sha256"]

    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in SAMPLE.glob("*.parquet")}
    exported = [
        (hashes[row["primer_shard"]], row["primer_row"])
        for path in sorted((downloaded / "data" / CURRICULUM).glob("*.parquet"))
        for row in pq.read_table(path, columns=["primer_shard", "primer_row"]).to_pylist()
    ]
    expected = {row for row, (is_kept, _) in decisions.items() if is_kept} - {lost} | {gained}
    assert set(exported) == expected
    assert len(exported) == len(expected)
    loaded = load_back(downloaded, cache=tmp_path / "cache")
    assert sum(loaded[CURRICULUM].values()) == len(expected)

    rulings = tmp_path / "rulings.jsonl"
    rulings.write_bytes(client.get(f"/api/v1/sources/{source_id}/rulings.jsonl", params={"revision": 2}).content)
    repeated = tmp_path / "repeated"
    run_primer(
        "export", run, "--out", repeated, "--overrides", rulings, "--validation-share", "0.1", "--shuffle-seed", "3"
    )
    assert digest_folder(repeated) == digest_folder(downloaded)
    assert run_json("verify", downloaded, "--run", run, "--overrides", rulings)["is_sound"]

    asked_push = client.post(f"{EXPORTS}/{export['id']}/push", json={"repo_id": REPOSITORY, "revision": "v1"}).json()
    pushed = stack.wait_for(asked_push["id"], seconds=120)
    assert (pushed.state, pushed.error) == (JobState.SUCCEEDED, None)
    [push] = client.get(f"{EXPORTS}/{export['id']}").json()["pushes"]
    arrived = hub.commits[push["commit"]]
    assert {path: hashlib.sha256(content).hexdigest() for path, content in arrived.items()} == digest_folder(downloaded)
    assert hub.is_private
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    for config, split in ((CURRICULUM, "train"), (CURRICULUM, "validation"), (CONTROL, "train")):
        address = f"hf://datasets/{REPOSITORY}@{push['commit']}"
        shards = list_hub_shards(parse_hub_url(address), config=config, split=split)
        files = sorted((downloaded / "data" / config).glob(f"{split}-*.parquet"))
        assert [shard.size_bytes for shard in shards] == [path.stat().st_size for path in files]
    assert TOKEN not in stack.read_logs()

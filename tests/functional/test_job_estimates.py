"""Estimates of jobs: what a trial finds is what the job finds, within its bounds, and nothing of it stays."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import servers
from accounts import open_program
from cli_runs import SAMPLE, run_json
from fastapi import FastAPI
from service_stack import Stack, running_stack
from starlette.testclient import TestClient

from curation.concepts.interval import find_interval
from primer.app.auth.actor import SYSTEM
from primer.app.auth.roles import Role
from primer.app.core.errors import Conflict
from primer.app.jobs import trial
from primer.app.jobs.options import JobOptions
from primer.app.jobs.trial_turns import TrialTurns
from primer.app.main import create_app
from primer.app.models import AllowedPrefix, Source

ESTIMATE = "/api/v1/jobs/estimate"


@pytest.fixture
def stack(tmp_path: Path) -> Any:
    """No worker, and no broker, unless a test starts them."""
    url = f"redis://127.0.0.1:{servers.find_free_port()}/0"
    with running_stack(
        tmp_path / "stack", database_url=f"sqlite:///{tmp_path}/primer.sqlite3", broker_url=url
    ) as stack:
        yield stack


@pytest.fixture
def app(stack: Stack) -> FastAPI:
    return create_app(stack.settings)


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return open_program(app, Role.OPERATOR)


def _write(path: Path, rows: int, **options: Any) -> Path:
    """The first rows of the bundled sample."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tables = [pq.read_table(shard) for shard in sorted(SAMPLE.glob("*.parquet"))]
    pq.write_table(pa.concat_tables(tables).slice(0, rows), path, **options)
    return path


def _add(stack: Stack, path: Path, rows: int | None, name: str = "source") -> dict[str, Any]:
    source_id = stack.add_source(path, name=name)
    with stack.context.database.transaction() as session:
        session.get_one(Source, source_id).row_count = rows
    return {"source_id": source_id, "profile_id": stack.add_profile(), "options": {"has_encoder": False}}


def _ask(client: TestClient, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.post(ESTIMATE, json=body)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_source_smaller_than_a_trial_is_found_as_the_job_finds_it(
    stack: Stack, client: TestClient, tmp_path: Path
) -> None:
    path = _write(tmp_path / "small" / "a.parquet", 150)
    found = _ask(client, _add(stack, path, 150))
    run = run_json("run", path, "--out", tmp_path / "run", "--no-encoder")
    funnel = run["funnel"]
    assert (found["documents"], found["tried"]) == (150, 150)
    assert (found["kept"], found["undecided"]) == (funnel["documents"]["kept"], funnel["documents"]["undecided"])
    assert found["unreadable"] == funnel["documents"]["error"]
    assert found["tokens_kept"] == funnel["tokens"]["kept"]
    assert found["kept_share"] == found["kept"] / 150
    bounds = find_interval(found["kept"], found["tried"])
    assert (found["kept_share_low"], found["kept_share_high"]) == bounds
    assert bounds[0] < found["kept_share"] < bounds[1]
    assert (found["is_cut_short"], found["too_long"], found["notes"]) == (False, 0, [])
    assert (found["processes"], found["seconds"]) == (0, None), "no worker answers"


def test_a_trial_scales_to_the_whole_source(stack: Stack, client: TestClient, tmp_path: Path) -> None:
    path = _write(tmp_path / "all" / "a.parquet", 254, row_group_size=64)
    body = _add(stack, path, 1_000_000)
    found = _ask(client, body)
    assert (found["documents"], found["tried"]) == (1_000_000, 200)
    sampled = _ask(client, {**body, "options": {"has_encoder": False, "sample_share": 0.01}})
    assert sampled["documents"] == 10_000
    assert sampled["tokens_kept"] == pytest.approx(found["tokens_kept"] / 100, abs=1)
    limited = _ask(client, {**body, "options": {"has_encoder": False, "limit": 40}})
    assert (limited["documents"], limited["tried"]) == (40, 40)
    run = run_json("run", path, "--out", tmp_path / "run", "--no-encoder", "--limit", "40")
    assert limited["kept"] == run["funnel"]["documents"]["kept"]
    assert limited["tokens_kept"] == run["funnel"]["tokens"]["kept"]


def test_the_encoder_decides_as_in_the_job(stack: Stack, client: TestClient, tmp_path: Path) -> None:
    path = _write(tmp_path / "small" / "a.parquet", 24)
    found = _ask(client, {**_add(stack, path, 24), "options": {"has_encoder": True}})
    funnel = run_json("run", path, "--out", tmp_path / "run")["funnel"]
    assert (found["tried"], found["kept"], found["undecided"]) == (24, funnel["documents"]["kept"], 0)
    assert found["tokens_kept"] == funnel["tokens"]["kept"]


def test_source_rules_bind_a_trial(stack: Stack, client: TestClient, tmp_path: Path) -> None:
    body = _add(stack, _write(tmp_path / "small" / "a.parquet", 60), 60)
    kept = _ask(client, body)["kept"]
    for domain in ("example.org", "example.net", "example.com"):
        rule = {"kind": "domain", "value": domain, "reason": "asked"}
        assert client.post("/api/v1/source-rules", json=rule).status_code == 201
    assert kept > _ask(client, body)["kept"] == 0


def test_lines_and_what_cannot_be_read(stack: Stack, client: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"text": "The sun is a star."}\n{"no": "text"}\nnot json\n' * 20_000)
    (folder / "b.parquet").write_bytes(b"PAR1 and no more" * 70_000)
    long = pa.table({"text": ["word " * 300_000] + ["The cat sat."] * 9})
    pq.write_table(long, folder / "c.parquet", use_dictionary=False, compression="none")
    found = _ask(client, _add(stack, folder, None))
    assert (found["documents"], found["tokens_kept"], found["seconds"]) == (None, None, None)
    assert found["too_long"] == 1
    lines = found["tried"] - 9
    assert 50 < lines < 100, "their share of the bytes"
    assert found["unreadable"] == pytest.approx(lines * 2 / 3, abs=1)
    assert len(found["notes"]) == 1
    assert "b.parquet" in found["notes"][0]


def test_nothing_to_try(stack: Stack, client: TestClient, tmp_path: Path) -> None:
    path = _write(tmp_path / "none" / "a.parquet", 0)
    found = _ask(client, _add(stack, path, 0))
    assert (found["tried"], found["kept_share"], found["tokens_kept"], found["seconds"]) == (0, None, None, None)


def test_time_bounds_a_trial(stack: Stack, client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "SECONDS", 0.3)
    found = _ask(client, _add(stack, _write(tmp_path / "all" / "a.parquet", 254), 254))
    assert 0 < found["tried"] < 200
    assert found["is_cut_short"]
    assert found["seconds_tried"] < 5


def test_who_may_and_what_is_refused(stack: Stack, app: FastAPI, client: TestClient, tmp_path: Path) -> None:
    path = _write(tmp_path / "small" / "a.parquet", 10)
    body = _add(stack, path, 10)
    assert open_program(app, Role.CURATOR).post(ESTIMATE, json=body).status_code == 403
    _ask(client, {**body, "source_id": 99}, status=404)
    _ask(client, {**body, "profile_id": 99}, status=404)
    with stack.context.database.transaction() as session:
        for prefix in session.query(AllowedPrefix):
            session.delete(prefix)
    assert "under no place" in _ask(client, body, status=403)["detail"]
    with stack.context.database.transaction() as session:
        session.get_one(Source, body["source_id"]).state = "scanning"
    _ask(client, body, status=409)


def test_the_files_are_left_as_they_were_and_nothing_stays(
    stack: Stack, client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    path = _write(tmp_path / "small" / "a.parquet", 30)
    before = path.read_bytes()
    _ask(client, _add(stack, path, 30))
    assert path.read_bytes() == before
    assert list(scratch.iterdir()) == []
    assert not stack.settings.runs.exists()


def test_a_trial_ends_when_nobody_waits_for_it(stack: Stack, tmp_path: Path) -> None:
    body = _add(stack, _write(tmp_path / "all" / "a.parquet", 254), 254)
    turns, looks = TrialTurns(), 0

    def leave() -> None:
        nonlocal looks
        looks += 1
        if looks == 5:
            raise Conflict("The client has gone.")

    with pytest.raises(Conflict, match="has gone"):
        trial.try_job(
            stack.context, turns, SYSTEM, source_id=body["source_id"], profile_id=body["profile_id"],
            options=JobOptions(has_encoder=False), check=leave,
        )  # fmt: skip
    assert looks == 5
    with turns.take(SYSTEM.user_id) as check:
        check()


def test_the_time_is_of_the_workers_that_answer(tmp_path: Path) -> None:
    broker = servers.ValkeyServer(tmp_path / "valkey")
    try:
        with running_stack(
            tmp_path / "stack", database_url=f"sqlite:///{tmp_path}/primer.sqlite3", broker_url=broker.url
        ) as stack:
            stack.start_worker("--concurrency", "2")
            stack.start_worker("--concurrency", "1", "--queues", "export")
            stack.wait_until(lambda: len(stack.context.messenger.ask_workers() or []) == 2)
            client = open_program(create_app(stack.settings), Role.OPERATOR)
            found = _ask(client, _add(stack, _write(tmp_path / "a" / "a.parquet", 100), 10_000))
            assert found["processes"] == 2
            assert 0 < found["seconds"] < 10_000
    finally:
        broker.kill()


def test_a_newer_trial_of_the_same_person_ends_the_older_and_others_wait() -> None:
    turns = TrialTurns()
    with turns.take(1) as check:
        check()
        began: list[float] = []

        def ask(user_id: int) -> None:
            with turns.take(user_id):
                began.append(time.monotonic())

        other, newer = (threading.Thread(target=ask, args=(user_id,)) for user_id in (2, 1))
        other.start()
        time.sleep(0.2)
        check()
        newer.start()
        time.sleep(0.2)
        with pytest.raises(Conflict, match="another estimate"):
            check()
        assert began == []
    other.join(5)
    newer.join(5)
    assert len(began) == 2
    with turns.take(1) as check:
        check()

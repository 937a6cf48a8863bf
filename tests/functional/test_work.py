"""What the service says of its workers and queues, with real workers that live, work, and die."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import servers
from accounts import open_program
from cli_runs import SAMPLE
from service_stack import Stack, running_stack
from starlette.testclient import TestClient

from primer.app.auth.roles import Role
from primer.app.jobs.states import JobState
from primer.app.main import create_app

WORK = "/api/v1/work"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[servers.ValkeyServer]:
    server = servers.ValkeyServer(tmp_path / "valkey")
    yield server
    server.kill()


@pytest.fixture(params=["sqlite", "postgresql"])
def stack(request: pytest.FixtureRequest, tmp_path: Path, broker: servers.ValkeyServer) -> Iterator[Stack]:
    url = f"sqlite:///{tmp_path}/primer.sqlite3"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create_database(f"work_{tmp_path.name}".lower())
    with running_stack(tmp_path / "stack", database_url=url, broker_url=broker.url) as stack:
        yield stack


@pytest.fixture
def client(stack: Stack) -> TestClient:
    return open_program(create_app(stack.settings), Role.OPERATOR)


def _read(client: TestClient) -> dict[str, Any]:
    answer = client.get(WORK)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _queue(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(queue for queue in found["queues"] if queue["name"] == name)


def test_without_workers_it_says_what_waits_and_for_how_long(stack: Stack, client: TestClient) -> None:
    nothing = _read(client)
    assert (nothing["is_broker_reachable"], nothing["workers"], nothing["oldest"]) == (True, [], None)
    assert [queue["name"] for queue in nothing["queues"]] == ["measure", "encoder", "export", "maintenance"]
    assert all((queue["waiting"], queue["announced"], queue["running"]) == (0, 0, 0) for queue in nothing["queues"])
    job_id = stack.start_job(stack.add_source(SAMPLE), has_encoder=False)
    found = _read(client)
    queue = _queue(found, "maintenance")
    assert (queue["waiting"], queue["announced"], queue["process_count"]) == (1, 1, 0)
    assert 0 <= queue["oldest_seconds"] < 60
    assert (found["oldest"]["job_id"], found["oldest"]["kind"], found["oldest"]["queue"]) == (
        job_id, "plan", "maintenance",
    )  # fmt: skip


def test_workers_say_what_they_do_and_one_that_dies_is_known_by_its_lease(stack: Stack, client: TestClient) -> None:
    worker = stack.start_worker("--concurrency", "1", environment={"PRIMER_LEASE": "30", "PRIMER_HEARTBEAT": "5"})
    stack.start_worker("--queues", "export", "--concurrency", "2")
    found = stack.wait_until(lambda: answer if len((answer := _read(client))["workers"]) == 2 else None)
    by_pid = {one["pid"]: one for one in found["workers"]}
    own = by_pid[worker.pid]
    assert own["queues"] == ["encoder", "export", "maintenance", "measure"]
    assert (own["is_answering"], own["process_count"], own["tasks"]) == (True, 1, [])
    assert _queue(found, "export")["process_count"] == 3
    assert _queue(found, "measure")["process_count"] == 1
    assert all("redis" not in str(one) for one in found["workers"]), "no word of the broker's address"

    job_id = stack.start_job(stack.add_source(SAMPLE), has_encoder=True, slice_bytes=10_000_000)

    def find_held() -> tuple[dict[str, Any], dict[str, Any]] | None:
        answer = _read(client)
        held = [(one, task) for one in answer["workers"] for task in one["tasks"] if task["kind"] == "encode"]
        return held[0] if held else None

    holder, task = stack.wait_until(find_held, seconds=60)
    assert (holder["pid"], holder["is_answering"]) == (worker.pid, True)
    assert (task["job_id"], task["queue"], task["source"], task["attempts"]) == (job_id, "encoder", "source", 1)
    assert task["shard"] is None, "this source was never scanned"
    assert 0 < task["lease_seconds"] <= 30

    stack.kill_worker(worker)
    found = _read(client)
    [silent] = [one for one in found["workers"] if not one["is_answering"]]
    assert (silent["pid"], silent["uptime_seconds"], silent["process_count"]) == (None, None, 1)
    assert silent["host"] == holder["host"]
    assert [one["task_id"] for one in silent["tasks"]] == [task["task_id"]]
    assert [one["pid"] for one in found["workers"] if one["is_answering"]] == [
        pid for pid in by_pid if pid != worker.pid
    ]
    assert stack.read_job(job_id).state == JobState.RUNNING


def test_a_broker_that_is_gone_is_said(client: TestClient, broker: servers.ValkeyServer) -> None:
    broker.kill()
    found = _read(client)
    assert (found["is_broker_reachable"], found["workers"]) == (False, [])
    assert {queue["announced"] for queue in found["queues"]} == {None}

"""The processes of docker-compose.yml, started from that file where no Docker engine runs: its commands, environments,
order, conditions and health checks, with a local PostgreSQL and Valkey for the two service images. A job runs to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import orjson
import pytest
import redis
import servers
from cli_runs import SAMPLE, digest_folder, run_primer
from compose_file import REPO, Service, read_services

_ROWS = 40
_PASSWORD = "four words nobody expects"
_ALIVE = "/tmp/primer-alive"
_WAIT_SECONDS = 240

# Of the container, that no compose file may count on, and short times for the test.
_OUTSIDE = {"PRIMER_MIN_FREE_BYTES": "0", "PRIMER_STEWARD_INTERVAL": "0.5", "OMP_NUM_THREADS": "1"}


class Host:
    """This machine in the place of a Docker host: what containers call /data, postgres:5432 and so on is elsewhere here."""

    def __init__(self, folder: Path, postgres: servers.PostgresServer, valkey: servers.ValkeyServer) -> None:
        self.folder, self._postgres, self._valkey = folder, postgres, valkey
        self.port = servers.find_free_port()
        self.data = folder / "data"
        self.data.mkdir(parents=True)
        self.started: dict[str, subprocess.Popen[bytes]] = {}
        self.events: list[str] = []
        database = postgres.create_database("compose")
        self._places = {
            "postgres:5432/primer": database.partition("@")[2],
            "redis:6379": valkey.url.removeprefix("redis://").removesuffix("/0"),
            "0.0.0.0": "127.0.0.1",
            "8642": str(self.port),
            "/data": str(self.data),
            "/shards": str(SAMPLE),
        }

    def place(self, text: str, service: Service) -> str:
        """The text with this machine's places, and a folder of the service's own for /tmp."""
        for there, here in {**self._places, _ALIVE: str(self.folder / f"alive-{service.name}")}.items():
            text = text.replace(there, here)
        return text

    def _environment(self, service: Service) -> dict[str, str]:
        named = {name: self.place(value, service) for name, value in service.environment.items()}
        return {**os.environ, **_OUTSIDE, **named}

    def start(self, service: Service) -> subprocess.Popen[bytes]:
        program, *arguments = [self.place(word, service) for word in service.command]
        assert program == "primer"
        self.events.append(f"{service.name} started")
        with (self.folder / f"{service.name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "primer.cli", *arguments],
                env=self._environment(service),
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started[service.name] = process
        return process

    def is_healthy(self, service: Service) -> bool:
        """What the service's own health check says."""
        command = service.health_command
        assert command is not None
        if service.name == "redis":
            assert command == ["redis-cli", "ping"]
            return bool(redis.Redis(port=self._valkey.port).ping())
        command = [self.place(word, service) for word in command]
        programs = servers.find_postgres()
        assert programs is not None
        command[0] = {"python": sys.executable, "pg_isready": str(programs / "pg_isready")}.get(command[0], command[0])
        local = {"PGHOST": "127.0.0.1", "PGPORT": str(self._postgres.port)}
        return subprocess.run(command, env={**os.environ, **local}, capture_output=True, check=False).returncode == 0

    def meet(self, service: Service, condition: str) -> None:
        """Wait as Compose does before it starts what depends on a service."""
        if condition == "service_completed_successfully":
            assert self.started[service.name].wait(_WAIT_SECONDS) == 0, self.show()
        else:
            assert condition == "service_healthy"
            self.wait_until_healthy(service)
        self.events.append(f"{service.name} {condition.removeprefix('service_')}")

    def wait_until_healthy(self, service: Service) -> None:
        deadline = time.monotonic() + _WAIT_SECONDS
        while not self.is_healthy(service):
            assert time.monotonic() < deadline, f"{service.name} is not healthy\n{self.show()}"
            time.sleep(0.2)

    def read_log(self, name: str) -> list[str]:
        return (self.folder / f"{name}.log").read_text(errors="replace").splitlines()

    def show(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in sorted(self.folder.glob("*.log")))

    def close(self) -> None:
        for process in self.started.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def host(tmp_path: Path, postgres: servers.PostgresServer) -> Iterator[Host]:
    valkey = servers.ValkeyServer(tmp_path / "valkey")
    host = Host(tmp_path / "host", postgres, valkey)
    yield host
    host.close()
    valkey.kill()


class _Client:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{host.port}", timeout=30)
        self.request_id = ""  # of the last call, as its answer named it
        self.call("POST", "/session", {"name": "anna", "password": _PASSWORD})

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._http.request(method, f"/api/v1{path}", json=body)
        assert answer.is_success, answer.text
        self.request_id = answer.headers["X-Request-Id"]
        content = answer.json()
        if path == "/session":
            self._http.headers["X-CSRF-Token"] = content["csrf_token"]
        return content

    def wait_for(self, path: str, *states: str) -> Any:
        deadline = time.monotonic() + _WAIT_SECONDS
        while (found := self.call("GET", path))["state"] not in states:
            assert time.monotonic() < deadline, f"{found}\n{self._host.show()}"
            time.sleep(0.2)
        return found


def test_the_services_start_in_order_and_curate_a_source(host: Host, tmp_path: Path) -> None:
    services = {service.name: service for service in read_services({"POSTGRES_PASSWORD": "of-the-test"})}
    for service in services.values():
        for name, condition in service.depends_on.items():
            host.meet(services[name], condition)
        if service.name not in ("postgres", "redis"):
            host.start(service)
    for name in ("api", "worker-cpu", "worker-encoder"):
        host.wait_until_healthy(services[name])
    assert host.events.index("postgres healthy") < host.events.index("migrate started")
    for name in ("api", "worker-cpu", "worker-encoder"):
        assert host.events.index("migrate completed_successfully") < host.events.index(f"{name} started")

    api = services["api"]
    told = {name: host.place(value, api) for name, value in api.environment.items()}
    subprocess.run(
        [sys.executable, "-m", "primer.cli", "user", "add", "anna", "--role", "admin", "--password-stdin"],
        env={**os.environ, **told},
        input=_PASSWORD.encode(),
        cwd=REPO,
        check=True,
        capture_output=True,
    )
    client = _Client(host)
    client.call("POST", "/allowed-prefixes", {"prefix": host.place("/shards", api)})
    shard = host.place("/shards/sample-00000.parquet", api)
    source = client.call("POST", "/sources", {"name": "shards", "locations": [shard]})
    asked_to_scan = client.request_id
    client.wait_for(f"/sources/{source['id']}", "ready")
    [profile] = [entry for entry in client.call("GET", "/profiles")["items"] if entry["name"] == "recommended"]
    asked = {"source_id": source["id"], "profile_id": profile["newest"]["id"], "options": {"limit": _ROWS}}
    job = client.call("POST", "/jobs", asked)
    asked_to_curate = client.request_id
    done = client.wait_for(f"/jobs/{job['id']}", "succeeded", "failed", "partly_failed")
    assert (done["state"], done["documents_done"]) == ("succeeded", _ROWS), host.show()
    workers = {(task["queue"], task["worker"]) for task in client.call("GET", f"/jobs/{job['id']}/tasks")["items"]}
    assert {queue for queue, _ in workers} == {"maintenance", "measure", "encoder", "export"}
    assert len({worker for queue, worker in workers if queue == "encoder"}) == 1
    assert not {worker for queue, worker in workers if queue == "encoder"} & {
        worker for queue, worker in workers if queue != "encoder"
    }

    expected = tmp_path / "expected"
    run_primer("run", shard, "--out", expected, "--limit", str(_ROWS), "--quiet")
    [run] = (host.data / "runs").iterdir()
    assert digest_folder(run / "export") == digest_folder(expected / "export")

    # What a worker logs of a task names the request that it goes back to.
    lines = [orjson.loads(line) for line in host.read_log("worker-cpu") if line.startswith("{")]
    assert [line["request_id"] for line in lines if line["event"] == "scanned"] == [asked_to_scan]
    planned = [line for line in lines if line["event"] == "task_recorded" and line["kind"] == "plan"]
    assert [line["request_id"] for line in planned] == [asked_to_curate]

    # A worker that is gone is no longer healthy once its file is old; one that is asked to stop ends by itself.
    alive = host.folder / "alive-worker-cpu"
    os.utime(alive, (0, 0))
    host.started["worker-encoder"].send_signal(signal.SIGTERM)
    host.wait_until_healthy(services["worker-cpu"])
    os.killpg(host.started["worker-cpu"].pid, signal.SIGKILL)
    host.started["worker-cpu"].wait()
    os.utime(alive, (0, 0))
    assert not host.is_healthy(services["worker-cpu"])
    assert host.started["worker-encoder"].wait(60) == 0
    host.started["api"].send_signal(signal.SIGTERM)
    assert host.started["api"].wait(60) in (0, -signal.SIGTERM)
    assert not host.is_healthy(services["api"])

"""`primer up` as people run it: a real process, its real children, one folder, and what is left when something is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cli_runs
import httpx2 as httpx
import pytest
import servers
from cli_runs import SAMPLE, digest_folder, run_primer, start_anew

_WAIT_SECONDS = 240
_GONE_SECONDS = 60

# Short leases, so that what a killed process had is taken up soon.
_ENVIRONMENT = {
    "PRIMER_HEARTBEAT": "0.5",
    "PRIMER_LEASE": "3",
    "PRIMER_STEWARD_INTERVAL": "0.5",
    "PRIMER_MIN_FREE_BYTES": "0",
    "PRIMER_LOG_FORMAT": "text",
    "PYTHONUNBUFFERED": "1",
}


class Up:
    """One `primer up`, and what it printed so far. Everything it started is killed at the end."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.port = folder, servers.find_free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process = start_anew(
            "up", "--data", folder, "--port", str(self.port), "--workers", "1", *arguments, **_ENVIRONMENT
        )
        self.lines: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self.process.stdout, self.process.stderr)
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Any) -> None:
        for line in stream:
            self.lines.append(line.rstrip())

    def __enter__(self) -> Up:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(_GONE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pid in find_processes(self.folder):
            os.kill(pid, signal.SIGKILL)

    def read_value(self, name: str) -> str:
        """What a line such as `Password  ...` says."""
        found = [line for line in self.lines if line.startswith(f"{name} ")]
        assert len(found) == 1, self.lines
        return found[0].removeprefix(name).split("(")[0].strip()

    def wait_until_started(self) -> None:
        wait_for(lambda: any(line.startswith("Stop ") for line in self.lines), self.show)

    def show(self) -> str:
        logs = [path.read_text(errors="replace")[-3000:] for path in sorted((self.folder / "logs").glob("*.log"))]
        return "\n".join([*self.lines, *logs])

    def find_child(self, command: str) -> int:
        """The process of `primer COMMAND` that this one started; 0 where there is none."""
        for pid in find_processes(self.folder):
            arguments = _read(f"/proc/{pid}/cmdline").split("\0")
            if arguments[1:4] == ["-m", "primer.cli", command] and _find_parent(pid) == self.process.pid:
                return pid
        return 0

    def stop(self, number: int = signal.SIGINT) -> float:
        """Seconds until it had ended."""
        began = time.monotonic()
        self.process.send_signal(number)
        assert self.process.wait(_GONE_SECONDS) == 0, self.show()
        for reader in self._readers:
            reader.join()
        return time.monotonic() - began


class Browser:
    """Somebody who has signed in."""

    def __init__(self, up: Up, password: str) -> None:
        self.client = httpx.Client(base_url=up.address, timeout=30)
        answer = self.client.post("/api/v1/session", json={"name": "admin", "password": password})
        assert answer.status_code == 200, answer.text
        self.client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]

    def get(self, path: str) -> Any:
        answer = self.client.get(f"/api/v1{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def wait_for_job(self, job_id: int, up: Up) -> Any:
        """The job at its end. The API may be away meanwhile."""

        def find() -> Any:
            try:
                job = self.get(f"/jobs/{job_id}")
            except httpx.TransportError:
                return None
            return job if job["state"] in ("succeeded", "failed", "partly_failed") else None

        return wait_for(find, up.show)


def wait_for(find: Callable[[], Any], describe: Callable[[], str], seconds: float = _WAIT_SECONDS) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < deadline, f"waited {seconds} s in vain\n{describe()}"
        time.sleep(0.05)
    return found


def find_processes(folder: Path) -> list[int]:
    """Every process that has to do with a data folder: named in its environment or its arguments."""
    wanted, found = str(folder), []
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        told = f"{_read(f'/proc/{pid}/environ')}\0{_read(f'/proc/{pid}/cmdline')}"
        if pid != os.getpid() and wanted in told and not _is_dead(pid):
            found.append(pid)
    return found


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except (OSError, ProcessLookupError):
        return ""


def _is_dead(pid: int) -> bool:
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] in ([], ["Z"])


def _find_parent(pid: int) -> int:
    return int((_read(f"/proc/{pid}/stat").rpartition(")")[2].split() or ["0", "0"])[1])


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The export of `primer run` on the sample."""
    out = tmp_path_factory.mktemp("expected") / "run"
    run_primer("run", SAMPLE, "--out", out, "--quiet")
    return digest_folder(out / "export")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    data = tmp_path / "data"
    yield data
    for pid in find_processes(data):
        os.kill(pid, signal.SIGKILL)


def test_the_first_start_curates_the_sample_and_the_second_carries_on(folder: Path, expected: dict[str, str]) -> None:
    with Up(folder) as up:
        up.wait_until_started()
        assert up.read_value("Primer") == up.address
        assert (up.read_value("User"), up.read_value("Data")) == ("admin", str(folder))
        password = up.read_value("Password")
        assert httpx.get(f"{up.address}/readyz").json()["is_ready"] is True
        assert httpx.get(f"{up.address}/api/v1/jobs").status_code == 401

        # What a page of another site would send, whose name was made to mean this machine.
        assert httpx.get(f"{up.address}/", headers={"Host": "evil.example"}).status_code == 400
        assert httpx.get(f"{up.address}/", headers={"Host": f"localhost:{up.port}"}).status_code == 200
        listening = servers.find_listeners(up.port)
        assert listening == ["127.0.0.1"]

        refused = run_primer("up", "--data", folder, "--port", "9", status=1, **_ENVIRONMENT)
        assert "is in use by another `primer up`" in refused.stderr
        assert "Password" not in refused.stdout

        browser = Browser(up, password)
        [source] = browser.get("/sources")["items"]
        assert (source["name"], source["state"], source["row_count"]) == ("sample", "ready", 254)
        assert {profile["name"] for profile in browser.get("/profiles")["items"]} == {"published", "recommended"}
        [job] = browser.get("/jobs")["items"]
        assert (job["profile"]["name"], job["id"]) == ("recommended", 1)
        done = browser.wait_for_job(1, up)
        assert (done["state"], done["documents_done"]) == ("succeeded", 254)
        run = folder / "runs" / "job-000001"
        assert digest_folder(run / "export") == expected
        assert wait_for(lambda: [line for line in up.lines if "The sample is curated: " in line], up.show)

        assert up.stop() < 30
        assert find_processes(folder) == []
        assert up.lines[-1] == "Stopped. The same command carries on from here."

    before = digest_folder(run)
    with Up(folder) as again:
        again.wait_until_started()
        assert not [line for line in again.lines if line.startswith(("Password", "Sample"))]
        browser = Browser(again, password)
        [job] = browser.get("/jobs")["items"]
        assert (job["state"], job["documents_done"]) == ("succeeded", 254)
        again.stop(signal.SIGTERM)
    assert find_processes(folder) == []
    assert digest_folder(run) == before


def _wait_until_measuring(browser: Browser, up: Up) -> None:
    """A slice of the sample's job is being worked on."""

    def is_measuring() -> bool:
        tasks = browser.get("/jobs/1/tasks")["items"]
        return any(task["state"] == "running" and task["kind"] in ("measure", "encode") for task in tasks)

    wait_for(is_measuring, up.show)


def test_killed_children_are_started_again_and_the_job_ends_with_the_same_bytes(
    folder: Path, expected: dict[str, str]
) -> None:
    with Up(folder) as up:
        up.wait_until_started()
        browser = Browser(up, up.read_value("Password"))
        _wait_until_measuring(browser, up)
        given_way = {name: os.getpriority(os.PRIO_PROCESS, up.find_child(name)) for name in ("worker", "api")}
        assert given_way["worker"] - given_way["api"] == 10
        for name in ("worker", "api"):
            killed = up.find_child(name)
            assert killed
            os.kill(killed, signal.SIGKILL)
            again = wait_for(lambda name=name, killed=killed: up.find_child(name) not in (0, killed), up.show)
            assert again
            assert f"{name} ended (signal 9); it starts again now." in up.lines
        assert browser.wait_for_job(1, up)["state"] == "succeeded"
        assert digest_folder(folder / "runs" / "job-000001" / "export") == expected
        tasks = browser.get("/jobs/1/tasks")["items"]
        assert max(task["attempts"] for task in tasks) == 2
        up.stop()
    assert find_processes(folder) == []


@pytest.mark.soak
def test_when_it_is_killed_itself_nothing_goes_on_and_the_next_start_ends_the_job(
    folder: Path, expected: dict[str, str]
) -> None:
    with Up(folder) as up:
        up.wait_until_started()
        password = up.read_value("Password")
        _wait_until_measuring(Browser(up, password), up)
        up.process.kill()
        up.process.wait()
        wait_for(lambda: find_processes(folder) == [], up.show, _GONE_SECONDS)
    with Up(folder) as again:
        again.wait_until_started()
        assert Browser(again, password).wait_for_job(1, again)["state"] == "succeeded"
        assert digest_folder(folder / "runs" / "job-000001" / "export") == expected
        again.stop()


def test_without_the_sample_there_is_nothing_to_do_and_a_long_folder_will_do(tmp_path: Path) -> None:
    folder = tmp_path / ("long " * 30) / "data"
    with Up(folder, "--no-sample") as up:
        up.wait_until_started()
        browser = Browser(up, up.read_value("Password"))
        assert browser.get("/jobs")["items"] == browser.get("/sources")["items"] == []
        up.process.send_signal(signal.SIGINT)
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(_GONE_SECONDS) == 0
    assert find_processes(folder) == []


def test_a_taken_port_is_said_before_anything_is_started(folder: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = run_primer("up", "--data", folder, "--port", port, status=1, **_ENVIRONMENT)
    assert re.search(rf"127\.0\.0\.1:{port} cannot be listened at \(Address already in use\)", refused.stderr)
    assert not (folder / "primer.sqlite3").exists()


def test_make_up_is_this_command() -> None:
    planned = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "--always-make", "up"],
        cwd=cli_runs.REPO,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert planned.splitlines()[-1] == ".venv/bin/primer up"

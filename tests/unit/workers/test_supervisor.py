"""Keeping child processes running: starting again, giving up, stopping, killing what will not stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from primer.workers import supervisor as module
from primer.workers.supervisor import Child, ChildFailed, Supervisor

_WAIT_SECONDS = 30


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


_SLEEPS = "import time; time.sleep(600)"
_STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
)
_FORKS = "import os, time; print(os.fork(), flush=True); time.sleep(600)"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(tmp_path: Path, said: list[str]) -> Supervisor:
    return Supervisor(tmp_path, say=said.append)


def _wait_for(find: Callable[[], object]) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not find():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _find_child(marker: str) -> int:
    """The process that sleeps under this name; 0 where there is none."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError, UnicodeDecodeError):
            continue
        if arguments[1:4] == ["-c", _SLEEPS, marker]:
            return int(path.parent.name)
    return 0


def test_a_child_that_dies_is_started_again_with_a_message(
    supervisor: Supervisor, said: list[str], tmp_path: Path
) -> None:
    marker = f"marker-{tmp_path.name}-{os.getpid()}"
    supervisor.start(Child("sleeper", [*_python(_SLEEPS), marker], {}))
    _wait_for(lambda: _find_child(marker))
    first = _find_child(marker)
    os.kill(first, signal.SIGKILL)

    def is_again() -> bool:
        supervisor.look_after()
        return _find_child(marker) not in (0, first)

    _wait_for(is_again)
    assert said == ["sleeper ended (signal 9); it starts again now."]
    supervisor.stop_all()
    assert _find_child(marker) == 0


def test_a_child_that_keeps_dying_ends_it_with_its_last_lines(
    supervisor: Supervisor, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_DELAYS", (0.0, 0.01))
    supervisor.start(Child("broken", _python("print('no such port'); raise SystemExit(4)"), {}))
    with pytest.raises(ChildFailed) as failure:
        supervisor.wait_until(lambda: False)
    assert failure.value.message == (
        "broken ended 6 times in a row (status 4). Its last lines:\n" + "\n".join(["no such port"] * 6)
    )
    assert failure.value.hint.endswith("broken.log.")
    assert len(said) == module.MAX_FAILURES
    supervisor.stop_all()


def test_what_a_dead_child_had_forked_does_not_go_on(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.start(Child("forker", _python(_FORKS), {}))
    log = tmp_path / "forker.log"
    _wait_for(lambda: log.exists() and len(log.read_text().split()) == 2)
    grandchild = int(max(log.read_text().split(), key=int))
    parent = int(Path(f"/proc/{grandchild}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)

    def is_gone() -> bool:
        supervisor.look_after()
        return not _is_alive(grandchild)

    _wait_for(is_gone)
    supervisor.stop_all()


def test_a_stubborn_child_is_killed_when_its_time_is_over(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.start(Child("stubborn", _python(_STUBBORN), {}, stop_seconds=0.5))
    _wait_for(lambda: "up" in supervisor.read_last_lines("stubborn"))
    began = time.monotonic()
    supervisor.stop_all()
    assert 0.5 <= time.monotonic() - began < 5


def test_a_second_request_to_stop_waits_for_nobody(supervisor: Supervisor) -> None:
    supervisor.start(Child("stubborn", _python(_STUBBORN), {}, stop_seconds=600))
    _wait_for(lambda: "up" in supervisor.read_last_lines("stubborn"))
    supervisor.request_stop()
    assert supervisor.wait_until(lambda: True) is False
    supervisor.request_stop()
    supervisor.stop_all()


def test_the_first_child_is_stopped_last(supervisor: Supervisor, tmp_path: Path) -> None:
    """What is stopped writes the time into a file of its own."""
    notes = "import signal, sys, time; from pathlib import Path\n"
    notes += "def note(*_): Path(sys.argv[1]).write_text(str(time.time())); sys.exit(0)\n"
    notes += "signal.signal(signal.SIGTERM, note); print('up', flush=True); time.sleep(600)"
    for name in ("serves", "one", "two"):
        supervisor.start(Child(name, [*_python(notes), str(tmp_path / name)], {}))
    _wait_for(lambda: all("up" in supervisor.read_last_lines(name) for name in ("serves", "one", "two")))
    supervisor.stop_all()
    times = {name: float((tmp_path / name).read_text()) for name in ("serves", "one", "two")}
    assert times["serves"] > max(times["one"], times["two"])


def test_a_log_that_grew_large_makes_room(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_LOG_BYTES", 10)
    (tmp_path / "talker.log").write_text("of the time before")
    supervisor.start(Child("talker", _python("print('new', flush=True); import time; time.sleep(600)"), {}))
    _wait_for(lambda: supervisor.read_last_lines("talker") == "new")
    assert (tmp_path / "talker.log.1").read_text() == "of the time before"
    supervisor.stop_all()


@pytest.mark.parametrize("way", ["kernel", "watching"])
def test_a_tied_command_ends_with_its_parent(tmp_path: Path, way: str) -> None:
    marker = f"marker-{way}-{tmp_path.name}-{os.getpid()}"
    command = [*_python(_SLEEPS), marker]
    watch = "import os, sys; from primer.workers.tied import watch_parent; watch_parent(15, sys.argv[1:], os.getppid())"
    tied = [sys.executable, "-m", "primer.workers.tied", "15", *command]
    watched = [*_python(watch), *command]
    spawn = f"import subprocess, time; subprocess.Popen({tied if way == 'kernel' else watched!r}); time.sleep(600)"
    with subprocess.Popen(_python(spawn)) as parent:
        try:
            _wait_for(lambda: _find_child(marker))
        finally:
            parent.kill()
        parent.wait()
        _wait_for(lambda: _find_child(marker) == 0)

"""Worker processes: every task once, a killer named and left out, errors kept apart from faults, no orphans."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from curation.errors import PrimerError, QuotaError, SourceError
from curation.worker_pool import WorkerPool


@dataclass(frozen=True)
class Task:
    kind: str
    number: int


class Squares:
    """Squares numbers; some kinds of task do worse. Leaves a file for every task done."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def perform(self, task: Task) -> int:
        if task.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if task.kind == "error":
            raise SourceError(f"task {task.number} is bad.", hint="Try another.")
        if task.kind == "fault":
            raise ZeroDivisionError(f"task {task.number}")
        if task.kind == "pid":
            return os.getpid()
        (self._folder / f"{task.number}-{time.monotonic_ns()}").touch()
        return task.number**2


class Unmakeable:
    def __init__(self) -> None:
        raise QuotaError("no room for a model.")

    def perform(self, task: Task) -> int:
        return task.number


def run_all(folder: Path, tasks: list[Task], workers: int) -> list[tuple[Task, int | PrimerError]]:
    """Every outcome, in the order of the tasks' numbers. A pool that does not come to an end fails."""
    waiting = list(reversed(tasks))
    finished: list[tuple[Task, int | PrimerError]] = []
    with WorkerPool[Task, int](partial(Squares, folder), workers) as pool:
        while True:
            while waiting and pool.has_room:
                pool.submit(waiting.pop())
            if pool.is_idle:
                break
            finished += pool.wait()
            assert len(finished) <= len(tasks), "a task was returned twice"
    assert waiting == []
    return sorted(finished, key=lambda pair: pair[0].number)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_outcomes_do_not_depend_on_the_number_of_workers(tmp_path: Path, workers: int) -> None:
    tasks = [Task("error" if i == 4 else "square", i) for i in range(20)]
    finished = run_all(tmp_path, tasks, workers)
    assert [task for task, _ in finished] == tasks
    outcomes = [outcome for _, outcome in finished]
    error = outcomes.pop(4)
    assert isinstance(error, SourceError)
    assert (error.message, error.hint) == ("task 4 is bad.", "Try another.")
    assert outcomes == [i**2 for i in range(20) if i != 4]
    assert Counter(int(path.name.split("-")[0]) for path in tmp_path.iterdir()) == {i: 1 for i in range(20) if i != 4}


@pytest.mark.parametrize("killers", [{0}, {5}, {11}, {2, 3}, {0, 6, 11}], ids=str)
def test_a_task_that_kills_is_named_and_the_others_are_returned_once(tmp_path: Path, killers: set[int]) -> None:
    tasks = [Task("kill" if i in killers else "square", i) for i in range(12)]
    finished = run_all(tmp_path, tasks, workers=2)
    assert [task for task, _ in finished] == tasks
    for task, outcome in finished:
        if task.number in killers:
            assert isinstance(outcome, SourceError)
            assert outcome.message == "It killed the process that worked on it."
        else:
            assert outcome == task.number**2
    assert {int(path.name.split("-")[0]) for path in tmp_path.iterdir()} == set(range(12)) - killers


def test_nothing_but_killers_comes_to_an_end(tmp_path: Path) -> None:
    finished = run_all(tmp_path, [Task("kill", i) for i in range(3)], workers=2)
    assert [(task.number, type(outcome)) for task, outcome in finished] == [(i, SourceError) for i in range(3)]


def test_a_process_that_dies_between_tasks_costs_none(tmp_path: Path) -> None:
    with WorkerPool[Task, int](partial(Squares, tmp_path), 2) as pool:
        pool.submit(Task("pid", 0))
        ((_, pid),) = pool.wait()
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
        wait_until_gone(pid)
        time.sleep(0.5)  # the pool's own thread has to notice before the next task is sent, or it is the other case
        pool.submit(Task("square", 7))
        finished = []
        while not pool.is_idle:
            finished += pool.wait()
        assert finished == [(Task("square", 7), 49)]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_unexpected_exception_propagates_with_its_traceback(tmp_path: Path, workers: int) -> None:
    with pytest.raises(ZeroDivisionError, match="task 3") as raised:
        run_all(tmp_path, [Task("fault" if i == 3 else "square", i) for i in range(6)], workers)
    text = "".join(traceback.format_exception(raised.value))
    assert 'raise ZeroDivisionError(f"task {task.number}")' in text


@pytest.mark.parametrize("workers", [1, 2])
def test_a_performer_that_cannot_be_made_says_why(workers: int) -> None:
    with pytest.raises(QuotaError, match=r"no room for a model\."):
        measure_nothing(workers)


def measure_nothing(workers: int) -> None:
    with WorkerPool[Task, int](Unmakeable, workers) as pool:
        pool.submit(Task("square", 1))
        pool.wait()


def test_one_worker_is_the_callers_process(tmp_path: Path) -> None:
    assert run_all(tmp_path, [Task("pid", 0)], workers=1) == [(Task("pid", 0), os.getpid())]
    ((_, pid),) = run_all(tmp_path, [Task("pid", 0)], workers=2)
    assert pid != os.getpid()


def test_room_is_two_tasks_a_worker(tmp_path: Path) -> None:
    with WorkerPool[Task, int](partial(Squares, tmp_path), 2) as pool:
        for i in range(4):
            assert pool.has_room
            pool.submit(Task("square", i))
        assert not pool.has_room
        while not pool.is_idle:
            pool.wait()
        assert pool.has_room


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pid: int, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} is still there"
        time.sleep(0.05)


_PARENT = """
import os, sys, time
from curation.worker_pool import WorkerPool
import orphans
if __name__ == "__main__":
    pool = WorkerPool(orphans.Sleeper, 2)
    for seconds in (0, 0, 600):
        pool.submit(seconds)
    seen = []
    while len(seen) < 2:
        seen += [pid for _, pid in pool.wait()]
    print(*{*seen, *(process.pid for process in pool._pool._processes.values())}, flush=True)
    time.sleep(600)
"""
_SLEEPER = """
import os, time
class Sleeper:
    def perform(self, seconds):
        time.sleep(seconds)
        return os.getpid()
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_orphaned_workers_end_even_in_the_middle_of_a_task(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(_PARENT)
    (tmp_path / "orphans.py").write_text(_SLEEPER)
    repo = Path(__file__).resolve().parents[2]
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{repo}{os.pathsep}{tmp_path}"},
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    assert all(is_running(pid) for pid in pids)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for pid in pids:
        wait_until_gone(pid)

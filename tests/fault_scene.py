"""A stack to disturb: a small source, what it comes to undisturbed, a worker that can be harmed, and the servers it needs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import cli_runs
import pyarrow as pa
import pyarrow.parquet as pq
from servers import PostgresServer, ValkeyServer
from service_stack import Stack
from sqlalchemy import select

from primer.app.core.messages import Messenger
from primer.app.jobs.states import FINAL, JobState, TaskKind, TaskState
from primer.app.models import Job, Outcome, Task

HOOKS = Path(__file__).resolve().parent / "worker_hooks"
POISON = "The marker that a poisoned worker dies of."
ROWS, ROWS_A_GROUP = 60, 2
SLICES = ROWS // ROWS_A_GROUP
OPTIONS = {"has_encoder": False, "slice_bytes": 3 << 10, "validation_share": 0.2}
_TEXT_CHARS = 700  # a row group is a slice: more than half of one, and not so much that it would be staged


@dataclass(frozen=True)
class Result:
    """What must be the same however a job was disturbed."""

    digest: dict[str, dict[str, str]]
    counters: dict[str, int]
    outcomes: dict[tuple[int, int, int], tuple[int, int]]
    tasks: list[tuple[str, int, int, str, int | None]]


class Scene:
    """One stack with one worker of two processes, started when it is first needed and again when it was killed."""

    def __init__(self, stack: Stack, valkey: ValkeyServer, postgres: PostgresServer | None) -> None:
        self.stack, self.valkey, self.postgres = stack, valkey, postgres
        self.switches = stack.folder / "switches"
        self.switches.mkdir()
        self._worker: subprocess.Popen[bytes] | None = None
        self._sources = 0
        source = stack.folder / "shard.parquet"
        _write_source(source)
        self._source = source
        self.reference = self.read_result(self.finish(self.start_job()))
        assert self.reference.counters["slices_done"] == SLICES
        assert not any((stack.run_folder(1) / "staged").glob("*")), "the shard itself must be read"

    @property
    def worker(self) -> subprocess.Popen[bytes]:
        if self._worker is None or self._worker.poll() is not None:
            hooks = {"PYTHONPATH": str(HOOKS), "PRIMER_TEST_FAULTS": str(self.switches)}
            self._worker = self.stack.start_worker("--concurrency", "2", environment=hooks)
        return self._worker

    def kill_worker(self) -> None:
        self.stack.kill_worker(self.worker)

    def switch(self, name: str, content: str = "") -> None:
        """Let the worker's processes behave as `tests/worker_hooks` says, from now on."""
        (self.switches / name).write_text(content)

    def switch_off(self) -> None:
        for path in self.switches.iterdir():
            path.unlink(missing_ok=True)

    def copy_source(self) -> Path:
        """The shard in a folder of its own, for tests that harm it."""
        self._sources += 1
        folder = self.stack.folder / f"source-{self._sources}"
        folder.mkdir()
        return Path(shutil.copy2(self._source, folder))

    def add_source(self, path: Path | None = None) -> int:
        self._sources += 1
        return self.stack.add_source(path or self._source, name=f"source {self._sources}")

    def start_job(self, path: Path | None = None, **options: Any) -> int:
        """A job over the shard, with a worker to do it."""
        assert self.worker.poll() is None
        return self.stack.start_job(self.add_source(path), **(OPTIONS | options))

    def wait_for_moment(self, job_id: int, chance: Random) -> int:
        """Until some of the job's slices are measured, and not all; how many."""
        wanted = chance.randrange(1, SLICES * 3 // 4)
        return int(
            self.wait_until(
                lambda: job.slices_done if (job := self.stack.read_job(job_id)).slices_done >= wanted else 0
            )
        )

    def wait_until(self, find: Callable[[], Any], *, seconds: float = 90) -> Any:
        """`stack.wait_until`, looking more often."""
        deadline = time.monotonic() + seconds
        while not (found := find()):
            assert time.monotonic() < deadline, f"waited {seconds} s in vain\n{self.stack.read_logs()}"
            time.sleep(0.005)
        return found

    def find_running(self, job_id: int, kinds: Collection[TaskKind] = (TaskKind.MEASURE,)) -> tuple[int, int] | None:
        """A running task of the job, and the process that works on it."""
        with self.stack.context.database.reading() as session:
            row = session.execute(
                select(Task.id, Task.worker)
                .where(Task.job_id == job_id, Task.state == TaskState.RUNNING, Task.kind.in_(kinds))
                .limit(1)
            ).one_or_none()
        return None if row is None else (row.id, int(row.worker.rpartition("/")[2]))

    def stop_running(self, job_id: int) -> tuple[int, int]:
        """A running task of the job, and the process that works on it, which stands still from now on.

        On SQLite never one that is writing: with the database's only lock it would stop everybody (decision 0010).
        """
        while True:
            task_id, pid = self.wait_until(lambda: self.find_running(job_id))
            stop_process(pid)
            if self._can_write():
                return task_id, pid
            continue_process(pid)

    def _can_write(self) -> bool:
        url = self.stack.context.database.engine.url
        if url.get_backend_name() != "sqlite":
            return True
        with contextlib.closing(sqlite3.connect(str(url.database), timeout=0.3)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            connection.rollback()
            return True

    def read_task(self, task_id: int) -> Task:
        with self.stack.context.database.reading() as session:
            return session.get_one(Task, task_id)

    def finish(self, job_id: int, *, seconds: float = 120) -> int:
        """Wait until the job has succeeded. A worker that died is started again, as a supervisor would."""

        def find_ended() -> Job | None:
            assert self.worker.pid
            job = self.stack.read_job(job_id)
            return job if job.state in FINAL else None

        job = self.wait_until(find_ended, seconds=seconds)
        assert job.state == JobState.SUCCEEDED, f"{job.state}: {job.error}\n{self.stack.read_logs()}"
        return job_id

    def read_result(self, job_id: int) -> Result:
        folder = self.stack.run_folder(job_id)
        job = self.stack.read_job(job_id)
        names = ("documents_done", "documents_total", "slices_done", "slices_total", "bytes_done", "open_tasks")
        with self.stack.context.database.reading() as session:
            outcomes = {
                (row.failed, row.missing, row.kept): (row.documents, row.tokens)
                for row in session.execute(select(Outcome).where(Outcome.job_id == job_id)).scalars()
            }
        tasks = sorted(
            (task.kind, task.shard_index, task.slice_index, task.state, task.documents)
            for task in self.stack.read_tasks(job_id)
        )
        return Result(
            {part: cli_runs.digest_folder(folder / part) for part in ("ledger", "export")},
            {name: getattr(job, name) for name in (*names, "failed_tasks")},
            outcomes,
            tasks,  # type: ignore[arg-type]
        )

    def require_undisturbed(self, job_id: int) -> None:
        """The job ended as if nothing had happened: nothing lost, nothing doubled, the same bytes."""
        found = self.read_result(self.finish(job_id))
        assert found.counters == self.reference.counters
        assert found.outcomes == self.reference.outcomes
        assert found.tasks == self.reference.tasks
        assert found.digest == self.reference.digest


class SilentMessenger(Messenger):
    """A process that dies between its commit and what it wanted to send."""

    def __init__(self) -> None:
        pass

    def _send(self, messages: object) -> bool:
        return False


def stop_process(pid: int) -> None:
    """The process stands still, as in a virtual machine that is moved."""
    os.kill(pid, signal.SIGSTOP)


def continue_process(pid: int) -> None:
    os.kill(pid, signal.SIGCONT)


def _write_source(path: Path) -> None:
    """Documents of the bundled sample, cut short, one of them with the text that a poisoned worker dies of."""
    rows = [row for shard in sorted(cli_runs.SAMPLE.glob("*.parquet")) for row in pq.read_table(shard).to_pylist()]
    chosen = [{**row, "text": row["text"][:_TEXT_CHARS]} for row in rows[:ROWS]]
    chosen[ROWS // 2]["text"] = POISON
    pq.write_table(pa.Table.from_pylist(chosen), path, row_group_size=ROWS_A_GROUP, use_dictionary=False)

"""The jobs engine without workers: a database, a messenger that notes what it is given, and a job to play with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import select, update

from curation.funnel import Funnel
from curation.profile import load_profile
from primer.app.auth.actor import SYSTEM
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.db import Database
from primer.app.core.messages import Messenger
from primer.app.core.settings import Settings
from primer.app.jobs import dispatch, flow, service
from primer.app.jobs.flow import Follower, SettledSlice, StepResult
from primer.app.jobs.leases import Lease
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import TaskKind, TaskState
from primer.app.models import Base, Job, ProfileVersion, Source, Task

LEASE_SECONDS = 1_000.0
MAX_ATTEMPTS = 3
OUTCOMES = {(0, 0, 1): (2, 30), (4, 0, 0): (1, 7)}  # of every slice: two documents kept, one excluded
SLICE_DOCUMENTS, SLICE_BYTES = 3, 100


class NotingMessenger(Messenger):
    """`sent`: the tasks that were announced, in order. `held`: how many messages a broker would say it has; None: it is down."""

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.held: int | None = 0
        self.calls = 0

    def send(self, tasks: Iterable[tuple[int, str]]) -> bool:
        self.calls += 1
        self.sent += [task_id for task_id, _ in tasks]
        return True

    def count_waiting(self, queue: str) -> int | None:
        return self.held

    def take(self) -> list[int]:
        """What was sent since the last call."""
        taken, self.sent = self.sent, []
        return taken


class Engine:
    """The functions of `flow`, each in a transaction of its own, as a worker calls them."""

    def __init__(self, url: str, folder: Path, **settings: Any) -> None:
        self.messenger = NotingMessenger()
        chosen = Settings(data_dir=folder, database_url=url, min_free_bytes=0, **settings)  # type: ignore[arg-type]
        self.context = Context(chosen, Database(url), self.messenger)
        self.database = self.context.database

    def close(self) -> None:
        self.database.engine.dispose()

    def start_job(self) -> int:
        with self.database.transaction() as session:
            profile = load_profile("recommended")
            version = session.execute(select(ProfileVersion)).scalar_one_or_none()
            if version is None:
                version = ProfileVersion(
                    name=profile.name, version=1, state="published", content=profile.model_dump(mode="json"),
                    sha256="0" * 64, note="", author="test", created_at=now(), changed_at=now(), published_at=now(),
                )  # fmt: skip
                session.add(version)
            source = session.execute(select(Source)).scalar_one_or_none()
            if source is None:
                source = Source(
                    name="source",
                    locations=["/a"],
                    text_field="text",
                    state="ready",
                    created_by="test",
                    created_at=now(),
                )
                session.add(source)
            session.flush()
            source_id, profile_id = source.id, version.id
        job = service.start_job(
            self.context, SYSTEM, source_id=source_id, profile_id=profile_id, options=JobOptions(has_encoder=False)
        )
        return job.id

    def read_job(self, job_id: int) -> Job:
        with self.database.reading() as session:
            return session.get_one(Job, job_id)

    def read_tasks(self, job_id: int) -> list[Task]:
        with self.database.reading() as session:
            return list(session.execute(select(Task).where(Task.job_id == job_id).order_by(Task.id)).scalars())

    def claim(self, task_id: int, worker: str = "worker") -> Lease | None:
        with self.database.transaction() as session:
            return flow.begin(session, task_id, worker=worker, seconds=LEASE_SECONDS)

    def complete(self, lease: Lease, result: StepResult) -> None:
        with self.database.transaction() as session:
            dispatch.announce(session, self.context, flow.complete(session, lease, result))

    def fail(self, lease: Lease) -> None:
        with self.database.transaction() as session:
            dispatch.announce(session, self.context, flow.fail(session, lease, "It cannot be done.", "Look."))

    def try_again(self, lease: Lease) -> None:
        with self.database.transaction() as session:
            job = flow.try_again(session, lease, "It broke off.", max_attempts=MAX_ATTEMPTS)
            dispatch.announce(session, self.context, job)

    def withdraw(self, lease: Lease) -> None:
        with self.database.transaction() as session:
            dispatch.announce(session, self.context, flow.withdraw(session, lease))

    def halt(self, lease: Lease) -> None:
        with self.database.transaction() as session:
            dispatch.announce(session, self.context, flow.halt(session, lease, "The disk is full.", "Free space."))

    def let_lapse(self, task_id: int) -> None:
        """The worker of a running task says nothing for so long that its lease is over."""
        with self.database.transaction() as session:
            session.execute(update(Task).where(Task.id == task_id).values(lease_until=now() - 1))

    def expire(self, lease: Lease) -> bool:
        with self.database.transaction() as session:
            job = flow.expire(session, lease.task_id, lease.job_id, lease.token, max_attempts=MAX_ATTEMPTS)
            if job is not None:
                dispatch.announce(session, self.context, job)
        return job is not None

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of every table."""
        with self.database.reading() as session:
            return {
                table.name: sorted(map(tuple, session.execute(select(table)).all()), key=repr)
                for table in Base.metadata.sorted_tables
            }


def make_result(kind: TaskKind, *, shards: int = 2, slices: int = 3) -> StepResult:
    """What a step of this kind finds: a source of so many shards with so many slices each."""
    match kind:
        case TaskKind.PLAN:
            followers = [Follower(TaskKind.OPEN, index) for index in range(shards)]
            return StepResult(followers, facts={"stages": ["lexical"]})
        case TaskKind.FINISH:
            return StepResult(report={"state": "finished"})
        case TaskKind.OPEN:
            raise AssertionError("name the shard: open_shard")
        case _:
            funnel = Funnel(("lexical",))
            funnel.outcomes |= OUTCOMES
            return StepResult(settled=SettledSlice(SLICE_DOCUMENTS, SLICE_BYTES, funnel))


def open_shard(index: int, *, slices: int = 3) -> StepResult:
    followers = [Follower(TaskKind.MEASURE, index, number) for number in range(slices)]
    return StepResult(followers, slices_found=slices, documents_found=slices * SLICE_DOCUMENTS)


def find_result(lease: Lease, **sizes: int) -> StepResult:
    """What the step of a lease finds."""
    if lease.kind is TaskKind.OPEN:
        return open_shard(lease.shard_index, slices=sizes.get("slices", 3))
    return make_result(lease.kind, **sizes)


def finish_all(engine: Engine, job_id: int, **sizes: int) -> None:
    """Do every task that waits, until none does."""
    while waiting := [task.id for task in engine.read_tasks(job_id) if task.state == TaskState.WAITING]:
        for task_id in waiting:
            lease = engine.claim(task_id)
            if lease is not None:
                engine.complete(lease, find_result(lease, **sizes))

"""Who works and what waits: workers that answer, the tasks that each holds, the queues, the oldest task that nobody took.

Workers say themselves that they live; what they hold, the database knows. One that does not answer and holds a live lease
is busy, or has just died: its lease tells which, when it runs out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.messages import WorkerAnswer
from primer.app.jobs.states import Queue, TaskKind, TaskState
from primer.app.models import Job, Source, SourceShard, Task
from primer.app.status.figures import CAN_BE_TAKEN, count_tasks, read_waiting


@dataclass(frozen=True)
class HeldTask:
    """`lease_seconds`: until somebody else may take it; below 0 where that is so already."""

    task_id: int
    job_id: int
    kind: TaskKind
    queue: Queue
    source: str
    shard: str | None
    slice_index: int
    attempts: int
    process: int
    started_at: float | None
    lease_seconds: float


@dataclass(frozen=True)
class WorkerState:
    """`is_answering` False: known by its leases alone, so that `pid`, `uptime_seconds` and its idle processes are not known."""

    host: str
    pid: int | None
    queues: tuple[str, ...]
    process_count: int
    uptime_seconds: int | None
    is_answering: bool
    tasks: list[HeldTask] = field(default_factory=list)


@dataclass(frozen=True)
class QueueState:
    """`waiting`: tasks that a worker could take now; `announced`: messages in the broker, None where it is down;
    `oldest_seconds`: age of the oldest of the waiting."""

    name: Queue
    waiting: int
    oldest_seconds: float
    announced: int | None
    running: int
    quarantined: int
    process_count: int


@dataclass(frozen=True)
class OldestTask:
    task_id: int
    job_id: int
    kind: TaskKind
    queue: Queue
    created_at: float


@dataclass(frozen=True)
class Work:
    is_broker_reachable: bool
    workers: list[WorkerState]
    queues: list[QueueState]
    oldest: OldestTask | None


def read_work(context: Context) -> Work:
    answers = context.messenger.ask_workers()
    with context.database.reading() as session:
        held = _read_held(session)
        waiting, counts = read_waiting(session), count_tasks(session)
        oldest = _read_oldest(session)
    workers = _match(answers or [], held)
    queues = [
        QueueState(
            name=queue,
            waiting=waiting[queue][0],
            oldest_seconds=waiting[queue][1],
            announced=None if answers is None else context.messenger.count_waiting(queue),
            running=counts[queue, TaskState.RUNNING],
            quarantined=counts[queue, TaskState.QUARANTINED],
            process_count=sum(worker.process_count for worker in workers if queue in worker.queues),
        )
        for queue in Queue
    ]
    return Work(answers is not None, workers, queues, oldest)


def _match(answers: Sequence[WorkerAnswer], held: Sequence[tuple[str, HeldTask]]) -> list[WorkerState]:
    """Each task under the worker whose process has it; those of workers that do not answer by host."""
    workers = [
        WorkerState(
            host=answer.host,
            pid=answer.pid,
            queues=answer.queues,
            process_count=len(answer.processes),
            uptime_seconds=answer.uptime_seconds,
            is_answering=True,
        )
        for answer in answers
    ]
    place_of = {(answer.host, pid): place for place, answer in enumerate(answers) for pid in answer.processes}
    silent: dict[str, WorkerState] = {}
    for host, task in held:
        place = place_of.get((host, task.process))
        if place is not None:
            workers[place].tasks.append(task)
            continue
        known = silent.get(host) or WorkerState(host, None, (), 0, None, is_answering=False)
        processes = {other.process for other in known.tasks} | {task.process}
        queues = tuple(sorted({*known.queues, task.queue}))
        silent[host] = replace(known, queues=queues, process_count=len(processes), tasks=[*known.tasks, task])
    return [*workers, *(silent[host] for host in sorted(silent))]


def _read_held(session: Session) -> list[tuple[str, HeldTask]]:
    """The running tasks, with the host of each."""
    rows = session.execute(
        select(
            Task, Source.name.label("source"), SourceShard.name.label("shard"), (Task.lease_until - now()).label("left")
        )
        .join(Job, Job.id == Task.job_id)
        .join(Source, Source.id == Job.source_id)
        .outerjoin(SourceShard, (SourceShard.source_id == Job.source_id) & (SourceShard.position == Task.shard_index))
        .where(Task.state == TaskState.RUNNING)
        .order_by(Task.id)
    ).all()
    return [_describe_held(*row) for row in rows]


def _describe_held(task: Task, source: str, shard: str | None, left: float | None) -> tuple[str, HeldTask]:
    host, _, pid = (task.worker or "").rpartition("/")
    return host, HeldTask(
        task_id=task.id,
        job_id=task.job_id,
        kind=TaskKind(task.kind),
        queue=Queue(task.queue),
        source=source,
        shard=shard,
        slice_index=task.slice_index,
        attempts=task.attempts,
        process=int(pid or 0),
        started_at=task.started_at,
        lease_seconds=float(left or 0),
    )


def _read_oldest(session: Session) -> OldestTask | None:
    row = session.execute(
        select(Task.id, Task.job_id, Task.kind, Task.queue, Task.created_at)
        .join(Job, Job.id == Task.job_id)
        .where(Task.state == TaskState.WAITING, Job.state.in_(CAN_BE_TAKEN))
        .order_by(Task.created_at, Task.id)
        .limit(1)
    ).one_or_none()
    if row is None:
        return None
    return OldestTask(row.id, row.job_id, TaskKind(row.kind), Queue(row.queue), row.created_at)

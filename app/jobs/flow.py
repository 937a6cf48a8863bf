"""What follows what: a task ends, others come of it, counters rise, and when none is left the job goes on or ends.

Every function is one transaction's worth. Each locks the job's row first, so that of two tasks that end at once one
is the last, and so that no two transactions wait for each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from curation.funnel import Funnel
from primer.app.core.clock import now
from primer.app.core.events import record_event
from primer.app.exports.first import add_first_export
from primer.app.jobs import leases
from primer.app.jobs.leases import Lease
from primer.app.jobs.states import FINAL, FIRST_TASKS, QUEUE_OF, JobKind, JobState, TaskKind, TaskState
from primer.app.models import Job, Outcome, Task

_TASKS_A_STATEMENT = 1_000


@dataclass(frozen=True)
class Follower:
    """A task that comes of another."""

    kind: TaskKind
    shard_index: int = -1
    slice_index: int = -1


@dataclass(frozen=True)
class StepResult:
    """What a finished task found. `rows_left`: of a row limit, for the shards still to be opened."""

    followers: Sequence[Follower] = ()
    slices_found: int = 0
    documents_found: int = 0
    rows_left: int | None = None
    facts: dict[str, Any] | None = None
    report: dict[str, Any] | None = None
    settled: SettledSlice | None = None


@dataclass(frozen=True)
class SettledSlice:
    """A slice measured to its end."""

    documents: int
    text_bytes: int
    funnel: Funnel = field(repr=False)


def lock_job(session: Session, job_id: int) -> Job:
    """The job, with nobody else changing it until this transaction ends."""
    return session.execute(
        select(Job).where(Job.id == job_id).with_for_update().execution_options(populate_existing=True)
    ).scalar_one()


def begin(session: Session, task_id: int, *, worker: str, seconds: float) -> Lease | None:
    """Claim a task; the first one brings its job from queued to running. None where there is nothing to claim."""
    task = session.execute(select(Task.job_id, Task.kind).where(Task.id == task_id)).one_or_none()
    if task is None:
        return None
    job = lock_job(session, task.job_id) if task.kind in FIRST_TASKS else None
    lease = leases.claim(session, task_id, worker=worker, seconds=seconds)
    if lease is not None and job is not None and job.state == JobState.QUEUED:
        _set_state(session, job, JobState.RUNNING)
    return lease


def complete(session: Session, lease: Lease, result: StepResult) -> Job:
    """The task is done. Raises LeaseLost when another worker has it: then nothing is counted."""
    job = lock_job(session, lease.job_id)
    settled = result.settled
    leases.end(
        session,
        lease,
        TaskState.DONE,
        documents=settled.documents if settled else None,
        text_bytes=settled.text_bytes if settled else None,
    )
    add_tasks(session, job, result.followers)
    job.open_tasks -= 1
    job.slices_total += result.slices_found
    job.documents_total += result.documents_found
    if result.rows_left is not None:
        job.rows_left = result.rows_left
    job.facts = result.facts or job.facts
    job.report = result.report or job.report
    if lease.kind is TaskKind.FINISH:
        add_first_export(session, job)
    if settled is not None:
        job.slices_done += 1
        job.documents_done += settled.documents
        job.bytes_done += settled.text_bytes
        _count_outcomes(session, job.id, settled.funnel)
    _advance(session, job)
    _tell(session, job, "progress")
    return job


def fail(session: Session, lease: Lease, error: str, hint: str) -> Job:
    """The task cannot be done, and says why."""
    job = lock_job(session, lease.job_id)
    leases.end(session, lease, TaskState.FAILED, error=error, error_hint=hint)
    _count_failure(session, job)
    return job


def try_again(session: Session, lease: Lease, error: str, *, max_attempts: int) -> Job:
    """The task broke off for a reason that may pass: it waits again, unless that happened too often.

    It counts as announced, so that it is announced again only when a message would be thought lost: the reason gets time
    to pass.
    """
    job = lock_job(session, lease.job_id)
    if _is_last_attempt(job, lease.attempts, max_attempts):
        leases.end(session, lease, TaskState.QUARANTINED, error=error, error_hint=_quarantine_hint(lease.attempts))
        _count_failure(session, job)
    else:
        leases.end(session, lease, TaskState.WAITING, error=error, sent_at=now())
        _advance(session, job)
    return job


def withdraw(session: Session, lease: Lease) -> Job:
    """The worker lets go of the task, for its job was paused or cancelled or the worker stops: it counts as not tried."""
    job = lock_job(session, lease.job_id)
    leases.end(session, lease, TaskState.WAITING, attempts=Task.attempts - 1)
    _advance(session, job)
    _tell(session, job, "progress")
    return job


def halt(session: Session, lease: Lease, error: str, hint: str) -> Job:
    """Something is lacking that a person must provide (disk): the task waits, and the job is paused with the reason."""
    job = lock_job(session, lease.job_id)
    leases.end(session, lease, TaskState.WAITING, attempts=Task.attempts - 1, error=error, error_hint=hint)
    job.error, job.error_hint = error, hint
    if job.state == JobState.RUNNING:
        _set_state(session, job, JobState.PAUSED)
    _advance(session, job)
    return job


def expire(session: Session, task_id: int, job_id: int, token: str, *, max_attempts: int) -> Job | None:
    """Take a task back from a worker that is silent; None when it spoke up meanwhile."""
    job = lock_job(session, job_id)
    attempts = session.execute(select(Task.attempts).where(Task.id == task_id)).scalar_one()
    if _is_last_attempt(job, attempts, max_attempts):
        error = "The process that worked on it ended, or fell silent, every time."
        if not leases.take_back(
            session, task_id, token, TaskState.QUARANTINED, error=error, hint=_quarantine_hint(attempts)
        ):
            return None
        _count_failure(session, job)
    elif leases.take_back(session, task_id, token, TaskState.WAITING, error="Its worker fell silent."):
        _advance(session, job)
    else:
        return None
    return job


def add_tasks(session: Session, job: Job, followers: Sequence[Follower]) -> None:
    # In portions: a statement has a limited number of parameters.
    for start in range(0, len(followers), _TASKS_A_STATEMENT):
        rows = [
            {
                "job_id": job.id,
                "kind": follower.kind,
                "queue": QUEUE_OF[follower.kind],
                "shard_index": follower.shard_index,
                "slice_index": follower.slice_index,
                "state": TaskState.WAITING,
                "attempts": 0,
                "created_at": now(),
            }
            for follower in followers[start : start + _TASKS_A_STATEMENT]
        ]
        session.execute(insert(Task).values(rows))
    job.open_tasks += len(followers)


def tell_new(session: Session, job: Job) -> None:
    """Let listeners know of a job that was just made."""
    _tell(session, job, "state")


def pause(session: Session, job: Job) -> None:
    _set_state(session, job, JobState.PAUSED)


def resume(session: Session, job: Job) -> None:
    job.error = job.error_hint = None
    session.execute(
        update(Task)
        .where(Task.job_id == job.id, Task.state == TaskState.WAITING)
        .values(sent_at=None)
        .execution_options(synchronize_session=False)
    )
    _set_state(session, job, JobState.QUEUED if job.started_at is None else JobState.RUNNING)


def cancel(session: Session, job: Job) -> None:
    """What waits is cancelled at once; what runs is let go of by its worker within a batch."""
    _set_state(session, job, JobState.CANCELLING)
    _advance(session, job)


def retry(session: Session, job: Job) -> int:
    """Failed and quarantined tasks wait again; how many there were."""
    again = session.execute(
        update(Task)
        .where(Task.job_id == job.id, Task.state.in_((TaskState.FAILED, TaskState.QUARANTINED)))
        .values(state=TaskState.WAITING, attempts=0, sent_at=None, error=None, error_hint=None, finished_at=None)
        .returning(Task.id)
        .execution_options(synchronize_session=False)
    ).all()
    if again:
        job.open_tasks += len(again)
        job.failed_tasks = 0
        job.finished_at = job.error = job.error_hint = None
        _set_state(session, job, JobState.RUNNING)
    return len(again)


def _count_failure(session: Session, job: Job) -> None:
    job.failed_tasks += 1
    job.open_tasks -= 1
    _advance(session, job)
    _tell(session, job, "progress")


def _is_last_attempt(job: Job, attempts: int, max_attempts: int) -> bool:
    return attempts >= max_attempts and job.state != JobState.CANCELLING


def _advance(session: Session, job: Job) -> None:
    """When no task is left: the next phase, or the end. In a job that is being cancelled nothing goes on waiting."""
    if job.state == JobState.CANCELLING:
        _cancel_waiting(session, job)
    if job.open_tasks or job.state in FINAL:
        return
    if job.state == JobState.CANCELLING and job.report is None:
        _end(session, job, JobState.CANCELLED)
    elif job.failed_tasks:
        _blame_first_failure(session, job)
        _end(session, job, JobState.PARTLY_FAILED if job.slices_done else JobState.FAILED)
    elif job.kind == JobKind.CURATE and job.report is None:
        add_tasks(session, job, [Follower(TaskKind.FINISH)])
    else:
        _end(session, job, JobState.SUCCEEDED)


def _cancel_waiting(session: Session, job: Job) -> None:
    cancelled = session.execute(
        update(Task)
        .where(Task.job_id == job.id, Task.state == TaskState.WAITING)
        .values(state=TaskState.CANCELLED, finished_at=now())
        .returning(Task.id)
        .execution_options(synchronize_session=False)
    ).all()
    job.open_tasks -= len(cancelled)


def _blame_first_failure(session: Session, job: Job) -> None:
    first = session.execute(
        select(Task.error, Task.error_hint)
        .where(Task.job_id == job.id, Task.state.in_((TaskState.FAILED, TaskState.QUARANTINED)))
        .order_by(Task.id)
        .limit(1)
    ).one()
    job.error, job.error_hint = first.error, first.error_hint


def _end(session: Session, job: Job, state: JobState) -> None:
    job.finished_at = now()
    _set_state(session, job, state)


def _set_state(session: Session, job: Job, state: JobState) -> None:
    job.state = state
    if state is JobState.RUNNING and job.started_at is None:
        job.started_at = now()
    _tell(session, job, "state")


def _tell(session: Session, job: Job, kind: str) -> None:
    session.flush()
    data = {
        "state": str(job.state),
        "slices_done": job.slices_done,
        "slices_total": job.slices_total,
        "documents_done": job.documents_done,
        "documents_total": job.documents_total,
        "failed_tasks": job.failed_tasks,
    }
    record_event(session, f"job.{kind}", data, job_id=job.id)


def _count_outcomes(session: Session, job_id: int, funnel: Funnel) -> None:
    if not funnel.outcomes:
        return
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    statement = dialect.insert(Outcome).values(
        [
            {"job_id": job_id, "failed": failed, "missing": missing, "kept": kept, "documents": count, "tokens": tokens}
            for (failed, missing, kept), (count, tokens) in sorted(funnel.outcomes.items())
        ]
    )
    added = statement.excluded
    session.execute(
        statement.on_conflict_do_update(
            index_elements=["job_id", "failed", "missing", "kept"],
            set_={"documents": Outcome.documents + added.documents, "tokens": Outcome.tokens + added.tokens},
        )
    )


def _quarantine_hint(attempts: int) -> str:
    return (
        f"Put aside after {attempts} attempts; the other slices go on. Look at its rows, then retry the failed slices."
    )

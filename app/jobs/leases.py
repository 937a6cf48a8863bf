"""Leases of tasks: claimed by one conditional UPDATE, kept by heartbeats, and worth nothing once another holds the task.

Every function is one step of a transaction. The token of a claim is its fence: who shows an older one is refused.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, select, update
from sqlalchemy.orm import Session

from primer.app.core.clock import now
from primer.app.core.errors import Conflict
from primer.app.jobs.states import JobState, TaskKind, TaskState
from primer.app.models import Job, Task


@dataclass(frozen=True)
class Lease:
    """A task as it was claimed. `attempts` counts this one."""

    task_id: int
    job_id: int
    kind: TaskKind
    shard_index: int
    slice_index: int
    attempts: int
    token: str


class LeaseLost(Conflict):
    """Another worker has the task now, or it was cancelled."""


def claim(session: Session, task_id: int, *, worker: str, seconds: float) -> Lease | None:
    """Take a waiting task of a running job; None where there is nothing to take, whoever asks and however often."""
    token = uuid.uuid4().hex
    is_job_running = exists().where(Job.id == Task.job_id, Job.state.in_((JobState.QUEUED, JobState.RUNNING)))
    found = session.execute(
        update(Task)
        .where(Task.id == task_id, Task.state == TaskState.WAITING, is_job_running)
        .values(
            state=TaskState.RUNNING,
            lease_token=token,
            lease_until=now() + seconds,
            worker=worker,
            attempts=Task.attempts + 1,
            started_at=now(),
            error=None,
            error_hint=None,
        )
        .returning(Task.job_id, Task.kind, Task.shard_index, Task.slice_index, Task.attempts)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if found is None:
        return None
    return Lease(
        task_id, found.job_id, TaskKind(found.kind), found.shard_index, found.slice_index, found.attempts, token
    )


def extend(session: Session, lease: Lease, *, seconds: float) -> JobState | None:
    """Say that the worker lives. The state that the job is in, for the worker to heed; None when the lease is lost."""
    is_held = session.execute(
        update(Task)
        .where(*_held(lease))
        .values(lease_until=now() + seconds)
        .returning(Task.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if is_held is None:
        return None
    return JobState(session.execute(select(Job.state).where(Job.id == lease.job_id)).scalar_one())


def end(session: Session, lease: Lease, state: TaskState, **values: object) -> None:
    """Bring a claimed task to another state. Raises LeaseLost when somebody else has it by now."""
    ended: dict[str, object] = {"finished_at": now()} if state is not TaskState.WAITING else {"sent_at": None}
    found = session.execute(
        update(Task)
        .where(*_held(lease))
        .values(state=state, lease_token=None, lease_until=None, **(ended | values))
        .returning(Task.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if found is None:
        raise LeaseLost(f"Task {lease.task_id} is no longer held by this worker: what it did is not counted.")


def find_expired(session: Session, *, limit: int) -> list[tuple[int, int, str]]:
    """Tasks (id, job id, token) whose worker has been silent longer than its lease."""
    rows = session.execute(
        select(Task.id, Task.job_id, Task.lease_token)
        .where(Task.state == TaskState.RUNNING, Task.lease_until < now())
        .order_by(Task.lease_until)
        .limit(limit)
    ).all()
    return [(row.id, row.job_id, row.lease_token) for row in rows]


def take_back(
    session: Session, task_id: int, token: str, state: TaskState, *, error: str | None = None, hint: str | None = None
) -> bool:
    """End a lease that has run out, unless its worker spoke up meanwhile; whether this call did."""
    ended = {"finished_at": now()} if state is not TaskState.WAITING else {"sent_at": None}
    found = session.execute(
        update(Task)
        .where(Task.id == task_id, Task.state == TaskState.RUNNING, Task.lease_token == token, Task.lease_until < now())
        .values(state=state, lease_token=None, lease_until=None, error=error, error_hint=hint, **ended)
        .returning(Task.id)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return found is not None


def _held(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    return Task.id == lease.task_id, Task.state == TaskState.RUNNING, Task.lease_token == lease.token

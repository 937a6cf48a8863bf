"""How far a job is: from its row, its tasks and its outcomes, and from nothing that a restart would forget."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curation.funnel import Funnel
from primer.app.core.clock import now
from primer.app.jobs.states import JobState, TaskKind, TaskState
from primer.app.models import Job, Outcome, Task

_RATE_SECONDS = 60.0  # a rate is of the last minute, or of the job where it is younger


@dataclass(frozen=True)
class Progress:
    """`documents_per_second` and `seconds_left` are null where nothing can be said: not running, or nothing done lately.

    `is_total_known`: every shard is opened, so that `documents_total` is all."""

    documents_per_second: float | None
    seconds_left: float | None
    is_total_known: bool


def measure_progress(session: Session, job: Job) -> Progress:
    unopened = session.execute(
        select(func.count())
        .select_from(Task)
        .where(
            Task.job_id == job.id,
            Task.kind.in_((TaskKind.PLAN, TaskKind.OPEN)),
            Task.state.in_((TaskState.WAITING, TaskState.RUNNING)),
        )
    ).scalar_one()
    is_total_known = unopened == 0
    if job.state != JobState.RUNNING or job.started_at is None:
        return Progress(None, None, is_total_known)
    current = session.execute(select(now())).scalar_one()
    done = session.execute(
        select(func.sum(Task.documents)).where(
            Task.job_id == job.id, Task.state == TaskState.DONE, Task.finished_at > current - _RATE_SECONDS
        )
    ).scalar_one()
    seconds = min(current - job.started_at, _RATE_SECONDS)
    if not done or seconds <= 0:
        return Progress(None, None, is_total_known)
    rate = float(done) / seconds
    left = (job.documents_total - job.documents_done) / rate if is_total_known else None
    return Progress(rate, left, is_total_known)


def build_funnel(session: Session, job: Job) -> Funnel | None:
    """The funnel of what is measured so far; None before the plan is laid."""
    if job.facts is None:
        return None
    funnel = Funnel(tuple(job.facts["stages"]))
    for row in session.execute(select(Outcome).where(Outcome.job_id == job.id)).scalars():
        part = Funnel(funnel.stages)
        part.outcomes[row.failed, row.missing, row.kept] = row.documents, row.tokens
        funnel.merge(part)
    return funnel


def count_tasks(session: Session, job_id: int) -> dict[TaskState, int]:
    """Tasks by state."""
    rows = session.execute(select(Task.state, func.count()).where(Task.job_id == job_id).group_by(Task.state)).all()
    return {TaskState(row[0]): row[1] for row in rows}

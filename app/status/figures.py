"""What there is to count, asked of the database at one moment: right after every restart, the same from every process."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curation.funnel import Funnel
from curation.stages import STAGES
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.counters import LEASE_EXPIRIES, read_counter
from primer.app.jobs.states import JobKind, JobState, Queue, TaskKind, TaskState
from primer.app.models import Job, Outcome, Source, Task
from primer.app.sources.states import SourceState

CAN_BE_TAKEN = (JobState.QUEUED, JobState.RUNNING)
_SLICE_KINDS = (TaskKind.MEASURE, TaskKind.ENCODE)


@dataclass(frozen=True)
class Figures:
    """`funnel`: of everything that jobs have measured. `oldest_seconds`: age of the oldest task that nobody has taken."""

    funnel: Funnel
    jobs: dict[str, int]
    sources: dict[str, int]
    tasks: dict[tuple[Queue, TaskState], int]
    slices_in_flight: int
    queue_lengths: dict[Queue, int]
    oldest_seconds: dict[Queue, float]
    lease_expiries: int


def read_figures(context: Context) -> Figures:
    with context.database.reading() as session:
        waiting = read_waiting(session)
        return Figures(
            funnel=_read_funnel(session),
            jobs=dict.fromkeys(map(str, JobState), 0) | _count(session, Job),
            sources=dict.fromkeys(map(str, SourceState), 0) | _count(session, Source),
            tasks=count_tasks(session),
            slices_in_flight=_count_slices_in_flight(session),
            queue_lengths={queue: count for queue, (count, _) in waiting.items()},
            oldest_seconds={queue: age for queue, (_, age) in waiting.items()},
            lease_expiries=read_counter(session, LEASE_EXPIRIES),
        )


def _read_funnel(session: Session) -> Funnel:
    """Jobs that measure more of another's run count its documents a second time: they are left out."""
    rows = session.execute(
        select(Outcome.failed, Outcome.missing, Outcome.kept, func.sum(Outcome.documents), func.sum(Outcome.tokens))
        .join(Job, Job.id == Outcome.job_id)
        .where(Job.kind == JobKind.CURATE)
        .group_by(Outcome.failed, Outcome.missing, Outcome.kept)
    ).all()
    funnel = Funnel(STAGES)
    for failed, missing, kept, documents, tokens in rows:
        part = Funnel(STAGES)
        part.outcomes[failed, missing, kept] = int(documents), int(tokens)
        funnel.merge(part)
    return funnel


def _count(session: Session, model: type[Job | Source]) -> dict[str, int]:
    rows = session.execute(select(model.state, func.count()).group_by(model.state)).all()
    return {row[0]: row[1] for row in rows}


def count_tasks(session: Session) -> dict[tuple[Queue, TaskState], int]:
    rows = session.execute(select(Task.queue, Task.state, func.count()).group_by(Task.queue, Task.state)).all()
    found = {(Queue(row[0]), TaskState(row[1])): row[2] for row in rows}
    return {(queue, state): found.get((queue, state), 0) for queue in Queue for state in TaskState}


def _count_slices_in_flight(session: Session) -> int:
    wanted = select(func.count()).select_from(Task)
    return session.execute(wanted.where(Task.state == TaskState.RUNNING, Task.kind.in_(_SLICE_KINDS))).scalar_one()


def read_waiting(session: Session) -> dict[Queue, tuple[int, float]]:
    """How many tasks could be taken from each queue, and how long the oldest has been there."""
    rows = session.execute(
        select(Task.queue, func.count(), now() - func.min(Task.created_at))
        .join(Job, Job.id == Task.job_id)
        .where(Task.state == TaskState.WAITING, Job.state.in_(CAN_BE_TAKEN))
        .group_by(Task.queue)
    ).all()
    found = {Queue(row[0]): (int(row[1]), max(0.0, float(row[2]))) for row in rows}
    return {queue: found.get(queue, (0, 0.0)) for queue in Queue}

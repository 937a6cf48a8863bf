"""Announcing tasks: a job has at most so many messages under way, so that a small job need not wait behind a big one.

The rows say what was announced and when; messages that nobody took are announced again.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.db import after_commit
from primer.app.jobs.states import JobState, TaskState
from primer.app.models import Job, Task

_LOST_AT_ONCE = 1_000
_RUNS = (JobState.QUEUED, JobState.RUNNING)


def announce(session: Session, context: Context, job: Job) -> None:
    """Fill the job's share of messages, after the commit. The job's row must be locked."""
    if job.state not in _RUNS:
        return
    session.flush()
    waiting = (Task.job_id == job.id, Task.state == TaskState.WAITING)
    under_way = session.execute(
        select(func.count()).select_from(Task).where(*waiting, Task.sent_at.is_not(None))
    ).scalar_one()
    room = context.settings.messages_per_job - under_way
    if room <= 0:
        return
    chosen = select(Task.id).where(*waiting, Task.sent_at.is_(None)).order_by(Task.id).limit(room)
    _mark_and_send(session, context, Task.id.in_(chosen.scalar_subquery()))


def announce_lost(context: Context) -> None:
    """Announce again what was announced long ago, as far as the broker holds fewer messages than there should be.

    The broker is asked outside of any transaction: while it does not answer, nothing is locked.
    """
    is_old = Task.state == TaskState.WAITING, Task.sent_at < now() - context.settings.resend_after
    with context.database.reading() as session:
        found = session.execute(
            select(Task.id, Task.queue)
            .join(Job, Job.id == Task.job_id)
            .where(*is_old, Job.state.in_(_RUNS))
            .order_by(Task.sent_at)
            .limit(_LOST_AT_ONCE)
        ).all()
    lost: list[int] = []
    for queue, count in Counter(row.queue for row in found).items():
        held = context.messenger.count_waiting(queue)
        if held is not None and held < count:
            lost += [row.id for row in found if row.queue == queue][: count - held]
    if lost:
        with context.database.transaction() as session:
            # Those that others are changing are left to them: this holds no job's row, so it must not wait.
            free = select(Task.id).where(Task.id.in_(lost), *is_old).with_for_update(skip_locked=True)
            _mark_and_send(session, context, Task.id.in_(session.execute(free).scalars().all()))


def _mark_and_send(session: Session, context: Context, which: ColumnElement[bool]) -> None:
    sent = session.execute(
        update(Task)
        .where(which, Task.state == TaskState.WAITING)
        .values(sent_at=now())
        .returning(Task.id, Task.queue)
        .execution_options(synchronize_session=False)
    ).all()
    if sent:
        messages = sorted((row.id, row.queue) for row in sent)
        after_commit(session, partial(_send, context, messages))


def _send(context: Context, messages: list[tuple[int, str]]) -> None:
    context.messenger.send(messages)

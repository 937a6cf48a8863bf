"""Puts right what a crash left: leases that ran out, tasks and sources that nobody was told of, messages that were lost.

Any number of stewards may run at once, one in every worker: each step is a conditional UPDATE, and repeating it changes
nothing.
"""

from __future__ import annotations

import threading

import structlog
from sqlalchemy import exists, select

from primer.app.core.context import Context
from primer.app.core.counters import LEASE_EXPIRIES, raise_counter
from primer.app.jobs import dispatch, flow, leases
from primer.app.jobs.states import JobState, TaskState
from primer.app.models import Job, Task
from primer.app.sources import claims

log = structlog.get_logger(__name__)

_EXPIRED_AT_ONCE = 100


class Steward:
    """A thread that tends the jobs every so often until it is stopped."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._tend_for_ever, name="steward", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(timeout=5)

    def tend(self) -> None:
        """One round."""
        self._take_back_expired()
        self._announce_unannounced()
        dispatch.announce_lost(self._context)
        claims.announce_due(self._context)

    def _tend_for_ever(self) -> None:
        while not self._stopped.wait(self._context.settings.steward_interval):
            try:
                self.tend()
                self._show_life()
            except Exception as error:  # noqa: BLE001 - the next round may succeed; without a steward nothing is put right
                log.warning("steward_interrupted", error=type(error).__name__)

    def _show_life(self) -> None:
        if self._context.settings.alive_file is not None:
            self._context.settings.alive_file.touch()

    def _take_back_expired(self) -> None:
        with self._context.database.reading() as session:
            expired = leases.find_expired(session, limit=_EXPIRED_AT_ONCE)
        for task_id, job_id, token in expired:
            with self._context.database.transaction() as session:
                job = flow.expire(session, task_id, job_id, token, max_attempts=self._context.settings.max_attempts)
                if job is not None:
                    raise_counter(session, LEASE_EXPIRIES)
                    log.warning("lease_expired", task=task_id, job=job_id)
                    dispatch.announce(session, self._context, job)

    def _announce_unannounced(self) -> None:
        has_silent = exists().where(Task.job_id == Job.id, Task.state == TaskState.WAITING, Task.sent_at.is_(None))
        with self._context.database.reading() as session:
            jobs = (
                session.execute(select(Job.id).where(Job.state.in_((JobState.QUEUED, JobState.RUNNING)), has_silent))
                .scalars()
                .all()
            )
        for job_id in jobs:
            with self._context.database.transaction() as session:
                dispatch.announce(session, self._context, flow.lock_job(session, job_id))

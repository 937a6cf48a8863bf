"""Keeps a lease while a task is worked on: says that the worker lives, and learns when it must let go.

A thread of the process that works. `check` is the library's checkpoint: it raises where the work must stop.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from enum import Enum
from types import TracebackType

import structlog
from sqlalchemy.exc import SQLAlchemyError

from primer.app.core.context import Context
from primer.app.jobs import leases
from primer.app.jobs.leases import Lease
from primer.app.jobs.states import JobState
from primer.workers.queues import QueueLimits
from primer.workers.shutdown import is_stopping

log = structlog.get_logger(__name__)


class Reason(Enum):
    WITHDRAWN = "withdrawn"  # paused, cancelled, or the worker stops
    LOST = "lost"  # another worker has the task
    TOO_LONG = "too long"


class Interrupted(Exception):
    """The work ends here, for `reason`."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Keeper:
    """Use as a context: the lease is kept inside it."""

    def __init__(self, context: Context, lease: Lease, limits: QueueLimits) -> None:
        self._context, self._lease, self._limits = context, lease, limits
        self._began = self._heard = time.monotonic()
        self._reason: Reason | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"keeper-{lease.task_id}", daemon=True)

    def __enter__(self) -> Keeper:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def check(self) -> None:
        """Raises Interrupted when the work must stop."""
        if self._reason is None and time.monotonic() - self._began > self._limits.soft:
            self._reason = Reason.TOO_LONG
        if self._reason is None and is_stopping():
            self._reason = Reason.WITHDRAWN
        if self._reason is not None:
            raise Interrupted(self._reason)

    def _keep(self) -> None:
        settings = self._context.settings
        while not self._ended.wait(settings.heartbeat):
            if time.monotonic() - self._began > self._limits.hard:
                log.error("task_over_hard_limit", task=self._lease.task_id, limit=self._limits.hard)
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                with self._context.database.transaction() as session:
                    state = leases.extend(session, self._lease, seconds=settings.lease)
            except SQLAlchemyError as error:
                log.warning("heartbeat_failed", task=self._lease.task_id, error=type(error).__name__)
                # After so long somebody else may have the task: what this process still does would count for nothing.
                if time.monotonic() - self._heard > settings.lease:
                    self._reason = self._reason or Reason.LOST
                continue
            self._heard = time.monotonic()
            if state is None:
                self._reason = Reason.LOST
                return
            if state in (JobState.PAUSED, JobState.CANCELLING):
                self._reason = self._reason or Reason.WITHDRAWN

"""One message: claim the task that it names, do it while keeping the lease, and record what came of it.

A message for a task that is taken, done or cancelled is nothing to do. Nothing is counted twice and nothing by a
worker that has lost its lease.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import TypeVar

import stamina
import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from curation.errors import ExportBusy, PrimerError, QuotaError
from primer.app.core.context import Context
from primer.app.jobs import dispatch, flow
from primer.app.jobs.flow import StepResult
from primer.app.jobs.leases import Lease, LeaseLost
from primer.app.jobs.states import QUEUE_OF
from primer.app.models import Job
from primer.workers.keeper import Interrupted, Keeper, Reason
from primer.workers.queues import LIMITS
from primer.workers.shutdown import is_stopping
from primer.workers.steps import Steps

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

# A database that restarts is back within a minute or two; the lease is kept from the other side meanwhile or lost.
_DATABASE_PATIENCE = 120.0


class Performer:
    """One a process."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._steps = Steps(context)
        self._name = f"{socket.gethostname()}/{os.getpid()}"

    def perform(self, task_id: int) -> None:
        if is_stopping():
            return  # the task waits in the database; another worker is told of it again
        settings = self._context.settings
        lease = self._transact(lambda session: flow.begin(session, task_id, worker=self._name, seconds=settings.lease))
        if lease is None:
            log.debug("nothing_to_claim", task=task_id)
            return
        with structlog.contextvars.bound_contextvars(
            job=lease.job_id, task=task_id, kind=str(lease.kind), attempt=lease.attempts
        ):
            try:
                self._record(lease, self._work(lease))
            except LeaseLost as error:
                log.warning("lease_lost", detail=error.message)

    def _work(self, lease: Lease) -> Callable[[Session], Job]:
        """Do the task; how the transaction that ends it is to change the database."""
        try:
            with Keeper(self._context, lease, LIMITS[QUEUE_OF[lease.kind]]) as keeper:
                result = self._steps.perform(lease, keeper.check)
            return _completes(lease, result)
        except Interrupted as stop:
            log.info("let_go", reason=stop.reason.value)
            if stop.reason is Reason.LOST:
                raise LeaseLost(f"Task {lease.task_id} was given to another worker.") from stop
            if stop.reason is Reason.TOO_LONG:
                return self._tries_again(lease, "It took longer than its queue allows.")
            return lambda session: flow.withdraw(session, lease)
        except QuotaError as error:
            log.error("out_of_room", detail=error.message)
            return _halts(lease, error)
        except ExportBusy as error:
            # A worker that fell silent has not let go yet.
            return self._tries_again(lease, error.message)
        except PrimerError as error:
            log.warning("task_failed", detail=error.message)
            return _fails(lease, error)
        except Exception as error:  # noqa: BLE001 - a task must not take its worker with it, whatever the library raises
            # The type and place alone: messages of libraries may quote a document.
            place = _describe_place(error)
            log.error("task_broke_off", error=type(error).__name__, place=place)
            return self._tries_again(lease, f"{type(error).__name__} at {place}.")

    def _tries_again(self, lease: Lease, error: str) -> Callable[[Session], Job]:
        attempts = self._context.settings.max_attempts
        return lambda session: flow.try_again(session, lease, error, max_attempts=attempts)

    def _record(self, lease: Lease, change: Callable[[Session], Job]) -> None:
        def record(session: Session) -> None:
            dispatch.announce(session, self._context, change(session))

        self._transact(record)
        log.info("task_recorded")

    def _transact(self, change: Callable[[Session], Result]) -> Result:
        """Retried while the database cannot be reached: a second commit of the same change is refused by its fence."""
        for attempt in stamina.retry_context(
            on=DBAPIError, attempts=None, timeout=_DATABASE_PATIENCE, wait_initial=0.1, wait_max=2
        ):
            with attempt, self._context.database.transaction() as session:
                return change(session)
        raise AssertionError("unreachable: the retries end by returning or raising")


def _completes(lease: Lease, result: StepResult) -> Callable[[Session], Job]:
    return lambda session: flow.complete(session, lease, result)


def _fails(lease: Lease, error: PrimerError) -> Callable[[Session], Job]:
    return lambda session: flow.fail(session, lease, error.message, error.hint)


def _halts(lease: Lease, error: QuotaError) -> Callable[[Session], Job]:
    return lambda session: flow.halt(session, lease, error.message, error.hint)


def _describe_place(error: BaseException) -> str:
    trace = error.__traceback__
    place = "an unknown place"
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{code.co_name} ({os.path.basename(code.co_filename)}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place

"""One scan: claim the source that a message names, scan it while saying that the process lives, record what came of it.

A message for a source that is claimed, scanned or gone is nothing to do.
"""

from __future__ import annotations

import threading
import time

import structlog
from sqlalchemy.exc import SQLAlchemyError

from primer.app.core.context import Context
from primer.app.jobs.states import Queue
from primer.app.sources import claims
from primer.app.sources.claims import ScanClaim
from primer.app.sources.scan import scan_source
from primer.workers.keeper import Interrupted, Reason
from primer.workers.queues import LIMITS
from primer.workers.shutdown import is_stopping

log = structlog.get_logger(__name__)


def perform_scan(context: Context, source_id: int) -> None:
    with context.database.transaction() as session:
        held = claims.claim(session, source_id, seconds=context.settings.lease)
    if held is None:
        log.debug("nothing_to_scan", source=source_id)
        return
    with structlog.contextvars.bound_contextvars(source=source_id):
        try:
            with _Heartbeat(context, held) as heartbeat:
                scan_source(context, held, check=heartbeat.check)
            log.info("scanned")
        except Interrupted as stop:
            log.info("scan_let_go", reason=stop.reason.value)
            if stop.reason is Reason.WITHDRAWN:
                with context.database.transaction() as session:
                    claims.let_go(session, held)


class _Heartbeat:
    """Use as a context: the claim is kept inside it. `check` raises Interrupted where the scan must stop."""

    def __init__(self, context: Context, held: ScanClaim) -> None:
        self._context, self._held = context, held
        self._began = time.monotonic()
        self._is_lost = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"scan-{held.source_id}", daemon=True)

    def __enter__(self) -> _Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def check(self) -> None:
        if self._is_lost:
            raise Interrupted(Reason.LOST)
        if is_stopping():
            raise Interrupted(Reason.WITHDRAWN)
        if time.monotonic() - self._began > LIMITS[Queue.MAINTENANCE].soft:
            # Not withdrawn: the claim lapses and counts as an attempt.
            raise Interrupted(Reason.TOO_LONG)

    def _keep(self) -> None:
        settings = self._context.settings
        while not self._ended.wait(settings.heartbeat):
            try:
                with self._context.database.transaction() as session:
                    self._is_lost = not claims.extend(session, self._held, seconds=settings.lease)
            except SQLAlchemyError as error:
                log.warning("heartbeat_failed", source=self._held.source_id, error=type(error).__name__)

"""The Celery application of a worker: two tasks, whose messages carry one id. The database knows the rest."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import structlog
from celery import Celery, Task, signals

from primer.app.core.context import Context
from primer.app.core.logs import configure_logs
from primer.app.core.messages import PERFORM, REQUEST_ID, SCAN
from primer.app.core.settings import Settings
from primer.workers import shutdown
from primer.workers.broker_channel import outlive_broker
from primer.workers.perform import Performer
from primer.workers.queues import require_nested_limits
from primer.workers.scans import perform_scan
from primer.workers.steward import Steward


def build_celery(settings: Settings) -> Celery:
    """Raises ValueError when the limits do not nest."""
    require_nested_limits(settings)
    outlive_broker()
    celery = Celery("primer", broker=settings.broker, set_as_current=False)
    celery.conf.update(
        task_ignore_result=True,
        # A message is acknowledged when its task is over: a worker takes no more of them than it has processes.
        task_acks_late=True,
        task_reject_on_worker_lost=False,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "visibility_timeout": settings.visibility_timeout,
            "socket_connect_timeout": 5,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
        worker_send_task_events=False,
        enable_utc=True,
    )
    state: dict[str, Any] = {}

    def open_context() -> Context:
        if "context" not in state:
            state["context"] = Context.open(settings)
            state["performer"] = Performer(state["context"])
        context: Context = state["context"]
        return context

    def perform(message: Task, task_id: int) -> None:
        with _naming_request(message):
            open_context()
            state["performer"].perform(task_id)

    def scan(message: Task, source_id: int) -> None:
        with _naming_request(message):
            perform_scan(open_context(), source_id)

    celery.task(perform, name=PERFORM, bind=True)
    celery.task(scan, name=SCAN, bind=True)

    def start_steward(**_: Any) -> None:
        state["steward"] = Steward(Context.open(settings))
        state["steward"].start()

    def begin_stopping(**_: Any) -> None:
        shutdown.stop()

    def stop_steward(**_: Any) -> None:
        if "steward" in state:
            state["steward"].stop()

    # Kept: signals hold their receivers weakly.
    state["receivers"] = (start_steward, begin_stopping, stop_steward)
    signals.worker_ready.connect(start_steward)
    signals.worker_shutting_down.connect(begin_stopping)
    signals.worker_shutdown.connect(stop_steward)
    signals.setup_logging.connect(_set_up_logging)
    return celery


def _naming_request(message: Task) -> AbstractContextManager[None]:
    """Inside, log lines and messages that are sent name the request that this one goes back to."""
    request_id = message.request.get(REQUEST_ID)
    return structlog.contextvars.bound_contextvars(**({"request_id": request_id} if request_id else {}))


def _set_up_logging(**_: Any) -> None:
    configure_logs(Settings().log_format)

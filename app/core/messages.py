"""The way to the workers: a message says that a task is there, by its id alone. Losing one loses no work.

Sent after the commit that made the task; what a crash or a broker that is down swallowed, the steward sends again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog
from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

PERFORM: Final = "primer.perform"  # a task of a job, by its id
SCAN: Final = "primer.scan"  # a source, by its id
REQUEST_ID: Final = "primer_request_id"  # header: the request that a message goes back to, for the worker's logs
_SCANS: Final = "maintenance"  # the queue of scans

# A person waits for the request that sends: better to leave it to the steward than to hang.
_TRANSPORT_OPTIONS: Final = {
    "socket_connect_timeout": 2,
    "socket_timeout": 5,
    "max_retries": 1,
    "interval_start": 0,
    "interval_max": 0.2,
}

_ANSWER_SECONDS: Final = 1.0  # a worker's parent process does nothing else, so that it answers in milliseconds


@dataclass(frozen=True)
class WorkerAnswer:
    """What a worker says of itself: its machine, the queues it takes from, and its processes that do the work."""

    host: str
    pid: int
    queues: tuple[str, ...]
    processes: tuple[int, ...]
    uptime_seconds: int


class Messenger:
    def __init__(self, broker_url: str) -> None:
        self._celery = Celery("primer-messenger", broker=broker_url, set_as_current=False)
        self._celery.conf.update(
            broker_transport_options=_TRANSPORT_OPTIONS,
            broker_connection_timeout=2,
            task_publish_retry=False,
            task_ignore_result=True,
        )

    def send(self, tasks: Iterable[tuple[int, str]]) -> bool:
        """Announce tasks (id, queue). False when the broker could not be reached: nothing is lost, only late."""
        return self._send([(PERFORM, task_id, queue) for task_id, queue in tasks])

    def send_scans(self, source_ids: Iterable[int]) -> bool:
        """Announce sources that wait for their scan; the same answer."""
        return self._send([(SCAN, source_id, _SCANS) for source_id in source_ids])

    def _send(self, messages: Sequence[tuple[str, int, str]]) -> bool:
        request_id = structlog.contextvars.get_contextvars().get("request_id")
        headers = {REQUEST_ID: request_id} if request_id else {}
        try:
            with self._celery.connection_for_write() as connection, connection.Producer() as producer:
                for name, row_id, queue in messages:
                    self._celery.send_task(name, args=(row_id,), queue=queue, producer=producer, headers=headers)
        except (OperationalError, RedisError, OSError) as error:
            log.warning("broker_unreachable", error=type(error).__name__)
            return False
        return True

    def count_waiting(self, queue: str) -> int | None:
        """Messages that nobody took yet; None when the broker cannot be reached."""
        try:
            with self._celery.connection_for_read() as connection:
                client = connection.default_channel.client
                return int(client.llen(queue))
        except (OperationalError, RedisError, OSError):
            return None

    def ask_workers(self) -> list[WorkerAnswer] | None:
        """Those that answer within a second, by host and process; None when the broker cannot be reached. One that works in
        its own process (an encoder on CUDA) does not answer while it works."""
        try:
            with self._celery.connection_for_write() as connection:
                inspect = self._celery.control.inspect(timeout=_ANSWER_SECONDS, connection=connection)
                stats: dict[str, Any] = inspect.stats() or {}
                inspect.limit = len(stats)
                queues: dict[str, Any] = (inspect.active_queues() or {}) if stats else {}
        except (OperationalError, RedisError, OSError):
            return None
        answers = [_read_answer(name, found, queues.get(name, [])) for name, found in stats.items()]
        return sorted(answers, key=lambda answer: (answer.host, answer.pid))

    def is_reachable(self) -> bool:
        return self.count_waiting("") is not None


def _read_answer(name: str, stats: dict[str, Any], queues: list[dict[str, Any]]) -> WorkerAnswer:
    processes = stats.get("pool", {}).get("processes") or [stats["pid"]]
    return WorkerAnswer(
        host=name.partition("@")[2],
        pid=int(stats["pid"]),
        queues=tuple(sorted(str(queue["name"]) for queue in queues)),
        processes=tuple(int(process) for process in processes),
        uptime_seconds=int(stats.get("uptime", 0)),
    )

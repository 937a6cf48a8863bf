"""The way to the workers: a message says that a task is there, by its id alone. Losing one loses no work.

Sent after the commit that made the task; what a crash or a broker that is down swallowed, the steward sends again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import structlog
from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

PERFORM: Final = "primer.perform"  # the one task that messages name

# A person waits for the request that sends: better to leave it to the steward than to hang.
_TRANSPORT_OPTIONS: Final = {
    "socket_connect_timeout": 2,
    "socket_timeout": 5,
    "max_retries": 1,
    "interval_start": 0,
    "interval_max": 0.2,
}


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
        try:
            with self._celery.connection_for_write() as connection, connection.Producer() as producer:
                for task_id, queue in tasks:
                    self._celery.send_task(PERFORM, args=(task_id,), queue=queue, producer=producer)
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

    def is_reachable(self) -> bool:
        return self.count_waiting("") is not None

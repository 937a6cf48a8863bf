"""Whose trial is measured: one at a time in this process, and of each person the newest alone.

A trial takes all of a core for some seconds. Its thread works beside the server's, which goes on answering.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from primer.app.core.errors import Conflict, NotReady

_LOOK_SECONDS = 0.05
_PATIENCE_SECONDS = 30.0


class TrialTurns:
    """Use one a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: dict[int | None, object] = {}
        self._measuring = threading.Lock()

    @contextmanager
    def take(self, user_id: int | None) -> Iterator[Callable[[], None]]:
        """Inside, it is this trial's turn; what it gives raises Conflict once the same person has asked for another.

        Raises NotReady when others' trials take too long.
        """
        mine = object()
        with self._lock:
            self._newest[user_id] = mine

        def check() -> None:
            if self._newest.get(user_id) is not mine:
                raise Conflict("You have asked for another estimate since.", hint="See that one.")

        try:
            self._wait(check)
            try:
                yield check
            finally:
                self._measuring.release()
        finally:
            with self._lock:
                if self._newest.get(user_id) is mine:
                    del self._newest[user_id]

    def _wait(self, check: Callable[[], None]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._measuring.acquire(timeout=_LOOK_SECONDS):
            check()
            if time.monotonic() > deadline:
                raise NotReady(
                    "Other people's estimates are being made.", hint="Ask again in a moment.", retry_after_seconds=5
                )

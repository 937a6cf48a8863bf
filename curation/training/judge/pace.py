"""When the next request may start: requests and tokens a minute, and the waits that a server asks for.

Starts are spread evenly, so no window of a minute holds more than the limit and no burst meets a server's own shorter
window. The clock is given: tests turn it by hand.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

ANSWER_SECONDS: Final = 120.0  # a model that thinks answers within a minute; twice that is a stall


class Stopped(Exception):
    """The run is being stopped: a wait was broken off."""


class Clock(Protocol):
    def now(self) -> float:
        """Seconds that only go forward."""
        ...

    def sleep(self, seconds: float) -> None:
        """Return after that long. Raises Stopped when the run is being stopped."""
        ...

    def stop(self) -> None:
        """Break off every wait, now and to come."""
        ...


class SystemClock:
    def __init__(self) -> None:
        self._stopping = threading.Event()

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if self._stopping.wait(max(seconds, 0.0)):
            raise Stopped

    def stop(self) -> None:
        self._stopping.set()


class Pace:
    """Shared by all threads of a run. A limit of None does not limit."""

    def __init__(self, clock: Clock, *, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        self.clock = clock
        self._request_seconds = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._token_seconds = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._next_start = clock.now()
        self._lock = threading.Lock()

    def wait_turn(self, tokens: int) -> None:
        """Return when a request of about that many tokens, in and out, may start. Raises Stopped."""
        while True:
            with self._lock:
                wait = self._next_start - self.clock.now()
                if wait <= 0:
                    taken = max(self._request_seconds, tokens * self._token_seconds)
                    self._next_start = self.clock.now() + taken
                    return
            # Not reserved: a hold that comes meanwhile must count for this request too.
            self.clock.sleep(wait)

    def hold(self, seconds: float) -> None:
        """Start nothing for that long: the server said that requests come too fast."""
        with self._lock:
            self._next_start = max(self._next_start, self.clock.now() + seconds)

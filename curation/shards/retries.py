"""When a failed read of a remote file is tried again, and how long it waits before that.

Knows no protocol: whoever talks to a server raises `Interruption` for what may pass. Waiting and counting are
stamina's; the rule here is that attempts count from the last progress, so a long download survives many short cuts.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import stamina

from curation.errors import SourceError

Result = TypeVar("Result")

# RFC 9110 and RFC 6585: the request may succeed unchanged later. 425 is "too early", 429 "too many requests".
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})


class Interruption(Exception):
    """A failure that the next attempt may not meet. `reason` holds no secret, `retry_after_seconds` what the server
    asks for (None: nothing)."""

    def __init__(self, reason: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True)
class RetryPolicy:
    """Eight attempts wait about one minute in all: longer than a restarting proxy, shorter than a person's patience.

    A server's Retry-After is honoured up to `retry_after_max_seconds` (the Hub's rate windows last 300 s).
    """

    attempts: int = 8
    wait_initial_seconds: float = 0.5
    wait_max_seconds: float = 30.0
    wait_jitter_seconds: float = 1.0
    retry_after_max_seconds: float = 300.0
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 30.0

    def choose_wait(self, failures: int, retry_after_seconds: float | None) -> float:
        """Seconds to wait after the given number of failures in a row (1 or more)."""
        if retry_after_seconds is not None:
            return min(retry_after_seconds, self.retry_after_max_seconds)
        jitter = random.uniform(0, self.wait_jitter_seconds)
        return min(self.wait_max_seconds, self.wait_initial_seconds * 2.0 ** min(failures - 1, 30) + jitter)


def read_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, given as seconds or as an HTTP date; None where it says neither."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


class _Patience:
    """stamina's back-off hook: False gives up, a number is the wait in seconds."""

    def __init__(self, policy: RetryPolicy, measure_progress: Callable[[], int]) -> None:
        self.policy = policy
        self.measure_progress = measure_progress
        self.furthest = measure_progress()
        self.failures = 0

    def __call__(self, error: Exception) -> bool | float:
        if not isinstance(error, Interruption):
            return False
        reached = self.measure_progress()
        self.failures = 1 if reached > self.furthest else self.failures + 1
        self.furthest = max(self.furthest, reached)
        if self.failures >= self.policy.attempts:
            return False
        return self.policy.choose_wait(self.failures, error.retry_after_seconds)


def run_with_retries(
    step: Callable[[], Result],
    *,
    label: str,
    policy: RetryPolicy,
    measure_progress: Callable[[], int] = lambda: 0,
) -> Result:
    """Run `step` until it returns; after an `Interruption` wait and run it again.

    `measure_progress` says how far the work is (bytes); only a new furthest point resets the count, so that work which
    starts over and breaks at the same place ends. Raises SourceError after `policy.attempts` failures in a row.
    """
    patience = _Patience(policy, measure_progress)
    try:
        for attempt in stamina.retry_context(on=patience, attempts=None, timeout=None):
            with attempt:
                return step()
    except Interruption as error:
        raise SourceError(
            f"{label}: {error.reason} (at byte {measure_progress()}; {patience.failures} attempts in a row).",
            hint="Check the connection and the server, then start again: what has arrived is kept.",
        ) from error
    raise AssertionError("a retry context ends by a result or an error")

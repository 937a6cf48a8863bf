"""Keeps child processes running: starts them in order, starts again what dies, and stops them all in the end.

It knows nothing of what they do. A child that keeps dying ends the others, and its last lines say why.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from curation.errors import PrimerError

MAX_FAILURES = 5  # in a row; then it is not a passing trouble
_STEADY_SECONDS = 60.0  # who lived so long has recovered
_DELAYS = (0.0, 1.0, 2.0, 5.0, 10.0)  # seconds before a start, by failures in a row
_LOOK_SECONDS = 0.1
_MAX_LOG_BYTES = 20_000_000
_LAST_LINES = 15


class ChildFailed(PrimerError):
    """A child process cannot be kept running."""


@dataclass(frozen=True)
class Child:
    """A program to keep running. `stop_seconds`: how long it may take to end once it is asked to. `orphan_signal`: what it
    gets when this process dies."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    stop_seconds: float = 10.0
    orphan_signal: int = signal.SIGTERM


@dataclass
class _Running:
    child: Child
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    start_at: float = field(default_factory=time.monotonic)


class Supervisor:
    """`say` is told what a person should know. `kept_open`: descriptors that every child holds while it lives."""

    def __init__(self, logs: Path, *, say: Callable[[str], None], kept_open: Sequence[int] = ()) -> None:
        self._logs, self._say, self._kept_open = logs, say, tuple(kept_open)
        self._running: list[_Running] = []
        self._stop_requests = 0
        logs.mkdir(parents=True, exist_ok=True)

    @property
    def is_stopping(self) -> bool:
        return self._stop_requests > 0

    def heed_signals(self) -> None:
        """The first SIGINT, SIGTERM or SIGHUP stops the children, the second kills them."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
                signal.signal(number, lambda *_: self.request_stop())

    def request_stop(self) -> None:
        self._stop_requests += 1
        if self._stop_requests > 1:
            for running in self._running:
                _signal_group(running.process, signal.SIGKILL)

    def start(self, child: Child) -> None:
        running = _Running(child, self._logs / f"{child.name}.log")
        self._running.append(running)
        self._spawn(running)

    def look_after(self) -> None:
        """Start again what has died. Raises ChildFailed when that happened too often in a row."""
        for running in self._running:
            if running.process is not None and running.process.poll() is not None:
                self._note_end(running)
            if running.process is None and time.monotonic() >= running.start_at:
                self._spawn(running)

    def wait_until(self, is_done: Callable[[], bool]) -> bool:
        """Look after the children until `is_done`; False when they are to be stopped instead."""
        while not self.is_stopping:
            self.look_after()
            if is_done():
                return True
            time.sleep(_LOOK_SECONDS)
        return False

    def stop_all(self) -> None:
        """End the children: all others together, then the first started, which serves them."""
        for group in (self._running[1:], self._running[:1]):
            for running in group:
                _signal(running.process, signal.SIGTERM)
            for running in group:
                self._await_end(running)
        self._running.clear()

    def read_last_lines(self, name: str) -> str:
        """The end of a child's log."""
        return "\n".join((self._logs / f"{name}.log").read_text(errors="replace").splitlines()[-_LAST_LINES:])

    def _spawn(self, running: _Running) -> None:
        if running.log.exists() and running.log.stat().st_size > _MAX_LOG_BYTES:
            os.replace(running.log, running.log.with_suffix(".log.1"))
        child = running.child
        with running.log.open("ab") as log:
            running.process = subprocess.Popen(
                [sys.executable, "-m", "primer.workers.tied", str(int(child.orphan_signal)), *child.command],
                env={**os.environ, **child.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=self._kept_open,
                # A terminal's Ctrl-C reaches this process alone, which stops the children in order.
                start_new_session=True,
            )
        running.started = time.monotonic()

    def _note_end(self, running: _Running) -> None:
        process = running.process
        assert process is not None
        # What it had forked must not go on beside its successor.
        _signal_group(process, signal.SIGKILL)
        running.process = None
        has_been_steady = time.monotonic() - running.started > _STEADY_SECONDS
        running.failures = 1 if has_been_steady else running.failures + 1
        name = running.child.name
        if running.failures > MAX_FAILURES:
            raise ChildFailed(
                f"{name} ended {running.failures} times in a row ({_describe_status(process.returncode)}). "
                f"Its last lines:\n{self.read_last_lines(name)}",
                hint=f"The whole log is {running.log}.",
            )
        delay = _DELAYS[min(running.failures, len(_DELAYS)) - 1]
        running.start_at = time.monotonic() + delay
        again = f"in {delay:g} s" if delay else "now"
        self._say(f"{name} ended ({_describe_status(process.returncode)}); it starts again {again}.")

    def _await_end(self, running: _Running) -> None:
        process = running.process
        if process is None:
            return
        deadline = time.monotonic() + running.child.stop_seconds
        while process.poll() is None and time.monotonic() < deadline and self._stop_requests < 2:
            time.sleep(0.02)
        _signal_group(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes] | None, number: int) -> None:
    if process is not None and process.poll() is None:
        process.send_signal(number)


def _signal_group(process: subprocess.Popen[bytes] | None, number: int) -> None:
    """The child and what it forked. Each child leads a group of its own, whose number lives as long as any member."""
    if process is not None:
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            return


def _describe_status(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"

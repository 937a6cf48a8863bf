"""Worker processes that perform tasks one by one and survive a task that kills its process.

Tasks in flight when a process dies are tried again one at a time, so that the one that kills is found, named and
left out, and the others are done. Orphaned workers end themselves.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_end
from typing import Any, Generic, Protocol, TypeVar

from curation.errors import PrimerError, SourceError

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


class Performer(Protocol):
    """What a process makes once and then calls for every task."""

    def perform(self, task: Any) -> Any: ...


_TASKS_AHEAD_PER_WORKER = 2  # one being worked on, one waiting: keeps a worker busy and a kill cheap

_make_performer: Callable[[], Performer] | None = None
_performer: Performer | None = None


class WorkerPool(Generic[Task, Outcome]):
    """`workers` processes, each with a performer of its own; with one worker the caller's process is it.

    `make_performer` must be picklable.
    """

    def __init__(self, make_performer: Callable[[], Performer], workers: int) -> None:
        self._make_performer = make_performer
        self._workers = workers
        self._inline = make_performer() if workers == 1 else None
        self._pool = self._start_pool() if workers > 1 else None
        self._waiting: deque[Task] = deque()
        self._running: dict[Future[Outcome], Task] = {}
        self._suspects: deque[Task] = deque()
        self._is_alone = False

    def __enter__(self) -> WorkerPool[Task, Outcome]:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def has_room(self) -> bool:
        if self._suspects:
            return False
        return len(self._waiting) + len(self._running) < (
            1 if self._inline else self._workers * _TASKS_AHEAD_PER_WORKER
        )

    @property
    def is_idle(self) -> bool:
        return not (self._waiting or self._running or self._suspects)

    def submit(self, task: Task) -> None:
        self._waiting.append(task)

    def wait(self) -> list[tuple[Task, Outcome | PrimerError]]:
        """Do or await some of what was submitted; the finished tasks with their outcomes, a PrimerError being one.

        Any other exception is raised, with the traceback of the process where it happened.
        """
        if self._inline is not None:
            task = self._waiting.popleft()
            return [(task, _catch_errors(self._inline, task))]
        is_alive = self._send()
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        finished: list[tuple[Task, Outcome | PrimerError]] = []
        for future in done:
            if isinstance(future.exception(), BrokenProcessPool):
                is_alive = False
            else:
                finished.append((self._running.pop(future), future.result()))
        if not is_alive:
            finished.extend(self._recover())
        return finished

    def _send(self) -> bool:
        """Hand tasks to the processes: all that wait, or one suspect alone. False when a process has died meanwhile."""
        assert self._pool is not None
        queue = self._suspects or self._waiting
        self._is_alone = bool(self._suspects)
        while queue and not (self._is_alone and self._running):
            try:
                future = self._pool.submit(_perform, queue[0])
            except BrokenProcessPool:
                return False
            self._running[future] = queue.popleft()
        return True

    def _recover(self) -> list[tuple[Task, Outcome | PrimerError]]:
        """A process died: start anew, and put what was in flight under suspicion. A lone suspect is the culprit."""
        assert self._pool is not None
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._start_pool()
        in_flight = list(self._running.values())
        self._running.clear()
        if not (self._is_alone and in_flight):
            self._suspects.extend(in_flight)
            return []
        error = SourceError(
            "It killed the process that worked on it.", hint="The other slices are measured; look at this one alone."
        )
        return [(task, error) for task in in_flight]

    def _start_pool(self) -> ProcessPoolExecutor:
        # spawn: a forked child would share the parent's threads' locks, and models load per process anyway.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(
            self._workers, mp_context=context, initializer=_start_worker, initargs=(self._make_performer,)
        )


def _start_worker(make_performer: Callable[[], Performer]) -> None:
    global _make_performer
    _make_performer = make_performer
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for tasks for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait_for_end([parent.sentinel])
    os._exit(1)


def _perform(task: Any) -> Any:
    global _performer
    if (
        _performer is None
    ):  # made here, not at the start: what it raises reaches the caller instead of killing the process
        assert _make_performer is not None
        _performer = _make_performer()
    return _catch_errors(_performer, task)


def _catch_errors(performer: Performer, task: Any) -> Any:
    try:
        return performer.perform(task)
    except PrimerError as error:
        return error

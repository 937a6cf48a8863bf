"""Locks on a file of a folder that several processes share: shared while in use, exclusive to change or remove.

flock(2) and not filelock, which has no shared mode that a killed process gives back. Invariant: a lock that is held is
held on the file that has the name now, so whoever holds it exclusively may remove the file.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Lease:
    """A held lock, and the moment of the last one (the file's mtime) for least-recently-used eviction."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def share(self) -> None:
        """From exclusive to shared. Not atomic: another may hold it exclusively in between, so look again after."""
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def touch(self) -> None:
        os.utime(self._descriptor)

    def has_name(self) -> bool:
        """Whether the locked file still is the one that its path names."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False


@contextmanager
def hold_shared(path: Path) -> Iterator[Lease]:
    """Wait until no one holds the lock exclusively. Creates the file and its folders."""
    with _hold(path, fcntl.LOCK_SH) as lease:
        assert lease is not None
        yield lease


@contextmanager
def hold_exclusive(path: Path) -> Iterator[Lease]:
    """Wait until no one holds the lock."""
    with _hold(path, fcntl.LOCK_EX) as lease:
        assert lease is not None
        yield lease


@contextmanager
def try_exclusive(path: Path) -> Iterator[Lease | None]:
    """None at once when anyone holds the lock."""
    with _hold(path, fcntl.LOCK_EX | fcntl.LOCK_NB) as lease:
        yield lease


@contextmanager
def _hold(path: Path, operation: int) -> Iterator[Lease | None]:
    while True:
        descriptor = _open_lock_file(path)
        try:
            lease = Lease(path, descriptor)
            try:
                fcntl.flock(descriptor, operation)
            except BlockingIOError:
                yield None
                return
            try:
                # Removed by an evictor between opening and locking: the name now needs a new file.
                if lease.has_name():
                    yield lease
                    return
            finally:
                # A child forked meanwhile shares the descriptor: closing alone would leave the lock with it.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)


def _open_lock_file(path: Path) -> int:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            # An evictor removed the empty folder in between.
            continue

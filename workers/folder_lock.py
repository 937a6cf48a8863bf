"""One installation a data folder: a lock that the kernel drops when its holders end, however they end.

`up` is held by the process that starts the others and refuses a second one at once. `running` is shared with what it
started: after a crash the next start waits until the last of them is gone.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from primer.app.core.errors import Conflict

_PATIENCE_SECONDS = 30.0


class FolderLock:
    """Use as a context. Raises Conflict when the folder is in use. `inherited` is for children to keep open."""

    def __init__(self, data_dir: Path, *, patience: float = _PATIENCE_SECONDS) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self._up = _open(data_dir / "up.lock")
        if not _take(self._up):
            os.close(self._up)
            raise Conflict(
                f"{data_dir} is in use by another `primer up`.", hint="Stop it first, or choose another --data."
            )
        self.inherited = _open(data_dir / "running.lock")
        deadline = time.monotonic() + patience
        while not _take(self.inherited):
            if time.monotonic() > deadline:
                self.release()
                raise Conflict(
                    f"Processes of an earlier start still work in {data_dir}.", hint="Wait for them, or stop them."
                )
            time.sleep(0.1)

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        for descriptor in (self.inherited, self._up):
            os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

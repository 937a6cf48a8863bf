"""Whether this worker was asked to stop: one byte shared by the parent and the processes it forked.

A byte and no lock: a process that is killed while it looks must not keep the others from looking.
"""

from __future__ import annotations

import mmap

_stopping = mmap.mmap(-1, 1)


def stop() -> None:
    """What is worked on is let go of within a batch and waits for another worker."""
    _stopping[0] = 1


def is_stopping() -> bool:
    return _stopping[0] == 1

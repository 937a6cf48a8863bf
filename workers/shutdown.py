"""Whether this worker was asked to stop: one flag shared by the parent and the processes it forked."""

from __future__ import annotations

import multiprocessing

_stopping = multiprocessing.get_context("fork").Event()


def stop() -> None:
    """What is worked on is let go of within a batch and waits for another worker."""
    _stopping.set()


def is_stopping() -> bool:
    return _stopping.is_set()

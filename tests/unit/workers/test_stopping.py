"""Asking a worker to stop reaches the processes that it forked, and one that dies while it looks blocks nobody."""

from __future__ import annotations

import os
import signal
import time

from primer.workers import shutdown


def _fork_looker() -> int:
    child = os.fork()
    if child == 0:
        while not shutdown.is_stopping():
            pass
        os._exit(7)
    return child


def test_children_see_it_whatever_became_of_their_siblings() -> None:
    assert not shutdown.is_stopping()
    children = [_fork_looker() for _ in range(3)]
    try:
        time.sleep(0.05)
        os.kill(children[0], signal.SIGKILL)
        assert os.waitpid(children[0], 0)[1] == signal.SIGKILL
        shutdown.stop()
        for child in children[1:]:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        shutdown._stopping[0] = 0

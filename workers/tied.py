"""`python -m primer.workers.tied SIGNAL COMMAND...`: the command, which gets the signal when its parent ends.

On Linux the command takes this process's place and the kernel sends the signal. Elsewhere this process stays and watches.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
import time

_PR_SET_PDEATHSIG = 1
_LOOK_SECONDS = 0.5
_PATIENCE_SECONDS = 10


def run_tied(number: int, command: list[str]) -> int:
    """Returns the command's exit status, or on Linux not at all."""
    parent = os.getppid()
    if platform.system() == "Linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            return 1  # the parent ended before the kernel knew
        os.execvp(command[0], command)
    return watch_parent(number, command, parent)


def watch_parent(number: int, command: list[str], parent: int) -> int:
    """Run the command as a child, pass signals on to it, and send it `number` when `parent` is no longer ours."""
    child = subprocess.Popen(command)
    for passed in (signal.SIGTERM, signal.SIGINT):
        signal.signal(passed, lambda received, _: child.send_signal(received))
    while child.poll() is None:
        if os.getppid() != parent:
            child.send_signal(number)
            try:
                return child.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
        time.sleep(_LOOK_SECONDS)
    return child.returncode


if __name__ == "__main__":
    sys.exit(run_tied(int(sys.argv[1]), sys.argv[2:]))

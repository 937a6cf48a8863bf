"""`python -m primer.workers.tied COMMAND...`: the command, in this process, which ends when the parent does.

On Linux the kernel sends the signal. Elsewhere this process stays and watches for the parent.
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


def run_tied(command: list[str]) -> int:
    """Returns the command's exit status, or on Linux not at all."""
    parent = os.getppid()
    if platform.system() == "Linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            return 1  # the parent ended before the kernel knew
        os.execvp(command[0], command)
    return watch_parent(command, parent)


def watch_parent(command: list[str], parent: int) -> int:
    """Run the command as a child, pass signals on to it, and stop it when `parent` is no longer ours."""
    child = subprocess.Popen(command)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: child.send_signal(received))
    while child.poll() is None:
        if os.getppid() != parent:
            child.terminate()
            try:
                return child.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
        time.sleep(_LOOK_SECONDS)
    return child.returncode


if __name__ == "__main__":
    sys.exit(run_tied(sys.argv[1:]))

"""One `primer up` a folder; a crash leaves nothing locked, but what it left running keeps the next start waiting."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from primer.app.core.errors import Conflict
from primer.workers.folder_lock import FolderLock

# Holds the lock, with a child that keeps what is inherited, until it is killed.
_HOLD = """
import subprocess, sys
from pathlib import Path
from primer.workers.folder_lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
if len(sys.argv) > 2:
    child = subprocess.Popen(["sleep", sys.argv[2]], pass_fds=[lock.inherited])
print("held", flush=True)
sys.stdin.read()
"""


def _hold(folder: Path, *child_seconds: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(folder), *child_seconds],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_one_is_refused_at_once_and_allowed_when_the_first_was_killed(tmp_path: Path) -> None:
    first = _hold(tmp_path)
    with pytest.raises(Conflict, match=r"is in use by another `primer up`\."):
        FolderLock(tmp_path)
    first.send_signal(signal.SIGKILL)
    first.wait()
    with FolderLock(tmp_path):
        pass
    with FolderLock(tmp_path, patience=0):
        pass


def test_the_next_waits_until_what_a_killed_one_had_started_is_gone(tmp_path: Path) -> None:
    first = _hold(tmp_path, "3")
    first.kill()
    first.wait()
    with pytest.raises(Conflict, match="Processes of an earlier start still work"):
        FolderLock(tmp_path, patience=0)
    with FolderLock(tmp_path, patience=30):
        pass

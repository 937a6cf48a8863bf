"""The hidden folder beside an export in which it is built, and the one rename that makes it appear.

A lock on the folder itself tells a living export from what a killed one left; the leftover is swept.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curation.errors import ExportBusy, ExportError, QuotaError


def name_work_folder(out: Path) -> Path:
    return out.parent / f".{out.name}.exporting"


@contextmanager
def build_folder(out: Path) -> Iterator[Path]:
    """An empty folder that becomes `out` when the block ends without an exception.

    Raises ExportBusy while another process is exporting to `out`, ExportError when something appeared there meanwhile,
    QuotaError when the disk is full. After an exception nothing is left; after a kill the next call sweeps.
    """
    work = name_work_folder(out)
    work.mkdir(parents=True, exist_ok=True)
    lock = _lock_folder(work, out)
    try:
        _empty_folder(work)
        yield work
        os.rename(work, out)
    except OSError as error:
        shutil.rmtree(work, ignore_errors=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise QuotaError(
                f"The disk is full: {out.name} was not exported.", hint="Free space, then run the same command again."
            ) from error
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise ExportError(
                f"Something else was put at {out} meanwhile.", hint="Look at it, then choose another folder."
            ) from error
        raise
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _lock_folder(work: Path, out: Path) -> int:
    lock = os.open(work, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A finished export may have been renamed away between opening and locking.
        is_still_there = os.path.samestat(os.fstat(lock), os.stat(work))
    except (BlockingIOError, FileNotFoundError):
        is_still_there = False
    if not is_still_there:
        os.close(lock)
        raise ExportBusy(f"Another process is exporting to {out}.", hint="Wait until it is done.")
    return lock


def _empty_folder(work: Path) -> None:
    for path in work.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

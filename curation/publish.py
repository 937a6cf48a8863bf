"""Files that appear whole or not at all, and at most once under a name: the commit primitive of ledgers and exports.

A name is claimed by a hard link to a file that is already complete, so a reader never sees half of it and of two
writers one is told that it came second.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curation.errors import QuotaError

TEMPORARY_PREFIX = ".writing-"


def publish_bytes(path: Path, content: bytes) -> bool:
    """Write `content` under `path` unless that name is taken. True when this call made it.

    Raises QuotaError when the disk is full; then nothing is left under the name.
    """
    with _write_beside(path, content) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        return True


def replace_bytes(path: Path, content: bytes) -> None:
    """Write `content` under `path`, replacing what was there at once. For reports that may be written again.

    Raises QuotaError when the disk is full; then what was there stays.
    """
    with _write_beside(path, content) as temporary:
        os.replace(temporary, path)


@contextmanager
def _write_beside(path: Path, content: bytes) -> Iterator[Path]:
    """The whole content in a temporary file beside `path`, gone when the context ends."""
    temporary = path.parent / f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        yield temporary
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise QuotaError(
                f"The disk is full: {path.name} was not written.",
                hint="Free space, then run the same command again; it carries on.",
            ) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)

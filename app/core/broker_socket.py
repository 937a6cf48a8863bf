"""Where the embedded broker listens: in the data folder, or, as a socket's path has a limit, in a short folder of its own."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from urllib.parse import quote

_MAX_PATH_BYTES = 103  # Linux takes 107, macOS 103


def find_broker_socket(data_dir: Path) -> Path:
    """The same for every process of an installation and user. Nothing is made here."""
    path = data_dir.resolve() / "broker" / "valkey.sock"
    if len(os.fsencode(path)) <= _MAX_PATH_BYTES:
        return path
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"primer-{os.getuid()}" / f"{name}.sock"


def describe_socket_url(socket: Path) -> str:
    """The URL that Celery reads."""
    return f"redis+socket://{quote(str(socket))}"

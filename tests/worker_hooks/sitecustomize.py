"""What a test can do to the inside of a real worker: put this folder on its PYTHONPATH, and switch by files in PRIMER_TEST_FAULTS.

clock: the process's clock is ten minutes ahead · poison: it dies when it measures a document with the file's text ·
slow: batches of one row, each noted in the file `batches`, and so many seconds apart · deaf: it dies, once, after a
commit and before it sends what the commit announced.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

_FOLDER = Path(os.environ["PRIMER_TEST_FAULTS"])
_AHEAD_SECONDS = 600.0


def _read(name: str) -> str | None:
    try:
        return (_FOLDER / name).read_text()
    except FileNotFoundError:
        return None


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


_true_time = time.time
time.time = lambda: _true_time() + (_AHEAD_SECONDS if (_FOLDER / "clock").exists() else 0.0)

from curation import cascade  # noqa: E402
from curation.shards import rows  # noqa: E402
from primer.app.core.messages import Messenger  # noqa: E402

_true_batch_rows = rows.batch_rows
_true_read_slice = cascade.read_slice
_true_send = Messenger._send


def _batch_rows(file, group):  # type: ignore[no-untyped-def]
    return 1 if _read("slow") is not None else _true_batch_rows(file, group)


def _read_slice(*arguments):  # type: ignore[no-untyped-def]
    for batch in _true_read_slice(*arguments):
        poison, slow = _read("poison"), _read("slow")
        if poison is not None and any(poison in text for text in batch.texts if text):
            _die()
        if slow is not None:
            with (_FOLDER / "batches").open("a") as file:
                file.write(f"{time.monotonic()}\n")
            time.sleep(float(slow))
        yield batch


def _send(self, messages):  # type: ignore[no-untyped-def]
    if messages and _read("deaf") is not None:
        (_FOLDER / "deaf").unlink(missing_ok=True)
        _die()
    return _true_send(self, messages)


rows.batch_rows = _batch_rows
cascade.read_slice = _read_slice
Messenger._send = _send

"""What the index of a run is called, without reading every commit at each request.

A name is remembered with the state of the ledger's folders, and asked for anew once that differs.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from pathlib import Path

from curation.index import name_index
from curation.ledger.store import FolderState, Ledger

_REMEMBERED = 256
# Two changes within a tick of the file system's clock look like one: ext4 and NFS count in milliseconds, FAT in 2 seconds.
SETTLED_SECONDS = 3.0

LedgerState = tuple[FolderState, ...]


class IndexNames:
    """Use one a process. Several threads may ask at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: OrderedDict[Path, tuple[LedgerState, str]] = OrderedDict()

    def find(self, ledger: Ledger) -> str:
        """`curation.index.name_index` of the run as it is committed now. Raises LedgerError when slices are missing."""
        before = ledger.read_state()
        with self._lock:
            known = self._names.get(ledger.folder)
            if known is not None and known[0] == before:
                self._names.move_to_end(ledger.folder)
                return known[1]
        name = name_index(ledger)
        if _is_settled(before) and ledger.read_state() == before:
            with self._lock:
                self._names[ledger.folder] = before, name
                self._names.move_to_end(ledger.folder)
                while len(self._names) > _REMEMBERED:
                    self._names.popitem(last=False)
        return name


def _is_settled(state: LedgerState) -> bool:
    return max(entry.changed_ns for entry in state) < (time.time() - SETTLED_SECONDS) * 1e9

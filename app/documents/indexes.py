"""The open indexes of this process: one a run, built in the background when it is not there, and forgotten when it is outdated.

An index is disposable: the ledger is the truth, and any process may build it anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cached_property
from pathlib import Path

import structlog

from curation.errors import PrimerError
from curation.index import DocumentReader, SignalIndex, build_index, find_named_index, open_index
from curation.run_folder import RunFolder
from curation.vocabulary_audit import ConcordanceReader
from primer.app.core.errors import NotReady
from primer.app.documents.index_names import IndexNames

log = structlog.get_logger(__name__)

_OPEN = 4
_RETRY_SECONDS = 2


class OpenIndex:
    """An index with the readers of its documents."""

    def __init__(self, folder: RunFolder, path: Path) -> None:
        self.folder = folder
        self.path = path
        self.index: SignalIndex = open_index(path)
        self.reader = DocumentReader(folder, self.index)

    @cached_property
    def concordances(self) -> ConcordanceReader:
        return ConcordanceReader(self.folder)


class Indexes:
    """Use one a process. Several threads may ask at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names = IndexNames()
        self._lock = threading.Lock()
        self._open: OrderedDict[Path, OpenIndex] = OrderedDict()
        self._building: dict[Path, threading.Thread] = {}
        self._failures: dict[Path, PrimerError] = {}

    def get(self, run: Path) -> OpenIndex:
        """The index of a run as it is committed now. Raises NotReady while it is built, and once what broke its building."""
        folder = RunFolder(run)
        path = find_named_index(self._names.find(folder.ledger), self._root)
        with self._lock:
            if path is None:
                failure = self._failures.pop(run, None)
                if failure is not None:
                    raise failure
                if run not in self._building:
                    self._building[run] = threading.Thread(target=self._build, args=(run,), daemon=True)
                    self._building[run].start()
                raise NotReady(
                    "The index of this run is being built.",
                    hint="Ask again in a moment.",
                    retry_after_seconds=_RETRY_SECONDS,
                )
            found = self._open.pop(run, None)
            if found is None or found.path != path:
                found = OpenIndex(folder, path)
            self._open[run] = found
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
            return found

    def _build(self, run: Path) -> None:
        try:
            build_index(RunFolder(run), self._root)
        except PrimerError as error:
            log.error("index_not_built", run=run.name, detail=error.message)
            self._failures[run] = error
        finally:
            with self._lock:
                self._building.pop(run, None)

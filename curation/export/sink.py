"""Where the wanted rows of one config go: into the writers of its splits, through the shuffle when there is one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.export.order import KeyedSpool
from curation.export.request import TRAIN, VALIDATION, ExportedFile
from curation.export.writer import RotatingWriter


class Sink:
    """`tokens` and `is_validation`: one a position of the survey. Without a spool rows must come in order."""

    def __init__(
        self,
        writers: Mapping[str, RotatingWriter],
        tokens: npt.NDArray[np.int64],
        is_validation: npt.NDArray[np.bool_],
        spool: KeyedSpool | None,
    ) -> None:
        self._writers, self._tokens, self._is_validation, self._spool = writers, tokens, is_validation, spool

    def add(self, rows: pa.Table, positions: npt.NDArray[np.int64], keys: npt.NDArray[np.uint64] | None) -> None:
        """`keys`: one a row where there is a spool, else None."""
        if self._spool is None:
            self._write(rows, positions)
        else:
            assert keys is not None
            self._spool.add(rows, keys, positions)

    def finish(self) -> list[ExportedFile]:
        """Write what is held back, and name the files."""
        if self._spool is not None:
            for rows, positions in self._spool.drain():
                self._write(rows, positions)
        return [file for writer in self._writers.values() for file in writer.close()]

    def _write(self, rows: pa.Table, positions: npt.NDArray[np.int64]) -> None:
        tokens = self._tokens[positions]
        if VALIDATION not in self._writers:
            self._writers[TRAIN].add(rows, tokens)
            return
        held_out = self._is_validation[positions]
        for split, mask in ((TRAIN, ~held_out), (VALIDATION, held_out)):
            self._writers[split].add(rows.filter(pa.array(mask)), tokens[mask])

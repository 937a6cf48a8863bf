"""Ids and URLs of an index: on disk, compressed by small groups of rows, so that a page's rows cost a few microseconds each.

A group is at most GROUP_ROWS rows of one slice; nothing of it stays in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import zstandard

from curation.index.array_file import ArrayFile
from curation.index.layout import map_array

# Measured on web addresses: 64 rows weigh 12 % more than 128, and 256 take twice as long to open.
GROUP_ROWS = 128
_LEVEL = 3


def pack_names(doc_ids: pa.ChunkedArray, urls: pa.ChunkedArray) -> list[bytes]:
    """The groups of one slice."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    groups = []
    for start in range(0, len(urls), GROUP_ROWS):
        ids, addresses = doc_ids.slice(start, GROUP_ROWS).to_pylist(), urls.slice(start, GROUP_ROWS).to_pylist()
        groups.append(compressor.compress(orjson.dumps([ids, addresses])))
    return groups


class NamesWriter:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / "groups.bin").open("wb")
        self._offsets = ArrayFile(folder / "offsets.npy", "<i8")
        self._offsets.append(np.zeros(1, np.int64))

    def append(self, groups: Sequence[bytes]) -> None:
        ends = self._file.tell() + np.cumsum([len(group) for group in groups], dtype=np.int64)
        self._file.write(b"".join(groups))
        self._offsets.append(ends)

    def close(self) -> None:
        self._file.close()
        self._offsets.close()


class Names:
    """Reads groups; `slice_rows` are the row counts of the slices, in order."""

    def __init__(self, folder: Path, slice_rows: Sequence[int]) -> None:
        self._offsets = map_array(folder / "offsets.npy")
        self._path = folder / "groups.bin"
        counts = [-(-rows // GROUP_ROWS) for rows in slice_rows]
        self._first_groups = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self._slice_starts = np.concatenate([[0], np.cumsum(slice_rows, dtype=np.int64)])

    def read(self, positions: Sequence[int]) -> list[tuple[str | None, str | None]]:
        """Id and URL of each row; neighbours are opened once."""
        opened: dict[int, list[list[str | None]]] = {}
        found = []
        decompressor = zstandard.ZstdDecompressor()
        with self._path.open("rb") as file:
            for position in positions:
                place = int(np.searchsorted(self._slice_starts, position, side="right")) - 1
                within = int(position) - int(self._slice_starts[place])
                group = int(self._first_groups[place]) + within // GROUP_ROWS
                if group not in opened:
                    start, end = int(self._offsets[group]), int(self._offsets[group + 1])
                    file.seek(start)
                    opened[group] = orjson.loads(decompressor.decompress(file.read(end - start)))
                ids, urls = opened[group]
                found.append((ids[within % GROUP_ROWS], urls[within % GROUP_ROWS]))
        return found

"""Reads the layout of a fastText model file before fastText does: a damaged file kills the process that loads it.

Checks only that the parts the file announces are there; knows nothing of grades. Invariant: what passes ends exactly
where its last matrix ends. The layout is that of versions 11 and 12 of the format (all releases since 2017).
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Final

from curation.errors import ArtifactError

_MAGIC: Final = 793_712_314
_VERSIONS: Final = (11, 12)
_SUPERVISED: Final = 3
_MODEL_FIELD: Final = 7  # dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate
_CENTROIDS: Final = 256


def check_model_file(path: Path) -> None:
    """Raises ArtifactError when the file is no fastText classifier, is cut short, or has more than its parts."""
    hint = "Fetch it again, or name another file."
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            end = _Layout(content).walk()
            size = len(content)
    except (struct.error, ValueError, OverflowError) as error:
        raise ArtifactError(f"{path} is not a whole fastText classifier: {error}.", hint=hint) from error
    except OSError as error:
        raise ArtifactError(f"{path} cannot be read: {error}.", hint=hint) from error
    if end != size:
        raise ArtifactError(f"{path} is damaged: its parts end at byte {end}, the file at {size}.", hint=hint)


class _Layout:
    """A walk through the parts, in the order they are written; ValueError or struct.error where one cannot be."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = 0

    def walk(self) -> int:
        """The place after the last part."""
        magic, version = self._read("<2i")
        if magic != _MAGIC or version not in _VERSIONS:
            raise ValueError("it does not begin as one")
        if self._read("<12i")[_MODEL_FIELD] != _SUPERVISED:
            raise ValueError("it holds word vectors")
        self._skip(8)
        self._walk_dictionary()
        is_quantised = self._read_flag()
        self._walk_quantised() if is_quantised else self._walk_dense()
        self._walk_quantised() if self._read_flag() and is_quantised else self._walk_dense()
        return self._at

    def _walk_dictionary(self) -> None:
        entry_count, _words, _labels, _tokens, pruned_count = self._read("<3i2q")
        for _ in range(entry_count):
            end = self._content.find(b"\0", self._at)
            if end < 0:
                raise ValueError("its dictionary is cut short")
            self._at = end
            self._skip(1 + 8 + 1)
        self._skip(8 * max(0, pruned_count))

    def _walk_dense(self) -> None:
        rows, columns = self._read("<2q")
        self._skip(4 * rows * columns)

    def _walk_quantised(self) -> None:
        has_norms = self._read_flag()
        rows, _columns, code_count = self._read("<2qi")
        self._skip(code_count)
        self._walk_quantiser()
        if has_norms:
            self._skip(rows)
            self._walk_quantiser()

    def _walk_quantiser(self) -> None:
        dimension, _parts, _part_size, _last_part_size = self._read("<4i")
        self._skip(4 * dimension * _CENTROIDS)

    def _read_flag(self) -> bool:
        return bool(self._read("<?")[0])

    def _read(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return values

    def _skip(self, byte_count: int) -> None:
        if byte_count < 0 or self._at + byte_count > len(self._content):
            raise ValueError(f"it is cut short or damaged after byte {self._at}")
        self._at += byte_count

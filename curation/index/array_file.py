"""An .npy file written piece by piece, so that memory holds one piece; its least and greatest value are known at the end."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

_HEADER_BYTES = 128  # version, a dictionary of three entries, padding: room for any length


class ArrayFile:
    """One dimension of numbers of type `dtype`. The header is written last, when the length is known."""

    def __init__(self, path: Path, dtype: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._file.write(bytes(_HEADER_BYTES))
        self._dtype = np.dtype(dtype)
        self.length = 0
        self._least, self._greatest = np.inf, -np.inf

    @property
    def extent(self) -> tuple[float, float] | None:
        """Least and greatest value, without -1 of whole numbers and NaN of others, which mean none; None where there is no value."""
        return (self._least, self._greatest) if self._least <= self._greatest else None

    def append(self, values: npt.NDArray[np.generic]) -> None:
        """Raises OverflowError where a whole number does not fit."""
        if values.dtype != self._dtype and self._dtype.kind in "iu" and len(values):
            bounds = np.iinfo(self._dtype)
            if int(values.min()) < bounds.min or int(values.max()) > bounds.max:
                raise OverflowError(f"{Path(self._file.name).stem}: a value does not fit into {self._dtype}")
        values = np.ascontiguousarray(values, self._dtype)
        self._file.write(values.data)
        self.length += len(values)
        present = values[np.greater_equal(values, 0)] if self._dtype.kind == "i" else values[np.isfinite(values)]
        if len(present):
            self._least = min(self._least, float(present.min()))
            self._greatest = max(self._greatest, float(present.max()))

    def close(self) -> None:
        fields = f"{{'descr': '{self._dtype.str}', 'fortran_order': False, 'shape': ({self.length},), }}"
        magic = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
        self._file.seek(0)
        self._file.write(magic + fields.encode().ljust(_HEADER_BYTES - 11) + b"\n")
        self._file.close()

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

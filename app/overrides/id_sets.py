"""The rows of a bulk ruling, frozen in a Parquet file that is named by its hash.

A file is written before the ruling that names it, and never changed.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import LedgerError
from curation.overrides import Rows
from curation.publish import publish_bytes

ID_SCHEMA = pa.schema(
    [pa.field("shard_sha256", pa.string(), nullable=False), pa.field("row", pa.int64(), nullable=False)]
)

_FOLDER = "rulings"
_REMEMBERED = 16

RowsByShard = Mapping[str, Rows]


def group_rows(table: pa.Table) -> dict[str, Rows]:
    """The rows of a table with ID_SCHEMA's columns by shard, shards by name; each row once, ascending."""
    shards = table["shard_sha256"].combine_chunks().dictionary_encode()
    rows = table["row"].to_numpy()
    numbers = shards.indices.to_numpy()
    order = np.lexsort((rows, numbers))
    names = shards.dictionary.to_pylist()
    starts = np.searchsorted(numbers[order], np.arange(len(names) + 1))
    grouped = {
        name: np.unique(rows[order[start:end]]) for name, start, end in zip(names, starts[:-1], starts[1:], strict=True)
    }
    return dict(sorted(grouped.items()))


def write_id_set(data_dir: Path, source_id: int, rows: RowsByShard) -> tuple[str, str]:
    """The file, relative to the data folder, and its sha256. Raises QuotaError when the disk is full."""
    counts = [len(part) for part in rows.values()]
    table = pa.Table.from_arrays(
        [
            pa.array(np.repeat(np.array(list(rows), object), counts), pa.string()),
            pa.array(np.concatenate([np.zeros(0, np.int64), *rows.values()]), pa.int64()),
        ],
        schema=ID_SCHEMA,
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    content = buffer.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    file = f"{_FOLDER}/source-{source_id:06d}/{sha256}.parquet"
    publish_bytes(data_dir / file, content)
    return file, sha256


def read_id_set(path: Path, sha256: str) -> RowsByShard:
    """Raises LedgerError when the file is gone or is not the one that was ruled on."""
    return _read(path, sha256)


@lru_cache(maxsize=_REMEMBERED)
def _read(path: Path, sha256: str) -> RowsByShard:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LedgerError(
            f"The rows of a bulk ruling are gone: {path.name} ({error.strerror}).",
            hint="Restore the folder rulings/ of the data folder.",
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise LedgerError(
            f"The rows of a bulk ruling have changed: {path.name}.",
            hint="Restore the folder rulings/ of the data folder.",
        )
    return group_rows(pq.read_table(io.BytesIO(content)))

"""The columns that an export adds to the source's: grade band, what it rests on, and the row's address.

Facts of a row under a profile, read from the ledger; whether the row is kept is the survey's to say.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.decide import OVERRIDE, Signals
from curation.profile import BoundProfile

KEPT_BAND = "K5"
PROBABILITIES = ("primer_k5", "primer_k8", "primer_k12", "primer_oos")

BAND_SCHEMA = pa.schema(
    [
        pa.field("primer_band", pa.string()),  # K5; null where the row is not kept
        *(pa.field(name, pa.float32()) for name in PROBABILITIES),  # of the profile's reading; null where none
        pa.field("primer_p95_aoa", pa.float64()),  # years
        pa.field("primer_oov_ratio", pa.float64()),
        pa.field("primer_shard", pa.string()),
        pa.field("primer_row", pa.int64()),  # 0-based in the shard
        pa.field("primer_decided_by", pa.string()),  # override, or null
    ]
)


def build_bands(
    signals: Signals,
    shard_name: str,
    bound: BoundProfile,
    is_kept: npt.NDArray[np.bool_],
    is_overridden: npt.NDArray[np.bool_],
) -> pa.RecordBatch:
    """BAND_SCHEMA, one row a row of `signals`."""
    n = len(signals.rows)
    stage = bound.profile.fasttext if "fasttext" in bound.stages else None
    grades = signals.grades.get(stage.reads) if stage is not None else None
    if grades is None:
        grades = np.full((n, 4), np.nan, np.float32)
    columns = [
        _fill(KEPT_BAND, is_kept),
        *(_to_nullable(grades[:, index]) for index in range(len(PROBABILITIES))),
        _to_nullable(signals.p95_aoa),
        _to_nullable(signals.oov_ratio),
        pa.array([shard_name] * n, pa.string()),
        pa.array(signals.rows, pa.int64()),
        _fill(OVERRIDE, is_overridden),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=BAND_SCHEMA)


def _fill(value: str, where: npt.NDArray[np.bool_]) -> pa.Array:
    return pa.array([value if is_filled else None for is_filled in where.tolist()], pa.string())


def _to_nullable(values: npt.NDArray[np.floating]) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))

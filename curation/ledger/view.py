"""The flat view: one row an input row, with what was measured and decided, in the columns that docs/ledger.md promises.

Other tools rely on it: columns are only ever added, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.decide import REASONS, UNDECIDED, name_reasons
from curation.ledger.signals import DecidedSlice, read_notation_rules
from curation.profile import BoundProfile

_BANDS = ("k5", "k8", "k12", "oos")

FLAT_SCHEMA = pa.schema(
    [
        ("shard", pa.string()),
        ("row", pa.int64()),
        ("doc_id", pa.string()),
        ("url", pa.string()),
        ("kept", pa.bool_()),
        ("decided_by", pa.string()),
        ("excluded_by", pa.list_(pa.string())),
        ("undecided_for", pa.list_(pa.string())),
        ("p95_aoa", pa.float64()),
        ("oov_ratio", pa.float64()),
        ("notation_rules", pa.list_(pa.string())),
        ("blocked_terms", pa.list_(pa.string())),
        *((f"fasttext_{band}", pa.float32()) for band in _BANDS),
        *((f"encoder_{band}", pa.float32()) for band in _BANDS),
        ("n_chars", pa.int64()),
        ("n_words", pa.int64()),
        ("token_count", pa.int64()),
        ("error", pa.string()),
    ]
)


def flat_schema(bound: BoundProfile) -> pa.Schema:
    """FLAT_SCHEMA with `notation_rules` as numbers (int64) where the profile reads the published rules."""
    return FLAT_SCHEMA.set(
        FLAT_SCHEMA.get_field_index("notation_rules"), pa.field("notation_rules", pa.list_(_rule_type(bound)))
    )


def _rule_type(bound: BoundProfile) -> pa.DataType:
    stage = bound.profile.notation
    return pa.int64() if stage is not None and stage.rules == "published" else pa.string()


def flatten_slice(decided: DecidedSlice, bound: BoundProfile) -> pa.Table:
    """The flat view of one decided slice. Signals are those of the form (raw or normalised) that the profile reads."""
    core, signals, decisions = decided.signals.core, decided.signals.signals, decided.decisions
    profile = bound.profile
    reading = profile.fasttext.reads if profile.fasttext is not None else "document"
    grades = signals.grades.get(reading)
    notation_rules = read_notation_rules(
        core, profile.form, profile.notation.rules if profile.notation else "published"
    )
    n = core.num_rows
    columns = {
        "shard": pa.array([decided.ref.shard.name] * n, pa.string()),
        "row": core["row"],
        "doc_id": core["doc_id"],
        "url": core["url"],
        "kept": pa.array(decisions.kept == 1, mask=decisions.kept == UNDECIDED),
        "decided_by": pa.array(
            [None if code < 0 else REASONS[code] for code in decisions.decided_by.tolist()], pa.string()
        ),
        "excluded_by": _list_reasons(decisions.failed),
        "undecided_for": _list_reasons(decisions.unknown),
        "p95_aoa": _nullable(signals.p95_aoa),
        "oov_ratio": _nullable(signals.oov_ratio),
        "notation_rules": notation_rules.cast(pa.list_(_rule_type(bound))),
        "blocked_terms": pc.if_else(pc.is_null(core["error"]), decided.signals.blocked_terms, None),
        **_grade_columns("fasttext", grades, n),
        **_grade_columns("encoder", signals.encoder, n),
        "n_chars": core["n_chars"],
        "n_words": core["n_words"],
        "token_count": core["token_count"],
        "error": core["error"],
    }
    schema = flat_schema(bound)
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _nullable(values: npt.NDArray[np.floating]) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))


def _grade_columns(prefix: str, grades: npt.NDArray[np.float32] | None, n: int) -> dict[str, pa.Array]:
    if grades is None:
        return {f"{prefix}_{band}": pa.nulls(n, pa.float32()) for band in _BANDS}
    return {f"{prefix}_{band}": _nullable(grades[:, i]) for i, band in enumerate(_BANDS)}


def _list_reasons(bits: npt.NDArray[np.uint16]) -> pa.Array:
    names = {value: name_reasons(value) for value in np.unique(bits).tolist()}
    return pa.array([names[value] for value in bits.tolist()], pa.list_(pa.string()))


def dump_flat_view(slices: Iterator[DecidedSlice], bound: BoundProfile, out: Path) -> int:
    """Write the flat view of a run as one Parquet file, whole or not at all; the number of rows. Memory holds one slice."""
    temporary = out.with_name(f".{out.name}.writing")
    rows = 0
    try:
        with pq.ParquetWriter(temporary, flat_schema(bound), compression="zstd") as writer:
            for decided in slices:
                table = flatten_slice(decided, bound)
                writer.write_table(table)
                rows += table.num_rows
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)
    return rows

"""One slice of a ledger as the columns of an index: what `decide` reads in either form, and what queries ask beside it.

Signals come from `read_signals`, so that an index cannot measure another thing than a decision over the ledger.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.errors import LedgerError
from curation.index.hosts import find_hosts
from curation.index.layout import (
    BAND_BITS,
    BANDS,
    HAS_ERROR,
    IS_ESTIMATED,
    IS_NORMALIZED,
    IS_SAMPLED,
    NOT_MEASURED_CODE,
    RULE_SETS,
    UNREADABLE_CODE,
)
from curation.index.names import pack_names
from curation.index.query import READINGS
from curation.index.word_places import BlockPlaces, arrange_slice
from curation.ledger import schema
from curation.ledger.counts import count_tokens
from curation.ledger.encoder import read_encoder
from curation.ledger.licences import LICENCES
from curation.ledger.signals import read_notation_rules, read_signals
from curation.ledger.store import Ledger, SliceRef
from curation.profile import BoundProfile, Profile

# Two profiles that between them read both forms and both of the encoder's readings; their thresholds are not asked.
_PROBES = {
    form: BoundProfile(
        Profile.model_validate({"name": "probe", "version": 1, "form": form, "encoder": {"top_band": reading}}), {}, ()
    )
    for form, reading in (("raw", "published"), ("normalized", "window"))
}

_EVIDENCE = ("vocabulary_raw", "vocabulary_normalized")  # for reading, never for deciding

Column = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Coded:
    """Values of rows as places in a list of the slice's distinct ones; -1 for none."""

    values: list[str]
    codes: npt.NDArray[np.int32]


@dataclass(frozen=True)
class SliceColumns:
    """`columns` by the names of COLUMN_TYPES, less `rules_*`, `domain` and `licence`. `rules[set, form]`: each row's rules, a list
    of names or null. `licences` is None where the slice has no such layer."""

    ref: SliceRef
    columns: dict[str, Column]
    has_fasttext: bool
    rules: dict[tuple[str, str], pa.ListArray]
    hosts: Coded
    licences: Coded | None
    names: list[bytes]
    blocks: list[BlockPlaces]


def read_slice_columns(ledger: Ledger, ref: SliceRef, ranked_words: pa.Array) -> SliceColumns:
    """Raises LedgerError when a layer is missing, or rows are not those that the slice should have."""
    core = ledger.read_part("core", ref.id, [name for name in schema.CORE_SCHEMA.names if name not in _EVIDENCE])
    postings = ledger.read_part("postings", ref.id)
    rows = core["row"].to_numpy()
    first_row, row_count = ref.piece.first_row, ref.piece.row_count
    if len(rows) != row_count or not np.array_equal(rows, np.arange(first_row, first_row + row_count)):
        raise LedgerError(
            f"{ref.shard.name}: slice {ref.id} holds other rows than its {row_count} from {first_row} on.",
            hint="Delete its commit and run the same command again.",
        )
    encoder = read_encoder(ledger, ref.id)
    columns = _describe_rows(core)
    grades: dict[str, npt.NDArray[np.float32]] = {}
    is_measured: dict[str, npt.NDArray[np.bool_]] = {}
    has_fasttext = False
    for form, probe in _PROBES.items():
        signals = read_signals(ref, core, None, encoder, probe, {}).signals
        columns[f"p95_aoa_{form}"] = signals.p95_aoa
        columns[f"oov_ratio_{form}"] = signals.oov_ratio
        columns[f"lexical_tokens_{form}"] = np.where(signals.has_error, -1, signals.token_counts)
        has_fasttext = bool(signals.grades)
        assert probe.profile.encoder is not None
        reading = f"encoder_{probe.profile.encoder.reads}"
        grades[reading], is_measured[reading] = signals.encoder, signals.is_encoded
        for name, values in signals.grades.items():
            grades[f"fasttext_{name}"] = values
            is_measured[f"fasttext_{name}"] = ~signals.has_error
    columns.update(_spread_grades(grades, row_count))
    columns["bands"] = _pack_bands(grades, is_measured, row_count)
    return SliceColumns(
        ref,
        columns,
        has_fasttext,
        {(rules, form): read_notation_rules(core, form, rules) for rules in RULE_SETS for form in _PROBES},
        Coded(*find_hosts(core["url"])),
        _read_licences(ledger, ref),
        pack_names(core["doc_id"], core["url"]),
        arrange_slice(postings, ranked_words, first_row, row_count),
    )


def _describe_rows(core: pa.Table) -> dict[str, Column]:
    has_error = pc.is_valid(core["error"]).to_numpy()
    tokens, is_estimated = count_tokens(core)
    is_sampled = pc.struct_field(core["fasttext"], "is_sampled").fill_null(False).to_numpy()
    flags = has_error * np.uint8(HAS_ERROR)
    flags |= is_estimated * np.uint8(IS_ESTIMATED)
    flags |= pc.is_valid(core["changes"]).to_numpy() * np.uint8(IS_NORMALIZED)
    flags |= is_sampled * np.uint8(IS_SAMPLED)
    return {
        "tokens": tokens,
        **{name: core[name].fill_null(-1).to_numpy() for name in ("n_bytes", "n_chars", "n_words")},
        "flags": flags,
        "url_crc": _check_strings(core["url"]),
        "doc_id_crc": _check_strings(core["doc_id"]),
    }


def _check_strings(column: pa.ChunkedArray) -> npt.NDArray[np.uint32]:
    values = column.cast(pa.binary()).to_pylist()
    return np.fromiter((0 if value is None else zlib.crc32(value) for value in values), np.uint32, len(values))


def _spread_grades(grades: dict[str, npt.NDArray[np.float32]], row_count: int) -> dict[str, Column]:
    nothing = np.full((row_count, len(BANDS)), np.nan, np.float32)
    return {
        f"{reading}_{band}": grades.get(reading, nothing)[:, place]
        for reading in READINGS
        for place, band in enumerate(BANDS)
    }


def _pack_bands(
    grades: dict[str, npt.NDArray[np.float32]], is_measured: dict[str, npt.NDArray[np.bool_]], row_count: int
) -> npt.NDArray[np.uint16]:
    packed = np.zeros(row_count, np.uint16)
    for place, reading in enumerate(READINGS):
        codes = np.full(row_count, NOT_MEASURED_CODE, np.uint16)
        if reading in grades:
            likeliest = np.where(np.isnan(grades[reading][:, 0]), UNREADABLE_CODE, np.argmax(grades[reading], axis=1))
            codes = np.where(is_measured[reading], likeliest, NOT_MEASURED_CODE).astype(np.uint16)
        packed |= codes << np.uint16(BAND_BITS * place)
    return packed


def _read_licences(ledger: Ledger, ref: SliceRef) -> Coded | None:
    if not ledger.is_committed(LICENCES, ref.id):
        return None
    encoded = ledger.read_part(LICENCES, ref.id)["licence"].combine_chunks().dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Coded(encoded.dictionary.to_pylist(), codes.astype(np.int32))

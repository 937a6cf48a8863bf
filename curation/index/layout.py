"""What an index folder holds, by name and type: `index.json`, `columns/`, `words/`, `names/`, `hosts.arrow`.

Rows stand in ledger order; a row's place in that order is its position. Columns are plain .npy files of one dimension.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from curation.errors import LedgerError
from curation.index.query import GRADES, LENGTHS, LEXICAL, READINGS

INDEX_SCHEMA: Literal[1] = 1
DESCRIPTION = "index.json"

BANDS = ("k5", "k8", "k12", "oos")
FORMS = ("raw", "normalized")
RULE_SETS = ("published", "recommended")

# Bits of column `flags`.
HAS_ERROR, IS_ESTIMATED, IS_NORMALIZED, IS_SAMPLED = 1, 2, 4, 8

# Column `bands`: three bits a reading, in the order of READINGS: the likeliest of the four bands, or one of these.
BAND_BITS = 3
UNREADABLE_CODE, NOT_MEASURED_CODE = 4, 5

# Whole numbers are -1 where a row has none, other numbers NaN. `rules_*` are codes into `rule_masks`, `domain` into the
# hosts, `licence` into the licences. `*_crc` is CRC-32 of the UTF-8 bytes, 0 for null: it finds candidates, never answers.
COLUMN_TYPES: dict[str, str] = {
    **dict.fromkeys(LENGTHS, "<i4"),
    "flags": "|u1",
    **{f"{name}_{form}": "<f8" for form in FORMS for name in ("p95_aoa", "oov_ratio")},
    **{f"lexical_tokens_{form}": "<i4" for form in FORMS},
    **{f"{reading}_{band}": "<f4" for reading in READINGS for band in BANDS},
    "bands": "<u2",
    **{f"rules_{rules}_{form}": "<u4" for rules in RULE_SETS for form in FORMS},
    "domain": "<i4",
    "licence": "<i4",
    "url_crc": "<u4",
    "doc_id_crc": "<u4",
}


NUMBERS = frozenset((*LENGTHS, *LEXICAL, *GRADES))


def is_number(column: str) -> bool:
    """Whether a column's values are quantities, not codes."""
    return column.removesuffix("_raw").removesuffix("_normalized") in NUMBERS


class IndexedShard(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    index: int
    name: str
    sha256: str
    row_count: int


class IndexedSlice(BaseModel):
    """`row_count` rows of a shard from `first_row` on. `has_fasttext`: every readable row of it was scored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shard: int
    piece: int
    first_row: int
    row_count: int
    has_fasttext: bool


class Description(BaseModel):
    """`rule_masks[set]`: for each code the names of the rules that hit, None for a row that was not measured.
    `extents[column]`: least and greatest value; left out where there is none. `file_bytes`: of every other file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_number: Literal[1]
    run_id: str
    name: str
    row_count: int
    has_licences: bool
    licences: list[str]
    rule_names: dict[str, list[str]]
    rule_masks: dict[str, list[int | None]]
    extents: dict[str, tuple[float, float]]
    shards: list[IndexedShard]
    slices: list[IndexedSlice]
    file_bytes: dict[str, int]


def read_description(folder: Path) -> Description:
    """Raises LedgerError when the folder holds no whole index of this version."""
    try:
        description = Description.model_validate_json((folder / DESCRIPTION).read_bytes())
    except (OSError, ValidationError) as error:
        raise LedgerError(
            f"{folder} holds no index that this version reads.", hint="Build it again from the run."
        ) from error
    for name, size in description.file_bytes.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size:
            raise LedgerError(
                f"{path} is damaged: {size} bytes were written.", hint="Delete the index and build it again."
            )
    return description


def column_path(folder: Path, name: str) -> Path:
    return folder / "columns" / f"{name}.npy"


def map_array(path: Path) -> npt.NDArray[np.generic]:
    """An .npy file mapped into memory, read-only; nothing is read before it is used."""
    try:
        # A plain array: views of numpy's memmap class cost more than reading them.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except ValueError:
        # Nothing can be mapped of an empty file's content.
        return np.asarray(np.load(path, allow_pickle=False))

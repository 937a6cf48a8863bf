"""The age table: for every known word the age at which it is learned, in years.

An age is the AoA norm where there is one, else a regression on the Zipf frequency (STAGES: published stage 1).
Words are ordered by (age, word), so that sorting word ids sorts ages.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from wordfreq import get_frequency_dict

from curation.errors import ArtifactError

# age = AGE_INTERCEPT + AGE_PER_ZIPF * zipf: the regression of the published LittleCurriculum filter (arXiv 2608.13545).
AGE_INTERCEPT = 14.602716
AGE_PER_ZIPF = -1.504689

_WORD = re.compile("[a-z]{2,}")


@dataclass(frozen=True)
class AgeTable:
    """`words[i]` is learned at `ages[i]` years (float64); ascending by (age, word)."""

    words: tuple[str, ...]
    ages: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.words)


def read_norms(path: Path) -> dict[str, float]:
    """The AoA norms of a Parquet file with columns `word` (string) and `aoa` (years, any float).

    Raises ArtifactError when the columns are missing or a value is not a positive number.
    """
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise ArtifactError(f"{path}: cannot be read as Parquet ({error}).") from error
    if not {"word", "aoa"} <= set(table.column_names):
        raise ArtifactError(f"{path}: expected columns word and aoa, found {', '.join(table.column_names)}.")
    try:
        words, ages = table["word"].cast(pa.string()).to_pylist(), table["aoa"].cast(pa.float64()).to_pylist()
    except pa.ArrowException as error:
        raise ArtifactError(f"{path}: aoa is not a number for every word ({error}).") from error
    norms = dict(zip(words, ages, strict=True))
    for word, age in norms.items():
        if word is None or age is None or not math.isfinite(age) or age <= 0:
            raise ArtifactError(f"{path}: {word!r} has age {age!r}.", hint="Every word needs a positive age in years.")
    return norms


def read_zipf_frequencies() -> dict[str, float]:
    """Zipf frequencies (log10 of occurrences per billion words, two decimals) of English words, from wordfreq's best list."""
    return {word: round(math.log10(f) + 9, 2) for word, f in get_frequency_dict("en", "best").items()}


def build_age_table(norms: dict[str, float], zipf: dict[str, float]) -> AgeTable:
    """Join norms and frequencies; words that are not two or more letters a-z can never be tokens and are left out."""
    ages = {word: AGE_INTERCEPT + AGE_PER_ZIPF * z for word, z in zipf.items() if z > 0}
    ages.update(norms)
    rows = sorted((age, word) for word, age in ages.items() if _WORD.fullmatch(word))
    return AgeTable(tuple(word for _, word in rows), np.array([age for age, _ in rows], dtype=np.float64))

"""Scores of held-out documents: what of K5 is kept, what leaks, and which threshold keeps a stated leak.

Knows tables of probabilities, no model and no text. Invariant: every ratio comes with the counts it is made of and a
95 % Wilson interval, so that a score on few documents cannot pass for a precise one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.errors import TrainingError
from curation.signals.fasttext_grade import BANDS

_Z95 = 1.959963984540054
Mask = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ratio:
    """`hits` of `total` with the 95 % Wilson interval; value and bounds are NaN where total is 0."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        return self.hits / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        if not self.total:
            return math.nan, math.nan
        n, p, z2 = self.total, self.value, _Z95**2
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = _Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} ({low:.1%}-{high:.1%}) {self.hits}/{self.total}" if self.total else "none"


@dataclass(frozen=True)
class KeepScore:
    """What a keep rule does to documents of known band. `purity`: K5 among all that is kept, at the prevalence of the
    documents scored, which is not the prevalence of a crawl."""

    k5_kept: Ratio
    beyond_kept: Ratio
    purity: Ratio


def score_keep(bands: Sequence[str], is_kept: Mask) -> KeepScore:
    """Scores a boolean mask of kept documents against their bands."""
    is_k5 = np.array([band == "K5" for band in bands], dtype=bool)
    k5_kept = int((is_kept & is_k5).sum())
    beyond_kept = int((is_kept & ~is_k5).sum())
    return KeepScore(
        Ratio(k5_kept, int(is_k5.sum())), Ratio(beyond_kept, int((~is_k5).sum())), Ratio(k5_kept, k5_kept + beyond_kept)
    )


def score_by_source(table: pa.Table, is_kept: Mask) -> dict[str, KeepScore]:
    """A KeepScore for each value of the column `source`, in alphabetical order, and `total`."""
    bands = table["band"].to_pylist()
    sources = np.array(table["source"].to_pylist(), dtype=object)
    scores = {}
    for source in sorted(set(sources)):
        at = np.flatnonzero(sources == source)
        scores[str(source)] = score_keep([bands[i] for i in at], is_kept[at])
    scores["total"] = score_keep(bands, is_kept)
    return scores


def count_confusions(bands: Sequence[str], probabilities: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """int64 (4, 4): true band by top-1 band, both in BANDS order. Rows of NaN are left out."""
    matrix = np.zeros((len(BANDS), len(BANDS)), dtype=np.int64)
    is_measured = ~np.isnan(probabilities).any(axis=1)
    truth = np.array([BANDS.index(band) for band in bands], dtype=np.int64)
    np.add.at(matrix, (truth[is_measured], probabilities[is_measured].argmax(axis=1)), 1)
    return matrix


def choose_threshold(bands: Sequence[str], scores: Scores, *, max_leak_ratio: float) -> float:
    """The lowest threshold t such that keeping `score >= t` keeps at most that part of the documents beyond K-5.

    NaN counts as the lowest score. Raises TrainingError where no document is beyond K-5.
    """
    beyond = np.sort(np.nan_to_num(scores[[band != "K5" for band in bands]], nan=-math.inf))[::-1]
    if not len(beyond):
        raise TrainingError("A leak can only be measured on documents beyond K-5, and there are none.")
    allowed = math.floor(max_leak_ratio * len(beyond) + 1e-9)
    if allowed >= len(beyond):
        return 0.0
    return float(np.nextafter(beyond[allowed], math.inf))

"""How well each grader alone tells K5 from the rest: calibration, precision and recall of its held-out P(K5), by source.

Numbers only; `figures` draws them. Invariant: a row that the shipped grader read itself, or that no grader could read, is in
no curve; rows of equal P(K5) are always on the same side of an edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from curation.training.evaluate import Ratio
from curation.training.evaluation import Evaluation, Flags
from curation.training.sources import GRADED, PAIRED, PAIRED_WEB, WEB_SOURCES, WRITTEN_WEB

Grader = Literal["encoder", "fasttext"]
GRADERS: Final[tuple[Grader, ...]] = ("encoder", "fasttext")
# Sources of one kind are one curve; rows of other names, as of a file of rows, are in none.
SOURCE_GROUPS: Final = (WEB_SOURCES, (PAIRED, PAIRED_WEB), (WRITTEN_WEB,), (GRADED,))
BIN_COUNT: Final = 10


@dataclass(frozen=True)
class BinOfRows:
    """Rows with neighbouring P(K5): their mean, and how many are K5."""

    mean: float
    k5_share: Ratio


@dataclass(frozen=True)
class KeepPoint:
    """Keeping every row with P(K5) of at least `minimum`: K5 among the kept, and kept among the K5."""

    minimum: float
    purity: Ratio
    recall: Ratio


@dataclass(frozen=True)
class GraderCurve:
    """One grader on the rows of `sources`. `prevalence`: K5 among these rows. `points`: at each distinct P(K5) of a K5 row,
    from the highest; without K5 there is none. `shipped`: at the profile's minimum, None where the profile sets none."""

    grader: Grader
    sources: tuple[str, ...]
    prevalence: Ratio
    bins: tuple[BinOfRows, ...]
    points: tuple[KeepPoint, ...]
    shipped: KeepPoint | None


def trace_graders(evaluation: Evaluation) -> tuple[GraderCurve, ...]:
    """A curve for each group of sources and grader that has held-out readings, in the order of SOURCE_GROUPS and GRADERS."""
    bands = np.array([row.row.band for row in evaluation.rows], dtype=object)
    sources = np.array([row.row.source for row in evaluation.rows], dtype=object)
    curves = []
    for group in SOURCE_GROUPS:
        for grader in GRADERS:
            if grader not in evaluation.is_live:
                continue
            scores = _read_scores(evaluation, grader)
            at = np.isin(sources, group) & ~evaluation.is_live[grader] & ~np.isnan(scores)
            if at.any():
                minimum = _read_minimum(evaluation, grader)
                curves.append(trace_grader(grader, group, bands[at] == "K5", scores[at], minimum))
    return tuple(curves)


def trace_grader(
    grader: Grader, sources: tuple[str, ...], is_k5: Flags, scores: npt.NDArray[np.float32], minimum: float | None
) -> GraderCurve:
    """The curve of at least one row. `scores`: P(K5), none of them NaN."""
    minima = np.unique(scores[is_k5])[::-1]
    return GraderCurve(
        grader,
        sources,
        Ratio(int(is_k5.sum()), len(is_k5)),
        _bin_rows(is_k5, scores),
        tuple(_keep_from(is_k5, scores, float(value)) for value in minima),
        None if minimum is None else _keep_from(is_k5, scores, minimum),
    )


def _read_scores(evaluation: Evaluation, grader: Grader) -> npt.NDArray[np.float32]:
    signals = evaluation.signals
    grades = signals.encoder if grader == "encoder" else signals.grades["window"]
    return grades[:, 0].astype(np.float32)


def _read_minimum(evaluation: Evaluation, grader: Grader) -> float | None:
    profile = evaluation.bound.profile
    stage = profile.encoder if grader == "encoder" else profile.fasttext
    return None if stage is None else stage.min_k5_window


def _bin_rows(is_k5: Flags, scores: npt.NDArray[np.float32]) -> tuple[BinOfRows, ...]:
    """At most BIN_COUNT bins of as equal a count as whole runs of equal scores allow, from the lowest."""
    order = np.argsort(scores, kind="stable")
    ordered, hits = scores[order], is_k5[order]
    wanted = [len(scores) * number // BIN_COUNT for number in range(1, BIN_COUNT + 1)]
    edges = {int(np.searchsorted(ordered, ordered[edge - 1], side="right")) for edge in wanted if edge}
    bins, first = [], 0
    for last in sorted(edges):
        share = Ratio(int(hits[first:last].sum()), last - first)
        bins.append(BinOfRows(float(ordered[first:last].mean(dtype=np.float64)), share))
        first = last
    return tuple(bins)


def _keep_from(is_k5: Flags, scores: npt.NDArray[np.float32], minimum: float) -> KeepPoint:
    # As the decision compares: in single precision, equal is kept.
    is_kept = scores >= np.float32(minimum)
    kept = int((is_kept & is_k5).sum())
    return KeepPoint(minimum, Ratio(kept, int(is_kept.sum())), Ratio(kept, int(is_k5.sum())))

"""The numbers of an evaluation, purity first, as one object that is both the Markdown report and its JSON.

Counts decisions only; which rows and by which readings is `evaluation`'s. Invariant: undecided rows stand apart: they are
in no ratio, so the K5 of a ratio and the undecided K5 make up all K5.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from curation.decide import KEEP, REASONS, UNDECIDED, Decisions, decide
from curation.signals.fasttext_grade import BANDS
from curation.stages import STAGES, EncoderStage, FastTextStage
from curation.training.evaluate import Ratio
from curation.training.evaluation import Evaluation, Flags
from curation.training.sources import GRADED, LABELLED_WEB, PAIRED, PAIRED_WEB, WEB_SOURCES, WRITTEN_WEB

TOTAL: Final = "total"
# The part of educational web pages that is K5 under the rubric, and of easily worded ones.
PREVALENCES: Final = (0.015, 0.03)
BIN_COUNT: Final = 10
CURVE_MINIMA: Final = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# Smaller subjects and genres are pooled: a line of three documents says nothing.
SMALLEST_GROUP: Final = 10
POOLED: Final = f"others (fewer than {SMALLEST_GROUP} rows each)"

_WEB_NAME: Final = " + ".join(WEB_SOURCES)
# What the project wants of a profile: sources, most of the documents beyond K-5 kept, least of the K5 kept.
_AIMS: Final = (
    ("a", (LABELLED_WEB,), 0.01, 0.6),
    ("b", (PAIRED, PAIRED_WEB), 0.02, 0.8),
    ("c", (GRADED,), 0.02, 0.6),
)


@dataclass(frozen=True)
class GroupScore:
    """Decisions on the rows of one group. `purity`: K5 among the kept, at the prevalence of these rows. `undecided`: rows
    that wait for a signal; they are in no ratio."""

    source: str
    name: str
    purity: Ratio
    k5_kept: Ratio
    beyond_kept: Ratio
    k8_kept: Ratio
    k12_kept: Ratio
    oos_kept: Ratio
    undecided: int


@dataclass(frozen=True)
class Aim:
    """One bound. `margin_ratio`: how far the value is on the right side of it (negative: missed); None without rows."""

    name: str
    sources: str
    measure: str
    bound: float
    found: Ratio
    margin_ratio: float | None
    is_met: bool


@dataclass(frozen=True)
class ProjectedPurity:
    """Purity of what a crawl with `prevalence` K5 would leave. `low` and `high` take both intervals at their worst and best;
    None where nothing would be kept or a band has no rows."""

    source: str
    prevalence: float
    purity: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CalibrationBin:
    """Rows whose encoder P(K5) is from `low` to below `high` (the last bin includes 1); `mean` None where there is none."""

    source: str
    low: float
    high: float
    mean: float | None
    k5_share: Ratio


@dataclass(frozen=True)
class CurvePoint:
    """The whole cascade with one minimum for the hardest window's P(K5) of its dearest grader."""

    source: str
    grader: str
    minimum: float
    precision: Ratio
    recall: Ratio
    beyond_kept: Ratio


@dataclass(frozen=True)
class EvaluationReport:
    """All numbers of one evaluation. `live_by_source`: of the rows alone that a shipped grader read, which are in `by_source`
    too. `confusions[source][band]`: kept, undecided and the first failing stages."""

    profile: str
    stages: tuple[str, ...]
    models: Mapping[str, str]
    live_count: int
    seed: int
    notes: tuple[str, ...]
    rows: Mapping[str, Mapping[str, int]]
    aims: tuple[Aim, ...]
    by_source: tuple[GroupScore, ...]
    live_by_source: tuple[GroupScore, ...]
    by_subject: tuple[GroupScore, ...]
    by_genre: tuple[GroupScore, ...]
    projected_purity: tuple[ProjectedPurity, ...]
    confusions: Mapping[str, Mapping[str, Mapping[str, int]]]
    calibration: tuple[CalibrationBin, ...]
    precision_recall: tuple[CurvePoint, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values; a ratio as hits, total, value, low and high, the last three None where total is 0."""
        return {field.name: _to_plain(getattr(self, field.name)) for field in dataclasses.fields(self)}


def score_evaluation(evaluation: Evaluation) -> EvaluationReport:
    bound, decisions = evaluation.bound, evaluation.decisions
    bands = np.array([row.row.band for row in evaluation.rows], dtype=object)
    sources = np.array([row.row.source for row in evaluation.rows], dtype=object)
    names = sorted(set(sources))
    masks: dict[str, Flags] = {name: sources == name for name in names}
    everything = np.ones(len(sources), bool)
    is_live = np.zeros(len(sources), bool)
    for kind, flags in evaluation.is_live.items():
        is_live |= flags & (kind != "vocabulary")
    by_source = {name: _score_group(name, "", bands, decisions, mask) for name, mask in masks.items()}
    web = [name for name in WEB_SOURCES if name in masks]
    curve_masks = {name: masks[name] for name in (*web, WRITTEN_WEB) if name in masks} | {TOTAL: everything}
    web_scores = [by_source[name] for name in web]
    if len(web) > 1:
        web_scores.append(_score_group(_WEB_NAME, "", bands, decisions, np.isin(sources, WEB_SOURCES)))
    total = _score_group(TOTAL, "", bands, decisions, everything)
    return EvaluationReport(
        profile=f"{bound.profile.name} v{bound.profile.version}",
        stages=bound.stages,
        models=dict(bound.models),
        live_count=evaluation.live_count,
        seed=evaluation.seed,
        notes=evaluation.notes,
        rows={source: dataclasses.asdict(count) for source, count in evaluation.counts.items()},
        aims=_judge_aims(bands, sources, decisions),
        by_source=(*by_source.values(), total),
        live_by_source=tuple(
            _score_group(name, "", bands, decisions, mask & is_live)
            for name, mask in masks.items()
            if (mask & is_live).any()
        ),
        by_subject=_score_topics([row.subject for row in evaluation.rows], bands, sources, decisions),
        by_genre=_score_topics([row.genre for row in evaluation.rows], bands, sources, decisions),
        projected_purity=tuple(_project_purity(score, p) for score in web_scores for p in PREVALENCES),
        confusions={
            name: _count_outcomes(bands, decisions, mask) for name, mask in (masks | {TOTAL: everything}).items()
        },
        calibration=_calibrate_encoder(evaluation, bands, curve_masks),
        precision_recall=_trace_curve(evaluation, bands, curve_masks),
    )


def _score_group(
    source: str, name: str, bands: npt.NDArray[np.object_], decisions: Decisions, mask: Flags
) -> GroupScore:
    is_decided = mask & (decisions.kept != UNDECIDED)
    is_kept = mask & (decisions.kept == KEEP)
    kept = Counter(bands[is_kept].tolist())
    decided = Counter(bands[is_decided].tolist())
    ratios = {band: Ratio(kept[band], decided[band]) for band in BANDS}
    beyond = Ratio(kept.total() - kept["K5"], decided.total() - decided["K5"])
    return GroupScore(
        source,
        name,
        Ratio(kept["K5"], kept.total()),
        ratios["K5"],
        beyond,
        ratios["K8"],
        ratios["K12"],
        ratios["OOS"],
        int(mask.sum()) - decided.total(),
    )


def _score_topics(
    topics: Sequence[str], bands: npt.NDArray[np.object_], sources: npt.NDArray[np.object_], decisions: Decisions
) -> tuple[GroupScore, ...]:
    """By source and topic, the largest first; small ones of a source together, rows without a topic in none."""
    sizes = Counter((source, topic) for source, topic in zip(sources.tolist(), topics, strict=True) if topic)
    keys = [
        (source, topic if sizes[source, topic] >= SMALLEST_GROUP else POOLED if topic else "")
        for source, topic in zip(sources.tolist(), topics, strict=True)
    ]
    places: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(keys):
        if key[1]:
            places.setdefault(key, []).append(place)
    scores = []
    for source, topic in sorted(places, key=lambda key: (key[0], key[1] == POOLED, -len(places[key]), key[1])):
        mask = np.zeros(len(keys), bool)
        mask[places[source, topic]] = True
        scores.append(_score_group(source, topic, bands, decisions, mask))
    return tuple(scores)


def _judge_aims(
    bands: npt.NDArray[np.object_], sources: npt.NDArray[np.object_], decisions: Decisions
) -> tuple[Aim, ...]:
    aims = []
    for name, members, most_beyond, least_k5 in _AIMS:
        score = _score_group("", "", bands, decisions, np.isin(sources, members))
        for measure, found, bound, sign in (
            ("beyond K-5 kept, at most", score.beyond_kept, most_beyond, -1),
            ("K5 kept, at least", score.k5_kept, least_k5, 1),
        ):
            margin = sign * (found.value - bound) if found.total else None
            aims.append(
                Aim(name, " + ".join(members), measure, bound, found, margin, margin is not None and margin >= 0)
            )
    return tuple(aims)


def _project_purity(score: GroupScore, prevalence: float) -> ProjectedPurity:
    (k5_low, k5_high), (leak_low, leak_high) = score.k5_kept.interval, score.beyond_kept.interval
    values = [
        _mix_purity(prevalence, kept, leak)
        for kept, leak in ((score.k5_kept.value, score.beyond_kept.value), (k5_low, leak_high), (k5_high, leak_low))
    ]
    return ProjectedPurity(score.source, prevalence, *values)


def _mix_purity(prevalence: float, kept: float, leak: float) -> float | None:
    k5, beyond = prevalence * kept, (1 - prevalence) * leak
    # NaN, of a band without rows, is not above zero.
    return k5 / (k5 + beyond) if k5 + beyond > 0 else None


def _count_outcomes(bands: npt.NDArray[np.object_], decisions: Decisions, mask: Flags) -> dict[str, dict[str, int]]:
    outcomes = ("kept", "undecided", *STAGES)
    names = np.array(
        [
            "kept" if kept == KEEP else "undecided" if kept == UNDECIDED else REASONS[by]
            for kept, by in zip(decisions.kept.tolist(), decisions.decided_by.tolist(), strict=True)
        ],
        dtype=object,
    )
    counts = Counter(zip(bands[mask].tolist(), names[mask].tolist(), strict=True))
    return {band: {outcome: counts[band, outcome] for outcome in outcomes} for band in BANDS}


def _calibrate_encoder(
    evaluation: Evaluation, bands: npt.NDArray[np.object_], masks: Mapping[str, Flags]
) -> tuple[CalibrationBin, ...]:
    """Empty where the encoder takes no part. Rows that it could not read are in no bin."""
    if "encoder" not in evaluation.bound.stages:
        return ()
    scores = evaluation.signals.encoder[:, 0].astype(np.float64)
    bins = []
    for source, mask in masks.items():
        is_read = mask & ~np.isnan(scores)
        numbers = np.minimum(np.floor(np.nan_to_num(scores) * BIN_COUNT), BIN_COUNT - 1)
        for number in range(BIN_COUNT):
            at = is_read & (numbers == number)
            share = Ratio(int((bands[at] == "K5").sum()), int(at.sum()))
            mean = float(scores[at].mean()) if share.total else None
            bins.append(CalibrationBin(source, number / BIN_COUNT, (number + 1) / BIN_COUNT, mean, share))
    return tuple(bins)


def _trace_curve(
    evaluation: Evaluation, bands: npt.NDArray[np.object_], masks: Mapping[str, Flags]
) -> tuple[CurvePoint, ...]:
    """Empty where the profile has no grader."""
    bound = evaluation.bound
    grader = next((stage for stage in ("encoder", "fasttext") if stage in bound.stages), None)
    if grader is None:
        return ()
    points = []
    for minimum in CURVE_MINIMA:
        stage = {"encoder": EncoderStage, "fasttext": FastTextStage}[grader](min_k5_window=minimum)
        changed = dataclasses.replace(bound, profile=bound.profile.model_copy(update={grader: stage}))
        decisions = decide(evaluation.signals, changed)
        for source, mask in masks.items():
            score = _score_group(source, "", bands, decisions, mask)
            points.append(CurvePoint(source, grader, minimum, score.purity, score.k5_kept, score.beyond_kept))
    return tuple(sorted(points, key=lambda point: (list(masks).index(point.source), point.minimum)))


def _to_plain(value: Any) -> Any:
    if isinstance(value, Ratio):
        low, high = value.interval
        found = {"value": value.value, "low": low, "high": high}
        return {"hits": value.hits, "total": value.total} | {k: None if math.isnan(v) else v for k, v in found.items()}
    if dataclasses.is_dataclass(value):
        return {field.name: _to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(item) for item in value]
    return value

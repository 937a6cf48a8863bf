"""Sampling by score, explained: how many documents it should keep and does keep, by the score of their worst word.

A text whose highest score is s is kept with chance 0.5 ** ((s - min_score) / halving); the draw depends on shard, row and seed, so
the documents kept are the same in every run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from curation.decide import (
    KEEP,
    PASS,
    Signals,
    VocabularyHits,
    draw_vocabulary_fractions,
    find_vocabulary_chances,
    judge_stage,
)
from curation.errors import ProfileError
from curation.index.decided import Decided
from curation.index.signal_index import Chunk
from curation.index.threads import map_threads
from curation.profile import BoundProfile
from curation.stages import VocabularySampling, VocabularyStage

# The chance halves from one band to the next; after the last one it is below one in a thousand.
BAND_COUNT = 10


@dataclass(frozen=True)
class ScoreBand:
    """Documents whose highest score is in [low, high) and that have too many words to pass without sampling. `expected`: the sum of
    their chances, with its standard `deviation`; `drawn`: those that the seed keeps, of which `kept` pass every other stage too."""

    low: float
    high: float
    documents: int
    tokens: int
    expected: float
    deviation: float
    drawn: int
    kept: int


@dataclass(frozen=True)
class SamplingPreview:
    """`passing`: documents that the stage lets through without a draw. `kept`: documents and tokens of the whole decision set with
    sampling; `kept_when_blocking`: with the same stage in mode block. The last band has the words never seen in K5 texts."""

    sampling: VocabularySampling
    min_score: float
    passing: int
    kept: tuple[int, int]
    kept_when_blocking: tuple[int, int]
    bands: list[ScoreBand]


def preview_sampling(decided: Decided, sampling: VocabularySampling | None = None) -> SamplingPreview:
    """What the profile's sampling does, or what another one would. Raises ProfileError where there is no vocabulary stage, or
    neither is given. Senses that were not measured count as if they were innocent."""
    stage = decided.request.bound.profile.vocabulary
    sampling = sampling or (stage.sampling if stage is not None else None)
    if stage is None or "vocabulary" not in decided.request.bound.stages or sampling is None:
        raise ProfileError(
            f"Profile {decided.request.bound.profile.name} does not sample by vocabulary.",
            hint="Give halving and seed, for a profile with a vocabulary stage.",
        )
    drawing = _decide_with(decided, stage.model_copy(update={"mode": "sample", "sampling": sampling}))
    blocking = _decide_with(decided, stage.model_copy(update={"mode": "block", "sampling": None}))
    steps = [stage.min_score + sampling.halving * band for band in range(BAND_COUNT + 1)]
    edges = np.array([*steps, math.inf], np.float64)
    parts = map_threads(lambda chunk: _count_chunk(drawing, edges, chunk), decided.index.chunks)
    totals = sum((bands for bands, _ in parts), np.zeros((BAND_COUNT + 2, 6)))
    bands = [
        ScoreBand(
            float(edges[band]),
            float(edges[band + 1]) if band <= BAND_COUNT else math.inf,
            int(row[0]),
            int(row[1]),
            float(row[2]),
            math.sqrt(row[3]),
            int(row[4]),
            int(row[5]),
        )
        for band, row in enumerate(totals.tolist())
    ]
    return SamplingPreview(
        sampling,
        stage.min_score,
        sum(passing for _, passing in parts),
        _count_kept(drawing),
        _count_kept(blocking),
        bands,
    )


def _decide_with(decided: Decided, stage: VocabularyStage) -> Decided:
    bound = decided.request.bound
    profile = bound.profile.model_copy(update={"vocabulary": stage})
    return decided.index.decide(replace(decided.request, bound=replace(bound, profile=profile)))


def _count_kept(decided: Decided) -> tuple[int, int]:
    is_kept = np.array([outcome.kept == KEEP for outcome in decided.table.list_outcomes()], bool)
    return int(decided.documents_by_code[is_kept].sum()), int(decided.tokens_by_code[is_kept].sum())


def _count_chunk(decided: Decided, edges: npt.NDArray[np.float64], chunk: Chunk) -> tuple[npt.NDArray[np.float64], int]:
    """By band: documents, tokens, chances, their variance, drawn, kept; and how many rows pass without a draw."""
    index, request = decided.index, decided.request
    alone = request.bound.isolate("vocabulary")
    stage = alone.profile.vocabulary
    assert stage is not None
    where = slice(chunk.start, chunk.stop)
    hits = VocabularyHits(index.count_terms(request)[where].astype(np.int64), index.find_top_scores(request)[where])
    signals: Signals = index.read_signals(chunk, where, alone, hits)
    is_failing = ~_passes_blocking(signals, alone, stage) & ~signals.has_error
    tops = hits.max_scores[is_failing]
    band = np.searchsorted(edges, tops, side="right") - 1
    chances = find_vocabulary_chances(stage, tops)
    assert stage.sampling is not None
    is_drawn = draw_vocabulary_fractions(signals, stage.sampling)[is_failing] < chances
    kept = np.array([outcome.kept == KEEP for outcome in decided.table.list_outcomes()], bool)
    is_kept = is_drawn & kept[decided.codes[where][is_failing]]
    tokens = index.columns["tokens"][where][is_failing]
    columns = (np.ones(len(tops)), tokens, chances, chances * (1 - chances), is_drawn, is_kept)
    counted = [np.bincount(band, weights=column.astype(np.float64), minlength=BAND_COUNT + 2) for column in columns]
    return np.stack(counted, axis=1), int(np.count_nonzero(~is_failing & ~signals.has_error))


def _passes_blocking(signals: Signals, alone: BoundProfile, stage: VocabularyStage) -> npt.NDArray[np.bool_]:
    blocking = stage.model_copy(update={"mode": "block", "sampling": None})
    bound = replace(alone, profile=alone.profile.model_copy(update={"vocabulary": blocking}))
    return np.asarray(judge_stage("vocabulary", signals, bound) == PASS, np.bool_)

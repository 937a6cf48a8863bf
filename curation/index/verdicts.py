"""Decisions of all rows, put together from each stage's verdicts. Verdicts are remembered by stage, so that a profile that moves
one threshold has one stage judged again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from curation.decide import FAIL, PASS, UNKNOWN, Verdicts, VocabularyHits, combine_verdicts, judge_stage
from curation.index.layout import HAS_ERROR
from curation.index.outcomes import Codes, OutcomeTable
from curation.index.request import DecisionRequest
from curation.index.signal_index import Chunk, SignalIndex, Where
from curation.index.threads import map_threads

_VERDICTS = np.array([UNKNOWN, FAIL, PASS], np.int8)

Combinations = npt.NDArray[np.uint8]


def decide_all(index: SignalIndex, request: DecisionRequest) -> tuple[Codes, OutcomeTable]:
    """What the signals alone decide of every row, as `decide` does."""
    stages = request.bound.stages
    verdicts = {stage: _judge_all(index, request, stage) for stage in stages}
    errors = index.columns["flags"]
    unreadable = len(_VERDICTS) ** len(stages)

    # A row's verdicts as one number to the base of three, or the number behind all of them for a row that has an error.
    def combine(span: slice) -> tuple[Combinations, npt.NDArray[np.intp]]:
        numbers = np.zeros(span.stop - span.start, np.uint8)
        for stage in stages:
            numbers *= len(_VERDICTS)
            numbers += (verdicts[stage][span] - UNKNOWN).view(np.uint8)
        numbers[(errors[span] & np.uint8(HAS_ERROR)) != 0] = unreadable
        return numbers, np.flatnonzero(np.bincount(numbers))

    found = map_threads(combine, index.spans)
    codes, table = np.zeros(len(index), np.uint16), OutcomeTable()
    occurring = np.unique(np.concatenate([np.zeros(0, np.intp), *(numbers for _, numbers in found)]))
    code_of = np.zeros(unreadable + 1, np.uint16)
    code_of[occurring] = table.encode(combine_verdicts(_split(occurring, stages), occurring == unreadable))

    def fill(place: int) -> None:
        codes[index.spans[place]] = code_of[found[place][0]]

    map_threads(fill, range(len(found)))
    return codes, table


def _split(numbers: npt.NDArray[np.intp], stages: tuple[str, ...]) -> Mapping[str, Verdicts]:
    """The verdicts that made numbers. Those of a row with an error mean nothing."""
    split = {}
    for stage in reversed(stages):
        numbers, place = np.divmod(numbers, len(_VERDICTS))
        split[stage] = _VERDICTS[place]
    return split


def _judge_all(index: SignalIndex, request: DecisionRequest, stage: str) -> Verdicts:
    """One stage's verdict on every row."""
    profile = request.bound.profile
    words: Hashable = request.words_key if stage == "vocabulary" else None
    key = ("verdicts", stage, profile.form, getattr(profile, stage), words)
    return index.cache.get(key, lambda: _judge(index, request, stage), lambda verdicts: verdicts.nbytes)


def _judge(index: SignalIndex, request: DecisionRequest, stage: str) -> Verdicts:
    alone = request.bound.isolate(stage)
    hits = VocabularyReader(index, replace(request, bound=alone))
    verdicts = np.zeros(len(index), np.int8)

    def judge(chunk: Chunk) -> None:
        where = slice(chunk.start, chunk.stop)
        verdicts[where] = judge_stage(stage, index.read_signals(chunk, where, alone, hits.read(where)), alone)

    map_threads(judge, index.chunks)
    return verdicts


class VocabularyReader:
    """What the vocabulary stage reads; highest scores only where a profile samples by them."""

    def __init__(self, index: SignalIndex, request: DecisionRequest) -> None:
        stage = request.bound.profile.vocabulary
        has_stage = stage is not None and "vocabulary" in request.bound.stages
        self._counts = index.count_terms(request) if has_stage else None
        self._tops = index.find_top_scores(request) if has_stage and stage and stage.sampling else None
        self._possible_counts = self._possible_tops = None
        if has_stage and request.vocabulary.senses and not request.has_senses:
            self._possible_counts = index.count_terms(request, is_possible=True)
            if self._tops is not None:
                self._possible_tops = index.find_top_scores(request, is_possible=True)

    def read(self, where: Where) -> VocabularyHits:
        count = where.stop - where.start if isinstance(where, slice) else len(where)
        counts = np.zeros(count, np.int64) if self._counts is None else self._counts[where].astype(np.int64)
        tops = np.full(count, -np.inf) if self._tops is None else self._tops[where]
        if self._possible_counts is None:
            return VocabularyHits(counts, tops)
        possible_tops = tops if self._possible_tops is None else self._possible_tops[where]
        return VocabularyHits(counts, tops, self._possible_counts[where].astype(np.int64), possible_tops)

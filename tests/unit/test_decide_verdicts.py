"""The exact codes of one stage's verdicts: what callers outside `decide` read."""

from __future__ import annotations

import numpy as np
from signal_rows import make_bound, make_signals

from curation.decide import EXCLUDE, KEEP, UNDECIDED, judge_stage


def test_a_stage_passes_with_1_and_fails_with_0() -> None:
    bound = make_bound(lexical={"max_p95_aoa": 12, "max_oov_ratio": 0.05})
    rows = [{"p95_aoa": 12.0, "oov_ratio": 0.05}, {"p95_aoa": 12.5}, {"oov_ratio": 0.06}, {"p95_aoa": float("nan")}]
    verdicts = judge_stage("lexical", make_signals(rows), bound)
    assert verdicts.dtype == np.int8
    assert verdicts.tolist() == [1, 0, 0, 0]


def test_a_stage_is_unknown_with_minus_1_where_its_signal_was_not_measured() -> None:
    rows = [{"encoder": [0.5, 0.5, 0.0, 0.0]}, {"encoder": [0.4, 0.6, 0.0, 0.0]}, {}]
    verdicts = judge_stage("encoder", make_signals(rows), make_bound(encoder={"min_k5_window": 0.5}))
    assert verdicts.dtype == np.int8
    assert verdicts.tolist() == [1, 0, -1]
    grades = [{"grades": {"document": [0.7, 0.3, 0.0, 0.0]}}, {"grades": {"document": [0.2, 0.8, 0.0, 0.0]}}]
    bound = make_bound(fasttext={"min_k5_document": 0.5, "min_k5_window": 0.5})
    assert judge_stage("fasttext", make_signals(grades, ("document",)), bound).tolist() == [-1, 0]


def test_the_codes_of_decisions() -> None:
    assert (KEEP, EXCLUDE, UNDECIDED) == (1, 0, -1)

"""Scores on tables small enough to count by hand."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from curation.errors import TrainingError
from curation.training.evaluate import Ratio, choose_threshold, count_confusions, score_by_source, score_keep


def test_a_ratio_has_its_wilson_interval() -> None:
    low, high = Ratio(8, 10).interval
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)
    assert Ratio(0, 20).interval[0] == 0.0
    assert round(Ratio(0, 20).interval[1], 4) == 0.1611
    assert str(Ratio(8, 10)) == "80.0% (49.0%-94.3%) 8/10"


def test_a_ratio_of_nothing_is_not_zero() -> None:
    assert math.isnan(Ratio(0, 0).value)
    assert str(Ratio(0, 0)) == "none"


def test_kept_and_purity_are_counted_by_source() -> None:
    table = pa.table({"source": ["a", "a", "b", "b", "b"], "band": ["K5", "K8", "K5", "K5", "OOS"]})
    scores = score_by_source(table, np.array([True, True, False, True, False]))
    assert list(scores) == ["a", "b", "total"]
    assert scores["a"] == score_keep(["K5", "K8"], np.array([True, True]))
    assert (scores["a"].k5_kept, scores["a"].beyond_kept, scores["a"].purity) == (Ratio(1, 1), Ratio(1, 1), Ratio(1, 2))
    assert (scores["b"].k5_kept, scores["b"].beyond_kept, scores["b"].purity) == (Ratio(1, 2), Ratio(0, 1), Ratio(1, 1))
    assert scores["total"].k5_kept == Ratio(2, 3)


def test_confusions_leave_out_what_was_not_measured() -> None:
    probabilities = np.array([[0.9, 0.1, 0, 0], [0.2, 0.1, 0.7, 0], [np.nan] * 4], dtype=np.float32)
    matrix = count_confusions(["K5", "K8", "OOS"], probabilities)
    assert matrix.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(("leak", "kept_beyond"), [(0.0, 0), (0.25, 1), (0.3, 1), (0.5, 2), (1.0, 4)])
def test_a_threshold_never_leaks_more_than_stated(leak: float, kept_beyond: int) -> None:
    bands = ["K5", "K8", "K12", "OOS", "K8"]
    scores = np.array([0.5, 0.9, 0.4, 0.2, np.nan])
    threshold = choose_threshold(bands, scores, max_leak_ratio=leak)
    beyond = np.nan_to_num(scores[1:], nan=0.0)
    assert int((beyond >= threshold).sum()) == kept_beyond


def test_equal_scores_are_kept_or_left_together() -> None:
    threshold = choose_threshold(["K8"] * 4, np.array([0.7, 0.7, 0.7, 0.1]), max_leak_ratio=0.25)
    assert 0.7 < threshold < 0.7001


def test_a_leak_needs_documents_that_could_leak() -> None:
    with pytest.raises(TrainingError, match="there are none"):
        choose_threshold(["K5"], np.array([0.5]), max_leak_ratio=0.1)

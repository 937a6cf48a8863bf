"""Curves of graders counted by hand: bins, ties, the rows that are in none, and the profile's minimum."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from unit.training.evaluation_cases import Case, make_profile, run

from curation.training.evaluate import Ratio
from curation.training.grader_curves import BinOfRows, GraderCurve, KeepPoint, trace_grader, trace_graders


def trace(rows: list[tuple[float, bool]], minimum: float | None = None) -> GraderCurve:
    scores = np.array([score for score, _ in rows], np.float32)
    return trace_grader("encoder", ("mine",), np.array([is_k5 for _, is_k5 in rows]), scores, minimum)


def test_points_are_at_each_distinct_score_of_a_k5_row() -> None:
    curve = trace(
        [(0.25, True), (0.75, True), (0.5, False), (0.75, False), (0.25, False), (0.75, True), (0.125, False)]
    )
    assert curve.prevalence == Ratio(3, 7)
    assert curve.points == (KeepPoint(0.75, Ratio(2, 3), Ratio(2, 3)), KeepPoint(0.25, Ratio(3, 6), Ratio(3, 3)))
    assert curve.shipped is None


@pytest.mark.parametrize(
    ("minimum", "purity", "recall"),
    [(0.0, Ratio(1, 3), Ratio(1, 1)), (0.2, Ratio(1, 2), Ratio(1, 1)), (0.21, Ratio(0, 1), Ratio(0, 1)), (1.0, Ratio(0, 0), Ratio(0, 1))],
)  # fmt: skip
def test_the_minimum_keeps_what_equals_it_in_single_precision(minimum: float, purity: Ratio, recall: Ratio) -> None:
    curve = trace([(0.1, False), (0.2, True), (0.9, False)], minimum)
    assert curve.shipped == KeepPoint(minimum, purity, recall)


def test_bins_hold_equal_counts_in_the_order_of_scores() -> None:
    # 25 rows in a mixed order: K5 from the eleventh score on.
    order = [(7 * number) % 25 for number in range(25)]
    curve = trace([(number / 32, number >= 10) for number in order])
    assert [b.k5_share for b in curve.bins] == [Ratio(0, 2), Ratio(0, 3)] * 2 + [Ratio(2, 2), Ratio(3, 3)] * 3
    assert [b.mean for b in curve.bins[:3]] == [0.5 / 32, 3 / 32, 5.5 / 32]
    assert curve.bins == trace([(number / 32, number >= 10) for number in sorted(order)]).bins


def test_equal_scores_share_a_bin_whatever_their_order() -> None:
    rows = [(0.5, True)] * 4 + [(0.5, False)] * 14 + [(0.75, True), (0.25, False)]
    bins = (BinOfRows(0.25 * 1 / 19 + 0.5 * 18 / 19, Ratio(4, 19)), BinOfRows(0.75, Ratio(1, 1)))
    for curve in (trace(rows), trace(rows[::-1])):
        assert [(b.mean, b.k5_share) for b in curve.bins] == [(pytest.approx(b.mean), b.k5_share) for b in bins]
    assert trace([(0.5, True)]).bins == (BinOfRows(0.5, Ratio(1, 1)),)


def test_without_k5_there_are_bins_and_no_points() -> None:
    curve = trace([(0.5, False), (0.75, False)], 0.5)
    assert curve.points == ()
    assert curve.bins == (BinOfRows(0.5, Ratio(0, 1)), BinOfRows(0.75, Ratio(0, 1)))
    assert curve.shipped == KeepPoint(0.5, Ratio(0, 2), Ratio(0, 0))


CASES = (
    Case("one", encoder=0.75, fasttext=(0.0, 0.5)),
    Case("two", "K8", "web_read", encoder=0.875, fasttext=(0.0, 0.25)),
    Case("three", source="paired_web", encoder=0.25, fasttext=(0.0, 0.125)),
    Case("four", source="mine"),
    Case("five", "K12", "labelled_web", encoder=None, fasttext=(0.0, 0.375)),
)


def test_curves_are_of_held_out_readings_in_the_hardest_window_by_kind_of_source(tmp_path: Path) -> None:
    evaluation = run(tmp_path, CASES, live_count=1)
    assert evaluation.counts["labelled_web"].live == 1
    web, paired = ("labelled_web", "web_read"), ("paired", "paired_web")
    none, whole = Ratio(0, 1), Ratio(1, 1)
    kept = KeepPoint(0.75, Ratio(1, 2), whole)
    assert trace_graders(evaluation) == (
        GraderCurve(
            "encoder",
            web,
            Ratio(1, 2),
            (BinOfRows(0.75, whole), BinOfRows(0.875, none)),
            (kept,),
            KeepPoint(0.7, Ratio(1, 2), whole),
        ),
        GraderCurve(
            "fasttext",
            web,
            Ratio(1, 3),
            (BinOfRows(0.25, none), BinOfRows(0.375, none), BinOfRows(0.5, whole)),
            (KeepPoint(0.5, whole, whole),),
            KeepPoint(0.4, whole, whole),
        ),
        GraderCurve(
            "encoder",
            paired,
            whole,
            (BinOfRows(0.25, whole),),
            (KeepPoint(0.25, whole, whole),),
            KeepPoint(0.7, Ratio(0, 0), none),
        ),
        GraderCurve(
            "fasttext",
            paired,
            whole,
            (BinOfRows(0.125, whole),),
            (KeepPoint(0.125, whole, whole),),
            KeepPoint(0.4, Ratio(0, 0), none),
        ),
    )
    encoder = evaluation.signals.encoder.copy()
    encoder[0] = np.nan
    unread = dataclasses.replace(evaluation, signals=dataclasses.replace(evaluation.signals, encoder=encoder))
    first = trace_graders(unread)[0]
    assert (first.grader, first.prevalence, first.points) == ("encoder", none, ())


def test_a_grader_that_takes_no_part_has_no_curve_and_one_without_a_minimum_no_mark(tmp_path: Path) -> None:
    evaluation = run(tmp_path, CASES[:4], make_profile(encoder=None, fasttext={"min_k5_document": 0.5}))
    curves = trace_graders(evaluation)
    assert [(curve.grader, curve.shipped) for curve in curves] == [("fasttext", None)] * 2

"""The funnel against a plain recount of the same rows, and the sums that must hold whatever was decided."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_rows import make_bound, make_signals

from curation.decide import KEEP, Decisions, decide, name_reasons
from curation.funnel import CHEAP_FIRST, Funnel
from curation.profile import BoundProfile
from curation.stages import STAGES

ALL_STAGES = make_bound(
    lexical={"max_p95_aoa": 12, "max_oov_ratio": 0.05},
    fasttext={"top_band": "document"},
    encoder={"min_k5_window": 0.5},
    notation={"rules": "published"},
    vocabulary={"mode": "block", "min_score": 4},
)
WITHOUT_ENCODER = BoundProfile(ALL_STAGES.profile, {}, ("encoder",))
K5, K12 = [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "p95_aoa": st.sampled_from([8.0, 13.0]),
            "grades": st.fixed_dictionaries({"document": st.sampled_from([K5, K5, K12])}),
            "rule_hits": st.sampled_from([0, 0, 1]),
            "term_count": st.sampled_from([0, 0, 2]),
            "error": st.sampled_from([False] * 5 + [True]),
            "tokens": st.integers(0, 1 << 40),
        },
        optional={"encoder": st.sampled_from([K5, K12])},
    ),
    max_size=25,
)
RULINGS = st.dictionaries(st.integers(0, 24), st.booleans(), max_size=6)
DETERMINISTIC = settings(derandomize=True, max_examples=150, database=None)


def decide_rows(
    rows: list[dict[str, Any]], rulings: dict[int, bool] | None = None, bound: BoundProfile = ALL_STAGES
) -> tuple[Decisions, np.ndarray]:
    tokens = np.array([0 if row.get("error") else row.get("tokens", 10) for row in rows], np.int64)
    return decide(make_signals(rows, ("document",)), bound, rulings), tokens


def count_rows(rows: list[dict[str, Any]], rulings: dict[int, bool] | None = None) -> Funnel:
    funnel = Funnel(ALL_STAGES.stages)
    funnel.add(*decide_rows(rows, rulings))
    return funnel


def test_a_small_funnel() -> None:
    rows: list[dict[str, Any]] = [
        {"tokens": 1, "grades": {"document": K5}, "encoder": K5},
        {"tokens": 2, "grades": {"document": K5}},
        {"tokens": 4, "grades": {"document": K12}, "rule_hits": 1},
        {"tokens": 8, "grades": {"document": K5}, "rule_hits": 1},
        {"tokens": 16, "grades": {"document": K5}, "p95_aoa": 13.0, "encoder": K12},
        {"error": True},
        {"tokens": 32, "grades": {"document": K5}, "encoder": K5},
        {"tokens": 64, "grades": {"document": K12}},
    ]
    funnel = count_rows(rows, {6: False, 7: True})
    assert funnel.report() == {
        "documents": {"kept": 2, "excluded": 4, "undecided": 1, "error": 1},
        "tokens": {"kept": 65, "excluded": 60, "undecided": 2, "error": 0},
        "published_order": [
            {"stage": "lexical", "excluded": 1, "excluded_tokens": 16, "left": 6, "left_tokens": 111},
            {"stage": "fasttext", "excluded": 1, "excluded_tokens": 4, "left": 5, "left_tokens": 107},
            {"stage": "encoder", "excluded": 0, "excluded_tokens": 0, "left": 5, "left_tokens": 107},
            {"stage": "notation", "excluded": 1, "excluded_tokens": 8, "left": 4, "left_tokens": 99},
            {"stage": "vocabulary", "excluded": 0, "excluded_tokens": 0, "left": 4, "left_tokens": 99},
            {"stage": "override", "excluded": 1, "excluded_tokens": 32, "left": 3, "left_tokens": 67},
        ],
        "cheap_first_order": [
            {"stage": "lexical", "excluded": 1, "excluded_tokens": 16, "left": 6, "left_tokens": 111},
            {"stage": "notation", "excluded": 2, "excluded_tokens": 12, "left": 4, "left_tokens": 99},
            {"stage": "vocabulary", "excluded": 0, "excluded_tokens": 0, "left": 4, "left_tokens": 99},
            {"stage": "fasttext", "excluded": 0, "excluded_tokens": 0, "left": 4, "left_tokens": 99},
            {"stage": "encoder", "excluded": 0, "excluded_tokens": 0, "left": 4, "left_tokens": 99},
            {"stage": "override", "excluded": 1, "excluded_tokens": 32, "left": 3, "left_tokens": 67},
        ],
        "sole_causes": {"error": {"documents": 1, "tokens": 0}, "override": {"documents": 1, "tokens": 32}},
        "possible_sole_causes": {"notation": {"documents": 1, "tokens": 8}},
        "undecided_for": {"encoder": 1},
    }


def test_nothing_counted() -> None:
    empty = Funnel(WITHOUT_ENCODER.stages)
    empty.add(*decide_rows([], bound=WITHOUT_ENCODER))
    assert empty.document_count == 0
    assert empty.outcomes == {}
    assert [step["stage"] for step in empty.steps(STAGES)] == ["lexical", "fasttext", "notation", "vocabulary"]
    assert {step["left"] for step in empty.steps(CHEAP_FIRST)} == {0}
    assert empty.sole_causes() == empty.possible_sole_causes() == empty.undecided_for() == {}


def test_a_stage_that_does_not_take_part_is_no_step() -> None:
    funnel = Funnel(WITHOUT_ENCODER.stages)
    funnel.add(*decide_rows([{"grades": {"document": K5}}], bound=WITHOUT_ENCODER))
    assert [step["stage"] for step in funnel.steps(CHEAP_FIRST)] == ["lexical", "notation", "vocabulary", "fasttext"]
    assert funnel.documents == {"kept": 1, "excluded": 0, "undecided": 0, "error": 0}


@given(ROWS, RULINGS)
@DETERMINISTIC
def test_sums_hold(rows: list[dict[str, Any]], rulings: dict[int, bool]) -> None:
    funnel = count_rows(rows, rulings)
    assert sum(funnel.documents.values()) == funnel.document_count == len(rows)
    assert sum(funnel.tokens.values()) == sum(row["tokens"] for row in rows if not row["error"])
    for order in (STAGES, CHEAP_FIRST):
        steps = funnel.steps(order)
        assert sum(int(step["excluded"]) for step in steps) == funnel.documents["excluded"]
        assert sum(int(step["excluded_tokens"]) for step in steps) == funnel.tokens["excluded"]
        assert steps[-1]["left"] == funnel.documents["kept"] + funnel.documents["undecided"]
        assert steps[-1]["left_tokens"] == funnel.tokens["kept"] + funnel.tokens["undecided"]
        left = [int(step["left"]) for step in steps]
        assert left == sorted(left, reverse=True)


@given(ROWS, RULINGS)
@DETERMINISTIC
def test_equals_a_plain_recount(rows: list[dict[str, Any]], rulings: dict[int, bool]) -> None:
    decisions, tokens = decide_rows(rows, rulings)
    funnel = Funnel(ALL_STAGES.stages)
    funnel.add(decisions, tokens)
    read = [
        (name_reasons(int(failed)), name_reasons(int(unknown)), int(kept), int(count))
        for failed, unknown, kept, count in zip(
            decisions.failed, decisions.unknown, decisions.kept, tokens, strict=True
        )
    ]
    excluded = [(failed, count) for failed, _, kept, count in read if kept == 0 and failed != ["error"]]
    assert funnel.documents["excluded"] == len(excluded)
    assert funnel.documents["error"] == sum(row["error"] for row in rows)
    for order in (STAGES, CHEAP_FIRST):
        first = Counter(next(reason for reason in (*order, "override") if reason in failed) for failed, _ in excluded)
        assert {step["stage"]: step["excluded"] for step in funnel.steps(order) if step["excluded"]} == first
    sole = Counter(failed[0] for failed, _, kept, _ in read if kept == 0 and len(failed) == 1)
    is_measured = ["encoder" in row or row["error"] for row in rows]
    certain = Counter(
        failed[0]
        for (failed, _, kept, _), is_certain in zip(read, is_measured, strict=True)
        if kept == 0 and len(failed) == 1 and is_certain
    )
    assert {reason: entry["documents"] for reason, entry in funnel.sole_causes().items()} == certain
    possible = {reason: entry["documents"] for reason, entry in funnel.possible_sole_causes().items()}
    assert possible == sole - certain
    several = sum(len(failed) > 1 for failed, _ in excluded)
    assert sum(sole.values()) - sole["error"] + several == funnel.documents["excluded"]
    missing = Counter(stage for _, unknown, kept, _ in read if kept == -1 for stage in unknown)
    assert funnel.undecided_for() == missing
    # Exact where reasons meet: the outcomes hold every combination.
    together = Counter((tuple(failed), kept) for failed, _, kept, _ in read)
    counted: Counter[tuple[tuple[str, ...], int]] = Counter()
    for (failed, _, kept), (documents, _) in funnel.outcomes.items():
        counted[tuple(name_reasons(failed)), kept] += documents
    assert counted == together


@given(ROWS, RULINGS, st.integers(0, 25), st.integers(0, 25))
@DETERMINISTIC
def test_parts_add_up_in_any_order(rows: list[dict[str, Any]], rulings: dict[int, bool], one: int, two: int) -> None:
    whole = count_rows(rows, rulings)
    decisions, tokens = decide_rows(rows, rulings)
    first, second = sorted((one, two))
    bounds = [slice(0, first), slice(first, second), slice(second, None)]
    parts = []
    for piece in bounds:
        part = Funnel(ALL_STAGES.stages)
        part.add(
            Decisions(
                decisions.kept[piece],
                decisions.failed[piece],
                decisions.unknown[piece],
                decisions.decided_by[piece],
                decisions.missing[piece],
            ),
            tokens[piece],
        )
        parts.append(part)
    for order in permutations(parts):
        merged = Funnel(ALL_STAGES.stages)
        for part in order:
            merged.merge(part)
        assert merged == whole
    left, right = Funnel(ALL_STAGES.stages), Funnel(ALL_STAGES.stages)
    right.merge(parts[1])
    right.merge(parts[2])
    left.merge(parts[0])
    left.merge(right)
    assert left == whole


def test_merging_leaves_the_other_funnel_alone() -> None:
    other = count_rows([{"rule_hits": 1, "grades": {"document": K5}}])
    before = other.report()
    total = Funnel(ALL_STAGES.stages)
    total.merge(other)
    total.merge(other)
    assert other.report() == before
    assert total.documents["excluded"] == 2


@pytest.mark.parametrize("keep", [True, False])
def test_a_ruling_moves_a_document_between_outcomes_and_no_further(keep: bool) -> None:
    rows = [{"rule_hits": hits, "grades": {"document": K5}, "encoder": K5, "tokens": 5} for hits in (0, 1)]
    funnel = count_rows(rows, {0: keep, 1: keep})
    assert funnel.documents == {"kept": 2 * keep, "excluded": 2 * (not keep), "undecided": 0, "error": 0}
    assert funnel.tokens == {"kept": 10 * keep, "excluded": 10 * (not keep), "undecided": 0, "error": 0}
    decisions, _ = decide_rows(rows, {0: keep, 1: keep})
    assert ((decisions.kept == KEEP) == keep).all()

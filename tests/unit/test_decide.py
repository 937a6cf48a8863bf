"""The decision on single rows (tests/cases/decide.yaml), on many, and what sampling and overrides promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from signal_rows import make_bound, make_signals

from curation.chance import draw_row_fractions
from curation.decide import EXCLUDE, KEEP, REASONS, UNDECIDED, decide, judge_stage, name_reasons
from curation.overrides import Overrides, Ruling

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent.parent / "cases" / "decide.yaml").read_text(encoding="utf-8")
)
DECISIONS = {KEEP: "keep", EXCLUDE: "exclude", UNDECIDED: "undecided"}
NOTHING = {"decided_by": None, "excluded_by": [], "undecided_for": []}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    row = case["signals"]
    signals = make_signals([row], tuple(row.get("grades", {})))
    override = case.get("override")
    rulings = {row.get("row", 0): override == "keep"} if override else None
    decisions = decide(signals, make_bound(**case["profile"]), rulings)
    by = int(decisions.decided_by[0])
    found = {
        "decision": DECISIONS[int(decisions.kept[0])],
        "decided_by": None if by < 0 else REASONS[by],
        "excluded_by": name_reasons(int(decisions.failed[0])),
        "undecided_for": name_reasons(int(decisions.unknown[0])),
    }
    assert found == NOTHING | case["expect"]


def test_case_names_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names)) == 50


def test_codes_stand_in_published_order() -> None:
    assert REASONS == ("lexical", "fasttext", "encoder", "notation", "vocabulary", "error", "override", "source_rule")


def test_no_rows() -> None:
    bound = make_bound(
        lexical={"max_p95_aoa": 12, "max_oov_ratio": 0.05},
        fasttext={"top_band": "document"},
        encoder={"min_k5_window": 0.5},
        notation={"rules": "published"},
        vocabulary={"mode": "sample", "min_score": 4, "sampling": {"halving": 1, "seed": 1}},
    )
    decisions = decide(make_signals([], ("document",)), bound, {3: True})
    assert len(decisions) == 0
    assert [len(part) for part in (decisions.kept, decisions.failed, decisions.unknown, decisions.decided_by)] == [
        0
    ] * 4


def test_a_stage_left_out_of_the_binding_decides_nothing() -> None:
    bound = make_bound(fasttext={"top_band": "document"}, notation={"rules": "published"})
    without = type(bound)(bound.profile, {}, ("fasttext",))
    rows = [{"rule_hits": 0}, {"rule_hits": 1}]
    assert decide(make_signals(rows), without).kept.tolist() == [KEEP, EXCLUDE]
    assert decide(make_signals(rows), bound).kept.tolist() == [UNDECIDED, EXCLUDE]


def test_a_stage_that_the_profile_lacks_cannot_be_judged() -> None:
    with pytest.raises(ValueError, match="profile test has no stage encoder"):
        judge_stage("encoder", make_signals([{}]), make_bound(notation={"rules": "published"}))


def test_overrides_touch_only_their_rows_of_the_slice() -> None:
    bound = make_bound(notation={"rules": "published"})
    rows = [{"row": row, "rule_hits": row % 2} for row in range(100, 106)]
    # 99 and 106 stand just outside of the slice, 10**9 far beyond it.
    rulings = {99: False, 101: True, 104: False, 106: True, 10**9: False}
    decisions = decide(make_signals(rows), bound, rulings)
    assert decisions.kept.tolist() == [KEEP, KEEP, KEEP, EXCLUDE, EXCLUDE, EXCLUDE]
    assert [row for row, by in zip(rows, decisions.decided_by, strict=True) if by == REASONS.index("override")] == [
        rows[1],
        rows[4],
    ]


def test_an_undone_override_leaves_the_decision_as_it_was() -> None:
    bound = make_bound(notation={"rules": "published"})
    signals = make_signals([{"rule_hits": 1}, {}])
    entries = [(0, "keep"), (1, "exclude"), (0, "undo"), (1, "undo")]
    rulings = tuple(Ruling(shard="s", row=row, action=action) for row, action in entries)  # type: ignore[arg-type]
    undone = Overrides(rulings, "0" * 64).of_shard("b" * 64, "s")
    assert undone == {}
    assert decide(signals, bound, undone).kept.tolist() == [EXCLUDE, KEEP]
    in_force = Overrides(rulings[:2], "0" * 64).of_shard("b" * 64, "s")
    assert decide(signals, bound, in_force).kept.tolist() == [KEEP, EXCLUDE]


def test_what_is_missing_is_told_whatever_decides() -> None:
    bound = make_bound(
        fasttext={"top_band": "document"}, encoder={"min_k5_window": 0.5}, notation={"rules": "published"}
    )
    scored = {"encoder": [1, 0, 0, 0]}
    rows: list[dict[str, Any]] = [{}, {"rule_hits": 1}, {"rule_hits": 1, **scored}, {}, {"error": True}]
    decisions = decide(make_signals(rows), bound, {3: True})
    missing = [name_reasons(bits) for bits in decisions.missing.tolist()]
    assert missing == [["fasttext", "encoder"], ["fasttext", "encoder"], ["fasttext"], ["fasttext", "encoder"], []]
    unknown = [name_reasons(bits) for bits in decisions.unknown.tolist()]
    assert unknown == [["fasttext", "encoder"], [], [], [], []]


@pytest.mark.parametrize(
    ("grades", "top", "at_least_half"),
    [
        ([0.5, 0.25, 0.25, 0.0], KEEP, KEEP),
        ([0.4, 0.3, 0.2, 0.1], KEEP, EXCLUDE),
        ([0.5, 0.5, 0.0, 0.0], KEEP, KEEP),
        ([0.0, 1.0, 0.0, 0.0], EXCLUDE, EXCLUDE),
        ([float("nan")] * 4, EXCLUDE, EXCLUDE),
    ],
)
def test_the_encoder_stage_by_likeliest_band_and_by_minimum(grades: list[float], top: int, at_least_half: int) -> None:
    signals = make_signals([{"encoder": grades}])
    assert decide(signals, make_bound(encoder={"top_band": "published"})).kept.tolist() == [top]
    assert decide(signals, make_bound(encoder={"min_k5_window": 0.5})).kept.tolist() == [at_least_half]
    both = make_bound(encoder={"top_band": "window", "min_k5_window": 0.5})
    assert decide(signals, both).kept.tolist() == [at_least_half]


def test_deciding_changes_no_signal_and_repeats() -> None:
    bound = make_bound(lexical={"max_p95_aoa": 12, "max_oov_ratio": 0.05}, encoder={"min_k5_window": 0.5})
    signals = make_signals([{"p95_aoa": 13.0}, {"encoder": [1, 0, 0, 0]}, {}])
    before = signals.p95_aoa.copy(), signals.encoder.copy(), signals.is_encoded.copy()
    first = decide(signals, bound, {0: True, 2: False})
    second = decide(signals, bound)
    assert first.kept.tolist() == [KEEP, KEEP, EXCLUDE]
    assert second.kept.tolist() == [EXCLUDE, KEEP, UNDECIDED]
    for old, new in zip(before, (signals.p95_aoa, signals.encoder, signals.is_encoded), strict=True):
        assert np.array_equal(old, new, equal_nan=True)


# How many of 20,000 rows sampling keeps, by halvings above the threshold; exact, because chance is a pure function.
KEPT_OF_20000 = {0.0: 20_000, 1.0: 10_045, 2.0: 4_912, 4.0: 1_302}


@pytest.mark.parametrize(("halvings", "kept_count"), KEPT_OF_20000.items())
def test_sampling_keeps_its_share(halvings: float, kept_count: int) -> None:
    bound = make_bound(vocabulary={"mode": "sample", "min_score": 4.0, "sampling": {"halving": 1.5, "seed": 7}})
    signals = make_signals([{"term_count": 1, "max_score": 4.0 + 1.5 * halvings}] * 20_000)
    kept = int((decide(signals, bound).kept == KEEP).sum())
    assert kept == kept_count
    share = 0.5**halvings
    assert abs(kept - 20_000 * share) <= 4 * (20_000 * share * (1 - share)) ** 0.5


def test_sampling_depends_on_shard_row_and_seed_alone() -> None:
    def keep(rows: range, seed: int = 7, shard: str = "a" * 64) -> list[bool]:
        bound = make_bound(vocabulary={"mode": "sample", "min_score": 4.0, "sampling": {"halving": 1.0, "seed": seed}})
        hits = [{"row": row, "term_count": 1, "max_score": 5.0} for row in rows]
        return (decide(make_signals(hits, shard_sha256=shard), bound).kept == KEEP).tolist()  # type: ignore[no-any-return]

    whole = keep(range(1000))
    for size in (1, 7, 333, 999):
        slices = [range(start, min(start + size, 1000)) for start in range(0, 1000, size)]
        # From the last slice to the first: the order in which slices are decided does not matter.
        decided = {piece.start: keep(piece) for piece in reversed(slices)}
        assert [kept for piece in slices for kept in decided[piece.start]] == whole
    assert keep(range(1000), seed=8) != whole
    assert keep(range(1000), shard="b" * 64) != whole


def test_a_stricter_threshold_of_sampling_only_takes_away() -> None:
    kept = []
    for halving in (8.0, 4.0, 2.0, 1.0):
        bound = make_bound(vocabulary={"mode": "sample", "min_score": 4.0, "sampling": {"halving": halving, "seed": 7}})
        hits = [{"term_count": 1, "max_score": 6.0}] * 1000
        kept.append(set(np.flatnonzero(decide(make_signals(hits), bound).kept == KEEP).tolist()))
    assert kept[3] < kept[2] < kept[1] < kept[0]


def test_sampling_is_apart_from_other_draws_of_the_same_seed() -> None:
    rows = np.arange(1000)
    bound = make_bound(vocabulary={"mode": "sample", "min_score": 4.0, "sampling": {"halving": 1.0, "seed": 7}})
    signals = make_signals([{"term_count": 1, "max_score": 5.0}] * 1000)
    kept = decide(signals, bound).kept == KEEP
    assert np.array_equal(kept, draw_row_fractions("a" * 64, rows, 7, "vocabulary") < 0.5)
    assert not np.array_equal(kept, draw_row_fractions("a" * 64, rows, 7, "control") < 0.5)

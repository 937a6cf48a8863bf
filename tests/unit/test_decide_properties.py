"""Properties of the decision: equal to a plain row-by-row one, sound where signals are missing, blind to slicing.

The plain one below is written from docs/ledger.md and the docstrings of the stages, with no array in it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from signal_rows import SHARD, make_bound, make_signals

from curation.chance import draw_row_fractions
from curation.decide import EXCLUDE, KEEP, UNDECIDED, Decisions, Signals, decide, name_reasons
from curation.lexicon.vocabulary import VocabularyTable, VocabularyVersion
from curation.profile import BoundProfile
from curation.stages import STAGES

DETERMINISTIC = settings(
    derandomize=True,
    max_examples=120,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
READINGS = ("published", "document", "window")

# Few distinct values, so that measured ones often stand exactly at a threshold.
AGES = [3.0, 9.5, 12.0, 12.000000000000002, 15.0]
SHARES = [0.0, 0.05, 0.05000000000000001, 0.5, 1.0]
CHANCES = [0.0, 0.1, 0.5, 0.7, 0.9, 1.0]
SCORES = [-2.0, 3.0, 4.0, 5.5, 9.0, math.inf]
WORDS = ["atom", "enzyme", "river", "sonnet", "treaty", "vector"]


def nan_or(values: list[float]) -> st.SearchStrategy[float]:
    return st.sampled_from([*values, math.nan])


def grades() -> st.SearchStrategy[list[float]]:
    return st.one_of(st.just([math.nan] * 4), st.lists(st.sampled_from(CHANCES), min_size=4, max_size=4))


@st.composite
def stage_sets(draw: st.DrawFn) -> dict[str, Any]:
    """At least one stage of a profile, as YAML would give it."""
    conditions = st.fixed_dictionaries(
        {},
        optional={
            "top_band": st.sampled_from(READINGS),
            "min_k5_document": st.sampled_from(CHANCES),
            "min_k5_window": st.sampled_from(CHANCES),
        },
    )
    blocking = {"mode": st.just("block")}
    sampling = {
        "mode": st.just("sample"),
        "sampling": st.fixed_dictionaries({"halving": st.sampled_from([0.5, 1.0, 3.0]), "seed": st.integers(-5, 5)}),
    }
    common = {"min_score": st.sampled_from([3.0, 4.0, 5.5]), "max_terms": st.integers(0, 3)}
    excuse = {"max_terms_per_1000": st.sampled_from([0.0, 1.5, 20.0])}
    stages = {
        "lexical": st.fixed_dictionaries(
            {"max_p95_aoa": st.sampled_from(AGES), "max_oov_ratio": st.sampled_from(SHARES)}
        ),
        "fasttext": conditions.filter(bool),
        "encoder": st.fixed_dictionaries({"min_k5_window": st.sampled_from(CHANCES)}),
        "notation": st.fixed_dictionaries({"rules": st.sampled_from(["published", "recommended"])}),
        "vocabulary": st.one_of(
            st.fixed_dictionaries(common | blocking, optional=excuse),
            st.fixed_dictionaries(common | sampling, optional=excuse),
        ),
    }
    return draw(st.fixed_dictionaries({}, optional=stages).filter(bool))


def measured_rows() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows with gaps: grades the model could not read, rows not encoded, errors. `words` are the text's."""
    row = st.fixed_dictionaries(
        {
            "p95_aoa": nan_or(AGES),
            "oov_ratio": nan_or(SHARES),
            "token_count": st.sampled_from([0, 1, 100, 2000, 1999]),
            "rule_hits": st.sampled_from([0, 0, 1, 3]),
            "words": st.sets(st.sampled_from(WORDS)),
            "grades": st.fixed_dictionaries({reading: grades() for reading in READINGS}),
            "error": st.sampled_from([False] * 7 + [True]),
        },
        optional={"encoder": grades()},
    )
    return st.lists(row, min_size=1, max_size=12)


@st.composite
def vocabularies(draw: st.DrawFn) -> tuple[VocabularyTable, VocabularyVersion]:
    table = draw(st.dictionaries(st.sampled_from(WORDS), st.sampled_from(SCORES)))
    rulings = draw(st.dictionaries(st.sampled_from(WORDS), st.sampled_from(["allow", "block"])))
    allow = [word for word, ruling in rulings.items() if ruling == "allow"]
    block = [word for word, ruling in rulings.items() if ruling == "block"]
    return VocabularyTable(table, "0" * 64), VocabularyVersion(name="v", version=1, allow=allow, block=block)  # type: ignore[arg-type]


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """Everything a decision takes: rows with their words, what was measured, a profile, a vocabulary, rulings."""
    rows = draw(measured_rows())
    first = draw(st.sampled_from([0, 3, 500]))
    readings = draw(st.sets(st.sampled_from(READINGS)))
    table, version = draw(vocabularies())
    stages = draw(stage_sets())
    rulings = draw(st.dictionaries(st.integers(max(first - 2, 0), first + 14), st.booleans(), max_size=5))
    for place, row in enumerate(rows):
        row["row"] = first + place
    return {
        "rows": rows,
        "readings": sorted(readings),
        "table": table,
        "version": version,
        "stages": stages,
        "rulings": rulings,
    }


def build(world: dict[str, Any]) -> tuple[Signals, BoundProfile]:
    bound = make_bound(**world["stages"])
    stage = bound.profile.vocabulary
    scores = world["version"].score_words(world["table"], stage.min_score) if stage else {}
    rows = []
    for row in world["rows"]:
        hits = [scores[word] for word in row["words"] if word in scores]
        rows.append({**row, "term_count": len(hits), "max_score": max(hits, default=-math.inf)})
    return make_signals(rows, world["readings"]), bound


def decide_plainly(world: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """One row, one stage after the other."""
    verdicts = {}
    stages = world["stages"]
    if "lexical" in stages:
        bounds = stages["lexical"]
        is_old = math.isnan(row["p95_aoa"]) or row["p95_aoa"] > bounds["max_p95_aoa"]
        is_unknown = math.isnan(row["oov_ratio"]) or row["oov_ratio"] > bounds["max_oov_ratio"]
        verdicts["lexical"] = "fail" if is_old or is_unknown else "pass"
    if "fasttext" in stages:
        found = []
        for key, wanted in stages["fasttext"].items():
            reading = wanted if key == "top_band" else key.removeprefix("min_k5_")
            if reading not in world["readings"]:
                found.append("unknown")
                continue
            k5, *others = row["grades"][reading]
            if math.isnan(k5):
                found.append("fail")
            elif key == "top_band":
                found.append("pass" if all(k5 >= other for other in others) else "fail")
            else:
                found.append("pass" if k5 >= wanted else "fail")
        verdicts["fasttext"] = next(verdict for verdict in ("fail", "unknown", "pass") if verdict in found)
    if "encoder" in stages:
        if "encoder" not in row:
            verdicts["encoder"] = "unknown"
        else:
            verdicts["encoder"] = "pass" if row["encoder"][0] >= stages["encoder"]["min_k5_window"] else "fail"
    if "notation" in stages:
        verdicts["notation"] = "fail" if row["rule_hits"] > 0 else "pass"
    if "vocabulary" in stages:
        verdicts["vocabulary"] = judge_words_plainly(world, row)

    excluded_by = [stage for stage in STAGES if verdicts.get(stage) == "fail"]
    undecided_for = [stage for stage in STAGES if verdicts.get(stage) == "unknown"]
    ruling = world["rulings"].get(row["row"])
    if row["error"]:
        return {"kept": EXCLUDE, "by": "error", "excluded_by": ["error"], "undecided_for": []}
    if ruling is True:
        return {"kept": KEEP, "by": "override", "excluded_by": excluded_by, "undecided_for": []}
    if ruling is False:
        return {"kept": EXCLUDE, "by": "override", "excluded_by": [*excluded_by, "override"], "undecided_for": []}
    if excluded_by:
        return {"kept": EXCLUDE, "by": excluded_by[0], "excluded_by": excluded_by, "undecided_for": []}
    if undecided_for:
        return {"kept": UNDECIDED, "by": None, "excluded_by": [], "undecided_for": undecided_for}
    return {"kept": KEEP, "by": None, "excluded_by": [], "undecided_for": []}


def judge_words_plainly(world: dict[str, Any], row: dict[str, Any]) -> str:
    stage = world["stages"]["vocabulary"]
    blocked: list[float] = []
    for word in row["words"]:
        if word in world["version"].block:
            blocked.append(math.inf)
        elif word not in world["version"].allow and world["table"].scores.get(word, -math.inf) >= stage["min_score"]:
            blocked.append(world["table"].scores[word])
    if len(blocked) <= stage["max_terms"]:
        return "pass"
    if "max_terms_per_1000" in stage and len(blocked) <= stage["max_terms_per_1000"] * row["token_count"] / 1000:
        return "pass"
    if stage["mode"] == "sample":
        halvings = (max(blocked) - stage["min_score"]) / stage["sampling"]["halving"]
        [fraction] = draw_row_fractions(SHARD, np.array([row["row"]]), stage["sampling"]["seed"], "vocabulary")
        return "pass" if fraction < 2.0**-halvings else "fail"
    return "fail"


def describe(decisions: Decisions, place: int) -> dict[str, Any]:
    by = int(decisions.decided_by[place])
    return {
        "kept": int(decisions.kept[place]),
        "by": None if by < 0 else (*STAGES, "error", "override")[by],
        "excluded_by": name_reasons(int(decisions.failed[place])),
        "undecided_for": name_reasons(int(decisions.unknown[place])),
    }


@given(worlds())
@DETERMINISTIC
def test_equals_a_plain_row_by_row_decision(world: dict[str, Any]) -> None:
    signals, bound = build(world)
    decisions = decide(signals, bound, world["rulings"])
    assert [describe(decisions, place) for place in range(len(decisions))] == [
        decide_plainly(world, row) for row in world["rows"]
    ]


# Each way a missing reading can turn out for a stage: passes every condition, fails some, fails all, cannot be read.
FILLINGS = ([1.0, 0.0, 0.0, 0.0], [0.45, 0.4, 0.1, 0.05], [0.0, 1.0, 0.0, 0.0], [math.nan] * 4)


@given(worlds())
@DETERMINISTIC
def test_certain_decisions_hold_however_the_missing_signals_turn_out(world: dict[str, Any]) -> None:
    """certain kept ⊆ kept once measured ⊆ certain kept ∪ undecided; and what is undecided could go either way."""
    signals, bound = build(world)
    before = decide(signals, bound, world["rulings"])
    n = len(before)
    ever_kept, ever_excluded = np.zeros(n, bool), np.zeros(n, bool)
    missing = [reading for reading in READINGS if reading not in world["readings"]]
    # Rows are independent, so giving every row the same filling in turn tries all of them.
    for encoder, *readings in product(FILLINGS, repeat=1 + len(missing)):
        filled = replace(
            signals,
            encoder=np.where(signals.is_encoded[:, None], signals.encoder, np.array(encoder, np.float32)),
            is_encoded=np.ones(n, bool),
            grades=signals.grades
            | {
                reading: np.tile(np.array(values, np.float32), (n, 1))
                for reading, values in zip(missing, readings, strict=True)
            },
        )
        after = decide(filled, bound, world["rulings"])
        assert not (after.kept == UNDECIDED).any()
        assert not after.unknown.any()
        assert not after.missing.any()
        ever_kept |= after.kept == KEEP
        ever_excluded |= after.kept == EXCLUDE
        # What was known to fail still does: measuring more only adds reasons, and only of stages that were missing.
        assert np.array_equal(after.failed & before.failed, before.failed)
        assert not (after.failed & ~(before.failed | before.missing)).any()
    assert not ever_excluded[before.kept == KEEP].any()
    assert not ever_kept[before.kept == EXCLUDE].any()
    assert ever_kept[before.kept == UNDECIDED].all()
    assert ever_excluded[before.kept == UNDECIDED].all()


@given(worlds(), st.data())
@DETERMINISTIC
def test_slicing_changes_nothing(world: dict[str, Any], data: st.DataObject) -> None:
    signals, bound = build(world)
    whole = decide(signals, bound, world["rulings"])
    cut = data.draw(st.integers(0, len(whole)))
    parts = []
    for piece in (slice(cut, None), slice(None, cut)):
        part = {**world, "rows": world["rows"][piece]}
        cut_signals, _ = build(part)
        parts.insert(0, decide(cut_signals, bound, world["rulings"]))
    for name in ("kept", "failed", "unknown", "decided_by"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert np.array_equal(joined, getattr(whole, name)), name


@given(worlds(), st.data())
@DETERMINISTIC
def test_leaving_a_stage_out_only_keeps_more(world: dict[str, Any], data: st.DataObject) -> None:
    if len(world["stages"]) < 2:
        return
    signals, bound = build(world)
    dropped = data.draw(st.sampled_from(sorted(world["stages"])))
    fewer = BoundProfile(bound.profile, {}, (dropped,))
    strict, lenient = decide(signals, bound), decide(signals, fewer)
    assert (lenient.kept[strict.kept == KEEP] == KEEP).all()
    assert (strict.kept[lenient.kept == EXCLUDE] == EXCLUDE).all()
    bit = 1 << STAGES.index(dropped)
    assert np.array_equal(lenient.failed, strict.failed & ~np.uint16(bit))


@given(worlds())
@DETERMINISTIC
def test_a_block_always_excludes_where_no_term_may_be(world: dict[str, Any]) -> None:
    """Whatever the table says and however sampling falls: a word that curators block keeps a text out."""
    stages = world["stages"]
    if "vocabulary" not in stages:
        return
    world = {**world, "stages": {"vocabulary": {**stages["vocabulary"], "max_terms": 0}}}
    world["stages"]["vocabulary"].pop("max_terms_per_1000", None)
    signals, bound = build(world)
    kept = decide(signals, bound).kept
    for place, row in enumerate(world["rows"]):
        if row["words"] & set(world["version"].block):
            assert kept[place] == EXCLUDE
        elif row["words"] <= set(world["version"].allow) and not row["error"]:
            assert kept[place] == KEEP

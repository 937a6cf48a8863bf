"""Which rows the encoder scores unasked: those worth its cost, by what was measured before, and a seeded sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ledger_rows import write_run

from curation.chance import draw_row_fractions
from curation.encoder_selection import derive_selection, select_rows
from curation.profile import Profile, load_profile
from curation.recipe import EncoderSelection

K5, HALF, K12 = [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]
STAGES: dict[str, Any] = {
    "lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05},
    "fasttext": {"min_k5_window": 0.6},
    "notation": {"rules": "recommended", "ignore": ["chained_inequality"]},
    "vocabulary": {"mode": "block", "min_score": 4.0, "max_terms": 1},
}
SCORES = {"sheaf": 5.0, "lemma": 6.0}


def make_selection(**fields: Any) -> EncoderSelection:
    return EncoderSelection.model_validate({"form": "normalized", "sample_share": 0.0, **STAGES, **fields})


def select(tmp_path: Path, rows: list[dict[str, Any]], selection: EncoderSelection) -> list[bool]:
    run = write_run(tmp_path / "run", {"a": [rows]})
    [ref] = run.ledger.slices()
    core, postings = run.ledger.read_part("core", ref.id), run.ledger.read_part("postings", ref.id)
    return [bool(flag) for flag in select_rows(selection, ref, core, postings, SCORES)]


EASY: dict[str, Any] = {"grades": K5}
HARD_WORDS, NOTATION, TERMS = {"p95_aoa": 13.0}, {"rules": ["power"]}, {"words": ["sheaf", "lemma"]}
CASES: list[tuple[dict[str, Any], bool]] = [
    (EASY, True),
    ({**EASY, **HARD_WORDS}, True),
    ({**EASY, **NOTATION}, True),
    ({**EASY, **TERMS}, True),
    ({**EASY, "words": ["sheaf"]}, True),
    ({**EASY, **HARD_WORDS, **NOTATION}, False),
    ({**EASY, **NOTATION, **TERMS}, False),
    ({**EASY, **HARD_WORDS, **TERMS}, False),
    ({**EASY, **HARD_WORDS, "words": ["sheaf"]}, True),  # one blocked word is forgiven
    ({**EASY, **HARD_WORDS, "rules": ["chained_inequality"]}, True),  # an ignored rule is no hit
    ({"grades": K12}, False),
    ({"grades": K12, **HARD_WORDS}, False),
    ({"grades": HALF}, False),
    ({"error": "broken"}, False),
]


def test_what_is_worth_the_cost(tmp_path: Path) -> None:
    found = select(tmp_path, [row for row, _ in CASES], make_selection())
    assert found == [is_selected for _, is_selected in CASES]


def test_no_failing_rule_allowed(tmp_path: Path) -> None:
    found = select(tmp_path, [EASY, {**EASY, **NOTATION}, {**EASY, **TERMS}], make_selection(max_failing_rules=0))
    assert found == [True, False, False]


def test_where_fasttext_was_not_measured_the_rules_choose(tmp_path: Path) -> None:
    assert select(tmp_path, [{}, NOTATION, {**NOTATION, **HARD_WORDS}], make_selection()) == [True, True, False]


def test_a_selection_without_stages_takes_every_readable_row(tmp_path: Path) -> None:
    selection = EncoderSelection(form="raw", sample_share=0.0)
    assert select(tmp_path, [EASY, {"grades": K12, **HARD_WORDS, **NOTATION}, {"error": "broken"}], selection) == [
        True,
        True,
        False,
    ]


def test_the_sample_is_drawn_from_all_rows_by_hash_row_and_seed(tmp_path: Path) -> None:
    rows = [{"grades": K12}] * 400
    selection = make_selection(sample_share=0.1)
    found = np.array(select(tmp_path, rows, selection))
    run = write_run(tmp_path / "again", {"a": [rows]})
    [ref] = run.ledger.slices()
    fractions = draw_row_fractions(ref.shard.sha256, np.arange(400), selection.sample_seed, "encoder")
    assert np.array_equal(found, fractions < 0.1)
    assert 20 <= found.sum() <= 60
    assert all(select(tmp_path / "all", rows, make_selection(sample_share=1.0)))
    other = np.array(select(tmp_path / "other", rows, make_selection(sample_share=0.1, sample_seed=1)))
    assert not np.array_equal(found, other)


def test_a_selection_follows_its_profile_with_room_below_fasttexts_minima() -> None:
    profile = Profile.model_validate(
        {
            "name": "mine",
            "version": 1,
            "form": "raw",
            **STAGES,
            "fasttext": {"top_band": "document", "min_k5_document": 0.4, "min_k5_window": 0.6},
            "encoder": {"top_band": "published"},
        }
    )
    found = derive_selection(profile)
    assert found.fasttext is not None
    assert found.fasttext.model_dump() == {"top_band": "document", "min_k5_document": 0.2, "min_k5_window": 0.3}
    for stage in ("lexical", "notation", "vocabulary"):
        assert getattr(found, stage) == getattr(profile, stage)
    assert (found.form, found.reading) == ("raw", "published")
    assert (found.max_failing_rules, found.sample_share) == (1, 0.02)


@pytest.mark.parametrize("name", ["published", "recommended"])
def test_the_selections_of_the_bundled_profiles_hold_what_they_read(name: str) -> None:
    profile = load_profile(name)
    found = derive_selection(profile)
    assert found.form == profile.form
    assert found.lexical == profile.lexical
    assert found.reading == (profile.encoder.reads if profile.encoder else "window")

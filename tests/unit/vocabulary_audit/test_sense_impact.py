"""Impact of a version: certain ⊆ re-run ⊆ certain ∪ undecided, and equality once its senses are measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from indexed_runs import World, decide_plainly
from vocabulary_worlds import draw_audited, draw_version, give_version, read_rows, score_plainly

from curation.decide import KEEP, REASONS, UNDECIDED
from curation.errors import LedgerError
from curation.index import DecisionRequest, SignalIndex
from curation.index.senses import add_senses, has_senses
from curation.ledger.senses import name_senses_layer, read_senses
from curation.ledger.signals import read_signals
from curation.lexicon.senses import SenseContext, SenseRule
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.profile import BoundProfile, Profile
from curation.sense_layer import measure_senses
from curation.vocabulary_audit import preview_impact

VOCABULARY = 1 << REASONS.index("vocabulary")


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30))
def test_certain_moves_hold_and_measuring_makes_all_certain(audited: tuple[World, SignalIndex], seed: int) -> None:
    world, index = audited
    version = draw_version(world, seed)
    before = draw_audited(world, seed, draw_version(world, seed + 1, has_senses=False))
    wanted = give_version(world, before, version)
    baseline = index.decide(DecisionRequest.of(before))

    is_new = not has_senses(index, version.senses)
    partial = decide_plainly(wanted)
    preview = preview_impact(baseline, version, seed=3)
    found = index.decide(DecisionRequest.of(wanted)).decisions_at(slice(None))
    for name, values in partial.items():
        assert np.array_equal(getattr(found, name), values), name
    assert preview.needs_senses == is_new
    was, certain = decide_plainly(before)["kept"], partial["kept"]
    assert preview.moves["now_kept"][0] == int(((was == 0) & (certain == 1)).sum())
    assert preview.moves["now_excluded"][0] == int(((was == 1) & (certain == 0)).sum())
    assert preview.uncertain[0] == int((partial["unknown"] & VOCABULARY != 0).sum())

    measure_senses(world.run, version)
    assert add_senses(world.run, index, version.senses)
    full = decide_plainly(wanted)
    # Certain decisions stay; only rows that waited for the senses may be decided now.
    is_waiting = partial["unknown"] & VOCABULARY != 0
    assert np.array_equal(full["kept"][~is_waiting], certain[~is_waiting])
    assert (full["unknown"] & VOCABULARY == 0).all()
    kept, maybe = set(np.flatnonzero(certain == KEEP)), set(np.flatnonzero(certain == UNDECIDED))
    rerun = set(np.flatnonzero(full["kept"] == KEEP))
    assert kept <= rerun <= kept | maybe
    again = preview_impact(baseline, version, seed=3)
    assert not again.needs_senses
    assert again.uncertain == (0, 0)
    assert again.moves["now_kept"][0] == int(((was == 0) & (full["kept"] == 1)).sum())
    assert again.moves["now_excluded"][0] == int(((was == 1) & (full["kept"] == 0)).sum())
    measured = index.decide(DecisionRequest.of(wanted)).decisions_at(slice(None))
    for name, values in full.items():
        assert np.array_equal(getattr(measured, name), values), name


@pytest.mark.parametrize("seed", range(4))
def test_hits_are_those_of_a_plain_reading_of_the_texts(audited: tuple[World, SignalIndex], seed: int) -> None:
    world, index = audited
    version = draw_version(world, 1000 + seed)
    wanted = draw_audited(world, seed, version)
    measure_senses(world.run, version)
    add_senses(world.run, index, version.senses)
    request = index.decide(DecisionRequest.of(wanted)).request
    stage = wanted.bound.profile.vocabulary
    assert stage is not None
    counts, tops = index.count_terms(request), index.find_top_scores(request)
    for row in read_rows(world, wanted.bound.profile.form):
        expected = score_plainly(version, world, stage.min_score, row.tokens)
        assert counts[row.position] == len(expected), row.position
        assert tops[row.position] == max(expected.values(), default=-np.inf), row.position


def make_version(**rule: object) -> VocabularyVersion:
    return VocabularyVersion(name="v", version=1, senses=(SenseRule.model_validate({"term": "water", **rule}),))


def test_measuring_reads_only_texts_with_the_word_and_only_once(audited: tuple[World, SignalIndex]) -> None:
    world, _ = audited
    version = make_version(counts_if=[SenseContext(words=("vapor", "pressure"), left=2, right=2)])
    holding = sum("water" in row.tokens for row in read_rows(world, "raw"))
    first = measure_senses(world.run, version)
    assert first is not None
    slices = len(list(world.run.ledger.slices()))
    assert (first.slices_done, first.slices_reused) == (slices, 0)
    assert holding <= first.documents_read <= holding + 2  # normalisation may join what the raw text writes apart
    again = measure_senses(world.run, version)
    assert again is not None
    assert (again.slices_reused, again.documents_read) == (slices, 0)
    assert measure_senses(world.run, PLAIN_VOCABULARY) is None


def test_a_note_measures_nothing_anew_and_a_context_does(audited: tuple[World, SignalIndex]) -> None:
    one = make_version(innocent_if=[{"words": ["cold"]}], note="first")
    two = make_version(innocent_if=[{"words": ["cold"]}], note="second")
    other = make_version(innocent_if=[{"words": ["cold"], "left": 7}])
    assert name_senses_layer(one.senses) == name_senses_layer(two.senses) != name_senses_layer(other.senses)
    assert one.sha256 == two.sha256 != other.sha256


def test_a_layer_of_other_rows_is_refused(audited: tuple[World, SignalIndex]) -> None:
    world, _ = audited
    version = make_version(innocent_if=[{"words": ["warm"]}])
    measure_senses(world.run, version)
    decisions = draw_audited(world, 0, version)
    ledger = world.run.ledger
    for ref in ledger.slices():
        layer = read_senses(ledger, ref.id, version.senses)
        assert layer is not None
        if not layer.num_rows:
            continue
        core, postings = ledger.read_part("core", ref.id), ledger.read_part("postings", ref.id)
        arguments = (ref, core, postings, None, decisions.bound, decisions.word_scores)
        read_signals(*arguments, senses=layer)
        with pytest.raises(LedgerError, match="holds other rows than the postings"):
            read_signals(*arguments, senses=layer.slice(1))
        return
    raise AssertionError("no text holds the word")


def test_examples_are_the_same_for_a_seed_and_move(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    before = draw_audited(world, 5, PLAIN_VOCABULARY)
    profile = {"name": "p", "version": 1, "form": "raw", "vocabulary": {"mode": "block", "min_score": 3.0}}
    before = replace(before, bound=BoundProfile(Profile.model_validate(profile), {}, ()), overrides=None)
    version = VocabularyVersion(name="v", version=2, block=("the", "water"))
    decided = index.decide(DecisionRequest.of(before))
    one, two = preview_impact(decided, version, seed=1), preview_impact(decided, version, seed=1)
    assert one == two
    flips = decided.find_flips(index.decide(replace(decided.request, vocabulary=version)))
    assert len(one.examples) == min(20, sum(map(len, flips.values())))
    for example in one.examples:
        assert example.address.position in flips[example.move]
        assert example.words
    other = preview_impact(decided, version, seed=2)
    assert [e.address for e in other.examples] != [e.address for e in one.examples] or len(one.examples) < 20

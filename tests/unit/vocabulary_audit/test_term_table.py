"""The table of terms equals a plain recount from the texts, for any profile, vocabulary and sense."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from indexed_runs import World, decide_plainly
from vocabulary_worlds import draw_audited, draw_version, give_version, read_rows, score_plainly

from curation.chance import draw_row_fractions
from curation.curate import DecisionSet
from curation.decide import EXCLUDE, KEEP, REASONS
from curation.errors import ProfileError
from curation.index import DecisionRequest, SignalIndex
from curation.index.senses import add_senses
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.profile import BoundProfile, Profile
from curation.sense_layer import measure_senses
from curation.stages import VocabularyStage
from curation.vocabulary_audit import TermQuery, WordCounts, audit_terms, list_terms, read_word_counts

BIT = 1 << REASONS.index("vocabulary")
NAMES = (
    "documents",
    "hit_documents",
    "sole_documents",
    "sole_tokens",
    "maybe_sole_documents",
    "several_documents",
    "several_tokens",
    "kept_documents",
    "kept_tokens",
)


def passes(stage: VocabularyStage, scores: list[float], token_count: int, sha256: str, row: int) -> bool:
    if len(scores) <= stage.max_terms:
        return True
    if stage.max_terms_per_1000 is not None and len(scores) * 1000 <= stage.max_terms_per_1000 * token_count:
        return True
    if stage.sampling is None:
        return False
    chance = 0.5 ** (max(max(scores, default=-math.inf) - stage.min_score, 0) / stage.sampling.halving)
    return bool(draw_row_fractions(sha256, np.array([row]), stage.sampling.seed, "vocabulary")[0] < chance)


def recount(world: World, index: SignalIndex, decisions: DecisionSet) -> tuple[dict[str, Counter[str]], Counter[str]]:
    """The table's columns by word, and documents and tokens by what would bring them back; one row and word after the other."""
    stage, version = decisions.bound.profile.vocabulary, decisions.vocabulary
    assert stage is not None
    decided = decide_plainly(decisions)
    columns: dict[str, Counter[str]] = {name: Counter() for name in NAMES}
    losses: Counter[str] = Counter()
    for row in read_rows(world, decisions.bound.profile.form):
        place, tokens = row.position, int(index.columns["tokens"][row.position])
        kept, failed, missing = (int(decided[name][place]) for name in ("kept", "failed", "missing"))
        scores = score_plainly(version, world, stage.min_score, row.tokens)
        for word in set(row.tokens):
            columns["documents"][word] += 1
            if kept == KEEP:
                columns["kept_documents"][word] += 1
                columns["kept_tokens"][word] += tokens
        for word in scores:
            columns["hit_documents"][word] += 1
        if kept != EXCLUDE or not failed & BIT:
            continue
        losses["excluded"] += 1
        if failed != BIT:
            losses["with_others"] += 1
            continue
        enough = {
            word
            for word in scores
            if passes(stage, [s for w, s in scores.items() if w != word], len(row.tokens), row.shard_sha256, row.row)
        }
        kind = "several_words" if not enough else "maybe_one_word" if missing else "one_word"
        losses[kind] += 1
        for word in enough:
            columns["maybe_sole_documents" if missing else "sole_documents"][word] += 1
            columns["sole_tokens"][word] += 0 if missing else tokens
        for word in scores if not enough else ():
            columns["several_documents"][word] += 1
            columns["several_tokens"][word] += tokens
    return columns, losses


@pytest.mark.parametrize("seed", range(10))
def test_the_table_equals_a_plain_recount(audited: tuple[World, SignalIndex], seed: int) -> None:
    world, index = audited
    version = draw_version(world, 2000 + seed, has_senses=seed % 2 == 0)
    if version.senses:
        measure_senses(world.run, version)
        add_senses(world.run, index, version.senses)
    decisions = draw_audited(world, seed, version)
    table = audit_terms(index.decide(DecisionRequest.of(decisions)))
    columns, losses = recount(world, index, decisions)
    for name in NAMES:
        found = getattr(table.columns, name).tolist()
        assert found == [columns[name][word] for word in table.words], name
    for kind in ("excluded", "with_others", "one_word", "maybe_one_word", "several_words"):
        assert getattr(table.losses, kind)[0] == losses[kind], kind
    # Whatever counts stands in the table.
    assert set(columns["hit_documents"]) <= set(table.words)


@pytest.mark.parametrize("seed", range(6))
def test_causes_add_up_also_where_senses_are_not_measured(audited: tuple[World, SignalIndex], seed: int) -> None:
    world, index = audited
    decisions = draw_audited(world, seed, draw_version(world, 3000 + seed))
    decided = index.decide(DecisionRequest.of(decisions))
    assert not decided.request.has_senses
    losses = audit_terms(decided).losses
    parts = (losses.with_others, losses.one_word, losses.maybe_one_word, losses.several_words)
    assert losses.excluded == tuple(map(sum, zip(*parts, strict=True)))
    kept, failed = (decide_plainly(decisions)[name] for name in ("kept", "failed"))
    assert losses.excluded[0] == int(((kept == EXCLUDE) & (failed & BIT != 0)).sum())


def make_decisions(world: World, version: VocabularyVersion = PLAIN_VOCABULARY, **stage: object) -> DecisionSet:
    content = {"name": "p", "version": 1, "form": "normalized"}
    profile = Profile.model_validate({**content, "vocabulary": {"mode": "block", "min_score": 3.0, **stage}})
    base = replace(
        draw_audited(world, 0, version), bound=BoundProfile(profile, {}, ()), overrides=None, source_rules=()
    )
    return give_version(world, base, version)


@pytest.mark.parametrize("max_terms", [0, 1])
def test_allowing_a_word_keeps_the_documents_that_it_alone_loses(
    audited: tuple[World, SignalIndex], max_terms: int
) -> None:
    world, index = audited
    decided = index.decide(DecisionRequest.of(make_decisions(world, max_terms=max_terms)))
    table = audit_terms(decided)
    worst = np.argsort(-table.columns.sole_documents, kind="stable")[:5].tolist()
    assert table.columns.sole_documents[worst[0]] > 0
    for place in worst:
        version = VocabularyVersion(name="v", version=1, allow=(table.words[place],))
        after = index.decide(DecisionRequest.of(make_decisions(world, version, max_terms=max_terms)))
        expected = (int(table.columns.sole_documents[place]), int(table.columns.sole_tokens[place]))
        assert decided.count_flips(after)["now_kept"] == expected, table.words[place]


def test_lists_are_searched_filtered_sorted_and_cut(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    version = VocabularyVersion(name="v", version=1, allow=("water",), block=("the", "zzzz"))
    table = audit_terms(index.decide(DecisionRequest.of(make_decisions(world, version))))
    counts = {"water": WordCounts(1, 2, 3, 4)}
    every = list_terms(table, TermQuery(sort="word", is_descending=False, limit=1000), counts)
    words = [row.word for row in every.rows]
    assert words == sorted(words)
    assert every.total == sum(documents > 0 for documents in table.columns.documents.tolist())
    by_word = {row.word: row for row in every.rows}
    assert (by_word["water"].ruling, by_word["water"].counts) == ("allow", WordCounts(1, 2, 3, 4))
    assert (by_word["water"].hit_documents, by_word["water"].sole_documents) == (0, 0)
    assert by_word["the"].ruling == "block"
    assert "zzzz" not in by_word
    assert [row.word for row in list_terms(table, TermQuery(search="zzz", has_absent=True), counts).rows] == ["zzzz"]
    blocked = list_terms(table, TermQuery(ruling="block", has_absent=True), counts)
    assert {row.word for row in blocked.rows} == {"the", "zzzz"}
    page = list_terms(table, TermQuery(sort="documents", offset=2, limit=3), counts)
    expected = sorted(every.rows, key=lambda row: (-row.documents, row.word))[2:5]
    assert [row.word for row in page.rows] == [row.word for row in expected]
    cut = list_terms(table, TermQuery(min_score=3.5, max_score=4.0, limit=1000), counts)
    assert [row.word for row in cut.rows if not 3.5 <= (row.score or 0) <= 4.0] == []
    assert cut.total == sum(row.score is not None and 3.5 <= row.score <= 4.0 for row in every.rows)
    harmless = list_terms(table, TermQuery(looks_harmless=True, sort="harmless", limit=1000), counts)
    for row in harmless.rows:
        assert row.ruling == ""
        assert row.sole_documents > 0
        assert row.score is not None
        assert row.score < 4.0
    keys = [row.sole_documents * 0.5 ** ((row.score or 0) - 3.0) for row in harmless.rows]
    assert keys == sorted(keys, reverse=True)


def test_counts_of_the_training_texts_come_from_the_bundled_table(audited: tuple[World, SignalIndex]) -> None:
    from curation.artifacts.artifact_set import resolve_artifacts

    counts = read_word_counts(resolve_artifacts(None).require("vocabulary").path)
    assert counts["photosynthesis"] == WordCounts(count_k5=0, count_beyond=14, docs_k5=0, docs_beyond=13)


def test_a_profile_without_the_stage_is_refused(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    profile = Profile.model_validate({"name": "p", "version": 1, "form": "raw", "notation": {"rules": "published"}})
    decisions = replace(make_decisions(world), bound=BoundProfile(profile, {}, ()))
    with pytest.raises(ProfileError, match="Profile p has no vocabulary stage"):
        audit_terms(index.decide(DecisionRequest.of(decisions)))

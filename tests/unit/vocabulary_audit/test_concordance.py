"""Concordances: every line stands where it says, from the documents that were asked for, in the order asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from indexed_runs import World
from vocabulary_worlds import draw_audited, read_rows

from curation.errors import ProfileError
from curation.index import DecisionRequest, SignalIndex
from curation.index.decided import Decided
from curation.lexicon.senses import SenseContext, SenseRule
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.profile import BoundProfile, Profile
from curation.vocabulary_audit import ConcordanceQuery, ConcordanceReader, find_related
from curation.vocabulary_audit.related import list_forms


def decide(world: World, index: SignalIndex, form: str, version: VocabularyVersion = PLAIN_VOCABULARY) -> Decided:
    profile = Profile.model_validate(
        {"name": "p", "version": 1, "form": form, "vocabulary": {"mode": "block", "min_score": 3.0}}
    )
    base = draw_audited(world, 0, version)
    decisions = replace(base, bound=BoundProfile(profile, {}, ()), overrides=None, source_rules=())
    return index.decide(DecisionRequest.of(decisions))


@pytest.mark.parametrize("form", ["raw", "normalized"])
@pytest.mark.parametrize("term", ["water", "table", "the"])
def test_every_place_is_the_word_in_the_text(audited: tuple[World, SignalIndex], form: str, term: str) -> None:
    world, index = audited
    decided = decide(world, index, form)
    query = ConcordanceQuery(term, max_documents=10_000, max_groups=None, lines_a_document=10_000)
    found = ConcordanceReader(world.run).read(decided, query)
    texts = {row.position: row for row in read_rows(world, form)}
    holding = {position for position, row in texts.items() if term in row.tokens}
    assert {line.address.position for line in found.lines} == holding
    assert (found.documents, found.documents_read, found.is_sampled) == (len(holding), len(holding), False)
    assert found.occurrences == len(found.lines) == sum(row.tokens.count(term) for row in texts.values())
    for line in found.lines:
        text = texts[line.address.position].text
        assert text[line.start : line.end] == line.match
        assert line.match.lower() == term
        left, right = " ".join(text[: line.start].split()), " ".join(text[line.end :].split())
        assert left.endswith(line.left)
        assert right.startswith(line.right)


def test_outcomes_are_told_apart(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    decided = decide(world, index, "raw", VocabularyVersion(name="v", version=1, block=("water",)))
    reader = ConcordanceReader(world.run)
    excluded = reader.read(decided, ConcordanceQuery("water", outcome="excluded", max_groups=None))
    assert {line.outcome for line in excluded.lines} == {"excluded"}
    assert {line.decided_by for line in excluded.lines} == {"vocabulary"}
    kept = reader.read(decided, ConcordanceQuery("water", outcome="kept", max_groups=None))
    assert (kept.documents, kept.lines) == (0, [])
    sole = reader.read(decided, ConcordanceQuery("water", excluded_by="vocabulary", is_sole=True, max_groups=None))
    assert sole.documents == excluded.documents


def test_lines_are_sorted_by_their_contexts(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    decided, reader = decide(world, index, "raw"), ConcordanceReader(world.run)
    lines = {
        sort: reader.read(decided, ConcordanceQuery("water", sort=sort, max_groups=None)).lines
        for sort in ("document", "left", "right", "domain")
    }
    rights = [line.right.casefold().split() for line in lines["right"]]
    assert rights == sorted(rights)
    lefts = [line.left.casefold().split()[::-1] for line in lines["left"]]
    assert lefts == sorted(lefts)
    domains = [line.domain.split(".")[::-1] for line in lines["domain"]]
    assert domains == sorted(domains)
    places = [(line.address.position, line.start) for line in lines["document"]]
    assert places == sorted(places)
    for found in lines.values():
        assert sorted((line.address.position, line.start) for line in found) == places


def test_a_sample_is_said_to_be_one_and_is_the_seeds(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    decided, reader = decide(world, index, "raw"), ConcordanceReader(world.run)
    draws = [reader.read(decided, ConcordanceQuery("the", max_documents=7, seed=seed)) for seed in (1, 1, 2, 3)]
    assert draws[0] == draws[1]
    for found in draws:
        assert found.is_sampled
        assert found.documents > 100
        assert 0 < found.documents_read <= 7
    assert len({tuple(line.address.position for line in found.lines) for found in draws}) > 1
    few = reader.read(decided, ConcordanceQuery("the", max_groups=1))
    assert few.is_sampled
    assert few.documents_read <= 20


def test_lines_of_a_domain_are_of_that_domain(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    decided, reader = decide(world, index, "raw"), ConcordanceReader(world.run)
    every = reader.read(decided, ConcordanceQuery("the", max_documents=10_000, max_groups=None))
    domain = next(line.domain for line in every.lines if line.domain)
    found = reader.read(decided, ConcordanceQuery("the", domain=domain, max_documents=10_000, max_groups=None))
    assert found.lines == [line for line in every.lines if line.domain == domain or line.domain.endswith("." + domain)]


def test_lines_show_what_a_sense_rule_makes_of_them(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    rule = SenseRule(
        term="water",
        innocent_if=(SenseContext(words=("the", "of"), left=1, right=0),),
        counts_if=(SenseContext(words=("vapor", "is"), left=0, right=1),),
    )
    decided = decide(world, index, "raw", VocabularyVersion(name="v", version=1, senses=(rule,)))
    query = ConcordanceQuery("water", max_groups=None, max_documents=10_000, lines_a_document=10_000)
    found = ConcordanceReader(world.run).read(decided, query)
    expected = []
    for row in read_rows(world, "raw"):
        for place, token in enumerate(row.tokens):
            if token == "water":
                before, after = row.tokens[max(place - 1, 0) : place], row.tokens[place + 1 : place + 2]
                is_counted, is_innocent = after in (["vapor"], ["is"]), before in (["the"], ["of"])
                expected.append("counted" if is_counted else "innocent" if is_innocent else "other")
    assert [line.sense for line in found.lines] == expected
    assert {"innocent", "other"} <= set(expected)


@pytest.mark.parametrize("term", ["", "x", "two words", "café", "<b>"])
def test_what_is_no_token_is_refused(audited: tuple[World, SignalIndex], term: str) -> None:
    world, index = audited
    with pytest.raises(ProfileError, match="is no token"):
        ConcordanceReader(world.run).read(decide(world, index, "raw"), ConcordanceQuery(term))


def test_related_forms_are_inflections_that_documents_hold(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    assert {"mice", "mouse"} <= set(list_forms("mice"))
    assert {"cell", "cells"} <= set(list_forms("cells"))
    decided = decide(world, index, "raw", VocabularyVersion(name="v", version=1, block=("animals",)))
    found = {related.word: related for related in find_related(decided, "animal")}
    assert "animal" not in found
    holding = sum("animals" in row.tokens for row in read_rows(world, "raw"))
    assert (found["animals"].documents, found["animals"].ruling, found["animals"].is_blocked) == (
        holding,
        "block",
        True,
    )
    assert all(related.documents > 0 for related in found.values())

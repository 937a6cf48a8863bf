"""A document of a decision set with senses: its stage's verdict is the decision's, and its evidence only what counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from indexed_runs import World
from measuring import load_known_words
from vocabulary_worlds import draw_audited, give_version, score_plainly, split_tokens

from curation.index import DecisionRequest, DocumentReader, SignalIndex
from curation.index.decided import Decided
from curation.index.documents import Document
from curation.index.senses import add_senses
from curation.lexicon.senses import SenseContext, SenseRule
from curation.lexicon.vocabulary import VocabularyVersion
from curation.profile import BoundProfile, Profile
from curation.sense_layer import measure_senses

RULE = SenseRule(
    term="water",
    innocent_if=(SenseContext(words=("in", "of", "the"), left=1, right=0),),
    counts_if=(SenseContext(words=("is", "and", "vapor"), left=0, right=1),),
)
VERSION = VocabularyVersion(name="documents", version=1, block=("water",), senses=(RULE,))


def read_verdict(document: Document) -> tuple[str, list[str]]:
    assert document.explanation is not None
    [stage] = document.explanation.stages
    return stage.verdict, [place.name for place in stage.evidence]


def test_verdict_and_evidence_follow_the_senses(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    stage = {"mode": "block", "min_score": 4.0}
    profile = Profile.model_validate({"name": "p", "version": 1, "form": "normalized", "vocabulary": stage})
    base = replace(
        draw_audited(world, 0, VERSION), bound=BoundProfile(profile, {}, ()), overrides=None, source_rules=()
    )
    request = DecisionRequest.of(give_version(world, base, VERSION))
    reader = DocumentReader(world.run, index, words=load_known_words())
    names = {1: "pass", 0: "fail", -1: "unknown"}

    def check(decided: Decided) -> set[str]:
        seen = set()
        for position in index.find_term("water", "normalized")[:40].tolist():
            verdict, _ = read_verdict(reader.read(decided, position))
            assert verdict == names[int(decided.decisions_at(np.array([position])).kept[0])], position
            seen.add(verdict)
        return seen

    assert "unknown" in check(index.decide(request))
    measure_senses(world.run, VERSION)
    add_senses(world.run, index, VERSION.senses)
    decided = index.decide(request)
    assert "fail" in (seen := check(decided))
    assert seen <= {"pass", "fail"}
    for position in index.find_term("water", "normalized")[:40].tolist():
        document = reader.read(decided, position)
        assert document.explanation is not None
        tokens = split_tokens(document.explanation.text)
        expected = score_plainly(VERSION, world, 4.0, tokens)
        _, evidence = read_verdict(document)
        assert set(evidence) == set(expected), position
        text = document.explanation.text
        for place in document.explanation.stages[0].evidence:
            assert text[place.start : place.end].lower() == place.name

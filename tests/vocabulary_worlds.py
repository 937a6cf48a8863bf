"""Random vocabularies with sense rules for tests, and the rows of a run as plain Python reads them from its texts."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from indexed_runs import World, decide_plainly, draw_overrides, draw_profile

from curation.curate import DecisionSet
from curation.lexicon.senses import SenseContext, SenseRule
from curation.lexicon.vocabulary import VocabularyVersion
from curation.normalize import normalize
from curation.profile import BoundProfile, Profile

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[a-z]{2,}")


def split_tokens(text: str) -> list[str]:
    """Tokens as the glossary defines them, without the code under test."""
    return [word for word in _WORD.findall(text.lower()) if _TOKEN.fullmatch(word)]


@dataclass(frozen=True)
class Row:
    """A readable row: the tokens of the form that was asked for, in order."""

    shard_sha256: str
    row: int
    position: int
    text: str
    tokens: list[str]


def read_rows(world: World, form: str) -> Iterator[Row]:
    position = 0
    for ref in world.run.ledger.slices():
        for batch in world.run.read_rows(ref):
            for row, text in enumerate(batch.texts, batch.first_row):
                if text is not None:
                    shown = text if form == "raw" else normalize(text).text
                    yield Row(ref.shard.sha256, row, position, shown, split_tokens(shown))
                position += 1


def score_plainly(
    version: VocabularyVersion, world: World, min_score: float, tokens: Sequence[str]
) -> dict[str, float]:
    """The words of one text that count, with their scores, one occurrence after the other."""
    rules = {rule.term: rule for rule in version.senses}
    found: dict[str, float] = {}
    for place, token in enumerate(tokens):
        score = world.table.scores.get(token, -np.inf)
        elsewhere = np.inf if token in version.block else None if token in version.allow or score < min_score else score
        if (rule := rules.get(token)) is not None:
            if any(_holds(context, tokens, place) for context in rule.counts_if):
                elsewhere = np.inf
            elif any(_holds(context, tokens, place) for context in rule.innocent_if):
                elsewhere = None
        if elsewhere is not None:
            found[token] = max(found.get(token, -np.inf), elsewhere)
    return found


def _holds(context: SenseContext, tokens: Sequence[str], place: int) -> bool:
    near = [*tokens[max(0, place - context.left) : place], *tokens[place + 1 : place + context.right + 1]]
    return any(word in context.words for word in near)


def draw_version(world: World, seed: int, *, has_senses: bool = True) -> VocabularyVersion:
    """Words that texts hold, allowed, blocked and told apart, in every combination that says something."""
    chance = random.Random(seed)
    scored = [word for word in world.words if world.table.scores.get(word, -9.0) >= 2.5]
    words = chance.sample(scored, min(len(scored), 10)) + chance.sample(world.words, min(len(world.words), 10))
    words = list(dict.fromkeys(words))
    senses = {word: _draw_rule(world, word, chance) for word in words[:6]} if has_senses else {}
    allow, block = set(), set()
    for word in words:
        rule = senses.get(word)
        where = chance.choice(["allow", "block", "table"])
        if where == "allow" and (rule is None or rule.counts_if):
            allow.add(word)
        elif where == "block" and (rule is None or rule.innocent_if):
            block.add(word)
    return VocabularyVersion(
        name="drawn", version=1, allow=tuple(allow), block=tuple(block), senses=tuple(senses.values())
    )


def _draw_rule(world: World, word: str, chance: random.Random) -> SenseRule:
    common = [other for other in ("the", "and", "of", "to", "in", "is", "with", "for") if other != word]

    def draw() -> SenseContext:
        near = chance.sample(common, 2) + chance.sample(world.words, min(len(world.words), 20))
        left, right = chance.choice([(1, 1), (3, 0), (0, 2), (8, 8)])
        return SenseContext(words=tuple(near), left=left, right=right)

    kinds = chance.choice([("innocent_if",), ("counts_if",), ("innocent_if", "counts_if")])
    return SenseRule(term=word, **{kind: tuple(draw() for _ in range(chance.randint(1, 2))) for kind in kinds})


def draw_audited(world: World, seed: int, version: VocabularyVersion) -> DecisionSet:
    """A decision set whose profile has a vocabulary stage, under a given version."""
    chance = random.Random(seed)
    profile = draw_profile(world, chance)
    if profile.vocabulary is None:
        stage = {"mode": "block", "min_score": chance.choice([2.5, 3.0, 4.0])}
        profile = Profile.model_validate({**profile.model_dump(mode="json"), "vocabulary": stage})
    overrides = draw_overrides(world, chance) if chance.random() < 0.4 else None
    bound = BoundProfile(profile, {}, ())
    empty = DecisionSet(world.run, world.artifacts, bound, version, overrides, version.score_words(world.table, 0.0))
    return give_version(world, empty, version)


def give_version(world: World, decisions: DecisionSet, version: VocabularyVersion) -> DecisionSet:
    """The same decision set under another vocabulary."""
    stage = decisions.bound.profile.vocabulary
    assert stage is not None
    return replace(decisions, vocabulary=version, word_scores=version.score_words(world.table, stage.min_score))


def decide_codes(decisions: DecisionSet) -> dict[str, Any]:
    """Every row as the ledger decides it, as lists."""
    return {name: values.tolist() for name, values in decide_plainly(decisions).items()}

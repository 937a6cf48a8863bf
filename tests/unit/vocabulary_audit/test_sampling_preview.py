"""Sampling by score, previewed: expected and drawn documents by band equal a plain count and the decisions themselves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from indexed_runs import World, decide_plainly
from vocabulary_worlds import draw_audited, give_version, read_rows, score_plainly

from curation.chance import draw_row_fractions
from curation.decide import KEEP
from curation.errors import ProfileError
from curation.index import DecisionRequest, SignalIndex
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.profile import BoundProfile, Profile
from curation.stages import VocabularySampling
from curation.vocabulary_audit import preview_sampling

SAMPLING = VocabularySampling(halving=0.5, seed=4)


@pytest.mark.parametrize("version", [PLAIN_VOCABULARY, VocabularyVersion(name="v", version=1, block=("water",))])
def test_bands_add_up_to_the_decisions(audited: tuple[World, SignalIndex], version: VocabularyVersion) -> None:
    world, index = audited
    content = {"name": "p", "version": 1, "form": "raw", "notation": {"rules": "published"}}
    stage = {"mode": "block", "min_score": 2.5, "max_terms": 1}
    bound = BoundProfile(Profile.model_validate({**content, "vocabulary": stage}), {}, ())
    base = replace(draw_audited(world, 0, version), bound=bound, overrides=None, source_rules=())
    blocking = give_version(world, base, version)
    found = preview_sampling(index.decide(DecisionRequest.of(blocking)), SAMPLING)

    sampled = Profile.model_validate(
        {**content, "vocabulary": {**stage, "mode": "sample", "sampling": SAMPLING.model_dump()}}
    )
    sampling = give_version(world, replace(base, bound=BoundProfile(sampled, {}, ())), version)
    kept = decide_plainly(sampling)["kept"]
    assert found.kept[0] == int((kept == KEEP).sum())
    assert found.kept_when_blocking[0] == int((decide_plainly(blocking)["kept"] == KEEP).sum())

    expected: dict[int, list[float]] = {}
    passing = 0
    for row in read_rows(world, "raw"):
        scores = score_plainly(version, world, 2.5, row.tokens)
        if len(scores) <= 1:
            passing += 1
            continue
        top = max(scores.values())
        band = 11 if math.isinf(top) else min(int((top - 2.5) / 0.5), 10)
        chance = 0.5 ** ((top - 2.5) / 0.5)
        drawn = draw_row_fractions(row.shard_sha256, np.array([row.row]), SAMPLING.seed, "vocabulary")[0] < chance
        counted = expected.setdefault(band, [0, 0.0, 0.0, 0, 0])
        for place, value in enumerate((1, chance, chance * (1 - chance), drawn, drawn and kept[row.position] == KEEP)):
            counted[place] += value
    assert found.passing == passing
    assert len(found.bands) == 12
    for number, band in enumerate(found.bands):
        documents, chances, variance, drawn, both = expected.get(number, [0, 0.0, 0.0, 0, 0])
        assert (band.documents, band.drawn, band.kept) == (documents, drawn, both), number
        assert band.expected == pytest.approx(chances)
        assert band.deviation == pytest.approx(math.sqrt(variance))
    assert found.bands[11].drawn == 0
    assert sum(band.documents for band in found.bands) > 0
    # Far from what the chances say would be a draw that is none.
    total = sum(band.expected for band in found.bands)
    spread = math.sqrt(sum(band.deviation**2 for band in found.bands))
    assert abs(sum(band.drawn for band in found.bands) - total) <= 5 * spread + 1e-9


def test_a_profile_that_does_not_sample_is_refused(audited: tuple[World, SignalIndex]) -> None:
    world, index = audited
    for vocabulary in ({"vocabulary": {"mode": "block", "min_score": 3.0}}, {"notation": {"rules": "published"}}):
        profile = Profile.model_validate({"name": "p", "version": 1, "form": "raw", **vocabulary})
        base = replace(draw_audited(world, 0, PLAIN_VOCABULARY), bound=BoundProfile(profile, {}, ()))
        with pytest.raises(ProfileError, match="Profile p does not sample by vocabulary"):
            preview_sampling(index.decide(DecisionRequest.of(base)))

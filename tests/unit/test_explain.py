"""Explaining: the decision of a run on the same text, evidence that points at the text, and hostile text."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import measuring
import oracle
import pytest
from factories import write_shard
from fuzz import fuzz_texts

from curation.cascade import Meters, measure_slice
from curation.decide import REASONS, name_reasons
from curation.explain import MAX_SPANS, Evidence, Explanation, StageExplanation, explain_text
from curation.ledger.signals import decide_slice
from curation.ledger.store import SliceRef
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.normalize import normalize
from curation.profile import BoundProfile, Profile, bind_profile, load_profile
from curation.shards.prepare import prepare_shard

CORRECTED = {
    "name": "corrected",
    "version": 2,
    "form": "normalized",
    "lexical": {"max_p95_aoa": 9.0, "max_oov_ratio": 0.1},
    "fasttext": {"min_k5_window": 0.3},
    "notation": {"rules": "recommended"},
    "vocabulary": {"mode": "block", "min_score": 3.0, "max_terms": 1},
}


@pytest.fixture(scope="module")
def meters() -> Meters:
    return measuring.load_meters()


def bind(meters: Meters, name: str) -> BoundProfile:
    profile = load_profile("published") if name == "published" else Profile.model_validate(CORRECTED)
    return bind_profile(profile, meters.recipe)


def explain(meters: Meters, text: str, name: str = "published", **changes: Any) -> Explanation:
    bound = bind(meters, name)
    if changes:
        bound = bind_profile(bound.profile.model_copy(update=changes), meters.recipe)
    return explain_text(text, meters, bound, PLAIN_VOCABULARY)


def find_stage(explanation: Explanation, name: str) -> StageExplanation:
    [stage] = [stage for stage in explanation.stages if stage.stage == name]
    return stage


@pytest.mark.parametrize("name", ["published", "corrected"])
def test_equals_the_decision_of_a_run(meters: Meters, tmp_path: Path, name: str) -> None:
    texts = ["", "cat dog sun tree", "cat dog the milk and the ball", *fuzz_texts(seed=71, count=60)]
    path = write_shard(tmp_path / "a.parquet", texts)
    manifest = prepare_shard(
        path, "a.parquet", 0, staging_root=tmp_path, text_field="text", slice_bytes=1 << 25, row_limit=None
    )
    layers = measure_slice(meters, path, "a.parquet", manifest.slices[0])
    bound = bind(meters, name)
    assert bound.profile.vocabulary is not None
    scores = PLAIN_VOCABULARY.score_words(meters.vocabulary, bound.profile.vocabulary.min_score)
    decided = decide_slice(
        SliceRef(manifest, manifest.slices[0]), layers.core, layers.postings, None, bound, scores, None
    ).decisions
    kept_count = 0
    for i, text in enumerate(texts):
        explanation = explain(meters, text, name)
        by = int(decided.decided_by[i])
        assert explanation.kept is bool(decided.kept[i])
        assert explanation.decided_by == (None if by < 0 else REASONS[by])
        assert explanation.excluded_by == name_reasons(int(decided.failed[i]))
        assert explanation.undecided_for == []
        assert [stage.stage for stage in explanation.stages if stage.verdict == "fail"] == explanation.excluded_by
        assert_evidence_points_at_the_text(meters, explanation)
        kept_count += explanation.kept
    assert 0 < kept_count < len(texts)


def assert_evidence_points_at_the_text(meters: Meters, explanation: Explanation) -> None:
    for stage in explanation.stages:
        keys = [(place.start, place.end, place.name) for place in stage.evidence]
        assert keys == sorted(keys)
        assert len(keys) <= MAX_SPANS
        for place in stage.evidence:
            assert 0 <= place.start < place.end <= len(explanation.text)
            shown = explanation.text[place.start : place.end]
            if place.kind in ("hard_word", "unknown_word", "term"):
                assert oracle.tokens(shown.replace("\u0130", "i")) == [place.name]
            if place.kind == "hard_word":
                assert place.value == meters.words.table.ages[meters.words.ids[place.name.encode()]]
            if place.kind == "term":
                assert place.value == measuring.SCORES[place.name]
            if place.kind == "notation" and stage.thresholds["rules"] == "published":
                assert oracle.PUBLISHED_RULES[int(place.name)].search(explanation.text, place.start) is not None


def test_every_stage_of_a_text(meters: Meters) -> None:
    text = "Photosynthesis qwxkjv is x^2: \u0130 PHOTOSYNTHESIS"
    explanation = explain(meters, text)
    assert (explanation.kept, explanation.decided_by, explanation.profile) == (False, "lexical", "published v2")
    assert explanation.excluded_by[-2:] == ["notation", "vocabulary"]
    assert (explanation.form, explanation.text, explanation.changes) == ("raw", text, {})
    lexical = find_stage(explanation, "lexical")
    assert lexical.values["token_count"] == 4
    assert lexical.values["oov_ratio"] == 0.25
    assert lexical.thresholds == {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05}
    age = float(meters.words.table.ages[meters.words.ids[b"photosynthesis"]])
    assert [place for place in lexical.evidence if place.name != "is"] == [
        Evidence("hard_word", "photosynthesis", 0, 14, age),
        Evidence("unknown_word", "qwxkjv", 15, 21, None),
        Evidence("hard_word", "photosynthesis", 32, 46, age),
    ]
    notation = find_stage(explanation, "notation")
    assert (notation.values, notation.evidence) == ({"rules": ["16"]}, [Evidence("notation", "16", 25, 28, None)])
    vocabulary = find_stage(explanation, "vocabulary")
    assert vocabulary.values == {"terms": {"photosynthesis": 5.25}}
    assert [(place.start, place.end, place.value) for place in vocabulary.evidence] == [(0, 14, 5.25), (32, 46, 5.25)]


def test_ignored_rules_are_no_evidence(meters: Meters) -> None:
    notation = {"notation": bind(meters, "published").profile.notation.model_copy(update={"ignore": ("16",)})}  # type: ignore[union-attr]
    stage = find_stage(explain(meters, "x^2 and √2", **notation), "notation")
    assert (stage.verdict, stage.values) == ("fail", {"rules": ["17"]})
    assert find_stage(explain(meters, "x^2", **notation), "notation").verdict == "pass"


def test_offsets_are_of_the_form_that_is_read(meters: Meters) -> None:
    text = "“ﬁ</s>\u200b” the photo\u00adsynthesis of cat dog"
    raw, corrected = explain(meters, text), explain(meters, text, "corrected")
    assert raw.text == text
    assert corrected.text == normalize(text).text == '"fi " the photosynthesis of cat dog'
    changes = {"end_of_text_tags": 1, "soft_hyphens": 1, "invisible": 1, "ligatures": 1, "quotes": 2}
    assert raw.changes == corrected.changes == changes
    assert find_stage(raw, "vocabulary").evidence == []
    [term] = find_stage(corrected, "vocabulary").evidence
    assert corrected.text[term.start : term.end] == "photosynthesis"
    # The hardest window is of the normalised text; in the raw text its offsets would point elsewhere.
    assert find_stage(raw, "fasttext").evidence == []
    [window] = find_stage(corrected, "fasttext").evidence
    assert (window.kind, corrected.text[window.start : window.end]) == ("window", corrected.text)
    [window] = find_stage(explain(meters, " cat dog\n"), "fasttext").evidence
    assert (window.start, window.end) == (1, 8)


def test_a_curators_words_count(meters: Meters) -> None:
    bound = bind(meters, "published")
    version = VocabularyVersion(name="ours", version=1, allow=("photosynthesis",), block=("cat",))
    stage = find_stage(explain_text("A cat. Photosynthesis.", meters, bound, version), "vocabulary")
    assert (stage.verdict, list(stage.values["terms"])) == ("fail", ["cat"])  # type: ignore[call-overload]
    assert [(place.start, place.end) for place in stage.evidence] == [(2, 5)]


def test_without_a_model_an_optional_stage_is_left_out_and_a_needed_one_unknown() -> None:
    meters = measuring.load_meters(has_model=False)
    easy = "The cat sat on the mat."
    assert [stage.stage for stage in explain(meters, easy).stages] == ["lexical", "notation", "vocabulary"]
    explanation = explain(meters, easy, "corrected")
    assert (explanation.kept, explanation.decided_by, explanation.undecided_for) == (None, None, ["fasttext"])
    assert find_stage(explanation, "fasttext") == StageExplanation(
        "fasttext", "unknown", {}, {"top_band": None, "min_k5_document": None, "min_k5_window": 0.3}, []
    )


@pytest.mark.parametrize("text", ["", " \n ", "北京 слово", "\u0301" * 50])
def test_texts_without_tokens(meters: Meters, text: str) -> None:
    for name in ("published", "corrected"):
        explanation = explain(meters, text, name)
        assert (explanation.kept, explanation.decided_by) == (False, "lexical")
        assert find_stage(explanation, "lexical").evidence == []
        assert json.loads(json.dumps(explanation.to_json()))["text"] == explanation.text


def test_a_lone_surrogate_is_refused(meters: Meters) -> None:
    with pytest.raises(UnicodeEncodeError):
        explain(meters, "cat \ud800")


@pytest.mark.parametrize(
    "text",
    [
        "photosynthesis " * 200_000,
        "a" * 5000 + " " + "a" * 1_000_000,
        "qwxkjv zzyzx " * 100_000,
        "\u0130 photosynthesis " * 50_000,
        "\\sqrt[" + " " * 10_000,
        "x^{" * 50_000,
        "\u0301\u0323" * 200_000,
    ],
)
def test_hostile_texts_are_explained_in_bounded_time(meters: Meters, text: str) -> None:
    started = time.process_time()
    for name in ("published", "corrected"):
        explanation = explain(meters, text, name)
        assert explanation.kept is False
        assert all(len(stage.evidence) <= MAX_SPANS for stage in explanation.stages)
    assert time.process_time() - started < 30

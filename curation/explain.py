"""One text explained: every signal, threshold and verdict, and the places in the text that speak for them.

Offsets are in characters of the form (raw or normalised) that the profile reads.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from curation.cascade import Meters, measure_text
from curation.decide import FAIL, PASS, REASONS, UNKNOWN, Decisions, decide, judge_stage, name_reasons
from curation.encoder_layer import measure_texts
from curation.ledger.signals import SliceSignals, read_signals
from curation.ledger.store import SliceRef
from curation.lexicon.vocabulary import VocabularyVersion, WordScores, read_senses_of
from curation.normalize import CHANGES, normalize
from curation.profile import BoundProfile
from curation.sense_layer import measure_text_senses
from curation.shards.manifest import ShardManifest, Slice
from curation.signals.notation import find_all_published, find_all_recommended
from curation.signals.senses import SenseMeter
from curation.signals.tokens import KnownWords
from curation.signals.vocabulary import Lowered

MAX_SPANS = 200  # places shown per stage: a page of a book has fewer, a hostile text must not fill the screen


@dataclass(frozen=True)
class Evidence:
    """text[start:end] and why it counts: `kind` is hard_word, unknown_word, notation, term or window; `value` its figure."""

    kind: str
    name: str
    start: int
    end: int
    value: float | None


@dataclass(frozen=True)
class StageExplanation:
    """A stage's `verdict` (pass, fail, unknown), its measured `values`, its `thresholds` and its `evidence` in text order."""

    stage: str
    verdict: str
    values: dict[str, object]
    thresholds: dict[str, object]
    evidence: list[Evidence]


@dataclass(frozen=True)
class Explanation:
    """The decision on one text under one profile. `text` is the form that was read; `kept` is None when undecided."""

    kept: bool | None
    decided_by: str | None
    excluded_by: list[str]
    undecided_for: list[str]
    profile: str
    form: str
    text: str
    changes: dict[str, int]
    stages: list[StageExplanation]

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def explain_text(
    text: str, meters: Meters, bound: BoundProfile, vocabulary: VocabularyVersion, *, is_barred: bool = False
) -> Explanation:
    """Measure and decide `text` as a run would; `is_barred`: a source rule excludes it.

    Raises UnicodeEncodeError for lone surrogates, as no shard can hold them.
    """
    core, postings = measure_text(meters, text)
    profile = bound.profile
    scores = WordScores({})
    if profile.vocabulary is not None:
        scores = vocabulary.score_words(meters.vocabulary, profile.vocabulary.min_score)
    encoder = _measure_encoder(text, meters, bound)
    senses = measure_text_senses(postings, text, 0, scores.senses)
    read = read_signals(_lone_slice(text), core, postings, encoder, bound, scores, senses=senses)
    decisions = decide(read.signals, bound, is_barred=np.array([is_barred]))
    return explain_measured(text, read, encoder, decisions, meters.words, bound, scores)


def explain_measured(
    text: str,
    read: SliceSignals,
    encoder: pa.Table | None,
    decisions: Decisions,
    words: KnownWords,
    bound: BoundProfile,
    scores: dict[str, float],
) -> Explanation:
    """Explain decisions that were made of one text. `read`, `encoder` and `decisions` have one row; `text` is as the source has it;
    `scores` has every blocked word that the text holds."""
    profile = bound.profile
    normalized = normalize(text)
    form = text if profile.form == "raw" else normalized.text
    by = int(decisions.decided_by[0])
    stages = []
    for stage in bound.stages:
        verdict = {PASS: "pass", FAIL: "fail", UNKNOWN: "unknown"}[int(judge_stage(stage, read.signals, bound)[0])]
        values, evidence = _explain_stage(stage, form, read, encoder, bound, words, scores)
        evidence = sorted(evidence, key=lambda place: (place.start, place.end, place.name))[:MAX_SPANS]
        thresholds = getattr(profile, stage).model_dump(mode="json")
        stages.append(StageExplanation(stage, verdict, values, thresholds, evidence))
    return Explanation(
        kept={1: True, 0: False, -1: None}[int(decisions.kept[0])],
        decided_by=None if by < 0 else REASONS[by],
        excluded_by=name_reasons(int(decisions.failed[0])),
        undecided_for=name_reasons(int(decisions.unknown[0])),
        profile=f"{profile.name} v{profile.version}",
        form=profile.form,
        text=form,
        changes={kind: count for kind, count in zip(CHANGES, normalized.counts, strict=True) if count},
        stages=stages,
    )


def _measure_encoder(text: str, meters: Meters, bound: BoundProfile) -> pa.Table | None:
    """The text's row of the encoder's layer, scored whatever a run would select; None where the stage or its model is missing."""
    stage = bound.profile.encoder
    if stage is None or "encoder" not in bound.stages or meters.encoder is None:
        return None
    return measure_texts(meters, [text], stage.reads)


def _lone_slice(text: str) -> SliceRef:
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    piece = Slice(index=0, first_row=0, row_count=1, file="", row_groups=(0,))
    manifest = ShardManifest(
        index=0,
        name="text",
        sha256=sha256,
        size_bytes=len(text.encode()),
        row_count=1,
        blank_line_count=0,
        staging="",
        slices=(piece,),
        error=None,
    )
    return SliceRef(manifest, piece)


def _explain_stage(
    stage: str,
    text: str,
    read: SliceSignals,
    encoder: pa.Table | None,
    bound: BoundProfile,
    words: KnownWords,
    scores: dict[str, float],
) -> tuple[dict[str, object], list[Evidence]]:
    core = read.core
    match stage:
        case "lexical":
            return _explain_lexical(text, core, bound, words)
        case "fasttext":
            readings = ("published", "document", "window")
            return _explain_grades(core["fasttext"].to_pylist()[0], readings, core, bound)
        case "encoder" if encoder is not None:
            return _explain_grades(encoder.to_pylist()[0], ("published", "window"), core, bound)
        case "notation":
            return _explain_notation(text, bound)
        case "vocabulary":
            return _explain_vocabulary(text, read.blocked_terms.to_pylist()[0], scores)
    return {}, []


def _explain_vocabulary(
    text: str, terms: list[str], scores: dict[str, float]
) -> tuple[dict[str, object], list[Evidence]]:
    """The terms with their scores, and the places that count: of a word told apart by sense only those."""
    senses = [rule for rule in read_senses_of(scores) if rule.term in terms]
    told_apart = {rule.term for rule in senses}
    values = {term: scores[term] for term in terms if term not in told_apart}
    places = [
        Evidence("term", term, start, end, values[term])
        for term, start, end in islice(Lowered(text).find_words(values), MAX_SPANS)
    ]
    for place in SenseMeter(senses).find_places(text) if senses else ():
        score = math.inf if place.sense == "counted" else scores.get(place.term) if place.sense == "other" else None
        if score is not None:
            values[place.term] = max(values.get(place.term, -math.inf), score)
            places.append(Evidence("term", place.term, place.start, place.end, score))
    return {"terms": {term: values[term] for term in terms if term in values}}, places


def _explain_lexical(
    text: str, core: pa.Table, bound: BoundProfile, known: KnownWords
) -> tuple[dict[str, object], list[Evidence]]:
    row = core.to_pylist()[0]
    lexical = row["lexical_raw"]
    if bound.profile.form == "normalized" and row["lexical_normalized"] is not None:
        lexical = row["lexical_normalized"]
    ages = {word: float(known.table.ages[known.ids[word.encode()]]) for word in lexical["hard_words"]}
    places = islice(Lowered(text).find_words({*ages, *lexical["unknown_words"]}), MAX_SPANS)
    evidence = [
        Evidence("hard_word" if word in ages else "unknown_word", word, start, end, ages.get(word))
        for word, start, end in places
    ]
    return {key: lexical[key] for key in ("p95_aoa", "oov_ratio", "token_count")}, evidence


def _explain_grades(
    measured: dict[str, Any] | None, readings: tuple[str, ...], core: pa.Table, bound: BoundProfile
) -> tuple[dict[str, object], list[Evidence]]:
    """What a grader measured of the text; its hardest window is the evidence."""
    if measured is None:
        return {}, []
    values = {reading: measured[reading] for reading in readings if measured[reading] is not None}
    # Windows are of the normalised text: in a raw text that it differs from, their offsets would point elsewhere.
    has_offsets = bound.profile.form == "normalized" or core["changes"].to_pylist()[0] is None
    if measured["window_start"] is None or not has_offsets:
        return values, []
    window = Evidence(
        "window", "hardest window", measured["window_start"], measured["window_end"], measured["window"][0]
    )
    return values, [window]


def _explain_notation(text: str, bound: BoundProfile) -> tuple[dict[str, object], list[Evidence]]:
    stage = bound.profile.notation
    assert stage is not None
    hits = find_all_published(text) if stage.rules == "published" else find_all_recommended(text)
    counted = [hit for hit in hits if hit.rule not in stage.ignore]
    rules = list(dict.fromkeys(hit.rule for hit in counted))
    return {"rules": rules}, [Evidence("notation", hit.rule, hit.start, hit.end, None) for hit in counted]

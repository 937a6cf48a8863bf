"""One text explained: every signal, threshold and verdict, and the places in the text that speak for them.

Offsets are in characters of the form (raw or normalised) that the profile reads.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

import pyarrow as pa

from curation.cascade import Meters, measure_text
from curation.decide import REASONS, decide, judge_stage, name_reasons
from curation.ledger.signals import SliceSignals, read_signals
from curation.ledger.store import SliceRef
from curation.lexicon.vocabulary import VocabularyVersion
from curation.normalize import CHANGES, normalize
from curation.profile import BoundProfile
from curation.shards.manifest import ShardManifest, Slice
from curation.signals.notation import find_all_published, find_all_recommended
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


def explain_text(text: str, meters: Meters, bound: BoundProfile, vocabulary: VocabularyVersion) -> Explanation:
    """Measure and decide `text` as a run would. Raises UnicodeEncodeError for lone surrogates, as no shard can hold them."""
    core, postings = measure_text(meters, text)
    profile = bound.profile
    scores: dict[str, float] = {}
    if profile.vocabulary is not None:
        scores = vocabulary.score_words(meters.vocabulary, profile.vocabulary.min_score)
    read = read_signals(_lone_slice(text), core, postings, None, bound, scores)
    decisions = decide(read.signals, bound)
    normalized = normalize(text)
    form = text if profile.form == "raw" else normalized.text
    by = int(decisions.decided_by[0])
    stages = []
    for stage in bound.stages:
        verdict = {1: "pass", 0: "fail", -1: "unknown"}[int(judge_stage(stage, read.signals, bound)[0])]
        values, evidence = _explain_stage(stage, form, read, core, bound, meters, scores)
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
    core: pa.Table,
    bound: BoundProfile,
    meters: Meters,
    scores: dict[str, float],
) -> tuple[dict[str, object], list[Evidence]]:
    match stage:
        case "lexical":
            return _explain_lexical(text, read, core, bound, meters)
        case "fasttext":
            return _explain_fasttext(read, core)
        case "notation":
            return _explain_notation(text, bound)
        case "vocabulary":
            terms = read.blocked_terms.to_pylist()[0]
            lowered = Lowered(text)
            evidence = [
                Evidence("term", term, *place, scores[term]) for term in terms for place in lowered.find_all(term)
            ]
            return {"terms": {term: scores[term] for term in terms}}, evidence
    return {}, []


def _explain_lexical(
    text: str, read: SliceSignals, core: pa.Table, bound: BoundProfile, meters: Meters
) -> tuple[dict[str, object], list[Evidence]]:
    row = core.to_pylist()[0]
    lexical = row["lexical_raw"]
    if bound.profile.form == "normalized" and row["lexical_normalized"] is not None:
        lexical = row["lexical_normalized"]
    lowered = Lowered(text)
    evidence = []
    for word in lexical["hard_words"]:
        age = float(meters.words.table.ages[meters.words.ids[word.encode()]])
        evidence += [Evidence("hard_word", word, *place, age) for place in lowered.find_all(word)]
    for word in lexical["unknown_words"]:
        evidence += [Evidence("unknown_word", word, *place, None) for place in lowered.find_all(word)]
    return {key: lexical[key] for key in ("p95_aoa", "oov_ratio", "token_count")}, evidence


def _explain_fasttext(read: SliceSignals, core: pa.Table) -> tuple[dict[str, object], list[Evidence]]:
    measured = core["fasttext"].to_pylist()[0]
    if measured is None:
        return {}, []
    values = {reading: measured[reading] for reading in ("published", "document", "window")}
    if measured["window_start"] is None:
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

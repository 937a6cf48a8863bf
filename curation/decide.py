"""The decision: a pure function of signals, profile, vocabulary, overrides and source rules. Vectorised, three-valued.

A failed stage excludes whatever is missing; a missing signal leaves undecided only what nothing else excludes. The
same function answers runs, what-ifs and audits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curation.chance import draw_row_fractions
from curation.profile import BoundProfile
from curation.stages import STAGES, EncoderStage, FastTextStage, LexicalStage, VocabularySampling, VocabularyStage

# Codes of `decided_by`, in published order; readers tolerate new ones.
ERROR = "error"
OVERRIDE = "override"
SOURCE_RULE = "source_rule"
REASONS = (*STAGES, ERROR, OVERRIDE, SOURCE_RULE)

# By the bits of `failed`: the lowest set one is the first failing stage in published order; -1 where nothing failed.
_FIRST_FAILED = np.array([(bits & -bits).bit_length() - 1 for bits in range(1 << len(REASONS))], np.int8)

KEEP, EXCLUDE, UNDECIDED = 1, 0, -1
PASS, FAIL, UNKNOWN = 1, 0, -1

Verdicts = npt.NDArray[np.int8]
Grades = npt.NDArray[np.float32]


@dataclass(frozen=True)
class VocabularyHits:
    """Per row: distinct blocked words and the highest score among them (minus infinity where there is none).

    Where words are told apart by sense and that was not measured, these are the least that there may be, and `possible_counts`
    and `possible_scores` the most; None: nothing is unmeasured.
    """

    term_counts: npt.NDArray[np.int64]
    max_scores: npt.NDArray[np.float64]
    possible_counts: npt.NDArray[np.int64] | None = None
    possible_scores: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Signals:
    """What a profile reads of n rows of one shard.

    `p95_aoa`, `oov_ratio`: float64, NaN where the text has none. `grades[reading]`: float32 (n, 4), NaN where the model
    could read nothing; a reading that was not measured at all is absent. `encoder`: float32 (n, 4) of the reading that
    the profile names, with `is_encoded` saying which rows were scored. `rule_hits`: number of hits that count.
    `has_error`: nothing was measured.
    """

    shard_sha256: str
    rows: npt.NDArray[np.int64]
    has_error: npt.NDArray[np.bool_]
    p95_aoa: npt.NDArray[np.float64]
    oov_ratio: npt.NDArray[np.float64]
    token_counts: npt.NDArray[np.int64]
    grades: dict[str, Grades]
    encoder: Grades
    is_encoded: npt.NDArray[np.bool_]
    rule_hits: npt.NDArray[np.int64]
    vocabulary: VocabularyHits


@dataclass(frozen=True)
class Decisions:
    """Per row: `kept` (KEEP, EXCLUDE, UNDECIDED); `failed` and `unknown`, bit i for REASONS[i]; `decided_by`, an index
    into REASONS or -1. `unknown` is zero wherever a stage failed: then nothing is missing for the decision. `missing` has
    the stages whose signal was not measured whatever decided: they might have failed as well. A row that an override
    keeps still shows the stages that failed."""

    kept: Verdicts
    failed: npt.NDArray[np.uint16]
    unknown: npt.NDArray[np.uint16]
    decided_by: npt.NDArray[np.int8]
    missing: npt.NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.kept)


def decide(
    signals: Signals,
    bound: BoundProfile,
    overrides: dict[int, bool] | None = None,
    is_barred: npt.NDArray[np.bool_] | None = None,
) -> Decisions:
    """Decide every row. `overrides` maps a row of this shard to keep (True) or exclude (False); a row that could not be
    read stays excluded, because there is no text to keep. `is_barred`: rows that a source rule excludes, whatever else
    is said of them."""
    verdicts = {stage: judge_stage(stage, signals, bound) for stage in bound.stages}
    decisions = combine_verdicts(verdicts, signals.has_error)
    if overrides:
        _apply_overrides(signals, overrides, decisions)
    if is_barred is not None:
        _bar(is_barred & ~signals.has_error, decisions)
    return decisions


def combine_verdicts(verdicts: Mapping[str, Verdicts], has_error: npt.NDArray[np.bool_]) -> Decisions:
    """What the verdicts of a profile's stages decide, before people's rulings and source rules."""
    n = len(has_error)
    failed = np.zeros(n, np.uint16)
    missing = np.zeros(n, np.uint16)
    for stage, judged in verdicts.items():
        bit = np.uint16(1 << REASONS.index(stage))
        # Products, not assignments by mask: those take five times as long over millions of rows.
        failed |= (judged == FAIL) * bit
        missing |= (judged == UNKNOWN) * bit
    failed[has_error] = 1 << REASONS.index(ERROR)
    missing[has_error] = 0
    unknown = missing * (failed == 0)
    kept = np.where(failed != 0, np.int8(EXCLUDE), np.where(unknown != 0, np.int8(UNDECIDED), np.int8(KEEP)))
    return Decisions(kept, failed, unknown, _FIRST_FAILED[failed], missing)


def judge_stage(stage: str, signals: Signals, bound: BoundProfile) -> Verdicts:
    """One stage's verdict on every row: 1 passes, 0 fails, -1 unknown because its signal was not measured."""
    profile = bound.profile
    match stage:
        case "lexical" if profile.lexical is not None:
            return _judge_lexical(signals, profile.lexical)
        case "fasttext" if profile.fasttext is not None:
            return _judge_fasttext(signals, profile.fasttext)
        case "encoder" if profile.encoder is not None:
            return _judge_encoder(signals, profile.encoder)
        case "notation" if profile.notation is not None:
            return _verdicts(signals.rule_hits == 0)
        case "vocabulary" if profile.vocabulary is not None:
            return _judge_vocabulary(signals, profile.vocabulary)
    raise ValueError(f"profile {profile.name} has no stage {stage}")


def _verdicts(passes: npt.NDArray[np.bool_]) -> Verdicts:
    return np.where(passes, np.int8(PASS), np.int8(FAIL))


def _judge_lexical(signals: Signals, stage: LexicalStage) -> Verdicts:
    # NaN compares false: a text without tokens, or without any word of known age, fails.
    return _verdicts((signals.oov_ratio <= stage.max_oov_ratio) & (signals.p95_aoa <= stage.max_p95_aoa))


def _judge_fasttext(signals: Signals, stage: FastTextStage) -> Verdicts:
    passes = np.ones(len(signals.rows), bool)
    is_missing = False
    conditions: list[tuple[str, float | None]] = []
    if stage.top_band is not None:
        conditions.append((stage.top_band, None))
    if stage.min_k5_document is not None:
        conditions.append(("document", stage.min_k5_document))
    if stage.min_k5_window is not None:
        conditions.append(("window", stage.min_k5_window))
    for reading, minimum in conditions:
        if reading not in signals.grades:
            is_missing = True
            continue
        grades = signals.grades[reading]
        if minimum is None:
            # The first of equals wins, as in fastText; a row of NaN has no likeliest band.
            passes &= (np.argmax(grades, axis=1) == 0) & ~np.isnan(grades[:, 0])
        else:
            passes &= grades[:, 0] >= np.float32(minimum)
    # A condition that fails decides the stage, whatever the missing reading would say.
    return np.where(passes, np.int8(UNKNOWN if is_missing else PASS), np.int8(FAIL))


def _judge_encoder(signals: Signals, stage: EncoderStage) -> Verdicts:
    grades = signals.encoder
    passes = ~np.isnan(grades[:, 0])
    if stage.top_band is not None:
        passes &= np.argmax(grades, axis=1) == 0
    if stage.min_k5_window is not None:
        passes &= grades[:, 0] >= np.float32(stage.min_k5_window)
    return np.where(signals.is_encoded, _verdicts(passes), np.int8(UNKNOWN))


def _judge_vocabulary(signals: Signals, stage: VocabularyStage) -> Verdicts:
    hits = signals.vocabulary
    verdicts = _verdicts(_passes_vocabulary(signals, stage, hits.term_counts, hits.max_scores))
    if hits.possible_counts is not None and hits.possible_scores is not None:
        # More words and higher scores only ever fail a text, so the two ends hold for all between them.
        is_sure = _passes_vocabulary(signals, stage, hits.possible_counts, hits.possible_scores)
        verdicts[(verdicts == PASS) & ~is_sure] = UNKNOWN
    return verdicts


def _passes_vocabulary(
    signals: Signals,
    stage: VocabularyStage,
    term_counts: npt.NDArray[np.int64],
    max_scores: npt.NDArray[np.float64],
) -> npt.NDArray[np.bool_]:
    passes = term_counts <= stage.max_terms
    if stage.max_terms_per_1000 is not None:
        passes |= term_counts * 1000 <= stage.max_terms_per_1000 * signals.token_counts
    if stage.sampling is not None:
        passes |= draw_vocabulary_fractions(signals, stage.sampling) < find_vocabulary_chances(stage, max_scores)
    return passes


def draw_vocabulary_fractions(signals: Signals, sampling: VocabularySampling) -> npt.NDArray[np.float64]:
    """What a row's chance must exceed for sampling to keep it."""
    return draw_row_fractions(signals.shard_sha256, signals.rows, sampling.seed, "vocabulary")


def find_vocabulary_chances(stage: VocabularyStage, max_scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The chance of each row that sampling keeps it; 0 for a word never seen in K5 texts. The stage must sample."""
    assert stage.sampling is not None
    excess = np.maximum(max_scores - stage.min_score, 0) / stage.sampling.halving
    return np.asarray(0.5**excess, np.float64)


def _apply_overrides(signals: Signals, overrides: dict[int, bool], decisions: Decisions) -> None:
    wanted = np.array(sorted(overrides), np.int64)
    places = np.searchsorted(signals.rows, wanted)
    for row, place in zip(wanted.tolist(), places.tolist(), strict=True):
        if place < len(signals.rows) and signals.rows[place] == row and not signals.has_error[place]:
            decisions.kept[place] = KEEP if overrides[row] else EXCLUDE
            decisions.unknown[place] = 0
            decisions.decided_by[place] = REASONS.index(OVERRIDE)
            if not overrides[row]:
                decisions.failed[place] |= np.uint16(1 << REASONS.index(OVERRIDE))


def _bar(is_barred: npt.NDArray[np.bool_], decisions: Decisions) -> None:
    """Exclude rows. What excluded them before stays the first cause; a row that was to be kept has this one."""
    code = REASONS.index(SOURCE_RULE)
    decisions.decided_by[is_barred & (decisions.kept != EXCLUDE)] = code
    decisions.kept[is_barred] = EXCLUDE
    decisions.failed[is_barred] |= np.uint16(1 << code)
    decisions.unknown[is_barred] = 0


def name_reasons(bits: int) -> list[str]:
    """The reasons that a bit mask of `Decisions` holds, in published order."""
    return [reason for index, reason in enumerate(REASONS) if bits >> index & 1]

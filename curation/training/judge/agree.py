"""From the variants' outcomes to a document's band, or to none.

Pure. Invariant: a band is given only where the rule's share of all variants asked gave usable answers, and a tie is
never broken downwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from curation.signals.fasttext_grade import BANDS
from curation.training.judge.answers import Band, Judgement, NoJudgement, Outcome


class Rule(StrEnum):
    UNANIMOUS = "unanimous"  # every variant gives the same band, else no label
    MAJORITY = "majority"  # the band most variants give, the highest of those that tie


class Agreement(StrEnum):
    """How a document came to its band, or why it has none."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    TIE_UPWARD = "tie_upward"
    DISPUTED = "disputed"  # usable answers differ and the rule wants them equal
    INCOMPLETE = "incomplete"  # too few usable answers
    UNREAD = "unread"  # nothing was asked: the row has no text


@dataclass(frozen=True)
class Verdict:
    """`band` None: no label. `lead` is the judgement whose why, subject and terms speak for the band; `confidence` the
    lowest of those that gave it. `error` says why there is no band where answers are missing."""

    band: Band | None
    agreement: Agreement
    lead: Judgement | None
    confidence: int | None
    error: str | None


def agree(outcomes: Mapping[str, Outcome], rule: Rule) -> Verdict:
    """Apply the rule to the outcomes by variant, in order of the variants; at least one."""
    judgements = [outcome for outcome in outcomes.values() if isinstance(outcome, Judgement)]
    faults = [
        f"{variant} {outcome.fault}: {outcome.reason}"
        for variant, outcome in outcomes.items()
        if isinstance(outcome, NoJudgement)
    ]
    counts = Counter(judgement.band for judgement in judgements)
    missing = "; ".join(faults) or None
    match rule:
        case Rule.UNANIMOUS:
            is_enough = not faults
        case Rule.MAJORITY:
            is_enough = 2 * len(judgements) > len(outcomes)
        case _:
            assert_never(rule)
    if not is_enough:
        return Verdict(None, Agreement.INCOMPLETE, None, None, missing)
    if rule is Rule.UNANIMOUS and len(counts) > 1:
        return Verdict(None, Agreement.DISPUTED, None, None, None)
    top = max(counts.values())
    tied = [band for band, count in counts.items() if count == top]
    band = max(tied, key=BANDS.index)
    giving = [judgement for judgement in judgements if judgement.band == band]
    confidence = min(judgement.confidence for judgement in giving)
    if len(tied) > 1:
        return Verdict(band, Agreement.TIE_UPWARD, giving[0], confidence, missing)
    agreement = Agreement.UNANIMOUS if len(giving) == len(outcomes) else Agreement.MAJORITY
    return Verdict(band, agreement, giving[0], confidence, missing)

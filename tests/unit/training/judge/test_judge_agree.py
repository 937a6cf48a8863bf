"""The rule over the variants' outcomes: exact bands, and none where the rule is not met."""

from __future__ import annotations

from typing import get_args

import pytest
from fakes.llm_server import make_judgement

from curation.signals.fasttext_grade import BANDS
from curation.training.judge.agree import Agreement, Rule, agree
from curation.training.judge.answers import Band, Fault, Judgement, NoJudgement, Outcome


def _outcome(vote: str, number: int) -> Outcome:
    """`K8` or `K8/1` with a confidence; `-` for no judgement."""
    band, _, confidence = vote.partition("/")
    if band == "-":
        return NoJudgement(Fault.MALFORMED, "no object")
    return Judgement.model_validate(make_judgement(band, confidence=int(confidence or 3), why=f"vote {number}"))


def _outcomes(votes: str) -> dict[str, Outcome]:
    return {f"v{number}": _outcome(vote, number) for number, vote in enumerate(votes.split())}


def test_bands_are_those_of_the_graders() -> None:
    assert get_args(Band) == BANDS


@pytest.mark.parametrize(
    ("rule", "votes", "band", "agreement", "why", "confidence"),
    [
        ("unanimous", "K5 K5/2 K5/1", "K5", "unanimous", "vote 0", 1),
        ("unanimous", "K5 K5 K8", None, "disputed", None, None),
        ("unanimous", "K5 K5 -", None, "incomplete", None, None),
        ("unanimous", "- - -", None, "incomplete", None, None),
        ("unanimous", "K12/2", "K12", "unanimous", "vote 0", 2),
        ("majority", "K5 K5 K5", "K5", "unanimous", "vote 0", 3),
        ("majority", "K8/1 K5/2 K5", "K5", "majority", "vote 1", 2),
        ("majority", "K5 K5 -", "K5", "majority", "vote 0", 3),
        ("majority", "K5 K8 K12", "K12", "tie_upward", "vote 2", 3),
        ("majority", "OOS/2 K5 -", "OOS", "tie_upward", "vote 0", 2),
        ("majority", "K12 K8", "K12", "tie_upward", "vote 0", 3),
        ("majority", "K5 - -", None, "incomplete", None, None),
        ("majority", "K5 -", None, "incomplete", None, None),
    ],
)
def test_rule(rule: str, votes: str, band: str | None, agreement: str, why: str | None, confidence: int | None) -> None:
    verdict = agree(_outcomes(votes), Rule(rule))
    assert (verdict.band, verdict.agreement, verdict.confidence) == (band, Agreement(agreement), confidence)
    assert (verdict.lead.why if verdict.lead else None) == why


def test_error_names_the_variants_without_a_judgement() -> None:
    verdict = agree(_outcomes("- K5 -"), Rule.MAJORITY)
    assert verdict.error == "v0 malformed: no object; v2 malformed: no object"
    assert agree(_outcomes("K5 K8 K5"), Rule.UNANIMOUS).error is None

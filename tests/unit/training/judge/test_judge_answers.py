"""What counts as an answer, and what is said of one that does not."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from fakes.llm_server import make_judgement

from curation.training.judge.answers import Fault, Judgement, NoJudgement, RawAnswer, read_answer

PLAIN = json.dumps(make_judgement("K8"))
JUDGED = Judgement(band="K8", confidence=3, why="needs K8", subject="life science", decisive_terms=("cell",))


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        f"\n  {PLAIN}\n",
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```\n",
        f"Here is my answer:\n\n{PLAIN}",
        f"The set {{cells, genes}} decides.\n{PLAIN}",
        f'Form {{"a": 1}} is wanted: {PLAIN}',
        f"<think>is it {{K5?</think>{PLAIN}",
        json.dumps(make_judgement("K8"), indent=2),
        json.dumps(make_judgement("K8", extra=[1, {"band": "K5"}])),
    ],
)
def test_wrapping_is_forgiven(content: str) -> None:
    assert read_answer(RawAnswer(content)) == JUDGED


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"band": "K6"}, "band"),
        ({"band": "k8"}, "band"),
        ({"band": "K8 "}, "band"),
        ({"band": None}, "band"),
        ({"band": ["K8"]}, "band"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": 4}, "confidence"),
        ({"confidence": "3"}, "confidence"),
        ({"confidence": 3.0}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"why": ""}, "why"),
        ({"why": "  "}, "why"),
        ({"why": None}, "why"),
        ({"subject": "biology"}, "subject"),
        ({"decisive_terms": "cell"}, "decisive_terms"),
        ({"decisive_terms": [1]}, "decisive_terms.0"),
        ({"decisive_terms": ["x"] * 11}, "decisive_terms"),
        ({"why": "half a pair \ud800"}, "why"),
    ],
)
def test_values_are_not_mended(changes: dict[str, Any], place: str) -> None:
    outcome = read_answer(RawAnswer(json.dumps({**make_judgement("K8"), **changes})))
    assert isinstance(outcome, NoJudgement)
    assert outcome.fault is Fault.MALFORMED
    assert outcome.reason.startswith(f"{place}: ")


@pytest.mark.parametrize("missing", ["band", "confidence", "why", "subject", "decisive_terms"])
def test_every_field_is_needed(missing: str) -> None:
    judgement = make_judgement()
    del judgement[missing]
    assert read_answer(RawAnswer(json.dumps(judgement))) == NoJudgement(Fault.MALFORMED, f"{missing}: Field required")


def test_no_terms_are_an_answer() -> None:
    outcome = read_answer(RawAnswer(json.dumps(make_judgement(decisive_terms=[]))))
    assert isinstance(outcome, Judgement)
    assert outcome.decisive_terms == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the answer is empty"),
        ("K8", "no JSON object ends the answer"),
        ('{"band": "K8"', "no JSON object ends the answer"),
        (PLAIN[:-1], "no JSON object ends the answer"),
        (f"{PLAIN} Although, on reflection, K12.", "no JSON object ends the answer"),
        (f"[{PLAIN}]", "no JSON object ends the answer"),
        (PLAIN.replace('"K8"', '"K8", "band": "K5"'), "no JSON object ends the answer"),
        (PLAIN.replace("3", "NaN"), "no JSON object ends the answer"),
        (f"{json.dumps(make_judgement('K5'))}\n{PLAIN}", "the answer holds two judgements"),
        ("x" * 100_001, "the answer has more than 100,000 characters"),
    ],
)
def test_malformed(content: str, reason: str) -> None:
    assert read_answer(RawAnswer(content)) == NoJudgement(Fault.MALFORMED, reason)


@pytest.mark.parametrize(
    ("raw", "outcome"),
    [
        (RawAnswer("", refusal="I can't."), NoJudgement(Fault.REFUSED, "the model refused")),
        (RawAnswer(PLAIN, refusal="I can't."), NoJudgement(Fault.REFUSED, "the model refused")),
        (RawAnswer("I’m sorry, but no."), NoJudgement(Fault.REFUSED, "the model refused")),
        (RawAnswer("I cannot judge this."), NoJudgement(Fault.REFUSED, "the model refused")),
        (
            RawAnswer(PLAIN, finish_reason="content_filter"),
            NoJudgement(Fault.REFUSED, "a content filter stopped the answer"),
        ),
        (
            RawAnswer(PLAIN, finish_reason="length"),
            NoJudgement(Fault.MALFORMED, "the answer was cut off at its token limit"),
        ),
        (RawAnswer(f"I'm sorry for the delay. {PLAIN}", finish_reason="stop"), JUDGED),
    ],
)
def test_refusals_and_ends(raw: RawAnswer, outcome: object) -> None:
    assert read_answer(raw) == outcome


@pytest.mark.parametrize("piece", ["{", '{"a":', '{"a":[', "{}", '{"', "[", "```", " "])
def test_hostile_answers_take_bounded_time(piece: str) -> None:
    content = piece * (100_000 // len(piece))
    began = time.process_time()
    outcome = read_answer(RawAnswer(content))
    assert time.process_time() - began < 1.0
    assert isinstance(outcome, NoJudgement)

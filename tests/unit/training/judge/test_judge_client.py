"""One question to a real port: what is asked again, what is an outcome, what stops the run, and where the key goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from fakes.llm_server import KEY, MODEL, Fault, LlmServer, make_judgement
from judge_runs import HandClock

from curation.errors import PrimerError, SourceError
from curation.shards.retries import RetryPolicy
from curation.training.judge import answers
from curation.training.judge.answers import NoJudgement, RawAnswer
from curation.training.judge.api_key import ApiKey, read_api_key
from curation.training.judge.client import ChatClient
from curation.training.judge.pace import Pace, Stopped
from curation.training.judge.problem import JudgeError
from curation.training.judge.prompts import load_prompt

MESSAGES = load_prompt("checklist").build_messages("A frog hops.")
ANSWER = RawAnswer(json.dumps(make_judgement()), "", "stop", 1000, 50)


@contextmanager
def _client(judge: LlmServer, policy: RetryPolicy, clock: HandClock, **changes: Any) -> Iterator[ChatClient]:
    pace = Pace(clock, requests_per_minute=None, tokens_per_minute=None)
    chosen = {"endpoint": judge.url, "model": MODEL, "parameters": {"temperature": 0}, "key": ApiKey(KEY), **changes}
    with ChatClient(pace=pace, policy=policy, concurrency=1, **chosen) as client:
        yield client


def _ask(judge: LlmServer, policy: RetryPolicy, *faults: Fault, **changes: Any) -> tuple[object, list[float]]:
    """The outcome and the waits."""
    judge.faults.extend(faults)
    clock = HandClock()
    with _client(judge, policy, clock, **changes) as client:
        outcome = client.ask(MESSAGES, 10)
        assert client.requests == len(judge.requests)
    assert not judge.faults, "a fault was not met"
    return outcome, clock.slept


def test_one_request_with_everything_in_it(judge: LlmServer, policy: RetryPolicy) -> None:
    assert _ask(judge, policy) == (ANSWER, [])
    (request,) = judge.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": MODEL, "temperature": 0, "messages": MESSAGES}
    assert (request.variant, request.document) == ("checklist", "A frog hops.")


def test_local_servers_get_no_key(judge: LlmServer, policy: RetryPolicy) -> None:
    judge.key = None
    assert _ask(judge, policy, key=ApiKey(), endpoint=f"{judge.url}/") == (ANSWER, [])
    assert "authorization" not in judge.requests[0].headers
    assert judge.requests[0].path == "/v1/chat/completions"


PASSING = {
    "429": Fault(429),
    "500": Fault(500, body=b"<html>"),
    "503": Fault(503, error={"message": "overloaded"}),
    "529": Fault(529),
    "stalled": Fault(is_stalled=True),
    "closed": Fault(is_closed=True),
    "cut": Fault(cut_after_bytes=100),
    "html": Fault(body=b"<html>a proxy</html>"),
    "no choices": Fault(body=b'{"choices": []}'),
    "error in 200": Fault(error={"message": "upstream"}),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_passing_faults_are_asked_again(judge: LlmServer, policy: RetryPolicy, fault: Fault) -> None:
    outcome, slept = _ask(judge, policy, fault, fault)
    assert outcome == ANSWER
    assert len(judge.requests) == 3
    assert slept == [0.001, 0.002]


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_attempts_end(judge: LlmServer, policy: RetryPolicy, fault: Fault) -> None:
    outcome, _ = _ask(judge, policy, fault, fault, fault)
    assert isinstance(outcome, NoJudgement)
    assert outcome.fault is answers.Fault.UNANSWERED
    assert outcome.reason.endswith(" (3 attempts)")
    assert len(judge.requests) == 3


def test_retry_after_is_honoured_for_all(judge: LlmServer, policy: RetryPolicy) -> None:
    outcome, slept = _ask(judge, policy, Fault(429, {"Retry-After": "7"}), Fault(503, {"Retry-After": "9999"}))
    assert outcome == ANSWER
    assert slept == [7.0, 300.0]  # never longer than the policy says


def test_retry_after_as_a_date(judge: LlmServer, policy: RetryPolicy) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    _, slept = _ask(judge, policy, Fault(429, {"Retry-After": moment}))
    assert 55 < sum(slept) <= 60


def test_retry_after_holds_other_questions(judge: LlmServer, policy: RetryPolicy) -> None:
    clock = HandClock()
    pace = Pace(clock, requests_per_minute=None, tokens_per_minute=None)
    judge.faults.extend([Fault(503), Fault(429, {"Retry-After": "40"})])
    clock.stop()  # the first wait ends the question, so that time does not pass
    with ChatClient(judge.url, MODEL, {}, key=ApiKey(KEY), pace=pace, policy=policy, concurrency=1) as client:
        with pytest.raises(Stopped):
            client.ask(MESSAGES, 10)
        pace.wait_turn(1)
        with pytest.raises(Stopped):
            client.ask(MESSAGES, 10)
        with pytest.raises(Stopped):
            pace.wait_turn(1)
    assert len(judge.requests) == 2


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (Fault(400, error={"message": "too long.\nmore"}), NoJudgement(answers.Fault.REJECTED, "HTTP 400: too long")),
        (
            Fault(400, body=b'{"error": "bad \\u001b[2J escape"}'),
            NoJudgement(answers.Fault.REJECTED, "HTTP 400: bad  [2J escape"),
        ),
        (Fault(422, body=b"[" * 100_000), NoJudgement(answers.Fault.REJECTED, "HTTP 422")),
        (Fault(413), NoJudgement(answers.Fault.REJECTED, "HTTP 413")),
        (Fault(403, error={"message": "flagged"}), NoJudgement(answers.Fault.REJECTED, "HTTP 403: flagged")),
        (
            Fault(400, error={"message": "no", "code": "content_filter"}),
            NoJudgement(answers.Fault.REFUSED, "a content filter stopped the question"),
        ),
    ],
)
def test_faults_of_one_question(judge: LlmServer, policy: RetryPolicy, fault: Fault, outcome: NoJudgement) -> None:
    assert _ask(judge, policy, fault) == (outcome, [])
    assert len(judge.requests) == 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(401, error={"message": f"wrong key {KEY}"}), "the server answers HTTP 401."),
        (Fault(402, error={"message": "no credit"}), "the server answers HTTP 402: no credit."),
        (Fault(404, error={"message": f"no model for {KEY}"}), "the server answers HTTP 404: no model for [key]."),
        (Fault(429, error={"code": "insufficient_quota"}), "the account's quota is spent (HTTP 429)."),
        (Fault(307, {"Location": "http://127.0.0.1:1/v1/chat/completions"}), "the server points elsewhere (HTTP 307)."),
    ],
)
def test_faults_of_every_question_stop(judge: LlmServer, policy: RetryPolicy, fault: Fault, message: str) -> None:
    with pytest.raises(JudgeError) as caught:
        _ask(judge, policy, fault)
    assert caught.value.message == f"{judge.url}: {message}"
    assert caught.value.hint
    assert KEY not in str(caught.value)
    assert len(judge.requests) == 1


def test_key_is_struck_from_answers(judge: LlmServer, policy: RetryPolicy) -> None:
    outcome, _ = _ask(judge, policy, Fault(content=f"Your key is {KEY}."))
    assert outcome == RawAnswer("Your key is [key].", "", "stop", 1000, 50)


def test_query_of_the_base_url_stays_behind(judge: LlmServer, policy: RetryPolicy) -> None:
    assert _ask(judge, policy, endpoint=f"{judge.url}/?api-version=3") == (ANSWER, [])
    assert judge.requests[0].path == "/v1/chat/completions?api-version=3"


def test_endpoint_that_is_no_address(judge: LlmServer, policy: RetryPolicy) -> None:
    with pytest.raises(JudgeError, match="is no address"):
        _ask(judge, policy, endpoint="http://[bad/v1")


def test_endless_answer_is_given_up(judge: LlmServer, policy: RetryPolicy) -> None:
    endless = Fault(body=b" " * (4 << 20) + b"{}")
    outcome, _ = _ask(judge, policy, endless, endless, endless)
    assert outcome == NoJudgement(answers.Fault.UNANSWERED, "the server sends more than 4 MB (3 attempts)")


def test_nobody_listens(judge: LlmServer, policy: RetryPolicy) -> None:
    with _client(judge, policy, HandClock(), endpoint="http://127.0.0.1:9/v1") as client:
        outcome = client.ask(MESSAGES, 10)
        assert client.requests == 3
    assert judge.requests == []
    assert isinstance(outcome, NoJudgement)
    assert outcome.reason.startswith("ConnectError")


@pytest.mark.parametrize("endpoint", ["ftp://127.0.0.1/v1", "127.0.0.1/v1"])
def test_addresses_that_cannot_be_requested(judge: LlmServer, policy: RetryPolicy, endpoint: str) -> None:
    with pytest.raises(SourceError, match="cannot be requested"):
        _ask(judge, policy, endpoint=endpoint)


def test_key_comes_from_the_environment_alone() -> None:
    both = {"PRIMER_LABEL_API_KEY": " mine\n", "OPENAI_API_KEY": "other"}
    assert read_api_key(both) == ApiKey("mine", "PRIMER_LABEL_API_KEY")
    assert read_api_key({"PRIMER_LABEL_API_KEY": " ", "OPENAI_API_KEY": "other"}) == ApiKey("other", "OPENAI_API_KEY")
    assert read_api_key({}) == ApiKey("", "")
    assert KEY not in repr(ApiKey(KEY, "OPENAI_API_KEY"))


@pytest.mark.parametrize("value", [f"{KEY}\r\nX-Evil: 1", f"{KEY} b", f"{KEY}é"])
def test_key_that_is_none(value: str) -> None:
    with pytest.raises(PrimerError, match=r"OPENAI_API_KEY holds no API key\.") as caught:
        read_api_key({"OPENAI_API_KEY": value})
    assert KEY not in str(caught.value)

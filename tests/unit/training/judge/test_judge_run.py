"""A labelling from source to table against a real port: exact labels, exact numbers of requests, nothing asked twice."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from fakes.llm_server import KEY, Fault, LlmServer, make_judgement
from judge_runs import LIST, LONG, SHORT, HandClock, make_request, read_labels, run, write_source

from curation.shards.retries import RetryPolicy
from curation.training.judge.agree import Rule
from curation.training.judge.cache import AnswerCache
from curation.training.judge.estimate import Estimate, Limits, Prices
from curation.training.judge.plan import plan_labels, require_label_folder
from curation.training.judge.problem import JudgeError
from curation.training.judge.table import SCHEMA

TEXTS = [
    "Frogs hop.",
    "Cells divide. long_rubric=K8 short_rules=K8 checklist=K8",
    "A map of town. short_rules=K8",
    None,
    "  \n",
    "Laws. long_rubric=K12 short_rules=K8 checklist=OOS",
    "Frogs hop.",
]


def _bands(out: Path) -> list[tuple[str | None, str]]:
    return [(row["band"], row["agreement"]) for row in read_labels(out)]


def test_labels_of_a_source(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", TEXTS)
    out = tmp_path / "labels"
    report = run(make_request(source, judge, prices=Prices(2.0, 10.0)), out, policy)

    assert _bands(out) == [
        ("K5", "unanimous"),
        ("K8", "unanimous"),
        (None, "disputed"),
        (None, "unread"),
        (None, "unread"),
        (None, "disputed"),
        ("K5", "unanimous"),
    ]
    # Four different texts, three prompts; the text that stands twice is asked about once.
    distinct = [TEXTS[number] for number in (0, 1, 2, 5)]
    assert judge.asked() == [(variant, text) for text in distinct for variant in (LONG, SHORT, LIST)]
    assert report["state"] == "finished"
    assert (report["asked"], report["requests"], report["unanswered"]) == (12, 12, 0)
    assert report["counts"] == {
        "bands": {"K5": 2, "K8": 1, "none": 4},
        "agreement": {"disputed": 2, "unanimous": 3, "unread": 2},
        "votes": {"judged": 15},
    }
    assert report["spent"] == {
        "answers": 12,
        "answers_without_counts": 0,
        "tokens_in": 12_000,
        "tokens_out": 600,
        "cost": pytest.approx(0.03),
    }
    assert sorted(path.name for path in out.iterdir()) == ["answers.jsonl", "label.json", "labels.parquet"]
    assert json.loads((out / "label.json").read_bytes()) == report

    assert pq.read_schema(out / "labels.parquet").equals(SCHEMA)
    first, _, third, fourth, fifth, *_ = read_labels(out)
    assert (first["doc_id"], first["shard"], first["row"]) == ("d0", "a.parquet", 0)
    assert (first["confidence"], first["why"], first["subject"]) == (3, "needs K5", "life science")
    assert (first["decisive_terms"], first["error"], first["is_excerpt"]) == (["cell"], None, False)
    assert (first["text_chars"], first["judged_chars"]) == (10, 10)
    assert [(vote["variant"], vote["band"], vote["outcome"]) for vote in third["votes"]] == [
        (LONG, "K5", "judged"),
        (SHORT, "K8", "judged"),
        (LIST, "K5", "judged"),
    ]
    assert (third["why"], third["decisive_terms"]) == (None, None)
    assert (fourth["text_sha256"], fourth["votes"]) == (None, [])
    assert fourth["error"]
    assert fifth["error"] == "The text is blank."


def test_second_run_asks_nothing_and_writes_the_same(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", TEXTS)
    out = tmp_path / "labels"
    run(make_request(source, judge), out, policy)
    table, answers = (out / "labels.parquet").read_bytes(), (out / "answers.jsonl").read_bytes()
    (out / "labels.parquet").unlink()
    judge.requests.clear()

    report = run(make_request(source, judge), out, policy)
    assert judge.requests == []
    assert (report["asked"], report["estimate"]["answered"], report["estimate"]["calls"]) == (0, 12, 0)
    assert (out / "labels.parquet").read_bytes() == table
    assert (out / "answers.jsonl").read_bytes() == answers

    run(make_request(source, judge, rule=Rule.MAJORITY), out, policy)
    assert judge.requests == [], "another rule reads the same answers"
    assert [band for band, _ in _bands(out)] == ["K5", "K8", "K5", None, None, "OOS", "K5"]

    run(make_request(source, judge, parameters={"temperature": 1}, row_limit=1), out, policy)
    assert len(judge.requests) == 3, "other parameters are other questions"
    run(make_request(source, judge, model="judge-2", row_limit=1, variants=(LIST,)), out, policy)
    assert len(judge.requests) == 4


def test_order_of_answers_does_not_show(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    texts = [f"Story {number}. {LONG}=K8 {SHORT}=K8 {LIST}={'K5' if number % 3 else 'K8'}" for number in range(40)]
    source = write_source(tmp_path / "a.parquet", texts)
    run(make_request(source, judge), tmp_path / "one", policy)
    run(make_request(source, judge, limits=Limits(concurrency=16)), tmp_path / "many", policy)
    assert len(judge.requests) == 2 * 120
    assert (tmp_path / "one" / "labels.parquet").read_bytes() == (tmp_path / "many" / "labels.parquet").read_bytes()


UNUSABLE = {
    "malformed": (Fault(content="K5, I think"), "malformed: no JSON object ends the answer"),
    "refusal": (Fault(refusal="I can't help."), "refused: the model refused"),
    "prose refusal": (Fault(content="I'm sorry, I can't."), "refused: the model refused"),
    "filter": (Fault(content="", finish_reason="content_filter"), "refused: a content filter stopped the answer"),
    "length": (Fault(finish_reason="length"), "malformed: the answer was cut off at its token limit"),
    "band": (
        Fault(content=json.dumps(make_judgement("K6"))),
        "malformed: band: Input should be 'K5', 'K8', 'K12' or 'OOS'",
    ),
    "confidence": (
        Fault(content=json.dumps(make_judgement(confidence=4))),
        "malformed: confidence: Input should be less than or equal to 3",
    ),
}


@pytest.mark.parametrize(("fault", "error"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_answer_is_no_label(
    judge: LlmServer, policy: RetryPolicy, tmp_path: Path, fault: Fault, error: str
) -> None:
    source = write_source(tmp_path / "a.parquet", ["Frogs hop.", "Cats nap."])
    judge.faults.extend([Fault(), fault])
    report = run(make_request(source, judge), tmp_path / "out", policy)
    assert len(judge.requests) == 6, "what was answered is not asked again"
    first, second = read_labels(tmp_path / "out")
    assert (first["band"], first["agreement"], first["error"]) == (None, "incomplete", f"{SHORT} {error}")
    assert (second["band"], second["error"]) == ("K5", None)
    assert report["state"] == "finished"

    run(make_request(source, judge), tmp_path / "out", policy)
    assert len(judge.requests) == 6
    run(make_request(source, judge, is_asking_again=True), tmp_path / "out", policy)
    assert judge.asked()[6:] == [(SHORT, "Frogs hop.")]
    assert _bands(tmp_path / "out") == [("K5", "unanimous"), ("K5", "unanimous")]
    run(make_request(source, judge, is_asking_again=True), tmp_path / "out", policy)
    assert len(judge.requests) == 7


def test_answer_in_a_fence_is_a_label(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", ["Cells."])
    judge.faults.extend([Fault(content=f"Sure:\n```json\n{json.dumps(make_judgement('K8'))}\n```")] * 3)
    run(make_request(source, judge), tmp_path / "out", policy)
    assert _bands(tmp_path / "out") == [("K8", "unanimous")]


def test_unanswered_question_is_asked_by_the_next_run(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", ["Frogs hop.", "Cats nap."])
    judge.faults.extend([Fault(), Fault(500), Fault(is_closed=True), Fault(cut_after_bytes=40), Fault(400)])
    report = run(make_request(source, judge), tmp_path / "out", policy)
    assert (report["state"], report["unanswered"], report["requests"]) == ("incomplete", 2, 8)
    first, second = read_labels(tmp_path / "out")
    assert [vote["outcome"] for vote in first["votes"]] == ["judged", "unanswered", "rejected"]
    assert (first["band"], second["band"]) == (None, "K5")

    judge.requests.clear()
    report = run(make_request(source, judge), tmp_path / "out", policy)
    assert judge.asked() == [(SHORT, "Frogs hop."), (LIST, "Frogs hop.")]
    assert (report["state"], report["unanswered"]) == ("finished", 0)
    assert _bands(tmp_path / "out") == [("K5", "unanimous"), ("K5", "unanimous")]


def test_dead_endpoint_stops_the_run_and_keeps_what_came(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", [f"Story {number}." for number in range(20)])
    judge.faults.extend([Fault(), Fault(), *[Fault(503)] * 100])
    out = tmp_path / "out"
    with pytest.raises(JudgeError, match=r"5 questions in a row had no answer; the last: .* HTTP 503 \(3 attempts\)"):
        run(make_request(source, judge), out, policy)
    assert len(judge.requests) <= 2 + 3 * 7, "two more may be under way"
    assert AnswerCache(out / "answers.jsonl").spent.answers == 2
    assert not (out / "labels.parquet").exists()
    assert json.loads((out / "label.json").read_bytes())["state"] == "stopped"

    judge.faults.clear()
    judge.requests.clear()
    run(make_request(source, judge), out, policy)
    assert len(judge.requests) == 58


def test_wrong_key_stops_at_once_and_is_written_nowhere(
    judge: LlmServer, policy: RetryPolicy, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    source = write_source(tmp_path / "a.parquet", TEXTS)
    wrong = "sk-wrongwrongwrong"
    with pytest.raises(JudgeError, match="HTTP 401") as caught:
        run(make_request(source, judge), tmp_path / "out", policy, key=wrong)
    judge.faults.extend([Fault(content=f"{KEY} is your key"), Fault(500, error={"message": KEY})] * 3)
    run(make_request(source, judge), tmp_path / "out", policy)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for key in (wrong, KEY):
        assert key.encode() not in written
        assert key not in str(caught.value)
        assert key not in caplog.text


def test_nobody_to_ask(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", TEXTS)
    with pytest.raises(JudgeError, match="Nobody said whom to ask"):
        run(make_request(source, judge, endpoint=""), tmp_path / "out", policy)
    with pytest.raises(JudgeError, match="Nobody said whom to ask"):
        run(make_request(source, judge, model=""), tmp_path / "out", policy)
    assert judge.requests == []


def test_requests_a_minute_are_kept(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", [f"Story {number}." for number in range(5)])
    clock = HandClock()
    starts: list[float] = []
    judge.before_answer = lambda _: starts.append(clock.now())
    limits = Limits(concurrency=1, requests_per_minute=12)
    run(make_request(source, judge, limits=limits), tmp_path / "out", policy, clock=clock)
    assert [start - starts[0] for start in starts] == [5.0 * number for number in range(15)]


def test_plan_counts_and_sends_nothing(judge: LlmServer, tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.parquet", [*TEXTS, "long " * 10_000])
    request = make_request(
        source, judge, prices=Prices(1.0, 5.0), limits=Limits(2, requests_per_minute=10), variants=(SHORT, LIST)
    )
    job = plan_labels(request, AnswerCache(tmp_path / "none"), staging=tmp_path / "staged")
    prompt_bytes = [prompt.count_bytes(0) for prompt in job.inquiry.prompts]
    text_bytes = [len(text) for text in (TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[5]) if text]
    estimate = job.estimate
    short = sum(round((prompt + text) / 4.6) for prompt in prompt_bytes for text in text_bytes)
    excerpt_tokens = estimate.tokens_in - short
    assert 2 * 4_800 < excerpt_tokens < 2 * 6_300  # 24,000 characters, two prompts
    assert dataclasses.replace(estimate, tokens_in=0, cost=None) == Estimate(
        documents=8,
        unread=2,
        excerpts=1,
        questions=10,
        answered=0,
        calls=10,
        tokens_in=0,
        tokens_out=1_000,
        cost=None,
        seconds=60.0,
    )
    assert estimate.cost == pytest.approx((estimate.tokens_in + 5 * 1_000) / 1e6)
    assert job.example is not None
    assert "Frogs hop." in job.example[1]["content"]
    assert judge.requests == []


def test_long_document_is_marked(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    text = " ".join(f"w{number:05d}" for number in range(10_000))
    source = write_source(tmp_path / "a.parquet", [text])
    run(make_request(source, judge, budget_chars=15_000), tmp_path / "out", policy)
    (row,) = read_labels(tmp_path / "out")
    assert (row["is_excerpt"], row["text_chars"], row["band"]) == (True, 69_999, "K5")
    assert 12_000 < row["judged_chars"] <= 15_000
    sent = {document for _, document in judge.asked()}
    assert len(sent) == 1
    (document,) = sent
    assert document.startswith("w00000 ")
    assert document.endswith(" w09999")
    assert "characters of the document are left out here]" in document
    run(make_request(source, judge, budget_chars=15_000, seed=1), tmp_path / "out", policy)
    assert len(judge.requests) == 6, "another seed draws another middle"


@pytest.mark.parametrize("limit", [0, 2, 5])
def test_limit_counts_rows_over_shards(judge: LlmServer, policy: RetryPolicy, tmp_path: Path, limit: int) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    write_source(folder / "a.parquet", ["One.", "Two.", "Three."])
    (folder / "b.jsonl").write_text("".join(json.dumps({"id": n, "text": f"Line {n}."}) + "\n" for n in range(3)))
    request = make_request(folder, judge, row_limit=limit, variants=(LIST,))
    report = run(request, tmp_path / "out", policy)
    rows = [(row["shard"], row["row"], row["doc_id"]) for row in read_labels(tmp_path / "out")]
    everything: list[tuple[Any, ...]] = [("a.parquet", n, f"d{n}") for n in range(3)]
    everything += [("b.jsonl", n, str(n)) for n in range(3)]
    assert rows == everything[:limit]
    assert len(judge.requests) == limit
    assert report["counts"]["bands"] == ({"K5": limit} if limit else {})


def test_broken_shard_is_reported_and_the_rest_labelled(judge: LlmServer, policy: RetryPolicy, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    write_source(folder / "b.parquet", ["Frogs hop."])
    (folder / "a.parquet").write_bytes(b"PAR1 and nothing more")
    report = run(make_request(folder, judge), tmp_path / "out", policy)
    assert list(report["shard_errors"]) == ["a.parquet"]
    assert _bands(tmp_path / "out") == [("K5", "unanimous")]


def test_strange_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(JudgeError, match=r"is not empty \(thesis\.txt\)"):
        require_label_folder(tmp_path)
    with pytest.raises(JudgeError, match="is a file"):
        require_label_folder(tmp_path / "thesis.txt")
    require_label_folder(tmp_path / "new")
    (tmp_path / "answers.jsonl").touch()
    require_label_folder(tmp_path)

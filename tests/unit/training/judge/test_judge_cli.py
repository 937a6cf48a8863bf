"""`primer label` as a person calls it, in processes of its own: dry runs, resuming after a kill, and the key."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import threading
import time
from pathlib import Path

import cli_runs
import pytest
from fakes.llm_server import KEY, MODEL, Fault, LlmServer, Recorded
from judge_runs import LIST, LONG, SHORT, read_labels, write_source
from typer.testing import CliRunner

from primer.cli.main import app

TEXTS = [f"Story {number}." for number in range(12)]
ANSWERED_BEFORE_THE_KILL = 7


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "stories.parquet", TEXTS)


def _arguments(source: Path, out: Path, judge: LlmServer, *more: str) -> list[str | Path]:
    return ["label", source, "--out", out, "--endpoint", judge.url, "--model", MODEL, *more]


def _wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline, "the child does not get on"
        time.sleep(0.01)


def test_labels_and_report(judge: LlmServer, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    prices = ("--price-in", "2", "--price-out", "10")
    done = cli_runs.run_primer(*_arguments(source, out, judge, *prices), PRIMER_LABEL_API_KEY=KEY)
    assert len(judge.requests) == 36
    assert [row["band"] for row in read_labels(out)] == ["K5"] * 12
    assert "12 documents: 36 questions, 0 answered already, 36 to ask." in done.stderr
    assert "The key is that of PRIMER_LABEL_API_KEY." in done.stderr
    assert "36/36 questions" in done.stderr
    assert "36 answers, 36,000 tokens in, 1,800 out, cost 0.09" in done.stdout
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert KEY not in done.stdout + done.stderr

    report = cli_runs.run_json(*_arguments(source, out, judge), PRIMER_LABEL_API_KEY=KEY)
    assert (report["state"], report["asked"]) == ("finished", 0)
    assert len(judge.requests) == 36


def test_wrong_key_is_one_message(judge: LlmServer, source: Path, tmp_path: Path) -> None:
    wrong = "sk-wrongwrong"
    done = cli_runs.run_primer(*_arguments(source, tmp_path / "out", judge), status=1, OPENAI_API_KEY=wrong)
    assert "the server answers HTTP 401." in done.stderr
    assert "Set PRIMER_LABEL_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr
    assert wrong not in done.stdout + done.stderr
    assert len(judge.requests) <= 9, "those under way when the first came back"


def test_unanswered_questions_are_a_status(judge: LlmServer, source: Path, tmp_path: Path) -> None:
    judge.faults.append(Fault(400))
    arguments = _arguments(source, tmp_path / "out", judge, "--concurrency", "1")
    report = cli_runs.run_json(*arguments, status=3, PRIMER_LABEL_API_KEY=KEY)
    assert (report["state"], report["unanswered"], report["counts"]["bands"]) == (
        "incomplete",
        1,
        {"K5": 11, "none": 1},
    )


def test_dry_run_sends_and_writes_nothing(judge: LlmServer, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps({"text": "[bold]A frog\x1b[2J"}) + "\n")
    done = cli_runs.run_primer(*_arguments(lines, out, judge, "--dry-run", "--price-in", "1", "--price-out", "1"))
    assert "1 documents: 3 questions, 0 answered already, 3 to ask." in done.stderr
    assert "cost 0.00" in done.stderr
    assert "--- system ---" in done.stdout
    assert "[bold]A frog\ufffd[2J" in done.stdout
    assert "\x1b" not in done.stdout

    # Whom to ask need not be known yet.
    found = cli_runs.run_json("label", source, "--out", out, "--dry-run")
    assert found["estimate"]["calls"] == 36
    assert "Story 0." in found["example"][1]["content"]
    assert judge.requests == []
    assert not out.exists()


def test_killed_run_pays_for_nothing_twice(judge: LlmServer, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lock, blocked = threading.Lock(), threading.Event()
    allowed = ANSWERED_BEFORE_THE_KILL

    def stop_after_a_few(_: Recorded) -> None:
        nonlocal allowed
        with lock:
            allowed -= 1
            is_blocked = allowed < 0
        if is_blocked:
            blocked.set()
            judge.released.wait()

    judge.before_answer = stop_after_a_few
    process = cli_runs.start_primer(*_arguments(source, out, judge, "--concurrency", "3"), PRIMER_LABEL_API_KEY=KEY)
    _wait_for_lines(out / "answers.jsonl", ANSWERED_BEFORE_THE_KILL)
    assert blocked.wait(60)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert not (out / "labels.parquet").exists()
    answers = (out / "answers.jsonl").read_bytes()
    assert answers.count(b"\n") == ANSWERED_BEFORE_THE_KILL
    kept = {(line["variant"], line["text_sha256"]) for line in map(json.loads, answers.splitlines())}
    assert len(kept) == ANSWERED_BEFORE_THE_KILL
    assert json.loads((out / "label.json").read_bytes())["state"] == "running"
    (out / "answers.jsonl").write_bytes(answers + answers[:50])  # a machine that died in the middle of a line

    judge.released.set()
    judge.before_answer = lambda _: None
    judge.requests.clear()
    report = cli_runs.run_json(*_arguments(source, out, judge), PRIMER_LABEL_API_KEY=KEY)
    assert len(judge.requests) == len(set(judge.asked())) == 36 - ANSWERED_BEFORE_THE_KILL
    lines = [json.loads(line) for line in (out / "answers.jsonl").read_bytes().splitlines()]
    assert len({line["question"] for line in lines}) == len(lines) == 36
    assert (report["spent"]["answers"], report["counts"]["bands"]) == (36, {"K5": 12})

    undisturbed = tmp_path / "undisturbed"
    cli_runs.run_json(*_arguments(source, undisturbed, judge), PRIMER_LABEL_API_KEY=KEY)
    assert (undisturbed / "labels.parquet").read_bytes() == (out / "labels.parquet").read_bytes()


def test_interrupted_run_keeps_what_is_under_way(judge: LlmServer, source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    under_way = threading.Barrier(4)
    first: list[Recorded] = []

    def hold_the_first(request: Recorded) -> None:
        first.append(request)
        if len(first) <= 3:
            under_way.wait(60)
            judge.released.wait()

    judge.before_answer = hold_the_first
    process = cli_runs.start_primer(*_arguments(source, out, judge, "--concurrency", "3"), PRIMER_LABEL_API_KEY=KEY)
    under_way.wait(60)
    os.kill(process.pid, signal.SIGINT)
    time.sleep(0.3)
    judge.released.set()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert len(judge.requests) == 3, "nothing was asked after the interruption"
    assert (out / "answers.jsonl").read_bytes().count(b"\n") == 3
    assert json.loads((out / "label.json").read_bytes())["state"] == "stopped"


@pytest.mark.parametrize(("typed", "calls"), [(b"n\n", 0), (b"y\n", 36)])
def test_terminal_is_asked_first(judge: LlmServer, source: Path, tmp_path: Path, typed: bytes, calls: int) -> None:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*cli_runs.PRIMER, *map(str, _arguments(source, tmp_path / "out", judge))],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=cli_runs.REPO,
        env={**os.environ, "PRIMER_LABEL_API_KEY": KEY},
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    while b"Ask 36 questions?" not in shown:
        shown += os.read(controller, 4096)
    assert judge.requests == []
    os.write(controller, typed)
    while True:
        try:
            chunk = os.read(controller, 4096)
        except OSError:  # how Linux reports the end of a terminal
            break
        if not chunk:
            break
        shown += chunk
    os.close(controller)
    assert process.wait(60) == (0 if calls else 1)
    assert len(judge.requests) == calls


@pytest.mark.parametrize(
    "more",
    [
        ("--prompt", "answer"),
        ("--parameter", "temperature"),
        ("--parameter", "model=1"),
        ("--parameter", "effort=low"),
        ("--agreement", "most"),
        ("--max-chars", "100"),
    ],
)
def test_wrong_options(judge: LlmServer, source: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*map(str, _arguments(source, tmp_path / "out", judge, *more))])
    assert done.exit_code == 2
    assert judge.requests == []


def test_parameters_and_prompts_are_sent_as_given(judge: LlmServer, source: Path, tmp_path: Path) -> None:
    more = (
        "--prompt",
        LIST,
        "--prompt",
        SHORT,
        "--limit",
        "1",
        "--parameter",
        "max_tokens=null",
        "--parameter",
        "effort=1",
    )
    arguments = _arguments(source, tmp_path / "out", judge, *more, "--quiet")
    done = CliRunner(env={"PRIMER_LABEL_API_KEY": KEY}).invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0
    assert sorted(judge.asked()) == [(LIST, "Story 0."), (SHORT, "Story 0.")]
    assert LONG not in json.loads((tmp_path / "out" / "label.json").read_bytes())["prompts"]
    for request in judge.requests:
        assert {**request.body, "messages": None} == {"model": MODEL, "temperature": 0, "effort": 1, "messages": None}

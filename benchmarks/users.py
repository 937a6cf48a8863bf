"""Eight people at a million decisions while a job runs on the same cores: `python -m benchmarks.users [--write]`.

Each of them has a session of his own and asks what the workbench asks, one request after the other with a pause to read in between.
Measured twice in one run, without a job and with one. Asserts nothing; says whether the aim holds.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus import REPO
from benchmarks.index import DEFAULT, draw_filters
from benchmarks.machine import describe_machine
from benchmarks.synthetic_service import Caller, SyntheticService, serve_decisions

AIM_MS = 300
RESULT = REPO / "benchmarks" / "results" / "users.md"
_PEOPLE = 8
_PAUSE_SECONDS = (0.5, 1.5)  # between an answer and the next question, drawn evenly
_COLUMNS = ("p95_aoa", "oov_ratio", "fasttext_window_k5", "encoder_window_k5", "term_count")

# Milliseconds of the answers to each kind of question.
Taken = dict[str, list[float]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.users", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they ask, each of the two times")
    parser.add_argument("--megabytes", type=float, default=300.0, help="how much text the job measures")
    parser.add_argument("--write", action="store_true", help=f"also into benchmarks/results/{RESULT.name}")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="primer-benchmark-") as name,
        serve_decisions(Path(name), options.rows, megabytes=options.megabytes) as synthetic,
    ):
        ask(synthetic, options.seconds / 4, seed=0)  # what is asked first maps files into memory
        alone = ask(synthetic, options.seconds, seed=100)
        caller = Caller(synthetic.service)
        job_id = synthetic.start_measuring(caller)
        wait_until_measuring(caller, job_id)
        before = caller.call("GET", f"/jobs/{job_id}")
        beside = ask(synthetic, options.seconds, seed=200)
        after = caller.call("GET", f"/jobs/{job_id}")
    report = format_report(synthetic.rows, options.seconds, alone, beside, before, after)
    sys.stdout.write(report)
    if options.write:
        RESULT.write_text(report)


def wait_until_measuring(caller: Caller, job_id: int) -> None:
    while not (job := caller.call("GET", f"/jobs/{job_id}"))["documents_done"]:
        if job["state"] not in ("queued", "running"):
            raise RuntimeError(f"The job is {job['state']}: {job['error']}")
        time.sleep(0.2)


def ask(synthetic: SyntheticService, seconds: float, *, seed: int) -> Taken:
    """Everybody asks for so many seconds; another seed asks for other thresholds, so that nothing is known already."""
    taken: Taken = {}
    lock = threading.Lock()
    failures: list[BaseException] = []

    def note(kind: str, milliseconds: float) -> None:
        with lock:
            taken.setdefault(kind, []).append(milliseconds)

    def attend(number: int) -> None:
        try:
            attend_as(Caller(synthetic.service), synthetic.job_id, random.Random(seed + number), seconds, note)
        except BaseException as error:  # told to the main thread below
            failures.append(error)
            raise

    people = [threading.Thread(target=attend, args=(number,)) for number in range(_PEOPLE)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    if failures:
        raise failures[0]
    return taken


def attend_as(
    caller: Caller, job_id: int, chance: random.Random, seconds: float, note: Callable[[str, float], None]
) -> None:
    """One person, until the time is over."""
    filters = draw_filters(400)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(chance.uniform(*_PAUSE_SECONDS))
        query, sort = (asked.model_dump(mode="json", exclude_none=True) for asked in chance.choice(filters))
        questions: list[tuple[str, str, dict[str, Any]]] = [
            ("page of 50", "documents/search", {"query": query, "sort": sort, "limit": 50}),
            ("facets", "documents/facets", {"query": query}),
            ("histogram", "documents/histogram", {"column": chance.choice(_COLUMNS), "bins": 60}),
            ("threshold moved", "what-if", {"other": {"profile": draw_draft(chance)}}),
        ]
        kind, path, body = chance.choices(questions, weights=(4, 3, 1, 2))[0]
        began = time.perf_counter()
        caller.call("POST", f"/jobs/{job_id}/{path}", body)
        note(kind, (time.perf_counter() - began) * 1000)


def draw_draft(chance: random.Random) -> dict[str, Any]:
    """The default profile with one threshold moved, as the page of thresholds sends it."""
    moved = {"lexical": {"max_p95_aoa": round(9 + 4 * chance.random(), 3), "max_oov_ratio": 0.05}}
    return {
        "name": "draft",
        "version": 1,
        "description": "",
        "form": "normalized",
        **DEFAULT,
        **moved,
        "optional": ["encoder"],
    }


def format_report(rows: int, seconds: float, alone: Taken, beside: Taken, before: Any, after: Any) -> str:
    machine = describe_machine()
    lines = [
        f"{machine['hardware']}; Python {machine['python']}; {machine['date']}; load at the end {os.getloadavg()[0]:.1f}",
        f"{rows:,} decisions; {_PEOPLE} people for {seconds:g} s with pauses of {_PAUSE_SECONDS[0]} to {_PAUSE_SECONDS[1]} s; "
        "`primer up` with SQLite, one API process and one worker process at nice 10.",
        f"Meanwhile the job measured {after['documents_done'] - before['documents_done']:,} documents"
        f" ({'it ran all the time' if after['state'] == 'running' else 'it ended before they did: take more --megabytes'}).",
        "",
        "| question | asked | p50 | p95 | asked beside a job | p50 | p95 |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in (*sorted(alone), "all"):
        cells = []
        for taken in (alone, beside):
            found = sorted(taken.get(kind, []) if kind != "all" else [one for each in taken.values() for one in each])
            cells += [str(len(found)), f"{find_share(found, 0.5):.0f} ms", f"{find_share(found, 0.95):.0f} ms"]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    worst = find_share(sorted(one for each in beside.values() for one in each), 0.95)
    lines += [
        "",
        f"p95 of all beside a job: {worst:.0f} ms (aim: under {AIM_MS}): {'holds' if worst < AIM_MS else 'does not hold'}.",
        "",
    ]
    return "\n".join(lines)


def find_share(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


if __name__ == "__main__":
    main()

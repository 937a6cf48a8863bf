"""The decision index at 10 million rows, and beside one PostgreSQL table of decisions: `python -m benchmarks.index --rows 10000000`.

Rows are synthetic with the figures of web text (`benchmarks/synthetic_ledger.py`). Every phase is a process of its own, so that
its peak memory is its own. `--write` puts the report into benchmarks/results/index.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decision_table import measure_table
from benchmarks.machine import describe_machine
from benchmarks.memory import run_alone
from benchmarks.synthetic_ledger import write_ledger
from curation.artifacts.artifact_set import resolve_artifacts
from curation.index import (
    BandCondition,
    Decided,
    DecisionRequest,
    Query,
    Range,
    SignalIndex,
    Sort,
    build_index,
    open_index,
)
from curation.lexicon.vocabulary import VocabularyTable, read_vocabulary_table
from curation.profile import BoundProfile, Profile
from curation.run_folder import RunFolder

AIM_ROWS = 10_000_000
AIM_PAGE_MS, AIM_CHANGE_MS = 300, 1000
AIM_PEAK_BYTES = 2 << 30
_PAGE_ROWS = 50
_RESULT = Path(__file__).parent / "results" / "index.md"

# Milliseconds by the clock, and of processor time of all threads together: the latter does not hang on what else runs.
Taken = tuple[float, float]

DEFAULT = {
    "lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05},
    "fasttext": {"min_k5_document": 0.3, "min_k5_window": 0.1},
    "encoder": {"min_k5_window": 0.2},
    "notation": {"rules": "recommended"},
    "vocabulary": {"mode": "block", "min_score": 4.0, "max_terms": 8},
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--postgres-rows", type=int, default=2_000_000, help="0: no PostgreSQL")
    parser.add_argument(
        "--folder", type=Path, help="where to put ledgers and indexes; they are kept there and used again"
    )
    parser.add_argument("--write", action="store_true", help=f"write {_RESULT.relative_to(Path.cwd())}")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        report = measure(folder, options.rows)
        if options.postgres_rows:
            same = report if options.postgres_rows == options.rows else measure(folder, options.postgres_rows)
            table = run_alone(measure_table, folder / str(options.postgres_rows), Path(temporary) / "postgres")
            report["comparison"] = {"rows": same["rows"], "index": same, "table": table}
    text = format_report(report)
    sys.stdout.write(text)
    if options.write:
        _RESULT.write_text(text)


def measure(folder: Path, row_count: int) -> dict[str, Any]:
    """Build an index of a synthetic run in `folder/ROWS` and ask it everything."""
    home = folder / str(row_count)
    if not (home / "run" / "ledger" / "whole").exists():
        _say(f"{row_count:,} rows: writing the ledger")
        shutil.rmtree(home, ignore_errors=True)
        run_alone(_write, home / "run", row_count)
        (home / "run" / "ledger" / "whole").touch()
    record = home / "built.json"
    if not record.exists():
        _say("building the index")
        load = os.getloadavg()[0]
        record.write_text(json.dumps({**run_alone(_build, home), "build_load": (load, os.getloadavg()[0])}))
    _say("asking it")
    load = os.getloadavg()[0]
    asked = run_alone(_ask, home)
    return {**describe_machine(), **json.loads(record.read_text()), **asked, "load": (load, os.getloadavg()[0])}


def _say(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text} (load {os.getloadavg()[0]:.1f})\n")


def _read_table() -> VocabularyTable:
    return read_vocabulary_table(resolve_artifacts(None).require("vocabulary").path)


def _write(folder: Path, row_count: int) -> None:
    write_ledger(folder, row_count, _read_table())


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _build(home: Path) -> dict[str, Any]:
    shutil.rmtree(home / "indexes", ignore_errors=True)
    table, began, began_cpu = _read_table(), time.monotonic(), time.process_time()
    path = build_index(RunFolder(home / "run"), home / "indexes", table=table)
    seconds, cpu_seconds = time.monotonic() - began, time.process_time() - began_cpu
    index = open_index(path)
    sizes: dict[str, float] = {}
    for name, size in index.description.file_bytes.items():
        group = name.split("/")[0]
        sizes[group] = sizes.get(group, 0) + size / len(index)
    ledger = sum(
        index_part.stat().st_size
        for piece in RunFolder(home / "run").ledger.slices()
        for index_part in (RunFolder(home / "run").ledger.part_path(layer, piece.id) for layer in ("core", "postings"))
    )
    return {
        "rows": len(index),
        "build_seconds": seconds,
        "build_cpu_seconds": cpu_seconds,
        "build_peak_bytes": _peak_bytes(),
        "bytes_a_row": sizes,
        "ledger_bytes_a_row": ledger / len(index),
    }


def open_home(home: Path) -> SignalIndex:
    """The index that was built in a home."""
    [path] = (home / "indexes").iterdir()
    return open_index(path)


def make_request(**stages: Any) -> DecisionRequest:
    content = {"name": "bench", "version": 1, "form": "normalized", **DEFAULT, **stages}
    return DecisionRequest(BoundProfile(Profile.model_validate(content), {}, ()))


def _ask(home: Path) -> dict[str, Any]:
    open_home(home)  # imports take a second once a process
    opened, index = _time(lambda: open_home(home))
    first, decided = _time(lambda: index.decide(make_request()))
    decided.funnel  # noqa: B018
    changes, flips = [], []
    for request in draw_changes(20):
        taken, other = _time(lambda request=request: _decide_wholly(index, request))  # type: ignore[misc]
        changes.append(taken)
        flips.append(_time(lambda other=other: decided.what_if(other))[0])  # type: ignore[misc]
    scores = [
        _time(lambda score=score: _decide_wholly(index, make_vocabulary_change(score)))[0]  # type: ignore[misc]
        for score in (3.9, 3.5, 3.2, 4.4)
    ]
    histograms = [
        _time(lambda column=column: decided.histogram(column))[0]  # type: ignore[misc]
        for column in ("p95_aoa", "oov_ratio", "tokens", "fasttext_window_k5", "encoder_window_k5", "term_count")
    ]
    pages = [_time(lambda asked=asked: ask_filter(decided, *asked))[0] for asked in draw_filters(40)]  # type: ignore[misc]
    return {
        "open": [opened],
        "first_decisions": [first],
        "changes": changes,
        "score_changes": scores,
        "flips": flips,
        "histograms": histograms,
        "pages": pages,
        "outcomes": decided.facets().outcomes,
        "peak_bytes": _peak_bytes(),
    }


def _decide_wholly(index: SignalIndex, request: DecisionRequest) -> Decided:
    decided = index.decide(request)
    assert decided.funnel.document_count == len(index)
    return decided


def ask_filter(decided: Decided, query: Query, sort: Sort) -> int:
    """What a page of the documents' room asks at once: the first rows with their names, and the facets."""
    page = decided.page(query, sort, limit=_PAGE_ROWS)
    assert len(decided.index.describe_rows(page.positions)) == len(page.positions)
    return decided.facets(query).documents


def _time(work: Callable[[], Any]) -> tuple[Taken, Any]:
    began, began_cpu = time.perf_counter(), time.process_time()
    found = work()
    return ((time.perf_counter() - began) * 1000, (time.process_time() - began_cpu) * 1000), found


def draw_changes(count: int) -> list[DecisionRequest]:
    """Profiles that each move one threshold of the default one, as a person drags it."""
    chance = random.Random(1)
    changes: list[Callable[[float], dict[str, Any]]] = [
        lambda share: {"lexical": {"max_p95_aoa": 9 + 4 * share, "max_oov_ratio": 0.05}},
        lambda share: {"fasttext": {"min_k5_document": 0.6 * share, "min_k5_window": 0.1}},
        lambda share: {"encoder": {"min_k5_window": share}},
        lambda share: {"vocabulary": {**DEFAULT["vocabulary"], "max_terms": round(20 * share)}},
        lambda share: {"fasttext": {"top_band": "window", "min_k5_window": share}},
    ]
    return [make_request(**changes[number % len(changes)](chance.random())) for number in range(count)]


def make_vocabulary_change(score: float) -> DecisionRequest:
    return make_request(vocabulary={**DEFAULT["vocabulary"], "min_score": score})


def draw_filters(count: int) -> list[tuple[Query, Sort]]:
    """Random filters of one to three conditions, as the documents' room gives them, each with an order."""
    chance = random.Random(2)

    def draw_condition() -> dict[str, Any]:
        return chance.choice(
            [
                {"outcome": chance.choice(["kept", "excluded", "undecided"])},
                {"decided_by": chance.choice(["lexical", "fasttext", "encoder"])},
                {"excluded_by": chance.choice(["lexical", "fasttext", "notation", "vocabulary"])},
                {"excluded_by": chance.choice(["lexical", "notation", "vocabulary"]), "sole": "certain"},
                {"ranges": (Range(column="p95_aoa", low=9 + chance.random(), high=11 + 2 * chance.random()),)},
                {"ranges": (Range(column="tokens", low=chance.choice([200, 500, 1000])),)},
                {"ranges": (Range(column="fasttext_window_k5", low=chance.random()),)},
                {"ranges": (Range(column="term_count", low=chance.randint(1, 9)),)},
                {"bands": (BandCondition(reading="fasttext_document", band=chance.choice(["K5", "K12"])),)},
                {"domain": f"www.site-{chance.randint(1, 40)}.example.com"},
                {"domain": "example.org", "has_subdomains": True},
                {"rule": chance.choice(["variable_with_exponent", "root_sign", "logarithm"])},
                {"shard": f"synthetic-{chance.randint(0, 9):05d}.parquet"},
                {"term": chance.choice(["quantum", "login", "river", "because"])},
            ]
        )

    def draw_query() -> Query:
        conditions: dict[str, Any] = {}
        for _ in range(chance.randint(1, 3)):
            conditions |= draw_condition()
        if "excluded_by" not in conditions:
            conditions.pop("sole", None)
        return Query(**conditions)

    orders = (None, "p95_aoa", "tokens", "fasttext_window_k5", "oov_ratio")
    drawn = []
    for _ in range(count):
        column = chance.choice(orders)
        drawn.append((draw_query(), Sort(column=column, is_descending=column is not None and chance.random() < 0.5)))
    return drawn


def format_report(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    libraries = ", ".join(f"{name} {number}" for name, number in report["libraries"].items())
    sizes = ", ".join(f"{name} {size:.0f}" for name, size in sorted(report["bytes_a_row"].items()) if size >= 1)
    total, rows = sum(report["bytes_a_row"].values()), report["rows"]
    lines = [
        f"{report['hardware']}; Python {report['python']}, {libraries}; {report['date']}.",
        f"Other processes ran: load {_describe_load(report['build_load'])} while building, {_describe_load(report['load'])} while "
        "asking. So each time is given twice: by the clock, and as processor time of all threads together, of which two idle "
        "cores need between half and all by the clock.",
        "",
        f"{rows:,} rows: {', '.join(f'{name} {count:,}' for name, count in report['outcomes'].items())}.",
        "",
        "| what | by the clock | processor time |",
        "|---|---|---|",
        f"| build | {rows / report['build_seconds']:,.0f} rows a second ({report['build_seconds']:,.0f} s) | "
        f"{rows / report['build_cpu_seconds']:,.0f} rows a second of one core |",
        *(
            f"| {name} | {_describe_times(report[key], 0)} | {_describe_times(report[key], 1)} |"
            for name, key in (
                ("open", "open"),
                ("first decisions: columns read, terms counted", "first_decisions"),
                ("threshold change over all rows: decisions and funnel", "changes"),
                ("least score of the vocabulary changed: terms counted anew, decisions, funnel", "score_changes"),
                ("what-if: flips counted with their tokens and first examples", "flips"),
                ("histogram, kept, excluded and undecided apart", "histograms"),
                ("first page of 50 with ids and URLs, and all facets, of a random filter", "pages"),
            )
        ),
        "",
        f"Bytes a row: {total:.0f} ({sizes}), beside {report['ledger_bytes_a_row']:.0f} of the ledger's core and postings. "
        f"Peak memory: building {report['build_peak_bytes'] / 2**20:,.0f} MiB, asking all of the above "
        f"{report['peak_bytes'] / 2**20:,.0f} MiB, mapped files included.",
        "",
    ]
    if rows >= AIM_ROWS:
        lines += _judge_aims(report)
    if "comparison" in report:
        lines += format_comparison(report["comparison"])
    return "\n".join(lines)


def _judge_aims(report: dict[str, Any]) -> list[str]:
    pages, changes = take_percentile(report["pages"], 95), take_percentile(report["changes"], 95)
    is_small = report["peak_bytes"] < AIM_PEAK_BYTES
    return [
        f"Aims at {AIM_ROWS:,} rows on two cores, held against the clock under that load (and against all processor time): page and "
        f"facets p95 < {AIM_PAGE_MS} ms: {_judge(pages, AIM_PAGE_MS)}; threshold change p95 < {AIM_CHANGE_MS} ms: "
        f"{_judge(changes, AIM_CHANGE_MS)}; memory < 2 GiB: {'met' if is_small else 'NOT MET'}.",
        "",
    ]


def _describe_load(load: Sequence[float]) -> str:
    return f"{load[0]:.1f} to {load[1]:.1f}"


def _describe_times(taken: Sequence[Taken], which: int) -> str:
    values = [times[which] for times in taken]
    if len(values) == 1:
        return f"{values[0]:,.0f} ms"
    return f"p50 {np.percentile(values, 50):,.0f} ms, p95 {np.percentile(values, 95):,.0f} ms"


def take_percentile(taken: Sequence[Taken], share: int) -> Taken:
    """Of each of the two times apart."""
    clock, processor = np.percentile(np.array(taken), share, axis=0).tolist()
    return clock, processor


def _judge(taken: Taken, limit: float) -> str:
    clock, processor = ("met" if value < limit else "NOT MET" for value in taken)
    return f"{clock} ({processor})"


def format_comparison(comparison: dict[str, Any]) -> list[str]:
    """The index beside the table, by the clock: the server's processor time is not this process's."""
    index, table = comparison["index"], comparison["table"]

    def row(name: str, ours: float, theirs: float, unit: str) -> str:
        return f"| {name} | {ours:,.0f} {unit} | {theirs:,.0f} {unit} | {theirs / ours:.1f} |"

    def share(values: Sequence[float], percent: int) -> float:
        return float(np.percentile(values, percent))

    changes = share(table["index_changes_ms"], 50)
    return [
        f"Beside one PostgreSQL table ({table['version']}; {table['settings']}) at {comparison['rows']:,} rows, each question to "
        f"both in turn, by the clock (load {_describe_load(table['load'])}):",
        "",
        "| what | index | table | table / index |",
        "|---|---|---|---|",
        row("load: build from Parquet / COPY and B-trees", index["build_seconds"], table["load_seconds"], "s"),
        row(
            f"bytes a row, of which the index keeps {index['bytes_a_row']['words']:.0f} for every word's rows",
            sum(index["bytes_a_row"].values()),
            table["bytes_a_row"],
            "bytes",
        ),
        *(
            row(f"{name}, p{percent}", share(table[f"index_{key}"], percent), share(table[key], percent), "ms")
            for name, key, percent in (
                ("first page and facets", "pages_ms", 50),
                ("first page and facets", "pages_ms", 95),
                ("of these the page alone", "page_ms", 95),
            )
        ),
        row("threshold change: the funnel alone, p50", changes, share(table["funnel_ms"], 50), "ms"),
        row("threshold change: every decision, p50", changes, share(table["update_ms"], 50), "ms"),
        "",
        "The table has the columns that these questions need and B-trees on position, kept, decided_by, p95_aoa, tokens and domain. "
        "Both gave the same rows on every page and the same number of documents. It was asked the "
        f"{table['asked']} of the 40 filters that it can answer: a term needs postings, which it does not have.",
        "",
    ]


if __name__ == "__main__":
    main()

"""Megabytes a second of every rule signal, each beside the plain way in the same run: `python -m benchmarks.engine`.

CPU time of one thread, warm, best of three rounds in which ours and the plain way take turns. Asserts nothing about
speed; says whether the rule signals together are at least TARGET_RATIO times the plain way.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import plain
from benchmarks.corpus import Corpus, read_corpus
from benchmarks.machine import describe_machine
from curation.artifacts.artifact_set import resolve_artifacts
from curation.cascade import Meters, measure_batches, sort_postings
from curation.normalize import normalize
from curation.recipe import Recipe, build_recipe
from curation.shards.rows import BATCH_BYTES, MAX_BATCH_ROWS, RowBatch
from curation.signals.fasttext_grade import FastTextGrade, measure_windows
from curation.signals.lexical import measure_lexical
from curation.signals.notation import find_published, find_recommended
from curation.signals.tokens import TokenCounter, TokenCounts, to_token_stream
from curation.signals.vocabulary import FLOOR_SCORE, measure_vocabulary
from curation.signals.windows import split_windows

TARGET_RATIO = 4.0
_ROUNDS = 3
_TOGETHER = "all rule signals together"


@dataclass(frozen=True)
class Rate:
    """CPU seconds of the best round over the corpus. `plain_seconds` None: there is no plain way to compare with."""

    signal: str
    seconds: float
    plain_seconds: float | None
    megabytes: float

    @property
    def megabytes_per_second(self) -> float:
        return self.megabytes / self.seconds

    @property
    def plain_megabytes_per_second(self) -> float | None:
        return None if self.plain_seconds is None else self.megabytes / self.plain_seconds

    @property
    def ratio(self) -> float | None:
        return None if self.plain_seconds is None else self.plain_seconds / self.seconds


@dataclass(frozen=True)
class Prepared:
    """The corpus as the engine meets it: row batches as the reader cuts them, and every text in one list."""

    meters: Meters
    batches: list[RowBatch]
    texts: list[str]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=20.0, help="how much text; 0: all there is")
    parser.add_argument("--artifacts", help="bundled (default), published, or a folder")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args(arguments)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    corpus = read_corpus(int(options.megabytes * 1e6) or None)
    artifacts = resolve_artifacts(options.artifacts)
    model = artifacts.get("fasttext")
    rules_only = dataclasses.replace(
        artifacts, artifacts={k: a for k, a in artifacts.artifacts.items() if k != "fasttext"}
    )
    recipe = build_recipe(rules_only)
    prepared = _prepare(Meters(rules_only, recipe), corpus)
    rates = measure_rules(prepared, corpus.text_bytes / 1e6)
    if model is not None:
        rates.append(measure_fasttext(FastTextGrade(model.path), recipe, prepared.texts, corpus.text_bytes / 1e6))
    report = describe(corpus, rates)
    sys.stdout.write(json.dumps(report, indent=1) + "\n" if options.json else format_table(report))


def _prepare(meters: Meters, corpus: Corpus) -> Prepared:
    table = corpus.documents
    rows = max(1, min(MAX_BATCH_ROWS, table.num_rows * BATCH_BYTES // max(corpus.text_bytes, 1)))
    batches, first = [], 0
    for batch in table.to_batches(max_chunksize=rows):
        batches.append(RowBatch(first, batch.column("text").to_pylist(), [None] * len(batch), batch))
        first += len(batch)
    return Prepared(meters, batches, [text for batch in batches for text in batch.texts if text is not None])


def measure_rules(prepared: Prepared, megabytes: float) -> list[Rate]:
    """Every rule signal alone, then all of them as the cascade runs them; the plain way of that is the sum."""
    meters, texts = prepared.meters, prepared.texts
    ages = dict(zip(meters.words.table.words, meters.words.table.ages.tolist(), strict=True))
    scores = meters.vocabulary.scores
    cut = [[text for text in batch.texts if text is not None] for batch in prepared.batches]
    counted = _count_tokens(meters, cut)
    measured = list(measure_batches(meters, iter(prepared.batches)))

    def find_lexical() -> None:
        for tokens in _count_tokens(meters, cut):
            measure_lexical(tokens, meters.words.table.ages)

    def find_vocabulary() -> None:
        for tokens, batch in zip(counted, cut, strict=True):
            measure_vocabulary(tokens, meters.scores, batch)

    def measure_together() -> None:
        sort_postings(list(measure_batches(meters, iter(prepared.batches))))

    pairs: list[tuple[str, Callable[[], object], Callable[[], object] | None]] = [
        ("tokens and lexical", find_lexical, lambda: plain.measure_lexical(texts, ages)),
        (
            "vocabulary evidence (of the same tokens)",
            find_vocabulary,
            lambda: plain.measure_vocabulary(texts, scores, FLOOR_SCORE),
        ),
        ("postings (of the same tokens)", lambda: sort_postings(measured), lambda: plain.count_postings(texts)),
        ("notation, published", lambda: [find_published(text) for text in texts], lambda: plain.find_published(texts)),
        (
            "notation, recommended",
            lambda: [find_recommended(text) for text in texts],
            lambda: plain.find_recommended(texts),
        ),
        ("normalisation", lambda: [normalize(text) for text in texts], None),
        (_TOGETHER, measure_together, None),
    ]
    best: dict[str, tuple[float, float]] = {name: (np.inf, np.inf) for name, _, _ in pairs}
    for _ in range(_ROUNDS):
        for name, ours, theirs in pairs:
            ours_seconds, plain_seconds = best[name]
            best[name] = (
                min(ours_seconds, _time(ours)),
                min(plain_seconds, _time(theirs) if theirs is not None else np.inf),
            )
    plain_together = sum(seconds for _, seconds in best.values() if seconds < np.inf)
    return [
        Rate(name, ours, plain_together if name == _TOGETHER else None if theirs == np.inf else theirs, megabytes)
        for name, (ours, theirs) in best.items()
    ]


def _count_tokens(meters: Meters, cut: Sequence[Sequence[str]]) -> list[TokenCounts]:
    counter = TokenCounter(meters.words)
    return [counter.count([to_token_stream(text) for text in texts]) for texts in cut]


def measure_fasttext(model: FastTextGrade, recipe: Recipe, texts: Sequence[str], megabytes: float) -> Rate:
    """The fastText signal as the cascade asks for it: the published text, the normalised text whole and in windows."""

    def grade() -> None:
        normalized = [normalize(text).text for text in texts]
        splits = [
            split_windows(
                text, words_per_window=recipe.words_per_window, max_windows=recipe.max_windows, seed=recipe.window_seed
            )
            for text in normalized
        ]
        measure_windows(model, normalized, [split.windows for split in splits])
        model.predict(texts, published=True)

    return Rate(
        "fastText grade (published, whole, windows)", min(_time(grade) for _ in range(_ROUNDS)), None, megabytes
    )


def _time(work: Callable[[], object]) -> float:
    """CPU seconds, counted over all threads of the process, so that a hidden thread is no gift."""
    began = time.process_time()
    work()
    return time.process_time() - began


def describe(corpus: Corpus, rates: Sequence[Rate]) -> dict[str, object]:
    """The report as JSON."""
    together = next(rate.ratio for rate in rates if rate.signal == _TOGETHER)
    return {
        **describe_machine(),
        "corpus": f"{corpus.documents.num_rows:,} documents, {corpus.text_bytes / 1e6:.1f} MB: {corpus.origin}",
        "measured": f"CPU seconds of one thread, warm, best of {_ROUNDS}",
        "signals": [
            {
                "signal": rate.signal,
                "megabytes_per_second": round(rate.megabytes_per_second, 2),
                "plain_megabytes_per_second": _round(rate.plain_megabytes_per_second),
                "ratio": _round(rate.ratio),
            }
            for rate in rates
        ],
        "target_ratio": TARGET_RATIO,
        "is_target_met": together is not None and together >= TARGET_RATIO,
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def format_table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    libraries = ", ".join(f"{name} {number}" for name, number in report["libraries"].items())
    lines = [
        f"{report['hardware']}; Python {report['python']}, {libraries}; {report['date']}",
        f"{report['corpus']}. {report['measured']}.",
        "",
        "| signal | MB/s | plain way MB/s | ratio |",
        "|---|---|---|---|",
    ]
    for row in report["signals"]:
        cells = [row["megabytes_per_second"], row["plain_megabytes_per_second"], row["ratio"]]
        shown = ["" if cell is None else f"{cell:.2f}" for cell in cells]
        lines.append(f"| {row['signal']} | {' | '.join(shown)} |")
    verdict = "holds" if report["is_target_met"] else "DOES NOT HOLD"
    lines += ["", f"Rule signals together >= {report['target_ratio']:g} times the plain way: {verdict}.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""Tokens a second of the shipped encoder on CPU cores, one process each: `python -m benchmarks.encoder_cpu`.

Real web text in windows as the cascade reads it, tokenising included. CPU time beside wall time, as other work on a
shared machine slows only the latter.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.corpus import read_corpus
from benchmarks.encoder_inputs import BUNDLED, read_tokenizer
from benchmarks.machine import describe_machine
from curation.signals.encoder_grade import EncoderGrade


class Work(NamedTuple):
    tokens: int
    wall_seconds: float
    cpu_seconds: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoder_cpu", description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--megabytes", type=float, default=0.5, help="of text, for each process")
    options = parser.parse_args(arguments)
    corpus = read_corpus(int(options.megabytes * 1e6 * options.processes))
    texts = corpus.documents["text"].to_pylist()
    shares = [texts[first :: options.processes] for first in range(options.processes)]
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        done = pool.map(grade, shares, chunksize=1)
    machine = describe_machine()
    tokens = sum(work.tokens for work in done)
    wall, cpu = max(work.wall_seconds for work in done), sum(work.cpu_seconds for work in done)
    sys.stdout.write(
        f"{machine['hardware']}; Python {machine['python']}; {machine['date']}\n"
        f"{len(texts):,} documents, {corpus.text_bytes / 1e6:.1f} MB: {corpus.origin}. The shipped encoder, hardest window.\n\n"
        "| processes | tokens/s | documents/s | tokens a CPU second | documents a CPU second |\n|---|---|---|---|---|\n"
        f"| {options.processes} | {tokens / wall:,.0f} | {len(texts) / wall:,.1f} | {tokens / cpu:,.0f} "
        f"| {len(texts) / cpu:,.1f} |\n"
    )


def grade(texts: Sequence[str]) -> Work:
    model = EncoderGrade(BUNDLED, device="cpu")
    model.grade_windows(texts[:2], max_windows=64, seed=1)
    began, cpu_began = time.perf_counter(), time.process_time()
    model.grade_windows(texts, max_windows=64, seed=1)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    tokenizer = read_tokenizer()
    return Work(sum(len(tokenizer.encode(text).ids) for text in texts), wall, cpu)


if __name__ == "__main__":
    main()

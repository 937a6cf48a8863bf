"""Peak memory of measuring a shard and one ten times its size with one worker: `python -m benchmarks.memory`.

Each measurement is a process of its own, so that its peak is its own. Exits with 1 where the larger shard needs more
than MAX_RATIO times the memory of the smaller. `--small`: 20 MB against 200 MB, smaller slices; `--rules`: no models.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpus import read_corpus, take_bytes
from benchmarks.machine import describe_machine
from curation.artifacts.artifact_set import ArtifactSet
from curation.curate import begin_run, measure
from curation.export.request import DEFAULT_SHARD_BYTES, ControlMatch
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.profile import DEFAULT_PROFILE, load_profile
from curation.recipe import DEFAULT_SLICE_BYTES
from curation.request import ExportOptions, RunRequest
from curation.run_folder import RunFolder

MAX_RATIO = 1.10
_ORDINARY_GROUP_ROWS = 1000
_SHAPES = ("Parquet, ordinary row groups", "Parquet, one giant row group", "JSONL.gz")


@dataclass(frozen=True)
class Plan:
    """Bytes of text of the two shards, and of a slice: the smaller shard must hold several slices."""

    small_bytes: int
    large_bytes: int
    slice_bytes: int


FULL = Plan(100_000_000, 1_000_000_000, DEFAULT_SLICE_BYTES)
SMALL = Plan(20_000_000, 200_000_000, 4 << 20)


@dataclass(frozen=True)
class Measured:
    """What one process needed to measure one shard."""

    peak_bytes: int
    documents: int
    text_bytes: int
    seconds: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--small", action="store_true", help="20 MB against 200 MB")
    parser.add_argument("--rules", action="store_true", help="measure the rule signals alone, about four times faster")
    parser.add_argument("--artifacts", help="bundled (default), published, or a folder")
    parser.add_argument("--shape", choices=_SHAPES, action="append", help="only this shape; may be repeated")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args(arguments)
    plan = SMALL if options.small else FULL
    rows = [compare(shape, plan, options.artifacts, has_models=not options.rules) for shape in options.shape or _SHAPES]
    report = {
        **describe_machine(),
        "measured": "peak resident memory (ru_maxrss) of one process with one worker, "
        + ("rule signals alone" if options.rules else "rule signals and the models there are"),
        "slice_mib": plan.slice_bytes / 2**20,
        "shards": rows,
        "max_ratio": MAX_RATIO,
        "is_target_met": all(row["ratio"] <= MAX_RATIO for row in rows),
    }
    sys.stdout.write(json.dumps(report, indent=1) + "\n" if options.json else format_table(report))
    sys.exit(0 if report["is_target_met"] else 1)


def compare(shape: str, plan: Plan, artifacts: str | None, *, has_models: bool) -> dict[str, Any]:
    """Peaks of the two shards of one shape, in MB, and their ratio."""
    found = []
    for size in (plan.small_bytes, plan.large_bytes):
        with tempfile.TemporaryDirectory() as folder:
            shard = Path(folder) / ("shard.jsonl.gz" if shape == _SHAPES[2] else "shard.parquet")
            run_alone(write_shard, shape, plan.small_bytes // 2, size, shard)
            found.append(run_alone(measure_shard, shard, Path(folder) / "out", plan.slice_bytes, artifacts, has_models))
        sys.stderr.write(f"{shape}: {found[-1]}\n")
    small, large = found
    return {
        "shape": shape,
        "small_text_mb": round(small.text_bytes / 1e6),
        "small_peak_mb": round(small.peak_bytes / 1e6, 1),
        "large_text_mb": round(large.text_bytes / 1e6),
        "large_peak_mb": round(large.peak_bytes / 1e6, 1),
        "ratio": round(large.peak_bytes / small.peak_bytes, 3),
        "large_megabytes_per_second": round(large.text_bytes / 1e6 / large.seconds, 2),
    }


def run_alone(work: Callable[..., Any], *arguments: object) -> Any:
    """`work` in a fresh process. A child's ru_maxrss begins at its parent's, so this process must stay small itself."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def write_shard(shape: str, text_bytes: int, size_bytes: int, path: Path) -> None:
    """At most `text_bytes` of real web text, repeated to `size_bytes`: both shards hold the same documents, the heaviest too."""
    documents = read_corpus(text_bytes).documents
    if shape == _SHAPES[2]:
        with gzip.open(path, "wb", compresslevel=1) as file:
            for piece in take_bytes(documents, size_bytes):
                file.write(b"".join(orjson.dumps(row) + b"\n" for row in piece.to_pylist()))
        return
    whole = pa.concat_tables(take_bytes(documents, size_bytes))
    group_rows = _ORDINARY_GROUP_ROWS if shape == _SHAPES[0] else whole.num_rows
    pq.write_table(whole, path, row_group_size=group_rows, compression="zstd")


def measure_shard(shard: Path, out: Path, slice_bytes: int, artifacts: str | None, has_models: bool) -> Measured:
    """Measure a shard as `primer run` does with one worker. Raises RuntimeError when a part of it failed."""
    request = RunRequest(
        sources=(str(shard),),
        config=None,
        split=None,
        artifacts=artifacts,
        aoa=None,
        profile=load_profile(DEFAULT_PROFILE),
        vocabulary=PLAIN_VOCABULARY,
        export=ExportOptions(
            shard_bytes=DEFAULT_SHARD_BYTES,
            shuffle_seed=None,
            token_budget=None,
            validation_share=0.0,
            control_match=ControlMatch.TOKENS,
            control_seed=0,
        ),
    )
    began = time.monotonic()
    job = begin_run(RunFolder(out), request, text_field="text", slice_bytes=slice_bytes, row_limit=None)
    if not has_models:
        tables = {kind: found for kind, found in job.artifacts.artifacts.items() if kind in ("aoa", "vocabulary")}
        job = dataclasses.replace(job, artifacts=ArtifactSet(tables))
    progress = measure(job, workers=1)
    if progress.failures:
        raise RuntimeError(f"not measured: {progress.failures}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Measured(peak, progress.documents, progress.text_bytes, time.monotonic() - began)


def format_table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    libraries = ", ".join(f"{name} {number}" for name, number in report["libraries"].items())
    lines = [
        f"{report['hardware']}; Python {report['python']}, {libraries}; {report['date']}",
        f"{report['measured']}; slices of {report['slice_mib']:g} MiB.",
        "",
        "| shard | text MB | peak MB | text MB | peak MB | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for row in report["shards"]:
        lines.append(
            f"| {row['shape']} | {row['small_text_mb']} | {row['small_peak_mb']} | {row['large_text_mb']} "
            f"| {row['large_peak_mb']} | {row['ratio']:.3f} |"
        )
    verdict = "holds" if report["is_target_met"] else "DOES NOT HOLD"
    lines += ["", f"Ten times the shard needs at most {report['max_ratio']:.2f} times the memory: {verdict}.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()

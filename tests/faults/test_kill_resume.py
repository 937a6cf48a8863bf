"""A run killed with SIGKILL at any moment and given again ends with the bytes of one that was not."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import cli_runs
import pytest

KILLS = 4
SOAK_KILLS = 20
SLICE_MB = "0.02"


def _arguments(source: Path, out: Path) -> list[str | Path]:
    return [
        "run",
        source,
        "--out",
        out,
        "--slice-mb",
        SLICE_MB,
        "--workers",
        "2",
        "--validation-share",
        "0.2",
        "--no-encoder",
        "--quiet",
    ]


def _kill_at_random_moments(tmp_path: Path, kills: int, seed: int) -> None:
    source = tmp_path / "sample.jsonl"
    rows = cli_runs.write_sample_lines(source)
    undisturbed = tmp_path / "undisturbed"
    began = time.monotonic()
    report = cli_runs.run_json(*_arguments(source, undisturbed))
    whole_seconds = time.monotonic() - began
    assert report["documents"] == rows

    moments = random.Random(seed)
    killed = tmp_path / "killed"
    interrupted = 0
    for _ in range(kills):
        process = cli_runs.start_primer(*_arguments(source, killed))
        time.sleep(moments.uniform(0, whole_seconds))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            interrupted += 1
        process.communicate(timeout=60)
        if (killed / "run.json").exists():
            # Finished before the blow: begin again from part of what was committed.
            (killed / "run.json").unlink()
            commits = sorted((killed / "ledger" / "commits" / "core").iterdir())
            for commit in moments.sample(commits, len(commits) // 2):
                commit.unlink()
    resumed = cli_runs.run_json(*_arguments(source, killed))

    assert interrupted >= kills // 4, "the kills came too late to interrupt anything"
    assert resumed["funnel"] == report["funnel"]
    for part in ("ledger", "export"):
        assert cli_runs.digest_folder(killed / part) == cli_runs.digest_folder(undisturbed / part)
    leftovers = [path.name for path in killed.iterdir()]
    assert sorted(leftovers) == ["export", "ledger", "locations.json", "request.json", "run.json", "staged"]


def test_killed_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    _kill_at_random_moments(tmp_path, KILLS, seed=20260813)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(SOAK_KILLS))
def test_killed_run_resumes_to_the_same_bytes_twenty_times(tmp_path: Path, seed: int) -> None:
    _kill_at_random_moments(tmp_path, 1, seed)


def test_finished_run_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = cli_runs.run_json("run", cli_runs.SAMPLE, "--out", out, "--workers", "1", "--no-encoder", "--quiet")
    stamps = _stamp_files(out)
    second = cli_runs.run_json("run", cli_runs.SAMPLE, "--out", out, "--workers", "1", "--no-encoder", "--quiet")
    assert second == first
    assert _stamp_files(out) == stamps


def _stamp_files(folder: Path) -> dict[Path, int]:
    """When each file was last written; where this machine finds the shards may be written again."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "locations.json"]
    return {path: path.stat().st_mtime_ns for path in files}

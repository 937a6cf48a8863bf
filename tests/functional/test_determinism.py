"""Equal inputs give equal bytes: whatever the hash seed, the number of workers, the split into parts, or the folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import cli_runs
import pytest


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    cli_runs.write_sample_lines(folder / "a.jsonl")
    for shard in cli_runs.SAMPLE.glob("*.parquet"):
        shutil.copy(shard, folder)
    return folder


def _arguments(source: Path, out: Path) -> list[str | Path]:
    return ["run", source, "--out", out, "--slice-mb", "0.1", "--shuffle-seed", "7", "--no-encoder", "--quiet"]


@pytest.fixture(scope="module")
def reference(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    out = tmp_path_factory.mktemp("reference") / "run"
    cli_runs.run_primer(*_arguments(source, out), "--workers", "1", PYTHONHASHSEED="0")
    return _digest(out)


def _digest(out: Path) -> dict[str, dict[str, str]]:
    return {part: cli_runs.digest_folder(out / part) for part in ("ledger", "export")}


@pytest.mark.parametrize(("workers", "hash_seed"), [("2", "1"), ("3", "2")])
def test_workers_and_hash_seed_change_nothing(
    source: Path, reference: dict[str, dict[str, str]], tmp_path: Path, workers: str, hash_seed: str
) -> None:
    cli_runs.run_primer(*_arguments(source, tmp_path / "run"), "--workers", workers, PYTHONHASHSEED=hash_seed)
    assert _digest(tmp_path / "run") == reference


@pytest.mark.parametrize("parts", [2, 5])
def test_parts_joined_equal_one_run(
    source: Path, reference: dict[str, dict[str, str]], tmp_path: Path, parts: int
) -> None:
    out = tmp_path / "run"
    for number in range(parts, 0, -1):
        cli_runs.run_primer(*_arguments(source, out), "--part", f"{number}/{parts}", "--workers", "1")
        assert not (out / "export").exists()
        assert not (out / "run.json").exists()
    report = cli_runs.run_json("finish", out)
    assert report["state"] == "finished"
    assert [part["part"] for part in report["times"]["parts"]] == list(range(1, parts + 1))
    assert _digest(out) == reference


def test_finish_refuses_while_parts_are_missing(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    cli_runs.run_primer(*_arguments(source, out), "--part", "1/2", "--workers", "1")
    error = cli_runs.run_json("finish", out, status=1)["error"]
    assert error["kind"] == "LedgerError"
    assert "not" in error["message"]
    assert not (out / "export").exists()

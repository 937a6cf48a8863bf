"""A trial run over a sample of the slices: only those are measured, and everything downstream is of them alone."""

from __future__ import annotations

import json
from pathlib import Path

import cli_runs
import pytest

from curation.run_folder import RunFolder
from curation.slice_sample import Sample, choose_slices

SAMPLE = ("--sample", "0.2", "--sample-seed", "3")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "sample.jsonl"
    cli_runs.write_sample_lines(path)
    return path


def _arguments(source: Path, out: Path) -> list[str | Path]:
    return ["run", source, "--out", out, "--slice-mb", "0.02", "--no-encoder", "--quiet"]


@pytest.fixture(scope="module")
def run(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trial") / "run"
    cli_runs.run_primer(*_arguments(source, out), *SAMPLE, "--workers", "1")
    return out


def test_only_the_drawn_slices_are_measured_and_exported(run: Path) -> None:
    ledger = RunFolder(run).ledger
    manifest = ledger.read_shards()[0]
    drawn = choose_slices(manifest, Sample(share=0.2, seed=3))
    assert 0 < len(drawn) < len(manifest.slices)
    assert [ref.piece for ref in ledger.slices()] == list(drawn)
    names = sorted(path.stem for path in (ledger.folder / "commits" / "core").iterdir())
    assert names == [manifest.slice_id(piece) for piece in drawn]

    report = json.loads((run / "run.json").read_bytes())
    assert report["state"] == "finished"
    assert report["sample"] == {"share": 0.2, "seed": 3}
    assert report["documents"] == sum(piece.row_count for piece in drawn)
    rows = {row for piece in drawn for row in range(piece.first_row, piece.first_row + piece.row_count)}
    exported = json.loads((run / "export" / "manifest.json").read_bytes())
    assert exported["run"]["sample"] == {"share": 0.2, "seed": 3}
    assert sum(exported["funnel"]["documents"].values()) == len(rows)
    assert "about 20 % of the source (seed 3)" in (run / "export" / "README.md").read_text()


def test_a_sampled_run_verifies_and_decides_anew(run: Path, tmp_path: Path) -> None:
    verified = cli_runs.run_json("verify", run / "export", "--run", run)
    assert verified["problems"] == []
    decided = cli_runs.run_json("decide", run, "--profile", "published", "--out", tmp_path / "decided.parquet")
    report = json.loads((run / "run.json").read_bytes())
    assert sum(decided["funnel"]["documents"].values()) == report["documents"]


def test_parts_of_a_sampled_run_join_to_the_same_bytes(source: Path, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "parts"
    for number in (2, 1):
        cli_runs.run_primer(*_arguments(source, out), *SAMPLE, "--part", f"{number}/2", "--workers", "1")
    cli_runs.run_primer("finish", out)
    for part in ("ledger", "export"):
        assert cli_runs.digest_folder(out / part) == cli_runs.digest_folder(run / part)


def test_another_sample_in_the_same_folder_is_refused(source: Path, run: Path) -> None:
    before = cli_runs.digest_folder(run)
    error = cli_runs.run_json(*_arguments(source, run), "--sample", "0.2", "--sample-seed", "4", status=1)["error"]
    assert error["kind"] == "LedgerError"
    assert "a sample of 0.2 with the seed 3, not a sample of 0.2 with the seed 4" in error["message"]
    assert cli_runs.digest_folder(run) == before


def test_a_share_that_is_none_is_refused(source: Path, tmp_path: Path) -> None:
    refused = cli_runs.run_primer(*_arguments(source, tmp_path / "run"), "--sample", "1", status=2)
    assert "between 0 and 1" in refused.stderr
    assert not (tmp_path / "run").exists()

"""The command line on real input: what `primer run` leaves, and every command over it."""

from __future__ import annotations

import json
from pathlib import Path

import cli_runs
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

ROWS = 254  # of the bundled sample


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "run"
    cli_runs.run_primer("run", cli_runs.SAMPLE, "--out", out, "--workers", "1", "--no-encoder", "--quiet")
    return out


def _report(run: Path) -> dict[str, object]:
    content = json.loads((run / "run.json").read_text())
    assert isinstance(content, dict)
    return content


def test_run_leaves_ledger_export_and_report(run: Path, tmp_path: Path) -> None:
    report = _report(run)
    assert report["state"] == "finished"
    assert report["documents"] == ROWS
    assert report["shard_errors"] == []
    assert report["row_errors"] == {"count": 0, "examples": []}
    documents = report["funnel"]["documents"]  # type: ignore[index]
    assert sum(documents.values()) == ROWS
    assert documents["undecided"] == 0
    cli_runs.run_primer("ledger", "dump", run, "--out", tmp_path / "flat.parquet")
    flat = pq.read_table(tmp_path / "flat.parquet")
    assert flat.num_rows == ROWS
    assert flat["kept"].to_pylist().count(True) == documents["kept"]
    assert flat.column_names[:6] == ["shard", "row", "doc_id", "url", "kept", "decided_by"]


def test_export_loads_with_its_control_and_tokens_agree(run: Path, tmp_path: Path) -> None:
    curriculum = load_dataset(str(run / "export"), split="train", cache_dir=str(tmp_path))
    control = load_dataset(str(run / "export"), "control", split="train", cache_dir=str(tmp_path))
    report = _report(run)
    kept = report["funnel"]["documents"]["kept"]  # type: ignore[index]
    assert curriculum.num_rows == kept
    assert set(curriculum["primer_band"]) == {"K5"}
    difference = abs(sum(curriculum["token_count"]) - sum(control["token_count"]))
    assert difference <= max(control["token_count"])
    source = {row["id"]: row for shard in cli_runs.SAMPLE.glob("*.parquet") for row in pq.read_table(shard).to_pylist()}
    for row in curriculum:
        assert {key: row[key] for key in source[row["id"]]} == source[row["id"]]


def test_decide_under_published_equals_a_run_under_published(run: Path, tmp_path: Path) -> None:
    decided = cli_runs.run_json("decide", run, "--profile", "published", "--out", tmp_path / "decided.parquet")
    fresh = tmp_path / "fresh"
    cli_runs.run_primer(
        "run", cli_runs.SAMPLE, "--out", fresh, "--profile", "published", "--workers", "1", "--no-encoder", "--quiet"
    )
    cli_runs.run_primer("ledger", "dump", fresh, "--out", tmp_path / "fresh.parquet")
    assert pq.read_table(tmp_path / "decided.parquet").equals(pq.read_table(tmp_path / "fresh.parquet"))
    assert decided["funnel"] == _report(fresh)["funnel"]
    before, after = decided["baseline"]["documents"]["kept"], decided["funnel"]["documents"]["kept"]
    flips = decided["flips"]
    assert after - before == flips["now_kept"]["documents"] - flips["now_excluded"]["documents"]
    assert "Primer" in decided["statement"]
    assert "stage encoder left out" in decided["statement"]


def test_overrides_and_vocabulary_change_the_export(run: Path, tmp_path: Path) -> None:
    flat = tmp_path / "flat.parquet"
    cli_runs.run_primer("ledger", "dump", run, "--out", flat)
    rows = pq.read_table(flat).to_pylist()
    kept = next(row for row in rows if row["kept"])
    excluded = next(row for row in rows if not row["kept"] and row["n_words"] > 50)
    rulings = [
        {"shard": kept["shard"], "row": kept["row"], "action": "exclude", "author": "ann", "reason": "too dull"},
        {"shard": excluded["shard"], "row": excluded["row"], "action": "keep", "author": "ann", "reason": "fine"},
    ]
    overrides = tmp_path / "rulings.jsonl"
    overrides.write_text("".join(json.dumps(ruling) + "\n" for ruling in rulings))
    vocabulary = tmp_path / "vocabulary.yaml"
    vocabulary.write_text("name: mine\nversion: 1\nallow: []\nblock: [volcano, volcanoes]\n")
    out = tmp_path / "export"
    result = cli_runs.run_json("export", run, "--overrides", overrides, "--vocabulary", vocabulary, "--out", out)
    table = pq.read_table(out / "data" / "curriculum")
    assert table.num_rows == result["curriculum_rows"]
    ids = set(table["id"].to_pylist())
    assert kept["doc_id"] not in ids
    assert excluded["doc_id"] in ids
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["overrides"]["revision"] == 2
    assert manifest["vocabulary"]["content"]["block"] == ["volcano", "volcanoes"]
    again = cli_runs.run_json("export", run, "--overrides", overrides, "--vocabulary", vocabulary, "--out", out)
    assert again["is_new"] is False


def test_verify_finds_a_changed_byte(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "export"
    cli_runs.run_primer("export", run, "--out", out)
    sound = cli_runs.run_json("verify", out, "--run", run)
    assert sound["is_sound"] is True
    assert sound["problems"] == []
    file = next((out / "data" / "control").glob("*.parquet"))
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))
    found = cli_runs.run_json("verify", out, "--run", run, status=1)
    assert found["is_sound"] is False
    assert [problem["file"] for problem in found["problems"]] == [f"data/control/{file.name}"]


def test_control_alone_matches_the_curriculum(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "control"
    result = cli_runs.run_json("control", run, "--match", "tokens_length", "--control-seed", "5", "--out", out)
    assert result["curriculum_rows"] == 0
    assert not (out / "data" / "curriculum").exists()
    assert load_dataset(str(out), split="train", cache_dir=str(tmp_path / "c")).num_rows == result["control_rows"]


def test_explain_names_every_stage_and_place(tmp_path: Path) -> None:
    page = tmp_path / "page.txt"
    page.write_text("The mitochondria divide. Solve 3x + 4 = 10 for x.")
    explained = cli_runs.run_json("explain", page, "--profile", "published")
    assert explained["kept"] is False
    assert [stage["stage"] for stage in explained["stages"]] == [
        "lexical",
        "fasttext",
        "encoder",
        "notation",
        "vocabulary",
    ]
    places = {
        (place["kind"], place["name"], explained["text"][place["start"] : place["end"]])
        for stage in explained["stages"]
        for place in stage["evidence"]
    }
    assert ("notation", "27", "3x + 4 = 10") in places
    assert ("hard_word", "mitochondria", "mitochondria") in places
    shown = cli_runs.run_primer("explain", page, "--profile", "published").stdout
    assert "excluded by published v2" in shown


def test_all_five_stages_run_by_default(tmp_path: Path) -> None:
    """The shipped models in the shipped profile: nothing is left undecided, and the export says which models decided."""
    report = cli_runs.run_json("run", cli_runs.SAMPLE, "--out", tmp_path / "run", "--limit", "60", "--workers", "1")
    steps = [step["stage"] for step in report["funnel"]["published_order"]]
    assert steps == ["lexical", "fasttext", "encoder", "notation", "vocabulary"]
    assert report["funnel"]["documents"]["undecided"] == 0
    assert "encoder bundled with Primer" in report["statement"]
    assert "not run" not in report["statement"]


def test_limit_zero_reads_nothing(tmp_path: Path) -> None:
    report = cli_runs.run_json(
        "run", cli_runs.SAMPLE, "--out", tmp_path / "run", "--limit", "0", "--workers", "1", "--no-encoder"
    )
    assert report["documents"] == 0
    assert report["state"] == "finished"
    assert pq.read_table(tmp_path / "run" / "export" / "data" / "curriculum").num_rows == 0


def test_limit_counts_rows_over_shards(tmp_path: Path) -> None:
    report = cli_runs.run_json(
        "run", cli_runs.SAMPLE, "--out", tmp_path / "run", "--limit", "130", "--workers", "1", "--no-encoder"
    )
    assert report["documents"] == 130
    assert [shard["row_count"] for shard in report["shards"]] == [127, 3]


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("do not lose me")
    error = cli_runs.run_json("run", cli_runs.SAMPLE, "--out", tmp_path, "--workers", "1", status=1)["error"]
    assert error["kind"] == "LedgerError"
    assert "thesis.txt" in error["message"]
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_another_run_in_the_folder_is_refused(run: Path) -> None:
    before = cli_runs.digest_folder(run)
    error = cli_runs.run_json(
        "run", cli_runs.SAMPLE, "--out", run, "--limit", "5", "--workers", "1", "--no-encoder", status=1
    )["error"]
    assert error["kind"] == "LedgerError"
    assert "--limit None, not 5" in error["message"]
    assert cli_runs.digest_folder(run) == before


@pytest.mark.parametrize("url", ["s3x://bucket/key", "hf://datasets/only-owner", "/no/such/folder"])
def test_unreadable_sources_say_what_to_do(tmp_path: Path, url: str) -> None:
    error = cli_runs.run_json("run", url, "--out", tmp_path / "run", "--workers", "1", status=1)["error"]
    assert error["kind"] == "SourceError"
    assert error["hint"]
    assert not (tmp_path / "run" / "ledger").exists()


def test_profiles_and_artifacts_are_listed() -> None:
    assert [profile["name"] for profile in cli_runs.run_json("profiles", "list")] == ["published", "recommended"]
    differences = cli_runs.run_json("profiles", "diff", "published", "recommended")
    assert differences["form"] == {"first": "raw", "second": "normalized"}
    kinds = {row["kind"]: row.get("origin") for row in cli_runs.run_json("artifacts", "list")}
    assert kinds == {"aoa": "bundled", "vocabulary": "bundled", "fasttext": "bundled", "encoder": "bundled"}
    assert cli_runs.run_json("artifacts", "verify") == {"problems": []}

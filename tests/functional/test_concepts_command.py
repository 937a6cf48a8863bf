"""`primer concepts` and `primer probe` over the bundled sample: list, show, diff, measure, report, probe, and the export's gate."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from cli_runs import SAMPLE, run_json, run_primer

from curation.concepts.catalogue import bundled_catalogue_path, open_catalogue


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    run_primer("run", SAMPLE, "--no-encoder", "--out", out)
    return out


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled catalogue with one concept changed, one reworded and one more, as version 2."""
    content = yaml.safe_load(bundled_catalogue_path().read_bytes())
    content["version"] = 2
    content["concepts"][0]["terms"].append("zebra crossing")
    content["concepts"][1]["name"] = "rates"
    content["concepts"].append(
        {"id": "dogs", "name": "dogs", "subject": "ELA", "band": "K8", "basis": "a test", "terms": ["dog"]}
    )
    path = tmp_path_factory.mktemp("newer") / "newer.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_list_and_show() -> None:
    listed = run_json("concepts", "list", "--subject", "life science", "--search", "photosynth")
    assert (listed["catalogue"], listed["version"], len(listed["sha256"])) == ("beyond-k5", 1, 64)
    assert [concept["id"] for concept in listed["concepts"]] == ["photosynthesis-as-a-chemical-process"]
    shown = run_json("concepts", "show", "ratio")
    assert (shown["subject"], shown["band"], shown["standard"]) == ("math", "K8", "6.RP.A.1")
    assert "golden ratio" in run_primer("concepts", "show", "ratio").stdout
    missing = run_json("concepts", "show", "nothing", status=1)
    assert missing["error"]["kind"] == "CatalogueError"


def test_diff(newer: Path) -> None:
    found = run_json("concepts", "diff", "1", newer)
    assert (found["added"], found["removed"]) == (["dogs"], [])
    assert found["changed"] == {"ratio": ["terms"]}
    assert found["reworded"] == {"unit-rate": ["name"]}
    assert found["remeasured"] == ["dogs", "ratio"]


def test_measure_report_and_a_new_version(run: Path, newer: Path) -> None:
    assert run_json("concepts", "report", run, status=1)["error"]["kind"] == "LedgerError"
    planned = run_json("concepts", "measure", run, "--dry-run")
    assert (planned["base"], len(planned["concepts"])) == (None, len(open_catalogue().concepts))
    first = run_json("concepts", "measure", run, "--workers", "1")
    assert first["documents"] > 0
    assert first["failures"] == []
    report = run_json("concepts", "report", run)
    assert report["documents"] == first["documents"] + run_json("decide", run)["funnel"]["documents"]["error"]
    total = report["concepts"]["ratio"]
    assert total["documents"] == total["kept"] + total["excluded"] + total["undecided"]
    planned = run_json("concepts", "measure", run, "--concepts", newer, "--dry-run")
    assert planned["concepts"] == ["ratio", "dogs"]
    second = run_json("concepts", "measure", run, "--concepts", newer, "--workers", "1")
    assert (second["concepts"], second["concepts_copied"]) == (335, 333)
    assert run_json("concepts", "report", run)["concepts"]["ratio"] == total
    again = run_json("concepts", "report", run, "--concepts", newer, "--concept", "dogs", "--limit", "2")
    assert again["concepts"]["dogs"]["kept"] > 0
    assert len({(line["shard"], line["row"]) for line in again["lines"]}) == 2
    assert {line["hit"].lower() for line in again["lines"]} <= {"dog", "dogs"}


def test_probe_of_a_run_equals_that_of_its_export(run: Path, newer: Path) -> None:
    of_run = run_json("probe", run, "--concepts", newer, "--lines", "0")
    of_export = run_json("probe", run / "export", "--concepts", newer, "--lines", "0")
    assert of_run == of_export
    assert of_run["leaking"] > 0
    assert of_run["published"] == {"ngrams": 126, "share": 0.0009}
    assert run_json("probe", run, "--concepts", newer, "--max-share", "0", status=1)["is_above"] is True
    assert run_json("probe", run, "--concepts", newer, "--max-share", "1")["is_above"] is False
    assert "0.09%" in run_primer("probe", run, "--concepts", newer).stdout


def test_an_export_with_a_gate(run: Path, newer: Path, tmp_path: Path) -> None:
    gate = ("--concepts", newer, "--max-leak-share")
    refused = run_json("export", run, "--out", tmp_path / "refused", *gate, "0", status=1)
    assert refused["error"]["kind"] == "TooManyLeaks"
    assert not (tmp_path / "refused").exists()
    run_primer("export", run, "--out", tmp_path / "passed", *gate, "0.999")
    assert run_json("verify", tmp_path / "passed", "--run", run, "--sample", "5")["is_sound"] is True

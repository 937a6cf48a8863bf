"""`primer vocab` on a real run: from the table to a version told apart by sense, whose impact is what a re-run keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_runs import SAMPLE, run_json
from typer.testing import CliRunner

from curation.errors import PrimerError, ProfileError
from primer.cli.main import app

PROFILE = {
    "name": "words",
    "version": 1,
    "form": "normalized",
    "vocabulary": {"mode": "block", "min_score": 4.0},
}
SENSES = {
    "name": "ours",
    "version": 1,
    "block": ["volume"],
    "senses": [
        {
            "term": "volume",
            "innocent_if": [{"words": ["loud", "sound", "music", "turn"]}],
            "note": "loudness is K-5",
        },
        {"term": "water", "counts_if": [{"words": ["pressure", "vapor", "solution", "cycle"], "left": 3, "right": 3}]},
    ],
}


def call(*arguments: str | Path) -> str:
    """The command in this process: what it prints. Raises the error that the command line would show."""
    result = CliRunner().invoke(app, ["vocab", *map(str, arguments)], env={"COLUMNS": "200"})
    if isinstance(result.exception, PrimerError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def call_json(*arguments: str | Path) -> Any:
    return json.loads(call(*arguments, "--json"))


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("vocab")
    places = {name: folder / name for name in ("run", "profile.yaml", "senses.yaml")}
    places["profile.yaml"].write_text(yaml.safe_dump(PROFILE))
    places["senses.yaml"].write_text(yaml.safe_dump(SENSES))
    run_json(
        "run", SAMPLE, "--out", places["run"], "--profile", places["profile.yaml"], "--no-encoder", "--workers", "1"
    )
    return places | {"folder": folder}


def test_impact_is_certain_or_undecided_and_then_what_a_run_keeps(scene: dict[str, Path]) -> None:
    run, version = scene["run"], scene["senses.yaml"]
    before = run_json("vocab", "impact", run, "--to", version)
    assert before["needs_senses"] is True
    assert before["uncertain"]["documents"] > 0
    assert before["changes"][0]["word"] == "volume"
    decided = run_json("decide", run, "--vocabulary", version)
    assert decided["flips"]["now_undecided"]["documents"] == before["moves"]["now_undecided"]["documents"]
    measured = run_json("vocab", "measure-senses", run, "--vocabulary", version)
    assert measured["documents_read"] > 0
    after = run_json("vocab", "impact", run, "--to", version)
    assert (after["needs_senses"], after["uncertain"]["documents"]) == (False, 0)
    exact = run_json("decide", run, "--vocabulary", version)
    assert {move: found["documents"] for move, found in exact["flips"].items()} == {
        move: found["documents"] for move, found in after["moves"].items()
    }
    lost = after["moves"]["now_excluded"]["documents"]
    certain = before["moves"]["now_excluded"]["documents"]
    assert certain <= lost <= certain + before["uncertain"]["documents"]

    # A run that begins with the version measures its senses itself, and keeps the same documents.
    fresh = scene["folder"] / "fresh"
    arguments = ("--profile", scene["profile.yaml"], "--vocabulary", version, "--no-encoder", "--workers", "2")
    report = run_json("run", SAMPLE, "--out", fresh, *arguments)
    assert report["funnel"]["documents"] == exact["funnel"]["documents"]
    assert report["funnel"]["documents"]["undecided"] == 0
    ours, theirs = scene["folder"] / "ours.parquet", scene["folder"] / "theirs.parquet"
    run_json("decide", run, "--vocabulary", version, "--out", ours)
    run_json("decide", fresh, "--out", theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    verified = run_json("verify", fresh / "export")
    assert verified["problems"] == []


def test_an_export_refuses_what_nobody_measured(scene: dict[str, Path]) -> None:
    version = scene["folder"] / "unmeasured.yaml"
    rule = {"term": "water", "counts_if": [{"words": ["unmeasured", "the"]}]}
    version.write_text(yaml.safe_dump({"name": "other", "version": 1, "senses": [rule]}))
    out = scene["folder"] / "refused"
    failed = run_json("export", scene["run"], "--vocabulary", version, "--out", out, status=1)
    assert failed["error"]["kind"] == "UndecidedRows"
    assert "vocabulary for" in failed["error"]["message"]
    assert not out.exists()


def test_the_table_and_a_word(scene: dict[str, Path]) -> None:
    found = call_json("table", scene["run"], "--limit", "5")
    losses = found["losses"]
    assert losses["excluded"][0] == sum(losses[kind][0] for kind in losses if kind != "excluded")
    assert losses["with_others"] == [0, 0]
    alone = [term["sole_documents"] for term in found["terms"]]
    assert alone == sorted(alone, reverse=True)
    word = found["terms"][0]["word"]
    shown = call_json("show", scene["run"], word)
    assert shown["row"]["sole_documents"] == alone[0]
    assert "Vocabulary excludes" in call("table", scene["run"], "--harmless")
    assert word in call("show", scene["run"], word)
    with pytest.raises(ProfileError, match="'colour' is none of them"):
        call("table", scene["run"], "--sort", "colour")


def test_a_concordance(scene: dict[str, Path]) -> None:
    found = call_json("kwic", scene["run"], "water", "--sort", "right", "--whole", "--documents", "1000")
    assert found["documents_read"] == found["documents"] > 5
    assert all(line["match"].lower() == "water" for line in found["lines"])
    few = call_json("kwic", scene["run"], "Water", "--documents", "3")
    assert few["is_sampled"] is True
    assert "water" in call("kwic", scene["run"], "Water", "--documents", "3")


def test_sampling_is_previewed(scene: dict[str, Path]) -> None:
    found = call_json("sampling", scene["run"], "--halving", "1.0")
    assert found["kept"][0] >= found["kept_when_blocking"][0]
    assert len(found["bands"]) == 12
    assert "with blocking" in call("sampling", scene["run"], "--halving", "1")
    with pytest.raises(ProfileError, match="does not sample by vocabulary"):
        call("sampling", scene["run"])


def test_versions_go_out_to_a_spreadsheet_and_come_back(scene: dict[str, Path]) -> None:
    folder, first = scene["folder"], scene["senses.yaml"]
    table = folder / "ours.csv"
    call_json("export", first, "--out", table)
    assert call("export", first) == table.read_bytes().decode().replace("\r\n", "\n")  # as the runner shows it
    table.write_bytes(table.read_bytes() + b'"tan","allow","","","","","\'=a colour"\r\n')
    second = folder / "second.yaml"
    made: dict[str, Any] = call_json("import", table, "--parent", first, "--author", "ada", "--out", second)
    assert (made["version"]["version"], made["version"]["author"], made["version"]["allow"]) == (2, "ada", ["tan"])
    assert made["version"]["notes"] == {"tan": "=a colour"}
    changes = call_json("diff", first, second)
    assert [(change["word"], change["before"], change["after"]) for change in changes] == [("tan", None, "allow")]
    third = folder / "third.yaml"
    call_json("revert", second, first, "--out", third)
    assert call_json("diff", first, third) == []
    with pytest.raises(ProfileError, match="is there already"):
        call("import", table, "--name", "ours", "--out", third)
    with pytest.raises(ProfileError, match="Nobody said what the vocabulary is called"):
        call("import", table, "--out", folder / "nameless.yaml")
    with pytest.raises(ProfileError, match="tells no word apart by sense"):
        call("measure-senses", scene["run"], "--vocabulary", _write_plain(folder))


def _write_plain(folder: Path) -> Path:
    path = folder / "plain.yaml"
    path.write_text(json.dumps({"name": "plain", "version": 1}))
    return path

"""Source rules over the bundled sample, from the command line: what they exclude equals a recount in plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from cli_runs import SAMPLE, run_json, run_primer

DOMAIN, PREFIX = "example.net", "https://trains.example.org/faq/"
LICENCES = ("CC-BY-4.0", "cc-by-nc-4.0", None)
RULES = [
    {"kind": "domain", "value": DOMAIN},
    {"kind": "url_prefix", "value": PREFIX},
    {"kind": "licence", "value": "CC-BY-NC-4.0"},
]


def list_rows(folder: Path) -> Iterator[dict[str, Any]]:
    for shard in sorted(folder.glob("*.parquet")):
        for number, row in enumerate(pq.read_table(shard).to_pylist()):
            yield {**row, "shard": shard.name, "row": number}


def is_barred(row: dict[str, Any]) -> bool:
    host = urlsplit(row["url"]).hostname or ""
    return bool(
        host == DOMAIN
        or host.endswith("." + DOMAIN)
        or row["url"].startswith(PREFIX)
        or (row.get("license") or "").lower() == "cc-by-nc-4.0"
    )


def write_rules(path: Path, rules: list[dict[str, str]]) -> Path:
    path.write_text(yaml.safe_dump(rules))
    return path


@pytest.fixture(scope="module")
def licensed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample with a column of licences."""
    folder = tmp_path_factory.mktemp("licensed")
    for shard in sorted(SAMPLE.glob("*.parquet")):
        table = pq.read_table(shard)
        values = [LICENCES[number % len(LICENCES)] for number in range(table.num_rows)]
        pq.write_table(table.append_column("license", pa.array(values, pa.string())), folder / shard.name)
    return folder


@pytest.fixture(scope="module")
def plain(licensed: Path) -> Path:
    """A run without rules."""
    out = licensed.parent / f"{licensed.name}-plain"
    run_primer("run", licensed, "--out", out, "--no-encoder", "--workers", "1", "-q")
    return out


def test_a_run_excludes_what_its_rules_match(licensed: Path, plain: Path, tmp_path: Path) -> None:
    rules = write_rules(tmp_path / "rules.yaml", RULES)
    out = tmp_path / "run"
    report = run_json("run", licensed, "--out", out, "--no-encoder", "--workers", "1", "--source-rules", rules)
    rows = list(list_rows(licensed))
    barred = {(row["shard"], row["row"]) for row in rows if is_barred(row)}
    assert (len(barred), len(rows)) == (137, 254)
    run_json("ledger", "dump", out, "--out", tmp_path / "flat.parquet")
    run_json("ledger", "dump", plain, "--out", tmp_path / "plain.parquet")
    flat = pq.read_table(tmp_path / "flat.parquet").to_pylist()
    before = pq.read_table(tmp_path / "plain.parquet").to_pylist()
    assert {(row["shard"], row["row"]) for row in flat if "source_rule" in row["excluded_by"]} == barred
    for old, new in zip(before, flat, strict=True):
        hit = (new["shard"], new["row"]) in barred
        assert new["kept"] == (old["kept"] and not hit)
        assert new["excluded_by"] == old["excluded_by"] + (["source_rule"] if hit else [])
        assert new["decided_by"] == (old["decided_by"] or ("source_rule" if hit else None))
    lost = sum(old["kept"] and (old["shard"], old["row"]) in barred for old in before)
    assert lost > 0
    last = report["funnel"]["published_order"][-1]
    assert (last["stage"], last["excluded"], last["left"]) == (
        "source_rule",
        lost,
        report["funnel"]["documents"]["kept"],
    )
    assert report["source_rules"]["count"] == 3
    manifest = json.loads((out / "export" / "manifest.json").read_bytes())
    assert manifest["source_rules"] == report["source_rules"]
    exported = [
        (row["primer_shard"], row["primer_row"])
        for path in sorted((out / "export" / "data").rglob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]
    assert exported
    assert barred.isdisjoint(exported)  # neither the curriculum nor the control
    assert "source rules match are in no config" in (out / "export" / "README.md").read_text()
    assert run_json("verify", out / "export")["is_sound"] is True


def test_a_ruling_does_not_bring_back_what_a_rule_excludes(plain: Path, tmp_path: Path) -> None:
    flat = tmp_path / "plain.parquet"
    run_json("ledger", "dump", plain, "--out", flat)
    rows = [row for row in pq.read_table(flat).to_pylist() if urlsplit(row["url"]).hostname.endswith("." + DOMAIN)]
    rulings = tmp_path / "rulings.jsonl"
    rulings.write_text(
        "".join(json.dumps({"shard": row["shard"], "row": row["row"], "action": "keep"}) + "\n" for row in rows)
    )
    rules = write_rules(tmp_path / "rules.yaml", [{"kind": "domain", "value": DOMAIN.upper()}])
    kept = run_json("decide", plain, "--overrides", rulings)["funnel"]["documents"]["kept"]
    out = tmp_path / "after.parquet"
    report = run_json("decide", plain, "--overrides", rulings, "--source-rules", rules, "--out", out)
    assert len(rows) > 0
    assert report["funnel"]["documents"]["kept"] == kept - len(rows)
    barred = [row for row in pq.read_table(out).to_pylist() if "source_rule" in row["excluded_by"]]
    assert {(row["shard"], row["row"]) for row in barred} == {(row["shard"], row["row"]) for row in rows}
    assert {(row["kept"], row["decided_by"]) for row in barred} == {(False, "source_rule")}


def test_licences_are_a_layer_only_where_the_source_has_them(plain: Path, tmp_path: Path) -> None:
    assert len(list((plain / "ledger" / "commits" / "licences").iterdir())) == 2
    assert "licences" in json.loads((plain / "run.json").read_bytes())["ledger"]["bytes_by_layer"]
    out = tmp_path / "run"
    run_json("run", SAMPLE, "--out", out, "--no-encoder", "--workers", "1")
    assert not (out / "ledger" / "commits" / "licences").exists()
    rules = write_rules(tmp_path / "rules.yaml", [{"kind": "licence", "value": "mit"}])
    refused = run_primer("decide", out, "--source-rules", rules, status=1)
    assert "A source rule names a licence" in refused.stderr


def test_explain_names_the_rule(tmp_path: Path) -> None:
    text = tmp_path / "page.txt"
    text.write_text("The cat sat on the mat and the dog ran to the park to play with a red ball.")
    rules = write_rules(tmp_path / "rules.yaml", RULES)
    found = run_json("explain", text, "--source-rules", rules, "--url", f"https://www.{DOMAIN}/x")
    assert found["kept"] is False
    assert "source_rule" in found["excluded_by"]
    other = run_json("explain", text, "--source-rules", rules, "--url", "https://other.example/x")
    assert "source_rule" not in other["excluded_by"]

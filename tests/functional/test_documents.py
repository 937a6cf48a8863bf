"""The documents room over an imported run of the sample: every answer equals a recount of the ledger's flat view."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from accounts import open_program
from cli_runs import SAMPLE, run_json, run_primer
from fastapi import FastAPI
from starlette.testclient import TestClient

from primer.app.auth.actor import SYSTEM
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.jobs.imports import import_run


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents") / "run"
    run_primer("run", SAMPLE, "--out", folder, "--no-encoder", "--quiet")
    return folder


@pytest.fixture(scope="module")
def view(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The documented flat columns, a row a document."""
    out = tmp_path_factory.mktemp("view") / "ledger.parquet"
    run_primer("ledger", "dump", run_folder, "--out", out)
    return pq.read_table(out).to_pylist()


class Room:
    """A signed-in program that asks about the documents of one job."""

    def __init__(self, client: TestClient, job_id: int) -> None:
        self._client, self.job_id = client, job_id

    def ask(self, path: str, body: dict[str, Any] | None = None, *, status: int = 200) -> Any:
        """POSTs a question, or GETs where there is no body; asks again while the index is built."""
        address = f"/api/v1/jobs/{self.job_id}/{path}"
        for _ in range(600):
            answer = self._client.get(address) if body is None else self._client.post(address, json=body)
            if answer.status_code != 503:
                break
            assert answer.headers["Retry-After"] == "2"
            time.sleep(0.1)
        assert answer.status_code == status, answer.text
        return answer.json()

    def search(self, **body: Any) -> Any:
        return self.ask("documents/search", body)


@pytest.fixture
def job_id(context: Context, run_folder: Path) -> int:
    return import_run(context, SYSTEM, run_folder, source_name="sample", is_copied=True).job_id


@pytest.fixture
def room(service: FastAPI, job_id: int) -> Room:
    return Room(open_program(service, Role.CURATOR), job_id)


def test_pages_hold_every_document_once_in_order(room: Room, view: list[dict[str, Any]]) -> None:
    seen: list[int] = []
    cursor = None
    while True:
        page = room.search(limit=100, cursor=cursor)
        seen += [item["position"] for item in page["items"]]
        assert page["total"] == len(view) == 254
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == list(range(254))


def test_rows_say_what_the_ledger_says(room: Room, view: list[dict[str, Any]]) -> None:
    items = room.search(limit=500, columns=["p95_aoa"])["items"]
    found = [(i["shard"], i["row"], i["doc_id"], i["url"], i["kept"], i["decided_by"]) for i in items]
    assert found == [
        (row["shard"], row["row"], row["doc_id"], row["url"], row["kept"], row["decided_by"]) for row in view
    ]


def test_facets_equal_a_recount(room: Room, view: list[dict[str, Any]]) -> None:
    facets = room.ask("documents/facets", {})
    kept = Counter(row["kept"] for row in view)
    assert facets["documents"] == 254
    assert (facets["outcomes"]["kept"], facets["outcomes"]["excluded"]) == (kept[True], kept[False])
    by = Counter(row["decided_by"] for row in view if row["decided_by"])
    assert {name: count for name, count in facets["decided_by"].items() if count} == by


def test_sorting_pages_by_a_value(room: Room) -> None:
    first = room.search(limit=7, sort={"column": "tokens", "is_descending": True})
    second = room.search(limit=7, sort={"column": "tokens", "is_descending": True}, cursor=first["next"])
    everything = room.search(limit=500)["items"]
    expected = sorted(everything, key=lambda item: (-item["tokens"], item["position"]))[:14]
    assert [item["position"] for item in first["items"] + second["items"]] == [i["position"] for i in expected]


def test_a_document_shows_text_evidence_and_distances(room: Room) -> None:
    excluded = room.search(query={"decided_by": "lexical"}, limit=1)["items"][0]
    document = room.ask(f"documents/{excluded['position']}")
    assert document["text"]
    assert document["decision"] == {
        key: excluded[key] for key in ("kept", "decided_by", "excluded_by", "undecided_for")
    }
    lexical = next(stage for stage in document["explanation"]["stages"] if stage["stage"] == "lexical")
    assert lexical["verdict"] == "fail"
    margins = [d["margin"] for d in document["distances"] if d["stage"] == "lexical"]
    assert min(margins) < 0
    place = room.ask(f"documents/find?shard_sha256={excluded['shard_sha256']}&row={excluded['row']}")
    address = ("position", "shard", "shard_sha256", "row", "doc_id", "url")
    assert place == {name: excluded[name] for name in address}


def test_what_if_equals_decide(room: Room, run_folder: Path, tmp_path: Path) -> None:
    base = room.ask("what-if", {"other": {}})
    assert base["baseline"] == base["funnel"]
    assert {move["documents"] for move in base["flips"].values()} == {0}
    draft = run_json("profiles", "show", "recommended", "--json")
    draft |= {"name": "wider", "version": 1, "lexical": {"max_p95_aoa": 14.0, "max_oov_ratio": 0.2}, "vocabulary": None}
    answer = room.ask("what-if", {"other": {"profile": draft}})
    profile = tmp_path / "wider.yaml"
    import yaml

    profile.write_text(yaml.safe_dump(draft))
    expected = run_json("decide", run_folder, "--profile", profile, "--json")
    assert answer["funnel"] == expected["funnel"]
    assert answer["flips"]["now_kept"]["documents"] > 0
    flips = room.ask("what-if/flips", {"other": {"profile": draft}, "move": "now_kept", "limit": 5})
    assert flips["total"] == answer["flips"]["now_kept"]["documents"]
    assert all(item["kept"] for item in flips["items"])
    again = room.ask(
        "what-if/flips", {"other": {"profile": draft}, "move": "now_kept", "limit": 500, "cursor": flips["next"]}
    )
    assert len(flips["items"]) + len(again["items"]) == flips["total"]


def test_histogram_counts_every_document(room: Room) -> None:
    drawn = room.ask("documents/histogram", {"column": "p95_aoa", "bins": 12})
    total = sum(map(sum, drawn["counts"].values())) + sum(
        sum(drawn[side].values()) for side in ("below", "above", "missing")
    )
    assert total == 254
    assert len(drawn["edges"]) == 13


def test_a_bulk_ruling_is_previewed_frozen_and_in_force_everywhere(room: Room) -> None:
    query = {"decided_by": "lexical"}
    body = {"query": query, "action": "keep", "reason": "read and fine"}
    preview = room.ask("documents/rulings", {**body, "is_preview": True})
    assert preview["revision"] is None
    assert room.ask("documents/rulings", {**body, "expected_documents": 1}, status=409)["status"] == 409
    before = room.ask("documents/facets", {})["outcomes"]["kept"]
    done = room.ask("documents/rulings", {**body, "expected_documents": preview["documents"]})
    assert done["documents"] == preview["documents"] > 0
    assert room.ask("documents/facets", {})["outcomes"]["kept"] == before + done["documents"]
    at_first = {"decisions": {"revision": 0}}
    assert room.ask("documents/facets", at_first)["outcomes"]["kept"] == before, "an older revision stays what it was"


def test_what_cannot_be_asked(room: Room) -> None:
    assert room.ask("documents/search", {"cursor": "AAAA"}, status=422)["status"] == 422
    assert "no column" in room.ask("documents/histogram", {"column": "age"}, status=422)["detail"]
    assert room.ask("documents/254", status=404)["detail"] == "There is no document 254 in this run."


def test_a_text_is_tried(service: FastAPI) -> None:
    client = open_program(service, Role.VIEWER)
    text = "The sun is a star. <script>alert(1)</script> Solve x^2 + 3x = 10 for x."
    answer = client.post("/api/v1/texts/try", json={"text": text}).json()
    assert answer["text"] == text
    assert answer["kept"] is False
    assert "notation" in answer["excluded_by"]
    refused = client.post("/api/v1/texts/try", content=b'{"text": "a \\ud800 b"}')
    assert refused.status_code == 422

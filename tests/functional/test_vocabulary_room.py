"""The vocabulary room over an imported run of the sample: words, concordances and impacts equal the library's and a new decision."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from accounts import open_program
from cli_runs import SAMPLE, run_json, run_primer
from exported_runs import bring_run, work_off
from fastapi import FastAPI
from starlette.testclient import TestClient

from primer.app.auth.roles import Role
from primer.app.core.context import Context

SENSE = {"term": "cell", "innocent_if": [{"words": ["prison", "jail"], "left": 8, "right": 8}]}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vocabulary") / "run"
    run_primer("run", SAMPLE, "--out", folder, "--no-encoder", "--quiet")
    return folder


@pytest.fixture
def job_id(context: Context, run_folder: Path) -> int:
    return bring_run(context, run_folder, SAMPLE, "sample").id


@pytest.fixture
def curator(service: FastAPI) -> TestClient:
    return open_program(service, Role.CURATOR)


@pytest.fixture
def room(curator: TestClient, job_id: int) -> Room:
    return Room(curator, job_id)


class Room:
    """A program that asks about the words of one job, again while the index is built."""

    def __init__(self, client: TestClient, job_id: int) -> None:
        self._client, self._job_id = client, job_id

    def ask(self, path: str, status: int = 200, /, **body: Any) -> Any:
        for _ in range(600):
            answer = self._client.post(f"/api/v1/jobs/{self._job_id}/{path}", json=body)
            if answer.status_code != 503:
                break
            time.sleep(0.1)
        assert answer.status_code == status, answer.text
        return answer.json()

    def list_all(self, limit: int, **body: Any) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = self.ask("vocabulary/terms", limit=limit, cursor=cursor, **body)
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                assert len(items) == page["total"]
                return items


def save(client: TestClient, content: dict[str, Any], based_on: int | None = None) -> int:
    body = {"content": content, "based_on": based_on}
    answer = client.post("/api/v1/vocabularies/ours/versions", json=body)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def write_version(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "version.yaml"
    path.write_text(yaml.safe_dump({**content, "name": "draft", "version": 1}))
    return path


def test_pages_hold_every_word_once_as_the_command_line_lists_them(room: Room, run_folder: Path) -> None:
    for sort, is_descending in product(("word", "score", "documents", "sole_documents", "harmless"), (True, False)):
        order = () if is_descending else ("--ascending",)
        expected = run_json("vocab", "table", run_folder, "--sort", sort, *order, "--limit", "1000", "--json")
        found = room.list_all(97, sort=sort, is_descending=is_descending)
        assert [item["word"] for item in found[:1000]] == [row["word"] for row in expected["terms"]], sort
        assert len(found) == expected["total"]
        for item, row in zip(found[:1000], expected["terms"], strict=True):
            assert {key: item[key] for key in row if key != "score"} == {key: row[key] for key in row if key != "score"}


def test_losses_add_up_and_words_are_found_by_letters_harm_and_subject(room: Room) -> None:
    page = room.ask("vocabulary/terms", limit=1)
    assert page["losses"] == {
        "excluded": {"documents": 72, "tokens": 23_262},
        "with_others": {"documents": 38, "tokens": 12_882},
        "one_word": {"documents": 19, "tokens": 5_202},
        "maybe_one_word": {"documents": 0, "tokens": 0},
        "several_words": {"documents": 15, "tokens": 5_178},
    }
    for unit in ("documents", "tokens"):
        excluded, *parts = (losses[unit] for losses in page["losses"].values())
        assert excluded == sum(parts)
    assert (page["total"], page["kept"]) == (166, {"documents": 152, "tokens": 45_197})
    assert (page["min_score"], page["needs_senses"]) == (4.0, False)
    [worst] = page["items"]
    assert (worst["word"], worst["sole_documents"], worst["sole_tokens"]) == ("amplitude", 3, 751)
    assert (worst["documents"], worst["kept_documents"], worst["subjects"]) == (5, 1, ["math"])
    assert worst["counts"] == {"count_k5": 0, "count_beyond": 77, "docs_k5": 0, "docs_beyond": 40}
    everything = room.list_all(500)
    for wanted, holds in (
        ({"search": "Ele"}, lambda item: "ele" in item["word"]),
        ({"looks_harmless": True}, lambda item: item["looks_harmless"]),
        ({"subject": "life science"}, lambda item: "life science" in item["subjects"]),
        ({"has_sole": True, "min_score": 4.5}, lambda item: item["sole_documents"] > 0 and item["score"] >= 4.5),
    ):
        expected = [item for item in everything if holds(item)]
        assert expected
        assert room.list_all(50, **wanted) == expected, wanted


def test_allowing_a_word_keeps_what_it_alone_lost(room: Room) -> None:
    worst = room.ask("vocabulary/terms", limit=1)["items"][0]
    assert worst["sole_documents"] > 0
    impact = room.ask("vocabulary/impact", vocabulary={"allow": [worst["word"]]})
    assert impact["moves"]["now_kept"] == {"documents": worst["sole_documents"], "tokens": worst["sole_tokens"]}
    assert impact["moves"]["now_excluded"] == {"documents": 0, "tokens": 0}
    assert impact["kept_after"]["documents"] - impact["kept_before"]["documents"] == worst["sole_documents"]
    assert [(c["word"], c["before"], c["after"]) for c in impact["changes"]] == [(worst["word"], None, "allow")]
    assert {example["move"] for example in impact["examples"]} == {"now_kept"}
    assert len(impact["examples"]) == min(20, worst["sole_documents"])
    assert all(example["words"] == [worst["word"]] for example in impact["examples"])
    detail = room.ask(f"vocabulary/terms/{worst['word']}")
    assert (detail["figures"], detail["note"], detail["rule"]) == (worst, "", None)
    documents = room.ask("documents/search", query={"term": worst["word"]})
    assert documents["total"] == detail["documents"] == worst["documents"]


def test_an_impact_equals_the_decisions_of_a_new_run(
    room: Room, curator: TestClient, run_folder: Path, tmp_path: Path
) -> None:
    words = [item["word"] for item in room.ask("vocabulary/terms", limit=6)["items"]]
    content = {"allow": words, "block": ["the"] if "the" not in words else ["and"]}
    impact = room.ask("vocabulary/impact", vocabulary=content, seed=3)
    version_id = save(curator, content)
    assert room.ask("vocabulary/impact", vocabulary_id=version_id, seed=3) == impact
    expected = run_json("decide", run_folder, "--vocabulary", write_version(tmp_path, content), "--json")
    funnel = expected["funnel"]
    answer = room.ask("what-if", other={"vocabulary_id": version_id})
    assert answer["funnel"] == funnel
    for move in ("now_kept", "now_excluded"):
        assert answer["flips"][move] == impact["moves"][move]
    assert answer["flips"]["now_excluded"]["documents"] > 0
    kept = room.ask("documents/facets", decisions={"vocabulary_id": version_id})
    assert kept["outcomes"]["kept"] == impact["kept_after"]["documents"]
    new = tmp_path / "run"
    run_primer("run", SAMPLE, "--out", new, "--no-encoder", "--quiet", "--vocabulary", write_version(tmp_path, content))
    report = run_json("decide", new, "--json")
    assert report["funnel"] == funnel
    undone = room.ask("vocabulary/impact", decisions={"vocabulary_id": version_id}, vocabulary={}, seed=3)
    assert undone["moves"]["now_excluded"] == impact["moves"]["now_kept"]
    assert undone["moves"]["now_kept"] == impact["moves"]["now_excluded"]


def test_senses_that_nobody_measured_are_undecided(room: Room) -> None:
    impact = room.ask("vocabulary/impact", vocabulary={"block": ["cell"], "senses": [SENSE]})
    assert impact["needs_senses"] is True
    assert impact["undecided"]["documents"] >= impact["uncertain"]["documents"] > 0
    page = room.ask("vocabulary/terms", decisions={"vocabulary": {"senses": [SENSE]}}, search="cell")
    assert page["needs_senses"] is True
    assert next(item["ruling"] for item in page["items"] if item["word"] == "cell") == "sense"
    read = room.ask("vocabulary/terms/cell", decisions={"vocabulary": {"senses": [{**SENSE, "note": "a room"}]}})
    assert (read["note"], read["rule"]["term"]) == ("a room", "cell")


def test_measuring_senses_makes_the_impact_exact_and_an_export_possible(
    room: Room, curator: TestClient, service: FastAPI, context: Context, job_id: int, run_folder: Path, tmp_path: Path
) -> None:
    content = {"block": ["cell"], "senses": [SENSE]}
    version_id = save(curator, content)
    operator = open_program(service, Role.OPERATOR)
    before = room.ask("vocabulary/impact", vocabulary_id=version_id)
    asked = {"base_job_id": job_id, "vocabulary_id": version_id}
    refused = work_off(context, operator.post("/api/v1/exports", json=asked).json()["job_id"])
    assert refused.state == "failed"
    assert f"/api/v1/jobs/{job_id}/vocabulary/measure-senses with vocabulary_id {version_id}." in (
        refused.error_hint or ""
    )

    answer = operator.post(f"/api/v1/jobs/{job_id}/vocabulary/measure-senses", json={"vocabulary_id": version_id})
    assert answer.status_code == 201, answer.text
    assert (answer.json()["kind"], answer.json()["options"]["vocabulary_id"]) == ("measure_senses", version_id)
    done = work_off(context, answer.json()["id"])
    assert done.state == "succeeded"
    assert done.report is not None
    assert done.report["documents_read"] == room.ask("vocabulary/terms/cell")["documents"]
    after = room.ask("vocabulary/impact", vocabulary_id=version_id)
    assert (after["needs_senses"], after["uncertain"], after["undecided"]) == (
        False,
        {"documents": 0, "tokens": 0},
        {"documents": 0, "tokens": 0},
    )
    assert before["moves"]["now_excluded"]["documents"] <= after["moves"]["now_excluded"]["documents"]
    assert after["moves"]["now_excluded"]["documents"] <= (
        before["moves"]["now_excluded"]["documents"] + before["uncertain"]["documents"]
    )
    new = tmp_path / "run"
    version = write_version(tmp_path, content)
    run_primer("run", SAMPLE, "--out", new, "--no-encoder", "--quiet", "--vocabulary", version)
    funnel = run_json("decide", new, "--json")["funnel"]
    assert room.ask("what-if", other={"vocabulary_id": version_id})["funnel"] == funnel

    export = operator.post("/api/v1/exports", json=asked).json()
    assert work_off(context, export["job_id"]).state == "succeeded"
    manifest = operator.get(f"/api/v1/exports/{export['id']}").json()["manifest"]
    assert manifest["vocabulary"]["content"]["name"] == "ours"
    assert manifest["totals"]["curriculum"]["train"]["rows"] == after["kept_after"]["documents"]


def test_a_job_decides_by_the_version_that_it_names(
    room: Room, curator: TestClient, service: FastAPI, context: Context, job_id: int
) -> None:
    words = [item["word"] for item in room.ask("vocabulary/terms", limit=4)["items"]]
    version_id = save(curator, {"allow": words})
    expected = room.ask("vocabulary/impact", vocabulary_id=version_id)["kept_after"]
    operator = open_program(service, Role.OPERATOR)
    [source] = operator.get("/api/v1/sources").json()["items"]
    profile_id = operator.get(f"/api/v1/jobs/{job_id}").json()["profile"]["id"]
    asked = {
        "source_id": source["id"],
        "profile_id": profile_id,
        "options": {"has_encoder": False, "vocabulary_id": version_id},
    }
    answer = operator.post("/api/v1/jobs", json=asked)
    assert answer.status_code == 201, answer.text
    job = work_off(context, answer.json()["id"])
    assert job.state == "succeeded"
    detail = operator.get(f"/api/v1/jobs/{job.id}").json()
    assert detail["options"]["vocabulary_id"] == version_id
    assert detail["report"]["vocabulary"] == {"name": "ours", "version": 1}
    assert (detail["funnel"]["documents"]["kept"], detail["tokens_kept"]) == (expected["documents"], expected["tokens"])
    its_own = Room(curator, job.id).ask("documents/facets")
    assert its_own["outcomes"]["kept"] == expected["documents"], "a job's own vocabulary is the default"
    missing = {**asked, "options": {"vocabulary_id": 99}}
    assert operator.post("/api/v1/jobs", json=missing).status_code == 404
    assert operator.post("/api/v1/exports", json={"base_job_id": job_id, "vocabulary_id": 99}).status_code == 404


def test_a_concordance_is_that_of_the_command_line(room: Room, run_folder: Path) -> None:
    for sort in ("document", "left", "right", "domain"):
        found = room.ask("vocabulary/terms/volcano/concordance", sort=sort, context_chars=60)
        expected = run_json("vocab", "kwic", run_folder, "volcano", "--sort", sort, "--json")
        assert found["lines"]
        shown = ("left", "match", "right", "start", "end", "domain", "outcome", "decided_by", "sense")
        assert [{key: line[key] for key in shown} for line in found["lines"]] == [
            {key: line[key] for key in shown} for line in expected["lines"]
        ], sort
        counted = ("documents", "documents_read", "is_sampled", "occurrences", "form")
        assert {key: found[key] for key in counted} == {key: expected[key] for key in counted}
        for outcome in ("kept", "excluded"):
            some = room.ask("vocabulary/terms/volcano/concordance", sort=sort, outcome=outcome, context_chars=60)
            assert some["lines"] == [line for line in found["lines"] if line["outcome"] == outcome], sort


def test_sampling_is_previewed_like_a_threshold(room: Room, run_folder: Path) -> None:
    found = room.ask("vocabulary/sampling", halving=1.0, sampling_seed=4)
    expected = run_json("vocab", "sampling", run_folder, "--halving", "1.0", "--sampling-seed", "4", "--json")
    assert found["kept"] == dict(zip(("documents", "tokens"), expected["kept"], strict=True))
    assert found["kept"]["documents"] > found["kept_when_blocking"]["documents"]
    assert found["bands"] == expected["bands"]
    assert (
        room.ask("vocabulary/sampling", 422)["hint"] == "Give halving and seed, for a profile with a vocabulary stage."
    )


def test_what_cannot_be_asked(room: Room) -> None:
    assert room.ask("vocabulary/terms", 422, cursor="AAAA")["status"] == 422
    assert room.ask("vocabulary/terms", 422, cursor="WzEsMl0")["status"] == 422
    assert room.ask("vocabulary/terms", 422, sort="age")["status"] == 422
    assert room.ask("vocabulary/terms/An%20atom", 422)["status"] == 422
    assert room.ask("vocabulary/impact", 422)["status"] == 422
    assert room.ask("vocabulary/impact", 404, vocabulary_id=99)["status"] == 404
    both = {"vocabulary_id": 1, "vocabulary": {}}
    assert room.ask("documents/search", 422, decisions=both)["status"] == 422
    assert room.ask("documents/search", 404, decisions={"vocabulary_id": 99})["status"] == 404

"""Concepts by the HTTP interface, on SQLite and on PostgreSQL: versions, two curators, CSV, a run's report, probes, the gate."""

from __future__ import annotations

import csv
import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cli_runs
import pytest
from accounts import open_program
from exported_runs import EXPORTS, bring_run, request_export, work_off
from fastapi import FastAPI
from sqlalchemy import select
from starlette.testclient import TestClient

from curation.concepts.catalogue import open_catalogue, parse_catalogue
from curation.concepts.interval import find_interval
from curation.concepts.layer import list_recorded, name_concepts_layer
from curation.concepts.measure import measure_concepts
from curation.concepts.probe_run import probe_run
from curation.concepts.report import read_lines, report_concepts
from curation.curate import open_decision_set
from curation.index import build_index
from curation.run_folder import RunFolder
from primer.app.auth.roles import Role
from primer.app.concepts.bundled import import_bundled_catalogue
from primer.app.core.context import Context
from primer.app.jobs.leases import Lease
from primer.app.jobs.states import TaskKind
from primer.app.models import AuditEntry, CatalogueRecord, Job
from primer.workers.concept_steps import ConceptSteps

VERSIONS = "/api/v1/concepts/versions"
PROBES = "/api/v1/probes"
BUNDLED = open_catalogue()
MADE_UP: dict[str, Any] = {
    "id": "made-up", "name": "made-up idea", "subject": "math", "band": "K8", "standard": "6.RP.A.1",
    "terms": ["the sun"],
}  # fmt: skip


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample, measured and exported without an encoder, and its concepts measured."""
    out = tmp_path_factory.mktemp("sample") / "run"
    cli_runs.run_primer("run", cli_runs.SAMPLE, "--out", out, "--no-encoder", "--workers", "1", "-q")
    return out


@pytest.fixture(scope="session")
def measured_run(sample_run: Path) -> Path:
    measure_concepts(RunFolder(sample_run), BUNDLED)
    return sample_run


@pytest.fixture
def ground(context: Context) -> None:
    with context.database.transaction() as session:
        import_bundled_catalogue(session)


@pytest.fixture
def base(context: Context, ground: None, measured_run: Path) -> Job:
    """The measured sample as job 1, with its index."""
    job = bring_run(context, measured_run, cli_runs.SAMPLE)
    build_index(RunFolder(context.settings.data_dir / job.folder), context.settings.indexes)
    return job


@pytest.fixture
def viewer(service: FastAPI, ground: None) -> TestClient:
    return open_program(service, Role.VIEWER)


@pytest.fixture
def anna(service: FastAPI, ground: None) -> TestClient:
    return open_program(service, Role.CURATOR, "anna")


@pytest.fixture
def operator(service: FastAPI, ground: None) -> TestClient:
    return open_program(service, Role.OPERATOR, "olga")


def save(client: TestClient, based_on: int, **edit: Any) -> dict[str, Any]:
    answer = client.post(VERSIONS, json={"based_on": based_on, **edit})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_the_bundled_catalogue_is_the_first_version_and_stays_it(viewer: TestClient, context: Context) -> None:
    with context.database.transaction() as session:
        assert import_bundled_catalogue(session) is None
    [listed] = viewer.get(VERSIONS).json()["items"]
    assert (listed["version"], listed["sha256"], listed["concept_count"]) == (1, BUNDLED.sha256, 334)
    assert (listed["author"], listed["based_on"]) == ("system", None)
    answer = viewer.get(f"{VERSIONS}/1")
    assert answer.headers["ETag"] == f'"{BUNDLED.sha256}"'
    assert "immutable" in answer.headers["Cache-Control"]
    assert sum(answer.json()["subjects"].values()) == sum(answer.json()["standards"].values()) == 334
    assert viewer.get(f"{VERSIONS}/1", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert viewer.get(f"{VERSIONS}/2").status_code == 404
    assert parse_catalogue(viewer.get(f"{VERSIONS}/1/yaml").content, "answer") == BUNDLED


def test_concepts_are_paged_searched_and_filtered(viewer: TestClient) -> None:
    found, cursor = [], None
    while True:
        page = viewer.get(
            f"{VERSIONS}/1/concepts", params={"limit": 100, **({"cursor": cursor} if cursor else {})}
        ).json()
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert [concept["id"] for concept in found] == [concept.id for concept in BUNDLED.concepts]
    assert found[0] == BUNDLED.concepts[0].model_dump(mode="json")

    def ids(**wanted: str) -> list[str]:
        answer = viewer.get(f"{VERSIONS}/1/concepts", params={"limit": 500, **wanted})
        assert answer.status_code == 200, answer.text
        return [concept["id"] for concept in answer.json()["items"]]

    concepts = BUNDLED.concepts
    assert ids(subject="ELA", band="K12") == [c.id for c in concepts if (c.subject, c.band) == ("ELA", "K12")]
    assert ids(standard="MS-LS") == [c.id for c in concepts if (c.standard or "").startswith("MS-LS")] != []
    assert ids(standard="") == [c.id for c in concepts if c.standard is None]
    assert "ratio" in ids(search="GEAR RATIO")
    assert ids(search="gear ratio", subject="ELA") == []
    assert viewer.get(f"{VERSIONS}/1/concepts", params={"subject": "alchemy"}).status_code == 422
    assert viewer.get(f"{VERSIONS}/1/concepts/ratio").json()["id"] == "ratio"
    assert viewer.get(f"{VERSIONS}/1/concepts/none").status_code == 404


def test_an_edit_is_a_version_of_its_own_and_can_be_taken_back(anna: TestClient, context: Context) -> None:
    ratio = BUNDLED.require("ratio").model_dump(mode="json")
    changed = {**ratio, "terms": [*ratio["terms"], "odds ratio"]}
    made = save(anna, 1, put=[changed, MADE_UP], remove=["percent"], note="why")
    assert (made["version"], made["based_on"], made["author"], made["note"]) == (2, 1, "anna", "why")
    assert made["concept_count"] == 334
    assert made["changes"] == {"added": ["made-up"], "removed": ["percent"], "changed": ["ratio"], "reworded": []}
    diff = anna.get(f"{VERSIONS}/diff", params={"before": 1, "after": 2}).json()
    assert diff["remeasured"] == ["made-up", "ratio"]
    by_id = {change["id"]: change for change in diff["changes"]}
    assert by_id["ratio"]["fields"] == ["terms"]
    assert by_id["percent"]["after"] is None
    assert by_id["percent"]["before"]["id"] == "percent"
    assert by_id["made-up"]["before"] is None
    assert anna.get(f"{VERSIONS}/1/concepts/percent").status_code == 200

    back = anna.post(f"{VERSIONS}/revert", json={"based_on": 2, "to": 1})
    assert (back.status_code, back.json()["version"], back.json()["based_on"]) == (201, 3, 2)
    first = parse_catalogue(anna.get(f"{VERSIONS}/1/yaml").content, "first")
    third = parse_catalogue(anna.get(f"{VERSIONS}/3/yaml").content, "third")
    assert third.concepts == first.concepts
    again = anna.post(f"{VERSIONS}/revert", json={"based_on": 3, "to": 1})
    assert (again.status_code, again.json()["detail"]) == (409, "Nothing differs from version 3.")
    with context.database.reading() as session:
        entries = session.execute(select(AuditEntry).where(AuditEntry.action.startswith("catalogue."))).scalars()
        told = [(entry.action, entry.subject, entry.user_name) for entry in entries]
    assert told == [
        ("catalogue.import", "catalogue/1", "system"),
        ("catalogue.save", "catalogue/2", "anna"),
        ("catalogue.revert", "catalogue/3", "anna"),
    ]


def test_a_second_curator_is_told_who_saved_what_and_when(anna: TestClient, service: FastAPI) -> None:
    ben = open_program(service, Role.CURATOR, "ben")
    made = save(anna, 1, remove=["ratio"], note="too common")
    answer = ben.post(VERSIONS, json={"based_on": 1, "put": [MADE_UP]})
    assert answer.status_code == 409
    at = made["created_at"][:19]
    detail = answer.json()["detail"]
    assert detail.startswith(f"anna saved version 2 at {at}+00:00 with the note 'too common': removed ratio. ")
    assert detail.endswith("Your edit is made from version 1.")
    assert len(ben.get(VERSIONS).json()["items"]) == 2
    assert ben.post(f"{VERSIONS}/revert", json={"based_on": 1, "to": 1}).status_code == 409
    assert save(ben, 2, put=[MADE_UP])["changes"]["added"] == ["made-up"]


def test_of_curators_who_save_at_once_one_wins(service: FastAPI, ground: None, context: Context) -> None:
    clients = [open_program(service, Role.CURATOR, f"curator-{number}") for number in range(4)]
    ids = [concept.id for concept in BUNDLED.concepts[:4]]
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda pair: pair[0].post(VERSIONS, json={"based_on": 1, "remove": [pair[1]]}),
                zip(clients, ids, strict=True),
            )
        )
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert all("saved version 2" in answer.json()["detail"] for answer in answers if answer.status_code == 409)
    with context.database.reading() as session:
        assert session.execute(select(CatalogueRecord.version).order_by(CatalogueRecord.version)).scalars().all() == [
            1,
            2,
        ]


@pytest.mark.parametrize(
    ("edit", "status", "said"),
    [
        ({"remove": ["nothing"]}, 422, "Version 1 has no concept 'nothing' to remove."),
        ({"remove": ["ratio"], "put": [{**MADE_UP, "id": "ratio"}]}, 422, "ratio is both put and removed."),
        ({"put": [MADE_UP, MADE_UP]}, 422, "The edit puts two concepts of one id."),
        ({"put": [{**MADE_UP, "terms": ["a\x00b"]}]}, 422, "Concept made-up holds control characters."),
        ({"put": [{**MADE_UP, "terms": [f"w{n}" for n in range(500)]}]}, 422, "Concept made-up has 5"),
        ({"put": [{**MADE_UP, "standard": "MS-1"}]}, 422, "The request cannot be understood."),
        ({"put": [{**MADE_UP, "band": "K12"}]}, 422, "The request cannot be understood."),
        ({}, 422, "The request cannot be understood."),
        ({"remove": ["ratio"], "csv": "x"}, 422, "The request cannot be understood."),
        ({"based_on": 9, "remove": ["ratio"]}, 404, "There is not a version 9 of the catalogue of concepts."),
    ],
)
def test_wrong_edits_are_refused_whole(anna: TestClient, edit: dict[str, Any], status: int, said: str) -> None:
    answer = anna.post(VERSIONS, json={"based_on": 1, **edit})
    assert (answer.status_code, answer.json()["detail"][: len(said)]) == (status, said)
    assert len(anna.get(VERSIONS).json()["items"]) == 1


def test_csv_goes_round_and_names_bad_lines(anna: TestClient) -> None:
    answer = anna.get(f"{VERSIONS}/1/csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    text = answer.text
    same = anna.post(VERSIONS, json={"based_on": 1, "csv": text})
    assert (same.status_code, same.json()["detail"]) == (409, "Nothing differs from version 1.")
    lines = list(csv.reader(io.StringIO(text)))
    header = lines[0]
    assert not [cell for line in lines for cell in line if cell.startswith(("=", "+", "-", "@"))]

    formula = {**MADE_UP, "terms": ["=1+1", "a; b"], "senses": [{"terms": ["c"], "near": ["d"], "within": 3}] * 1}
    second = save(anna, 1, put=[{**formula, "senses": [*formula["senses"], {"terms": ["e"], "near": ["f", "g"]}]}])
    written = anna.get(f"{VERSIONS}/{second['version']}/csv").text
    assert '"\'=1+1; a\\; b"' in written
    again = anna.post(VERSIONS, json={"based_on": 2, "csv": written})
    assert (again.status_code, again.json()["detail"]) == (409, "Nothing differs from version 2.")

    def spoil(number: int, column: str, value: str) -> None:
        lines[number - 1][header.index(column)] = value

    spoil(3, "band", "K9")
    spoil(5, "id", "ratio")
    out = io.StringIO()
    csv.writer(out).writerows(lines)
    answer = anna.post(VERSIONS, json={"based_on": 2, "csv": out.getvalue()})
    assert answer.status_code == 422
    assert "line 5: concept 'ratio' is on line 2 already." in answer.json()["detail"]
    assert "line 3: band: Input should be 'K8', 'K12' or 'beyond'." in answer.json()["detail"]
    assert anna.post(VERSIONS, json={"based_on": 2, "csv": "a,b\n1,2\n"}).json()["detail"] == (
        "Line 1 does not name the columns."
    )
    assert len(anna.get(VERSIONS).json()["items"]) == 2


def test_a_runs_report_is_the_librarys(viewer: TestClient, base: Job, measured_run: Path) -> None:
    run = RunFolder(measured_run)
    expected = report_concepts(open_decision_set(run), BUNDLED, judgements=5)
    answer = viewer.post(f"/api/v1/jobs/{base.id}/concepts/report", json={"judgements": 5})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["version"], found["documents"], found["kept"]) == (1, expected.documents, expected.kept)
    assert (found["leaking"], found["leak_share"]) == (expected.leaking, expected.leak_share)
    assert tuple(found["leak_interval"]) == find_interval(expected.leaking, expected.kept)
    assert found["published"] == {"ngrams": 126, "share": 0.0009}
    assert len(found["concepts"]) == 334
    for row in found["concepts"]:
        counts = asdict(expected.concepts[row["concept"]])
        assert {name: row[name] for name in counts} == counts
        assert tuple(row["kept_interval"]) == find_interval(row["kept"], expected.kept)
    assert {row["name"]: row["documents"] for row in found["subjects"]} == {
        name: counts.documents for name, counts in expected.subjects.items()
    }
    assert [row["name"] for row in found["standards"]] == list(expected.standards)
    assert [(j["shard"], j["row"], j["concepts"]) for j in found["to_judge"]] == [
        (j.shard, j.row, list(j.concepts)) for j in expected.to_judge
    ]
    assert sum(row["excluded"] for row in found["concepts"]) > 0


def test_a_concepts_concordance_and_documents(viewer: TestClient, base: Job, measured_run: Path) -> None:
    decisions = open_decision_set(RunFolder(measured_run))
    counts = report_concepts(decisions, BUNDLED).concepts
    concept_id = max(counts, key=lambda key: counts[key].excluded)
    room = f"/api/v1/jobs/{base.id}/concepts/{concept_id}"
    body = {"outcome": "excluded", "max_documents": 200, "lines_a_document": 50}
    found = viewer.post(f"{room}/concordance", json=body).json()
    expected = read_lines(decisions, BUNDLED, BUNDLED.require(concept_id), outcome="excluded", max_documents=200)
    assert found["documents"] == counts[concept_id].excluded
    assert not found["is_sampled"]
    assert found["hits"] == len(expected) > 0
    keys = ("left", "hit", "right", "domain", "shard", "row", "start", "end")
    assert [[line[key] for key in keys] for line in found["lines"]] == [
        [getattr(line, key) for key in keys] for line in expected
    ]
    assert {line["outcome"] for line in found["lines"]} == {"excluded"}
    rights = [
        line["right"].casefold().split()
        for line in viewer.post(f"{room}/concordance", json={**body, "sort": "right"}).json()["lines"]
    ]
    assert rights == sorted(rights)

    rows, cursor = [], None
    while True:
        page = viewer.post(f"{room}/documents", json={"outcome": "excluded", "limit": 2, "cursor": cursor}).json()
        assert page["total"] == counts[concept_id].excluded
        rows += [(row["shard"], row["row"]) for row in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert rows == list(dict.fromkeys((line.shard, line.row) for line in expected))
    assert all(not row["kept"] for row in page["items"])
    stage, number = max(counts[concept_id].excluded_by.items(), key=lambda entry: entry[1])
    assert viewer.post(f"{room}/documents", json={"excluded_by": stage}).json()["total"] == number
    sole = viewer.post(f"{room}/documents", json={"excluded_by": stage, "is_sole": True}).json()["total"]
    assert sole == counts[concept_id].sole_cause.get(stage, 0)
    assert viewer.post(f"/api/v1/jobs/{base.id}/concepts/none/documents", json={}).status_code == 404


def test_a_new_version_says_what_must_be_measured_again_and_is_measured_by_a_job(
    operator: TestClient, context: Context, base: Job
) -> None:
    jobs = f"/api/v1/jobs/{base.id}/concepts"
    edit: dict[str, Any] = {"based_on": 1, "put": [MADE_UP], "remove": ["ratio"]}
    impact = operator.post(f"{VERSIONS}/impact", json={**edit, "job_id": base.id, "sample": 1000}).json()
    assert impact["diff"]["remeasured"] == ["made-up"]
    run = impact["run"]
    assert (run["documents_to_read"], run["slices_to_measure"]) == (run["documents"], run["slices"])
    report = operator.post(f"{jobs}/report", json={"version": 1}).json()
    before = {row["concept"]: row for row in report["concepts"]}
    assert run["removed_documents"] == before["ratio"]["documents"]
    assert run["removed_alone"] <= run["removed_documents"]
    assert len(operator.get(VERSIONS).json()["items"]) == 1

    save(operator, **edit)
    refused = operator.post(f"{jobs}/report", json={"version": 2})
    assert (refused.status_code, refused.json()["detail"]) == (
        409, "Version 2 of the catalogue was not measured in the run of job 1.",
    )  # fmt: skip
    assert operator.post(f"{jobs}/report", json={}).json()["version"] == 1
    plan = operator.get(f"{jobs}/plan", params={"version": 2}).json()
    assert (plan["concepts"], plan["base_layer"]) == (["made-up"], name_concepts_layer(BUNDLED))

    asked = operator.post(f"{jobs}/measure", json={})
    assert (asked.status_code, asked.json()["kind"], asked.json()["base_job_id"]) == (202, "measure_concepts", 1)
    twice = operator.post(f"{jobs}/measure", json={"version": 2})
    assert (twice.status_code, twice.json()["detail"]) == (409, "Job 2 measures version 2 in this run.")
    assert work_off(context, asked.json()["id"]).state == "succeeded"
    newest, oldest = operator.get(jobs).json()
    assert (newest["version"], newest["is_whole"], newest["job"]["id"]) == (2, True, 2)
    assert (oldest["version"], oldest["is_whole"], oldest["job"]) == (1, True, None)

    found = operator.post(f"{jobs}/report", json={}).json()
    assert found["version"] == 2
    after = {row["concept"]: row for row in found["concepts"]}
    assert "ratio" not in after
    assert after["made-up"]["documents"] > 0
    # The whole run was the sample: what it foretold is what is measured.
    assert run["sample_documents"] == run["documents"] == found["documents"]
    foretold = {entry["concept"]: (entry["gained"], entry["lost"]) for entry in run["sample"]}
    assert foretold == {
        "made-up": (after["made-up"]["documents"], 0),
        "ratio": (0, before["ratio"]["documents"]),
    }
    assert operator.post(f"{VERSIONS}/impact", json={"based_on": 2, "remove": ["made-up"]}).json()["measured_jobs"] == [
        1
    ]
    assert len(list_recorded(RunFolder(context.settings.data_dir / base.folder).ledger)) == 2


def test_measuring_goes_on_where_a_stretch_ended(operator: TestClient, context: Context, base: Job) -> None:
    save(operator, 1, put=[MADE_UP])
    asked = operator.post(f"/api/v1/jobs/{base.id}/concepts/measure", json={}).json()
    with context.database.reading() as session:
        job = session.get_one(Job, asked["id"])
    steps, number, results = ConceptSteps(context, stretch_seconds=0), -1, []
    while True:
        result = steps.measure(job, Lease(1, job.id, TaskKind.CONCEPTS, -1, number, 1, "token"), lambda: None)
        results.append(result)
        if not result.followers:
            break
        [follower] = result.followers
        assert follower.slice_index == number + 1
        number = follower.slice_index
    ledger = RunFolder(context.settings.data_dir / base.folder).ledger
    slices = len(list(ledger.slices()))
    assert len(results) == slices
    assert results[-1].report is not None
    assert results[-1].report["slices"] == slices
    assert work_off(context, job.id).state == "succeeded"


def test_a_probe_of_a_run_and_of_its_export(
    operator: TestClient, context: Context, base: Job, measured_run: Path
) -> None:
    expected = probe_run(open_decision_set(RunFolder(measured_run)), BUNDLED)
    asked = operator.post(PROBES, json={"base_job_id": base.id, "max_share": 0.0005})
    assert asked.status_code == 202, asked.text
    assert (asked.json()["state"], asked.json()["share"], asked.json()["version"]) == ("queued", None, 1)
    assert operator.get(f"{PROBES}/1").json()["concepts"] is None
    assert work_off(context, asked.json()["job_id"]).state == "succeeded"
    found = operator.get(f"{PROBES}/1").json()
    assert (found["documents"], found["leaking"], found["share"]) == (
        expected.documents, expected.leaking, expected.share,
    )  # fmt: skip
    assert tuple(found["interval"]) == expected.interval
    assert found["is_above"] is (expected.share > 0.0005)
    assert [(c["concept"], c["documents"], c["hits"]) for c in found["concepts"]] == [
        (name, leaks.documents, leaks.hits) for name, leaks in expected.concepts.items()
    ]
    assert [line["hit"] for c in found["concepts"] for line in c["lines"]] == [
        line.hit for leaks in expected.concepts.values() for line in leaks.lines
    ]
    of_export = operator.post(PROBES, json={"export_id": 1}).json()
    answer = operator.delete(f"{EXPORTS}/1")
    assert answer.status_code == 409
    assert work_off(context, of_export["job_id"]).state == "succeeded"
    exported = operator.get(f"{PROBES}/2").json()
    assert (exported["documents"], exported["leaking"]) == (expected.documents, expected.leaking)
    assert (exported["is_above"], exported["profile_id"]) == (False, base.profile_id)
    assert [probe["id"] for probe in operator.get(PROBES).json()["items"]] == [2, 1]
    assert [probe["id"] for probe in operator.get(PROBES, params={"export_id": 1}).json()["items"]] == [2]
    assert operator.post(PROBES, json={}).status_code == 422
    assert operator.post(PROBES, json={"base_job_id": 99}).status_code == 404
    assert operator.post(PROBES, json={"export_id": 1, "profile_id": 1}).status_code == 422


def test_an_export_whose_share_is_above_the_gate_fails_with_the_figures(
    operator: TestClient, context: Context, base: Job, measured_run: Path
) -> None:
    expected = probe_run(open_decision_set(RunFolder(measured_run)), BUNDLED)
    assert 0 < expected.leaking < expected.documents
    failing = request_export(operator, base.id, max_leak_share=0.0)
    assert (failing["options"]["max_leak_share"], failing["options"]["leak_catalogue"]) == (0.0, 1)
    assert work_off(context, failing["job_id"]).state == "failed"
    failed = operator.get(f"{EXPORTS}/{failing['id']}").json()
    assert failed["error"].startswith(f"{expected.leaking} of {expected.documents} documents ({expected.share:.4%})")
    assert f"POST /api/v1/probes with base_job_id {base.id}" in failed["hint"]
    assert failed["files"] is None
    assert not (context.settings.data_dir / "exports" / "export-000002").exists()

    passing = request_export(operator, base.id, max_leak_share=0.999)
    assert work_off(context, passing["job_id"]).state == "succeeded"
    gate = operator.get(f"{EXPORTS}/{passing['id']}").json()["manifest"]["leak_gate"]
    assert (gate["max_share"], gate["leaking"], gate["documents"]) == (0.999, expected.leaking, expected.documents)
    assert gate["catalogue"]["sha256"] == BUNDLED.sha256
    open_gate = request_export(operator, base.id)
    assert (open_gate["options"]["max_leak_share"], open_gate["options"]["leak_catalogue"]) == (None, None)
    for wrong in ({"leak_catalogue": 1}, {"max_leak_share": 0.1, "has_curriculum": False}, {"max_leak_share": 1}):
        assert operator.post(EXPORTS, json={"base_job_id": base.id, **wrong}).status_code == 422
    missing = operator.post(EXPORTS, json={"base_job_id": base.id, "max_leak_share": 0.1, "leak_catalogue": 9})
    assert missing.status_code == 404

"""Exports by the HTTP interface, on SQLite and on PostgreSQL: asked for, built, read, compared, verified, pushed, deleted."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cli_runs
import pyarrow.parquet as pq
import pytest
from accounts import open_program
from exported_runs import EXPORTS, bring_run, list_decisions, request_export, work_off
from fakes.hub_server import REPOSITORY, TOKEN, HubServer
from fastapi import FastAPI
from huggingface_hub import constants
from sqlalchemy import select
from starlette.testclient import TestClient
from tiny_encoder import write_encoder

from curation.curate import begin_run, finish_run, measure, open_decision_set
from curation.lexicon.ages import read_zipf_frequencies
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.profile import Profile
from curation.request import ExportOptions, RunRequest
from curation.run_folder import RunFolder
from primer.app.auth.roles import Role
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.models import AuditEntry, Base, Export, Job, ProfileVersion
from primer.app.profiles.content import hash_content
from primer.workers.export_steps import SAMPLE_ROWS, ExportSteps

PLAIN_OPTIONS: dict[str, Any] = {
    "shard_bytes": 256 << 20, "shuffle_seed": None, "token_budget": None, "validation_share": 0.0,
    "control_match": "tokens", "control_seed": 0,
}  # fmt: skip


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample, measured and exported without an encoder."""
    out = tmp_path_factory.mktemp("sample") / "run"
    cli_runs.run_primer("run", cli_runs.SAMPLE, "--out", out, "--no-encoder", "--workers", "1", "-q")
    return out


@pytest.fixture
def base(context: Context, sample_run: Path) -> Job:
    return bring_run(context, sample_run, cli_runs.SAMPLE)


@pytest.fixture
def operator(service: FastAPI) -> TestClient:
    return open_program(service, Role.OPERATOR, "olga")


@pytest.fixture
def decisions(sample_run: Path) -> dict[tuple[str, int], tuple[bool, int]]:
    return list_decisions(open_decision_set(RunFolder(sample_run)))


def pick(decisions: dict[tuple[str, int], tuple[bool, int]], *, is_kept: bool, number: int = 0) -> tuple[str, int]:
    return [row for row, (kept, tokens) in decisions.items() if kept == is_kept and tokens][number]


def count_kept(decisions: dict[tuple[str, int], tuple[bool, int]]) -> int:
    return sum(kept for kept, _ in decisions.values())


def rule(client: TestClient, row: tuple[str, int], action: str) -> None:
    body = {"shard_sha256": row[0], "row": row[1], "action": action, "reason": "because"}
    assert client.post("/api/v1/sources/1/rulings", json=body).status_code == 201


def read_rows(context: Context, export: dict[str, Any]) -> set[tuple[str, int]]:
    """What the curriculum of an export holds, from its files."""
    with context.database.reading() as session:
        folder = context.settings.data_dir / session.get_one(Export, export["id"]).folder
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in cli_runs.SAMPLE.glob("*.parquet")}
    rows: set[tuple[str, int]] = set()
    for path in (folder / "data" / "curriculum").glob("*.parquet"):
        table = pq.read_table(path, columns=["primer_shard", "primer_row"])
        rows |= {(hashes[row["primer_shard"]], row["primer_row"]) for row in table.to_pylist()}
    return rows


def test_a_curate_jobs_own_export_is_listed_as_the_first(
    operator: TestClient, base: Job, sample_run: Path, decisions: dict[tuple[str, int], tuple[bool, int]]
) -> None:
    [listed] = operator.get(EXPORTS).json()["items"]
    assert (listed["kind"], listed["state"], listed["job_id"], listed["base_job_id"]) == ("first", "succeeded", 1, 1)
    assert (listed["options"], listed["overrides_revision"], listed["source"]["name"]) == (None, None, "source")
    detail = operator.get(f"{EXPORTS}/1").json()
    folder = sample_run / "export"
    found = cli_runs.digest_folder(folder)
    assert {file["path"]: file["sha256"] for file in detail["files"]} == found
    assert detail["card"] == (folder / "README.md").read_text()
    assert detail["statement"] in detail["card"]
    assert detail["manifest"]["totals"]["curriculum"]["train"]["rows"] == count_kept(decisions)
    assert {"files", "inputs"} & set(detail["manifest"]) == {"inputs"}
    assert detail["load"][0] == "from datasets import load_dataset"
    assert detail["load"][1].endswith("runs/" + Path(base.folder).name + "/export', 'curriculum')")
    assert (detail["checks"], detail["pushes"]) == ([], [])
    data = [file for file in detail["files"] if file["config"]]
    assert [listed[f"{what}_written"] for what in ("documents", "tokens", "bytes")] == [
        sum(file[what] for file in data) for what in ("rows", "tokens", "size_bytes")
    ]
    assert listed["documents_written"] > 0


def test_an_export_without_rulings_has_the_bytes_of_the_runs_own_however_often_it_is_built(
    operator: TestClient,
    context: Context,
    base: Job,
    sample_run: Path,
    decisions: dict[tuple[str, int], tuple[bool, int]],
) -> None:
    asked = request_export(operator, base.id)
    assert (asked["kind"], asked["state"], asked["documents_written"]) == ("made", "queued", 0)
    assert asked["overrides_revision"] == 0
    job = work_off(context, asked["job_id"])
    export = operator.get(f"{EXPORTS}/{asked['id']}").json()
    assert export["state"] == "succeeded"
    folder = context.settings.data_dir / "exports" / "export-000002"
    assert cli_runs.digest_folder(folder) == cli_runs.digest_folder(sample_run / "export")
    rows = export["manifest"]["totals"]
    assert export["documents_written"] == sum(split["rows"] for config in rows.values() for split in config.values())
    assert export["tokens_written"] == sum(split["tokens"] for config in rows.values() for split in config.values())
    assert export["bytes_written"] > 0
    [check] = export["checks"]
    assert (check["is_sound"], check["problem_count"], check["rows_rechecked"]) == (
        True,
        0,
        min(count_kept(decisions), SAMPLE_ROWS),
    )
    assert [item["id"] for item in operator.get(EXPORTS).json()["items"]] == [2, 1]
    assert [item["id"] for item in operator.get(EXPORTS, params={"limit": 1}).json()["items"]] == [2]
    assert operator.get(EXPORTS, params={"source_id": 2}).json()["items"] == []
    ExportSteps(context).build(job, lambda: None)
    assert cli_runs.digest_folder(folder) == cli_runs.digest_folder(sample_run / "export")
    again = operator.get(f"{EXPORTS}/2").json()
    assert again["documents_written"] == export["documents_written"]
    assert len(again["checks"]) == 1


def test_rulings_are_pinned_when_the_export_is_asked_for_and_compared_with_what_was_before(
    operator: TestClient,
    context: Context,
    base: Job,
    decisions: dict[tuple[str, int], tuple[bool, int]],
    tmp_path: Path,
) -> None:
    gained, lost = pick(decisions, is_kept=False), pick(decisions, is_kept=True)
    rule(operator, gained, "keep")
    rule(operator, lost, "exclude")
    asked = request_export(operator, base.id)
    rule(operator, pick(decisions, is_kept=False, number=1), "keep")  # too late for it
    assert work_off(context, asked["job_id"]).state == "succeeded"
    export = operator.get(f"{EXPORTS}/{asked['id']}").json()
    assert export["manifest"]["overrides"]["revision"] == export["overrides_revision"] == 2
    kept = {row for row, (is_kept, _) in decisions.items() if is_kept}
    assert read_rows(context, export) == kept - {lost} | {gained}

    rulings = tmp_path / "rulings.jsonl"
    rulings.write_bytes(operator.get("/api/v1/sources/1/rulings.jsonl", params={"revision": 2}).content)
    out = tmp_path / "export"
    run = context.settings.data_dir / base.folder
    cli_runs.run_primer("export", run, "--out", out, "--overrides", rulings)
    assert cli_runs.digest_folder(out) == cli_runs.digest_folder(context.settings.data_dir / "exports/export-000002")

    words = count_words(context, base, {gained})
    found = operator.get(f"{EXPORTS}/2/diff", params={"other": 1}).json()
    assert (found["export_id"], found["other_id"], found["common"]) == (2, 1, count_kept(decisions) - 1)
    assert (found["gained"]["documents"], found["gained"]["tokens"]) == (1, decisions[gained][1])
    assert (found["lost"]["documents"], found["lost"]["tokens"]) == (1, decisions[lost][1])
    assert {term["term"]: term["documents"] for term in found["gained"]["terms"]}.items() <= words.items()
    assert len(found["gained"]["terms"]) == min(len(words), 50)
    zipf = read_zipf_frequencies()
    weights = [term["documents"] * (8 - zipf.get(term["term"], 0)) for term in found["gained"]["terms"]]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > weights[-1]
    reverse = operator.get(f"{EXPORTS}/1/diff", params={"other": 2}).json()
    assert (reverse["gained"], reverse["lost"], reverse["common"]) == (found["lost"], found["gained"], found["common"])


def count_words(context: Context, base: Job, rows: set[tuple[str, int]]) -> Counter[str]:
    """Of how many of the rows each word is part, one posting at a time."""
    ledger = RunFolder(context.settings.data_dir / base.folder).ledger
    words: Counter[str] = Counter()
    for ref in ledger.slices():
        for posting in ledger.read_part("postings", ref.id).to_pylist():
            if (ref.shard.sha256, posting["row"]) in rows and posting["form"] != 1:
                words[posting["word"]] += 1
    return words


def test_files_are_downloaded_whole_and_in_parts(operator: TestClient, base: Job, sample_run: Path) -> None:
    path = "data/curriculum/train-00000-of-00001.parquet"
    content = (sample_run / "export" / path).read_bytes()
    url = f"{EXPORTS}/1/files/{path}"
    whole = operator.get(url)
    assert (whole.status_code, whole.content) == (200, content)
    etag = whole.headers["ETag"]
    assert etag == f'"{hashlib.sha256(content).hexdigest()}"'
    assert whole.headers["Content-Disposition"] == 'attachment; filename="train-00000-of-00001.parquet"'
    part = operator.get(url, headers={"Range": "bytes=100-199", "If-Range": etag})
    assert (part.status_code, part.content) == (206, content[100:200])
    assert part.headers["Content-Range"] == f"bytes 100-199/{len(content)}"
    assert operator.get(url, headers={"Range": "bytes=-10"}).content == content[-10:]
    assert operator.get(url, headers={"Range": "bytes=100-", "If-Range": '"another"'}).content == content
    assert operator.get(url, headers={"If-None-Match": etag}).status_code == 304
    beyond = operator.get(url, headers={"Range": f"bytes={len(content)}-"})
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, f"bytes */{len(content)}")
    assert operator.get(url, headers={"Range": "lines=1-2"}).status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "..%2f..%2frun.json",
        "%2e%2e/%2e%2e/request.json",
        "data",
        "data/",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "x%00",
        "README.md/",
    ],
)
def test_only_listed_files_are_handed_out(operator: TestClient, base: Job, path: str) -> None:
    answer = operator.get(f"{EXPORTS}/1/files/{path}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_archive_list_checks_a_download(operator: TestClient, base: Job, sample_run: Path) -> None:
    lines = operator.get(f"{EXPORTS}/1/archive").text.splitlines()
    found = dict(reversed(line.split("  ", 1)) for line in lines)
    assert found == cli_runs.digest_folder(sample_run / "export")


def test_a_verification_is_a_job_that_finds_what_was_damaged(operator: TestClient, context: Context, base: Job) -> None:
    job = operator.post(f"{EXPORTS}/1/verify")
    assert (job.status_code, job.json()["kind"], job.json()["state"]) == (202, "verify_export", "queued")
    assert work_off(context, job.json()["id"]).state == "succeeded"
    path = context.settings.data_dir / base.folder / "export/data/control/train-00000-of-00001.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    job = operator.post(f"{EXPORTS}/1/verify")
    assert work_off(context, job.json()["id"]).state == "succeeded"
    after, before = operator.get(f"{EXPORTS}/1").json()["checks"]
    assert (before["is_sound"], before["problem_count"]) == (True, 0)
    assert (after["is_sound"], after["problem_count"]) == (False, 1)
    assert after["problems"] == [
        {
            "file": "data/control/train-00000-of-00001.parquet",
            "row": None,
            "what": "its bytes have changed (sha256 differs)",
        }
    ]


def test_deleted_files_are_gone_and_the_row_stays(operator: TestClient, context: Context, base: Job) -> None:
    folder = context.settings.data_dir / base.folder
    before = sorted(path.name for path in folder.iterdir())
    assert operator.delete(f"{EXPORTS}/1").status_code == 204
    assert sorted(path.name for path in folder.iterdir()) == [name for name in before if name != "export"]
    after = operator.get(f"{EXPORTS}/1").json()
    assert (after["deleted_by"], after["files"], after["statement"]) == ("olga", None, None)
    for method, path in (("GET", "files/README.md"), ("GET", "archive"), ("POST", "verify"), ("GET", "diff?other=1")):
        answer = operator.request(method, f"{EXPORTS}/1/{path}")
        assert (answer.status_code, answer.json()["detail"]) == (409, "olga has deleted the files of export 1.")
    assert operator.delete(f"{EXPORTS}/1").status_code == 204
    with context.database.reading() as session:
        actions = [entry.action for entry in session.execute(select(AuditEntry).order_by(AuditEntry.id)).scalars()]
    assert actions.count("export.delete") == 1


def test_an_export_that_is_being_made_is_neither_read_nor_deleted(operator: TestClient, base: Job) -> None:
    asked = request_export(operator, base.id)
    answer = operator.delete(f"{EXPORTS}/{asked['id']}")
    assert (answer.status_code, answer.json()["detail"]) == (409, f"Job {asked['job_id']} is working on export 2.")
    answer = operator.get(f"{EXPORTS}/2/files/README.md")
    assert (answer.status_code, answer.json()["detail"]) == (409, "Export 2 is queued.")
    assert operator.get(f"{EXPORTS}/2").json()["files"] is None
    assert operator.post(f"/api/v1/jobs/{asked['job_id']}/cancel").status_code == 200
    assert operator.delete(f"{EXPORTS}/2").status_code == 204
    assert operator.get(f"{EXPORTS}/99").status_code == 404


def test_a_cancelled_export_leaves_nothing(operator: TestClient, context: Context, base: Job) -> None:
    asked = request_export(operator, base.id)
    with context.database.reading() as session:
        job = session.get_one(Job, asked["job_id"])
    calls = 0

    class Cancelled(Exception):
        pass

    def cancel_midway() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        ExportSteps(context).build(job, cancel_midway)
    assert list((context.settings.data_dir / "exports").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "status", "detail"),
    [
        ({"base_job_id": 99}, 404, "There is no job 99."),
        ({"profile_id": 99}, 404, "There is no profile version 99."),
        ({"overrides_revision": 1}, 404, "The source's rulings have no revision 1."),
        ({"shard_bytes": 1}, 422, None),
        ({"validation_share": 1}, 422, None),
        ({"vocabulary": "other"}, 422, None),
    ],
)
def test_what_cannot_be_exported_is_refused(
    operator: TestClient, base: Job, change: dict[str, Any], status: int, detail: str | None
) -> None:
    answer = operator.post(EXPORTS, json={"base_job_id": base.id, **change})
    assert answer.status_code == status
    assert detail is None or answer.json()["detail"] == detail
    assert len(operator.get(EXPORTS).json()["items"]) == 1


def test_only_a_finished_curate_job_is_exported_and_export_jobs_are_not_cloned(operator: TestClient, base: Job) -> None:
    asked = request_export(operator, base.id)
    answer = operator.post(EXPORTS, json={"base_job_id": asked["job_id"]})
    assert answer.status_code == 409
    assert "is queued, of the kind export" in answer.json()["detail"]
    assert operator.post(f"/api/v1/jobs/{asked['job_id']}/clone").status_code == 409
    assert operator.get(f"/api/v1/jobs/{asked['job_id']}").json()["kind"] == "export"


@pytest.fixture(scope="session")
def encoder_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty rows measured with a tiny encoder, which scores what a lenient profile asks for."""
    tmp = tmp_path_factory.mktemp("encoder")
    cli_runs.write_sample_lines(tmp / "sample.jsonl")
    write_encoder(tmp / "artifacts" / "encoder", window_tokens=128)
    profile = Profile.model_validate(
        {"name": "lenient", "version": 1, "form": "raw", "lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05}}
    )
    request = RunRequest(
        sources=(str(tmp / "sample.jsonl"),), config=None, split=None, artifacts=str(tmp / "artifacts"), aoa=None,
        profile=profile, vocabulary=PLAIN_VOCABULARY, export=ExportOptions(**PLAIN_OPTIONS),
    )  # fmt: skip
    run = RunFolder(tmp / "run")
    job = begin_run(run, request, text_field="text", slice_bytes=30_000, row_limit=40)
    assert measure(job, workers=1).failures == []
    finish_run(run)
    return tmp


def test_undecided_rows_are_counted_and_the_way_to_measure_them_is_named(
    operator: TestClient, context: Context, encoder_run: Path
) -> None:
    base = bring_run(context, encoder_run / "run", encoder_run, "encoded")
    described = Profile.model_validate(
        {"name": "alone", "version": 1, "form": "raw", "encoder": {"min_k5_window": 0.75}}
    ).model_dump(mode="json")
    with context.database.transaction() as session:
        version = ProfileVersion(
            name="alone", version=1, state="published", content=described, sha256=hash_content(described), note="",
            author="test", created_at=now(), changed_at=now(), published_at=now(),
        )  # fmt: skip
        session.add(version)
        session.flush()
        profile_id = version.id
    asked = request_export(operator, base.id, profile_id=profile_id)
    assert work_off(context, asked["job_id"]).state == "failed"
    export = operator.get(f"{EXPORTS}/{asked['id']}").json()
    assert re.fullmatch(r"\d+ of 40 documents are undecided; signals missing: encoder for \d+\.", export["error"])
    assert f"POST /api/v1/jobs/{base.id}/measure-undecided with profile_id {profile_id}" in export["hint"]
    assert not (context.settings.data_dir / "exports" / f"export-{asked['id']:06d}").exists()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    with HubServer({}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        server.is_created, server.needs_token, server.plain_paths = False, True, set()
        yield server


def test_a_push_needs_the_workers_token_and_keeps_it_nowhere(
    operator: TestClient,
    context: Context,
    base: Job,
    sample_run: Path,
    hub: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    dump_database: Callable[[], str],
) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    asked = operator.post(f"{EXPORTS}/1/push", json={"repo_id": REPOSITORY})
    assert (asked.status_code, asked.json()["kind"]) == (202, "push_export")
    failed = work_off(context, asked.json()["id"])
    assert (failed.state, failed.error) == ("failed", "There is no token for the Hub.")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert operator.post(f"/api/v1/jobs/{failed.id}/retry").status_code == 200
    assert work_off(context, failed.id).state == "succeeded"
    [push] = operator.get(f"{EXPORTS}/1").json()["pushes"]
    assert push["commit"] == hub.branches["main"]
    assert (push["repo_id"], push["revision"], push["private"], push["state"]) == (
        REPOSITORY,
        "main",
        True,
        "succeeded",
    )
    assert push["load"][1] == f"curriculum = load_dataset('{REPOSITORY}', 'curriculum', revision='{push['commit']}')"
    arrived = {path: hashlib.sha256(content).hexdigest() for path, content in hub.commits[push["commit"]].items()}
    assert arrived == cli_runs.digest_folder(sample_run / "export")
    assert TOKEN not in dump_database()


@pytest.fixture
def dump_database(context: Context) -> Callable[[], str]:
    def dump() -> str:
        with context.database.reading() as session:
            return "\n".join(
                repr(row) for table in Base.metadata.sorted_tables for row in session.execute(select(table)).all()
            )

    return dump


@pytest.mark.parametrize("repo_id", ["name", "a/b/c", "../x", "a/..b/", "a b/c", "http://x/y", ""])
def test_a_repository_has_an_owner_and_a_plain_name(operator: TestClient, base: Job, repo_id: str) -> None:
    assert operator.post(f"{EXPORTS}/1/push", json={"repo_id": repo_id}).status_code == 422

"""Health, readiness and figures: what they say while all is well, and what they name when something is not."""

from __future__ import annotations

import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import servers
from accounts import open_program
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text
from starlette.testclient import TestClient

from primer.app.auth.roles import Role
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.counters import LEASE_EXPIRIES, raise_counter
from primer.app.core.settings import Settings
from primer.app.jobs.states import JobKind, JobState, Queue, TaskKind, TaskState
from primer.app.main import create_app
from primer.app.models import Job, Outcome, ProfileVersion, Source, Task


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[servers.ValkeyServer]:
    server = servers.ValkeyServer(tmp_path / "broker")
    yield server
    server.kill()


@pytest.fixture
def app(service_settings: Settings, broker: servers.ValkeyServer) -> Iterator[FastAPI]:
    settings = service_settings.model_copy(update={"broker_url": broker_url(broker)})
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    app = create_app(settings)
    yield app
    app.state.context.database.engine.dispose()


def broker_url(broker: servers.ValkeyServer) -> object:
    from pydantic import SecretStr

    return SecretStr(broker.url)


def test_health_and_readiness_ask_for_no_sign_in_and_name_what_was_looked_at(app: FastAPI) -> None:
    client = TestClient(app, base_url="http://127.0.0.1")
    assert client.get("/healthz").json() == {"status": "alive"}
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (
        200,
        {"is_ready": True, "checks": {"database": "ok", "schema": "ok", "broker": "ok", "data_folder": "ok"}},
    )
    assert ready.headers["cache-control"] == "no-store"


def test_readiness_says_that_the_broker_is_gone_and_when_it_is_back(app: FastAPI, broker: servers.ValkeyServer) -> None:
    client = TestClient(app, base_url="http://127.0.0.1")
    broker.kill()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "database": "ok", "schema": "ok", "broker": "cannot be reached", "data_folder": "ok",
    }  # fmt: skip
    assert client.get("/healthz").status_code == 200
    broker.start()
    assert client.get("/readyz").status_code == 200


def test_readiness_says_that_the_schema_is_of_another_version(app: FastAPI) -> None:
    context: Context = app.state.context
    with context.database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    answer = TestClient(app, base_url="http://127.0.0.1").get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["schema"] == "of another version: run `primer migrate`"


def test_readiness_says_that_the_data_folder_cannot_be_written(app: FastAPI) -> None:
    context: Context = app.state.context
    shutil.rmtree(context.settings.data_dir)
    context.settings.data_dir.write_bytes(b"")
    answer = TestClient(app, base_url="http://127.0.0.1").get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["data_folder"] == "cannot be written (Not a directory)"


def test_readiness_names_a_lost_database_and_gives_no_secret_away(tmp_path: Path, broker: servers.ValkeyServer) -> None:
    port = servers.find_free_port()
    settings = Settings(
        data_dir=tmp_path,
        database_url=f"postgresql+psycopg://primer:opensesame@127.0.0.1:{port}/primer",  # type: ignore[arg-type]
        broker_url=broker_url(broker),  # type: ignore[arg-type]
    )
    answer = TestClient(create_app(settings), base_url="http://127.0.0.1").get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == "cannot be reached"
    assert answer.json()["checks"]["schema"] == "unknown"
    assert "opensesame" not in answer.text


def _read_samples(exposition: str) -> dict[tuple[str, tuple[str, ...]], float]:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(exposition)
        for sample in family.samples
    }


def _fill(context: Context) -> None:
    """A job with two slices done, one in flight, one waiting for 90 s; and a paused job, whose task nobody could take."""
    with context.database.transaction() as session:
        source = Source(name="s", locations=[], text_field="text", state="ready", created_by="x", created_at=now())
        profile = ProfileVersion(
            name="p", version=1, state="published", content={}, sha256="0" * 64, note="", author="x",
            created_at=now(), changed_at=now(),
        )  # fmt: skip
        session.add_all([source, profile])
        session.flush()
        jobs = [
            Job(
                kind=kind, state=state, source_id=source.id, profile_id=profile.id, options={}, folder="",
                created_by="x", created_at=now(),
            )
            for kind, state in (
                (JobKind.CURATE, JobState.RUNNING),
                (JobKind.CURATE, JobState.PAUSED),
                (JobKind.MEASURE_UNDECIDED, JobState.SUCCEEDED),
            )
        ]  # fmt: skip
        session.add_all(jobs)
        session.flush()
        running, paused, undecided = jobs
        for index, (job, state, age) in enumerate(
            [
                (running, TaskState.DONE, 300),
                (running, TaskState.DONE, 300),
                (running, TaskState.RUNNING, 200),
                (running, TaskState.WAITING, 90),
                (paused, TaskState.WAITING, 1_000),
            ]
        ):
            session.add(
                Task(
                    job_id=job.id, kind=TaskKind.MEASURE, queue=Queue.MEASURE, shard_index=0, slice_index=index,
                    state=state, created_at=now() - age,
                )
            )  # fmt: skip
        lexical, fasttext = 1, 2
        for failed, kept, documents, tokens in ((0, 1, 30, 900), (lexical, 0, 50, 5_000), (fasttext, 0, 20, 1_000)):
            session.add(
                Outcome(job_id=running.id, failed=failed, missing=0, kept=kept, documents=documents, tokens=tokens)
            )
        session.add(Outcome(job_id=undecided.id, failed=0, missing=0, kept=1, documents=7, tokens=7))
        raise_counter(session, LEASE_EXPIRIES)
        raise_counter(session, LEASE_EXPIRIES)


def test_metrics_count_what_the_database_knows(app: FastAPI) -> None:
    _fill(app.state.context)
    answer = open_program(app, Role.VIEWER).get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    samples = _read_samples(answer.text)
    wanted = {
        ("primer_documents_total", ("kept",)): 30,
        ("primer_documents_total", ("excluded",)): 70,
        ("primer_documents_total", ("undecided",)): 0,
        ("primer_tokens_total", ("kept",)): 900,
        ("primer_documents_excluded_total", ("lexical",)): 50,
        ("primer_documents_excluded_total", ("fasttext",)): 20,
        ("primer_documents_left_total", ("lexical",)): 50,
        ("primer_documents_left_total", ("vocabulary",)): 30,
        ("primer_jobs", ("running",)): 1,
        ("primer_jobs", ("paused",)): 1,
        ("primer_jobs", ("failed",)): 0,
        ("primer_sources", ("ready",)): 1,
        ("primer_tasks", ("measure", "done")): 2,
        ("primer_tasks", ("measure", "waiting")): 2,
        ("primer_tasks", ("encoder", "running")): 0,
        ("primer_slices_in_flight", ()): 1,
        ("primer_queue_length", ("measure",)): 1,
        ("primer_queue_length", ("export",)): 0,
        ("primer_lease_expiries_total", ()): 2,
    }
    assert {key: samples[key] for key in wanted} == wanted
    assert 90 <= samples["primer_oldest_unclaimed_task_seconds", ("measure",)] < 120
    assert samples["primer_oldest_unclaimed_task_seconds", ("encoder",)] == 0


def test_metrics_of_an_empty_service_are_all_there(app: FastAPI) -> None:
    samples = _read_samples(open_program(app, Role.VIEWER).get("/metrics").text)
    assert samples["primer_documents_total", ("kept",)] == 0
    assert samples["primer_lease_expiries_total", ()] == 0
    assert {state for name, (state,) in ((k[0], k[1]) for k in samples if k[0] == "primer_jobs")} == set(JobState)


def test_metrics_are_for_who_may_read_unless_they_have_an_address_of_their_own(service_settings: Settings) -> None:
    port = servers.find_free_port()
    app = create_app(service_settings.model_copy(update={"metrics_bind": f"127.0.0.1:{port}"}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/metrics").status_code == 401
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            assert _read_samples(answer.read().decode())["primer_jobs", ("running",)] == 0
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")
    app.state.context.database.engine.dispose()

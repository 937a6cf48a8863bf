"""Scans as workers do them: claimed once, repeated after a crash, refused from who lost the claim, and given up in the end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import servers
import structlog
from cli_runs import SAMPLE
from service_stack import running_stack
from sqlalchemy import select

from primer.app.auth.actor import SYSTEM
from primer.app.core.context import Context
from primer.app.jobs import service as jobs
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import JobState
from primer.app.models import Source, SourceShard
from primer.app.sources import allow_list, claims, rules
from primer.app.sources import service as sources
from primer.app.sources.claims import ScanClaim
from primer.app.sources.scan import scan_source
from primer.workers.scans import perform_scan


class _Recorder:
    """A messenger that keeps what it is to send."""

    def __init__(self) -> None:
        self.scans: list[int] = []

    def send_scans(self, source_ids: list[int]) -> bool:
        self.scans += source_ids
        return True


@pytest.fixture
def recording(context: Context, monkeypatch: pytest.MonkeyPatch) -> tuple[Context, _Recorder]:
    recorder = _Recorder()
    settings = context.settings.model_copy(update={"resend_after": 0.2, "lease": 0.4, "heartbeat": 0.1})
    return Context(settings, context.database, recorder), recorder  # type: ignore[arg-type]


def _register(context: Context, name: str = "sample", folder: Path = SAMPLE) -> int:
    allow_list.allow_prefix(context, SYSTEM, prefix=str(folder), allows_private=False, note="")
    return sources.register_source(
        context, SYSTEM, name=name, locations=[str(folder)], config=None, split=None, text_field="text"
    ).id


def _read(context: Context, source_id: int) -> Source:
    with context.database.reading() as session:
        return session.get_one(Source, source_id)


def _claim(context: Context, source_id: int, seconds: float = 60) -> ScanClaim | None:
    with context.database.transaction() as session:
        return claims.claim(session, source_id, seconds=seconds)


def _count_shards(context: Context, source_id: int) -> int:
    with context.database.reading() as session:
        return len(session.execute(select(SourceShard).where(SourceShard.source_id == source_id)).all())


def test_a_registered_source_is_announced_once_and_scanned(recording: tuple[Context, _Recorder]) -> None:
    context, recorder = recording
    source_id = _register(context)
    assert recorder.scans == [source_id]
    assert claims.announce_due(context) == []
    perform_scan(context, source_id)
    source = _read(context, source_id)
    assert (source.state, source.shard_count, source.row_count) == ("ready", 2, 254)
    assert (source.scan_token, source.scan_until, source.scan_attempts) == (None, None, 0)
    time.sleep(0.3)
    assert claims.announce_due(context) == []
    assert recorder.scans == [source_id]


def test_a_message_that_nobody_took_is_sent_again(recording: tuple[Context, _Recorder]) -> None:
    context, recorder = recording
    source_id = _register(context)
    time.sleep(0.3)
    assert claims.announce_due(context) == [source_id]
    assert recorder.scans == [source_id, source_id]


def test_only_one_of_two_claims_succeeds_and_a_message_too_many_changes_nothing(
    recording: tuple[Context, _Recorder],
) -> None:
    context, _ = recording
    source_id = _register(context)
    first = _claim(context, source_id)
    assert first is not None
    assert _claim(context, source_id) is None
    perform_scan(context, source_id)
    assert (_read(context, source_id).state, _count_shards(context, source_id)) == ("scanning", 0)
    scan_source(context, first)
    scanned_at = _read(context, source_id).scanned_at
    perform_scan(context, source_id)
    assert _read(context, source_id).scanned_at == scanned_at


def test_a_scan_whose_process_died_is_taken_up_by_another_and_the_first_records_nothing(
    recording: tuple[Context, _Recorder],
) -> None:
    context, _ = recording
    source_id = _register(context)
    dead = _claim(context, source_id, seconds=0.1)
    assert dead is not None
    time.sleep(0.2)
    assert claims.announce_due(context) == [source_id]
    scan_source(context, dead)
    assert (_read(context, source_id).state, _count_shards(context, source_id)) == ("registered", 0)
    with context.database.transaction() as session:
        assert not claims.extend(session, dead, seconds=60)
    perform_scan(context, source_id)
    assert (_read(context, source_id).state, _count_shards(context, source_id)) == ("ready", 2)


def test_a_scan_that_ends_its_process_every_time_fails_and_says_so(recording: tuple[Context, _Recorder]) -> None:
    context, _ = recording
    source_id = _register(context)
    for attempt in range(context.settings.max_attempts):
        assert _claim(context, source_id, seconds=0.05) is not None, attempt
        time.sleep(0.1)
        assert claims.announce_due(context) == ([source_id] if attempt + 1 < context.settings.max_attempts else [])
    source = _read(context, source_id)
    assert (source.state, source.error) == ("failed", "The process that scanned it ended, or fell silent, 3 times.")


def test_a_new_scan_can_be_asked_for_while_one_is_under_way_whose_findings_then_count_for_nothing(
    recording: tuple[Context, _Recorder],
) -> None:
    context, recorder = recording
    source_id = _register(context)
    old = _claim(context, source_id)
    assert old is not None
    sources.request_scan(context, SYSTEM, source_id)
    assert recorder.scans == [source_id, source_id]
    scan_source(context, old)
    assert _read(context, source_id).state == "registered"
    perform_scan(context, source_id)
    assert _read(context, source_id).state == "ready"


def test_a_slow_scan_keeps_its_claim(recording: tuple[Context, _Recorder], monkeypatch: pytest.MonkeyPatch) -> None:
    context, _ = recording
    source_id = _register(context)
    held: list[list[int]] = []

    def dawdle(*_: Any, **__: Any) -> list[Any]:
        time.sleep(1)
        held.append(claims.announce_due(context))
        return []

    monkeypatch.setattr("primer.app.sources.scan.list_allowed", dawdle)
    perform_scan(context, source_id)
    assert held == [[]]
    assert _read(context, source_id).state == "ready"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Any:
    server = servers.ValkeyServer(tmp_path_factory.mktemp("broker"))
    yield server
    server.kill()


def test_workers_scan_and_rules_bind_the_job_and_requests_are_named_in_their_logs(
    database_url: str, broker: servers.ValkeyServer, tmp_path: Path
) -> None:
    with running_stack(
        tmp_path, database_url=database_url, broker_url=broker.url, environment={"PRIMER_LOG_FORMAT": "json"}
    ) as stack:
        stack.start_worker("--concurrency", "1")
        with structlog.contextvars.bound_contextvars(request_id="request-of-the-test"):
            source_id = _register(stack.context)
            stack.wait_until(lambda: _read(stack.context, source_id).state == "ready")
            rules.add_rule(
                stack.context, SYSTEM, source_id=source_id, kind="domain", value="example.org", reason="takedown"
            )
            retired = rules.add_rule(
                stack.context, SYSTEM, source_id=None, kind="domain", value="example.net", reason="mistake"
            )
            rules.retire_rule(stack.context, SYSTEM, retired.id)
            job_id = jobs.start_job(
                stack.context, SYSTEM, source_id=source_id, profile_id=stack.add_profile(),
                options=JobOptions(has_encoder=False),
            ).id  # fmt: skip
        job = stack.wait_for(job_id)
        assert job.state == JobState.SUCCEEDED, stack.read_logs()
        assert job.report is not None
        assert job.report["source_rules"]["count"] == 1
        log = (stack.folder / "worker-0.log").read_text()
        recorded = [line for line in log.splitlines() if '"task_recorded"' in line]
        # The plan, two shards, two slices, the end: a message that follows from another names the same request.
        assert len(recorded) == 6, log[-3000:]
        assert all('"request_id": "request-of-the-test"' in line for line in recorded)
        assert all(f'"job": {job_id}' in line for line in recorded)


def test_a_job_fails_with_the_reason_when_its_place_is_no_longer_allowed(
    database_url: str, broker: servers.ValkeyServer, tmp_path: Path
) -> None:
    with running_stack(tmp_path, database_url=database_url, broker_url=broker.url) as stack:
        source_id = stack.add_source(SAMPLE)
        [prefix] = allow_list.list_prefixes(stack.context, SYSTEM, after=0, limit=10)
        allow_list.remove_prefix(stack.context, SYSTEM, prefix.id)
        job_id = stack.start_job(source_id)
        stack.start_worker("--concurrency", "1")
        job = stack.wait_for(job_id)
        assert job.state == JobState.FAILED
        [task] = stack.read_tasks(job_id)
        assert task.error == f"'{SAMPLE}' is under no place that sources may name."
        assert not stack.run_folder(job_id).exists()

"""Runs that the service exports: brought in as jobs that have succeeded, and tasks done in this process as a worker does them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import select
from starlette.testclient import TestClient

from curation.decide import KEEP
from curation.ledger.counts import count_tokens
from curation.ledger.signals import decide_ledger
from primer.app.auth.actor import SYSTEM
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.jobs.imports import import_run
from primer.app.jobs.states import TaskState
from primer.app.models import AllowedPrefix, Job, Task
from primer.app.profiles.bundled import import_bundled
from primer.workers.perform import Performer

EXPORTS = "/api/v1/exports"

Row = tuple[str, int]  # sha256 of the shard, row


def bring_run(context: Context, folder: Path, source: Path, name: str = "source") -> Job:
    """A copy of a finished run as a job of the service; its source is allowed."""
    with context.database.transaction() as session:
        import_bundled(session)
    found = import_run(context, SYSTEM, folder, source_name=name, is_copied=True)
    with context.database.transaction() as session:
        if session.execute(select(AllowedPrefix.id).where(AllowedPrefix.prefix == str(source))).first() is None:
            session.add(AllowedPrefix(prefix=str(source), allows_private=False, created_by="test", created_at=now()))
        return session.get_one(Job, found.job_id)


def work_off(context: Context, job_id: int) -> Job:
    """Do the tasks of a job that wait, until none does."""
    performer = Performer(context)
    waiting = select(Task.id).where(Task.job_id == job_id, Task.state == TaskState.WAITING).order_by(Task.id)
    while True:
        with context.database.reading() as session:
            task_id = session.execute(waiting).scalars().first()
            if task_id is None:
                return session.get_one(Job, job_id)
        performer.perform(task_id)


def request_export(client: TestClient, base_job_id: int, **options: Any) -> dict[str, Any]:
    answer = client.post(EXPORTS, json={"base_job_id": base_job_id, **options})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def list_decisions(decisions: Any) -> dict[Row, tuple[bool, int]]:
    """Of every row of a decision set without overrides: whether it is kept, and its tokens."""
    found: dict[Row, tuple[bool, int]] = {}
    ledger = decisions.folder.ledger
    for decided in decide_ledger(ledger, decisions.bound, decisions.word_scores):
        tokens, _ = count_tokens(decided.signals.core)
        rows = decided.signals.signals.rows.tolist()
        for row, kept, count in zip(rows, (decided.decisions.kept == KEEP).tolist(), tokens.tolist(), strict=True):
            found[decided.ref.shard.sha256, row] = kept, count
    return found

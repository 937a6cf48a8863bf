"""A process that stands still in the middle of a transaction does not keep its job from everybody else."""

from __future__ import annotations

import threading
import time

import pytest
from jobs_engine import Engine
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from primer.app.auth.actor import SYSTEM
from primer.app.jobs import flow, service
from primer.app.jobs.states import JobState


def test_the_database_ends_transactions_that_stand_still(engine: Engine) -> None:
    if engine.database.is_sqlite:
        pytest.skip("SQLite has no server that could end them: its processes are all on this machine")
    with engine.database.reading() as session:
        assert session.execute(text("SHOW idle_in_transaction_session_timeout")).scalar_one() == "1min"

    job_id = engine.start_job()
    is_locked, is_over = threading.Event(), threading.Event()
    refused: list[str] = []

    def stand_still() -> None:
        try:
            with engine.database.transaction() as session:
                session.execute(text("SET LOCAL idle_in_transaction_session_timeout = '300ms'"))
                flow.cancel(session, flow.lock_job(session, job_id))
                is_locked.set()
                is_over.wait(timeout=30)
        except DBAPIError:
            refused.append("commit")

    frozen = threading.Thread(target=stand_still)
    frozen.start()
    assert is_locked.wait(timeout=30)
    began = time.monotonic()
    service.pause_job(engine.context, SYSTEM, job_id)
    assert time.monotonic() - began < 10
    is_over.set()
    frozen.join(timeout=30)
    assert refused == ["commit"]
    assert engine.read_job(job_id).state == JobState.PAUSED

"""What a worker records of a task that does not go well: whose fault it was decides whether it is tried again."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from service_stack import Stack, running_stack
from sqlalchemy import update

from curation.errors import QuotaError, SourceError
from curation.export.work_folder import name_work_folder
from primer.app.core.clock import now
from primer.app.jobs.states import JobState, TaskKind, TaskState
from primer.app.models import Task
from primer.workers import perform
from primer.workers.perform import Performer

SECRET = "the text of a document"


@pytest.fixture
def stack(tmp_path: Path, migrated_sqlite: Path) -> Iterator[Stack]:
    """Without workers and with a broker that is never there: the tests are the worker."""
    path = tmp_path / "primer.sqlite3"
    path.write_bytes(migrated_sqlite.read_bytes())
    with running_stack(
        tmp_path / "stack", database_url=f"sqlite:///{path}", broker_url="redis://127.0.0.1:1/0"
    ) as stack:
        yield stack


def start_job(stack: Stack, tmp_path: Path) -> int:
    """A job that reads no row, so that it is planned and finished at once."""
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "a"}\n')
    return stack.start_job(stack.add_source(source), limit=0, has_encoder=False)


def do_next(stack: Stack, job_id: int, performer: Performer) -> Task:
    """The waiting task, done or not."""
    (task,) = [task for task in stack.read_tasks(job_id) if task.state == TaskState.WAITING]
    performer.perform(task.id)
    return next(found for found in stack.read_tasks(job_id) if found.id == task.id)


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_an_export_that_a_silent_worker_still_holds_is_tried_again(stack: Stack, tmp_path: Path) -> None:
    job_id, performer = start_job(stack, tmp_path), Performer(stack.context)
    assert do_next(stack, job_id, performer).state == TaskState.DONE
    work = name_work_folder(stack.run_folder(job_id) / "export")
    work.mkdir(parents=True)
    held = os.open(work, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    task = do_next(stack, job_id, performer)
    assert (task.kind, task.state, task.attempts) == (TaskKind.FINISH, TaskState.WAITING, 1)
    assert "Another process is exporting" in str(task.error)
    assert stack.read_job(job_id).state == JobState.RUNNING
    os.close(held)
    assert do_next(stack, job_id, performer).state == TaskState.DONE
    assert stack.read_job(job_id).state == JobState.SUCCEEDED


def test_what_breaks_off_is_tried_again_and_its_words_are_not_kept(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id, performer = start_job(stack, tmp_path), Performer(stack.context)
    monkeypatch.setattr(performer._steps, "perform", raising(ValueError(SECRET)))
    for attempt in (1, 2):
        task = do_next(stack, job_id, performer)
        assert (task.state, task.attempts) == (TaskState.WAITING, attempt)
        assert task.sent_at is not None, "it is not announced again at once"
    task = do_next(stack, job_id, performer)
    assert (task.state, task.attempts) == (TaskState.QUARANTINED, 3)
    assert str(task.error).startswith("ValueError at fail (test_perform.py:")
    assert SECRET not in f"{task.error} {task.error_hint}"
    assert stack.read_job(job_id).state == JobState.FAILED


def test_a_fault_of_the_source_is_not_tried_again(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id, performer = start_job(stack, tmp_path), Performer(stack.context)
    monkeypatch.setattr(performer._steps, "perform", raising(SourceError("a.jsonl is gone.", hint="Restore it.")))
    task = do_next(stack, job_id, performer)
    assert (task.state, task.attempts) == (TaskState.FAILED, 1)
    assert (task.error, task.error_hint) == ("a.jsonl is gone.", "Restore it.")
    job = stack.read_job(job_id)
    assert (job.state, job.error, job.error_hint) == (JobState.FAILED, "a.jsonl is gone.", "Restore it.")


def test_a_full_disk_pauses_the_job_and_counts_as_no_attempt(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id, performer = start_job(stack, tmp_path), Performer(stack.context)
    monkeypatch.setattr(performer._steps, "perform", raising(QuotaError("The disk is full.", hint="Free space.")))
    task = do_next(stack, job_id, performer)
    assert (task.state, task.attempts) == (TaskState.WAITING, 0)
    job = stack.read_job(job_id)
    assert (job.state, job.error, job.error_hint) == (JobState.PAUSED, "The disk is full.", "Free space.")


def test_work_of_a_worker_that_lost_its_lease_is_not_recorded(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id, performer = start_job(stack, tmp_path), Performer(stack.context)
    true_perform = performer._steps.perform

    def lose_lease(*arguments: object) -> object:
        result = true_perform(*arguments)  # type: ignore[arg-type]
        with stack.context.database.transaction() as session:
            session.execute(
                update(Task).where(Task.job_id == job_id).values(lease_token="another", lease_until=now() + 60)
            )
        return result

    monkeypatch.setattr(performer._steps, "perform", lose_lease)
    task = do_next(stack, job_id, performer)
    assert (task.state, task.lease_token) == (TaskState.RUNNING, "another")
    job = stack.read_job(job_id)
    assert (job.open_tasks, job.facts) == (1, None)
    assert len(stack.read_tasks(job_id)) == 1


def test_a_task_that_takes_too_long_is_let_go_of(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id, performer = start_job(stack, tmp_path), Performer(stack.context)
    short = {queue: limits.__class__(0.0, limits.hard, limits.reason) for queue, limits in perform.LIMITS.items()}
    monkeypatch.setattr(perform, "LIMITS", short)
    monkeypatch.setattr(performer._steps, "perform", lambda _lease, check: check())
    task = do_next(stack, job_id, performer)
    assert (task.state, task.attempts) == (TaskState.WAITING, 1)
    assert task.error == "It took longer than its queue allows."

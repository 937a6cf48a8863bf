"""Announcing: at most a window of messages a job, after the commit alone, and again where messages were lost."""

from __future__ import annotations

import threading

import pytest
from jobs_engine import Engine, find_result, finish_all, make_result
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from primer.app.auth.actor import SYSTEM
from primer.app.core.clock import now
from primer.app.jobs import dispatch, flow, service
from primer.app.jobs.flow import Follower
from primer.app.jobs.states import JobState, TaskKind, TaskState
from primer.app.models import Task

WINDOW = 3


def _start_with_tasks(engine: Engine, count: int) -> int:
    """A job whose plan found so many shards."""
    job_id = engine.start_job()
    (plan,) = engine.read_tasks(job_id)
    assert engine.messenger.take() == [plan.id]
    lease = engine.claim(plan.id)
    assert lease is not None
    engine.complete(lease, make_result(TaskKind.PLAN, shards=count))
    return job_id


def _make_old(engine: Engine) -> None:
    """What was announced was so long ago that a message may be lost."""
    with engine.database.transaction() as session:
        session.execute(update(Task).where(Task.sent_at.is_not(None)).values(sent_at=now() - 10_000))


def test_a_window_of_tasks_is_announced_and_each_that_ends_makes_room(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 10)
    opens = [task.id for task in engine.read_tasks(job_id) if task.kind == TaskKind.OPEN]
    assert engine.messenger.take() == opens[:WINDOW]
    lease = engine.claim(opens[0])
    assert lease is not None
    assert engine.messenger.take() == []
    engine.complete(lease, find_result(lease))
    # One of the window is done: the next by id comes, which is a shard and not yet a slice.
    assert engine.messenger.take() == [opens[WINDOW]]


def test_nothing_is_sent_of_a_transaction_that_is_rolled_back(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 10)
    engine.messenger.take()

    def announce_and_fail() -> None:
        with engine.database.transaction() as session:
            job = flow.lock_job(session, job_id)
            flow.resume(session, job)
            dispatch.announce(session, engine.context, job)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        announce_and_fail()
    assert engine.messenger.take() == []
    assert engine.read_job(job_id).state == JobState.RUNNING


def test_a_paused_job_announces_nothing_and_a_resumed_one_all_of_its_window(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 10)
    first = engine.messenger.take()
    lease = engine.claim(first[0])
    assert lease is not None
    service.pause_job(engine.context, SYSTEM, job_id)
    engine.withdraw(lease)
    dispatch.announce_lost(engine.context)
    assert engine.messenger.take() == []
    assert engine.claim(first[1]) is None
    service.resume_job(engine.context, SYSTEM, job_id)
    assert engine.messenger.take() == first


def test_what_broke_off_is_not_announced_at_once(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 1)
    (task_id,) = engine.messenger.take()
    lease = engine.claim(task_id)
    assert lease is not None
    engine.try_again(lease)
    dispatch.announce_lost(engine.context)
    assert engine.messenger.take() == []
    _make_old(engine)
    dispatch.announce_lost(engine.context)
    assert engine.messenger.take() == [task_id]
    (task,) = [task for task in engine.read_tasks(job_id) if task.id == task_id]
    assert (task.state, task.attempts, task.error) == (TaskState.WAITING, 1, "It broke off.")


def test_as_many_are_announced_again_as_the_broker_lacks(engine: Engine) -> None:
    _start_with_tasks(engine, 10)
    window = engine.messenger.take()
    dispatch.announce_lost(engine.context)
    assert engine.messenger.take() == [], "they are young"
    _make_old(engine)
    for held, lost in ((WINDOW, 0), (None, 0), (WINDOW + 5, 0), (1, WINDOW - 1)):
        engine.messenger.held = held
        dispatch.announce_lost(engine.context)
        found = engine.messenger.take()
        assert len(found) == lost
        assert set(found) <= set(window)
    engine.messenger.held = 0
    dispatch.announce_lost(engine.context)
    assert len(engine.messenger.take()) == 1, "the one that is still old"


def test_stewards_at_once_announce_a_lost_task_once(engine: Engine) -> None:
    _start_with_tasks(engine, 10)
    window = engine.messenger.take()
    _make_old(engine)
    barrier = threading.Barrier(4)

    def tend() -> None:
        barrier.wait()
        dispatch.announce_lost(engine.context)

    threads = [threading.Thread(target=tend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(engine.messenger.take()) == window


def test_a_source_of_many_thousand_shards_is_one_plan(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 12_345)
    assert engine.read_job(job_id).open_tasks == 12_345
    indices = [task.shard_index for task in engine.read_tasks(job_id) if task.kind == TaskKind.OPEN]
    assert indices == list(range(12_345))


def test_a_job_without_shards_goes_on_to_its_end(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 0)
    assert [task.kind for task in engine.read_tasks(job_id)] == [TaskKind.PLAN, TaskKind.FINISH]
    finish_all(engine, job_id)
    assert engine.read_job(job_id).state == JobState.SUCCEEDED


def test_a_task_that_ends_while_its_job_is_cancelled_leaves_nothing_waiting(engine: Engine) -> None:
    job_id = engine.start_job()
    (plan,) = engine.read_tasks(job_id)
    lease = engine.claim(plan.id)
    assert lease is not None
    service.cancel_job(engine.context, SYSTEM, job_id)
    assert engine.read_job(job_id).state == JobState.CANCELLING
    engine.complete(lease, make_result(TaskKind.PLAN))
    job = engine.read_job(job_id)
    assert (job.state, job.open_tasks) == (JobState.CANCELLED, 0)
    assert [task.state for task in engine.read_tasks(job_id)] == [TaskState.DONE, *[TaskState.CANCELLED] * 2]


def test_a_cancel_that_comes_when_all_is_exported_comes_too_late(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 0)
    finish = engine.read_tasks(job_id)[-1]
    lease = engine.claim(finish.id)
    assert lease is not None
    service.cancel_job(engine.context, SYSTEM, job_id)
    engine.complete(lease, make_result(TaskKind.FINISH))
    job = engine.read_job(job_id)
    assert (job.state, job.report) == (JobState.SUCCEEDED, {"state": "finished"})


def test_claims_and_cancels_at_once_do_not_wait_for_each_other(engine: Engine) -> None:
    """The plan's claim changes task and job, a cancel job and tasks: in two orders PostgreSQL would end one of them."""
    for _ in range(20):
        job_id = engine.start_job()
        (plan,) = engine.read_tasks(job_id)
        failures: list[Exception] = []
        barrier = threading.Barrier(2)

        def act(do: object, barrier: threading.Barrier = barrier, failures: list[Exception] = failures) -> None:
            barrier.wait()
            try:
                do()  # type: ignore[operator]
            except Exception as error:  # noqa: BLE001 - what a thread raises must reach the test
                failures.append(error)

        threads = [
            threading.Thread(target=act, args=(lambda plan_id=plan.id: engine.claim(plan_id),)),
            threading.Thread(target=act, args=(lambda job=job_id: service.cancel_job(engine.context, SYSTEM, job),)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        assert failures == []
        job, (task,) = engine.read_job(job_id), engine.read_tasks(job_id)
        expected = {TaskState.RUNNING: JobState.CANCELLING, TaskState.CANCELLED: JobState.CANCELLED}
        assert job.state == expected[TaskState(task.state)]


def test_tasks_of_a_job_are_unique(engine: Engine) -> None:
    job_id = _start_with_tasks(engine, 3)
    with pytest.raises(IntegrityError), engine.database.transaction() as session:
        flow.add_tasks(session, flow.lock_job(session, job_id), [Follower(TaskKind.OPEN, 1)])
    assert engine.read_job(job_id).open_tasks == 3

"""Any sequence of what workers and people may do leaves a job's counters exact, and refused work leaves no trace."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from jobs_engine import MAX_ATTEMPTS, OUTCOMES, SLICE_BYTES, SLICE_DOCUMENTS, Engine, find_result
from sqlalchemy import select

from primer.app.auth.actor import SYSTEM
from primer.app.core.errors import Conflict
from primer.app.jobs import service
from primer.app.jobs.leases import Lease, LeaseLost
from primer.app.jobs.states import FINAL, JobState, TaskKind, TaskState
from primer.app.models import Event, Outcome

WINDOW = 3
PHASES = (Phase.generate,)  # every step is a few transactions: shrinking would take minutes
OPEN_STATES = (TaskState.WAITING, TaskState.RUNNING)
FAILED_STATES = (TaskState.FAILED, TaskState.QUARANTINED)

# What a person may ask of a job in which states; elsewhere it is refused.
ALLOWED: dict[str, tuple[JobState, ...]] = {
    "pause_job": (JobState.QUEUED, JobState.RUNNING),
    "resume_job": (JobState.PAUSED,),
    "cancel_job": (JobState.QUEUED, JobState.RUNNING, JobState.PAUSED),
    "retry_job": (JobState.RUNNING, JobState.PARTLY_FAILED, JobState.FAILED),
}


class JobMachine(RuleBasedStateMachine):
    """One job of two shards with three slices each, workers that hold leases rightly or wrongly, and a person."""

    def __init__(self, template: Path) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="primer-job-machine-"))
        path = self.folder / "primer.sqlite3"
        shutil.copyfile(template, path)
        self.engine = Engine(f"sqlite:///{path}", self.folder, messages_per_job=WINDOW)
        self.job_id = self.engine.start_job()
        self.leases: list[Lease] = []  # every claim that was ever made
        self.holders: dict[int, str] = {}  # task -> token of who holds it rightly
        self.claimed = 0  # since tasks were last announced

    def teardown(self) -> None:
        self.engine.close()
        shutil.rmtree(self.folder)

    def _state(self) -> JobState:
        return JobState(self.engine.read_job(self.job_id).state)

    @rule(data=st.data())
    def claim(self, data: st.DataObject) -> None:
        tasks = self.engine.read_tasks(self.job_id)
        task = data.draw(st.sampled_from(tasks))
        attempts = task.attempts
        may_claim = task.state == TaskState.WAITING and self._state() in (JobState.QUEUED, JobState.RUNNING)
        lease = self.engine.claim(task.id)
        assert (lease is not None) == may_claim
        if lease is not None:
            assert lease.attempts == attempts + 1 <= MAX_ATTEMPTS
            assert lease.token not in {earlier.token for earlier in self.leases}
            self.leases.append(lease)
            self.holders[lease.task_id] = lease.token
            self.claimed += 1
            assert self._state() == JobState.RUNNING

    def _end(self, data: st.DataObject, end: Callable[[Lease], object]) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        if self.holders.get(lease.task_id) == lease.token:
            end(lease)
            del self.holders[lease.task_id]
            self.claimed = 0
            return
        before = self.engine.dump()
        self.engine.messenger.take()
        with pytest.raises(LeaseLost):
            end(lease)
        assert self.engine.dump() == before
        assert self.engine.messenger.take() == []

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def complete(self, data: st.DataObject) -> None:
        self._end(data, lambda lease: self.engine.complete(lease, find_result(lease)))

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        self._end(data, self.engine.fail)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def break_off(self, data: st.DataObject) -> None:
        self._end(data, self.engine.try_again)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        def withdraw(lease: Lease) -> None:
            before = next(task.attempts for task in self.engine.read_tasks(self.job_id) if task.id == lease.task_id)
            self.engine.withdraw(lease)
            after = next(task.attempts for task in self.engine.read_tasks(self.job_id) if task.id == lease.task_id)
            assert after == before - 1

        self._end(data, withdraw)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def halt(self, data: st.DataObject) -> None:
        def halt(lease: Lease) -> None:
            was_running = self._state() == JobState.RUNNING
            self.engine.halt(lease)
            if was_running:
                job = self.engine.read_job(self.job_id)
                assert (job.state, job.error) == (JobState.PAUSED, "The disk is full.")

        self._end(data, halt)

    @precondition(lambda self: self.holders)
    @rule(data=st.data(), is_late=st.booleans())
    def expire(self, data: st.DataObject, is_late: bool) -> None:
        """A steward thinks that a worker is dead: it takes the task back, unless the worker is not late after all."""
        lease = data.draw(st.sampled_from([lease for lease in self.leases if lease.task_id in self.holders]))
        is_held = self.holders[lease.task_id] == lease.token
        if is_late:
            self.engine.let_lapse(lease.task_id)
        before = self.engine.dump()
        assert self.engine.expire(lease) == (is_late and is_held)
        if is_late and is_held:
            del self.holders[lease.task_id]
            self.claimed = 0
        else:
            assert self.engine.dump() == before

    @rule(verb=st.sampled_from(sorted(ALLOWED)))
    def ask(self, verb: str) -> None:
        state = self._state()
        has_failed = any(task.state in FAILED_STATES for task in self.engine.read_tasks(self.job_id))
        is_allowed = state in ALLOWED[verb] and (verb != "retry_job" or has_failed)
        ask = getattr(service, verb)
        if is_allowed:
            ask(self.engine.context, SYSTEM, self.job_id)
            self.claimed = 0
            return
        before = self.engine.dump()
        with pytest.raises(Conflict):
            ask(self.engine.context, SYSTEM, self.job_id)
        assert self.engine.dump() == before

    @invariant()
    def counters_are_exact(self) -> None:
        job = self.engine.read_job(self.job_id)
        tasks = self.engine.read_tasks(self.job_id)
        states = Counter(task.state for task in tasks)
        done = [task for task in tasks if task.state == TaskState.DONE]
        measured = [task for task in done if task.kind == TaskKind.MEASURE]
        opened = [task for task in done if task.kind == TaskKind.OPEN]
        assert job.open_tasks == sum(states[state] for state in OPEN_STATES)
        assert job.failed_tasks == sum(states[state] for state in FAILED_STATES)
        assert job.slices_total == 3 * len(opened)
        assert job.documents_total == 3 * SLICE_DOCUMENTS * len(opened)
        assert job.slices_done == len(measured)
        assert job.documents_done == SLICE_DOCUMENTS * len(measured)
        assert job.bytes_done == SLICE_BYTES * len(measured)
        with self.engine.database.reading() as session:
            outcomes = {
                (row.failed, row.missing, row.kept): (row.documents, row.tokens)
                for row in session.execute(select(Outcome).where(Outcome.job_id == self.job_id)).scalars()
            }
        expected = {key: (count * len(measured), total * len(measured)) for key, (count, total) in OUTCOMES.items()}
        assert outcomes == (expected if measured else {})

    @invariant()
    def states_say_what_is_so(self) -> None:
        job = self.engine.read_job(self.job_id)
        tasks = self.engine.read_tasks(self.job_id)
        running = {task.id: task.lease_token for task in tasks if task.state == TaskState.RUNNING}
        assert running == self.holders
        assert (job.state in FINAL) == (job.open_tasks == 0)
        assert (job.finished_at is not None) == (job.state in FINAL)
        kinds = Counter(task.kind for task in tasks)
        assert kinds[TaskKind.FINISH] <= 1
        if job.state == JobState.SUCCEEDED:
            assert all(task.state == TaskState.DONE for task in tasks)
            assert kinds == {TaskKind.PLAN: 1, TaskKind.OPEN: 2, TaskKind.MEASURE: 6, TaskKind.FINISH: 1}
        if job.state == JobState.CANCELLING:
            assert running, "nobody is left to let go, and still it is not cancelled"
            assert all(task.state != TaskState.WAITING for task in tasks)
        if job.state == JobState.CANCELLED:
            assert job.report is None
        if job.state in (JobState.FAILED, JobState.PARTLY_FAILED):
            assert job.failed_tasks > 0
            assert (job.state == JobState.PARTLY_FAILED) == (job.slices_done > 0)
            first = next(task for task in tasks if task.state in FAILED_STATES)
            assert (job.error, job.error_hint) == (first.error, first.error_hint)
        if kinds[TaskKind.FINISH]:
            assert kinds[TaskKind.MEASURE] == job.slices_total

    @invariant()
    def window_is_kept_full(self) -> None:
        job = self.engine.read_job(self.job_id)
        waiting = [task for task in self.engine.read_tasks(self.job_id) if task.state == TaskState.WAITING]
        announced = sum(task.sent_at is not None for task in waiting)
        assert announced <= WINDOW
        if job.state in (JobState.QUEUED, JobState.RUNNING):
            assert announced >= min(WINDOW, len(waiting)) - self.claimed

    @invariant()
    def events_have_no_gaps_and_end_with_what_is(self) -> None:
        with self.engine.database.reading() as session:
            events = session.execute(select(Event).order_by(Event.sequence)).scalars().all()
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        job = self.engine.read_job(self.job_id)
        states = [event for event in events if event.kind == "job.state"]
        assert states[-1].data["state"] == job.state


def test_any_sequence_leaves_the_counters_exact(migrated_sqlite: Path) -> None:
    run_state_machine_as_test(
        lambda: JobMachine(migrated_sqlite),
        settings=settings(max_examples=20, stateful_step_count=30, derandomize=True, phases=PHASES),
    )


@pytest.mark.soak
def test_any_sequence_leaves_the_counters_exact_at_length(migrated_sqlite: Path) -> None:
    run_state_machine_as_test(
        lambda: JobMachine(migrated_sqlite),
        settings=settings(max_examples=400, stateful_step_count=80),
    )

"""What can befall a job: each fault starts one, harms it at some moment, and requires that it ends as if nothing had happened.

A fault takes the scene and a source of chance, and returns what it saw.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fault_scene import OPTIONS, POISON, SLICES, Scene, SilentMessenger, continue_process
from sqlalchemy import select

from primer.app.auth.actor import SYSTEM
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.jobs import flow, service
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import JobState, TaskKind, TaskState
from primer.app.models import Task
from primer.workers.perform import Performer

DELIVERIES = 6
BATCH_SECONDS = 0.25
# A worker learns of a pause with its next heartbeat (0.4 s here) and lets go at the batch after.
BATCHES_AFTER_PAUSE = 3

Facts = dict[str, Any]


def kill_worker(scene: Scene, chance: Random) -> Facts:
    job_id = scene.start_job()
    moment = scene.wait_for_moment(job_id, chance)
    scene.kill_worker()
    assert scene.stack.read_job(job_id).state == JobState.RUNNING
    scene.require_undisturbed(job_id)
    return {"slices_done": moment}


def kill_one_process(scene: Scene, chance: Random) -> Facts:
    job_id = scene.start_job()
    moment = scene.wait_for_moment(job_id, chance)
    parent = scene.worker
    kinds = (TaskKind.MEASURE, TaskKind.FINISH)
    task_id, pid = scene.wait_until(lambda: scene.find_running(job_id, kinds))
    os.kill(pid, signal.SIGKILL)
    scene.require_undisturbed(job_id)
    assert scene.worker is parent, "its parent goes on"
    return {"slices_done": moment, "attempts": scene.read_task(task_id).attempts}


def restart_broker_empty(scene: Scene, chance: Random) -> Facts:
    job_id = scene.start_job()
    moment, worker = scene.wait_for_moment(job_id, chance), scene.worker
    scene.valkey.kill()
    scene.valkey.start()
    scene.require_undisturbed(job_id)
    assert scene.worker is worker, "it goes on without being started again"
    return {"slices_done": moment}


def take_broker_away(scene: Scene, chance: Random, *, seconds: float = 5) -> Facts:
    job_id = scene.start_job()
    moment, worker = scene.wait_for_moment(job_id, chance), scene.worker
    scene.valkey.kill()
    try:
        time.sleep(seconds)
        # People are not kept waiting, and what they ask for is not lost.
        began = time.monotonic()
        other = scene.start_job()
        asked_seconds = time.monotonic() - began
    finally:
        scene.valkey.start()
    scene.require_undisturbed(job_id)
    scene.require_undisturbed(other)
    assert asked_seconds < 5
    assert scene.worker is worker, "it goes on without being started again"
    return {"slices_done": moment, "seconds_away": seconds}


def stop_database(scene: Scene, chance: Random) -> Facts:
    assert scene.postgres is not None
    job_id = scene.start_job()
    moment, worker = scene.wait_for_moment(job_id, chance), scene.worker
    scene.postgres.stop("immediate")
    time.sleep(chance.uniform(0, 2))
    scene.postgres.start()
    scene.require_undisturbed(job_id)
    assert scene.worker is worker, "it goes on without being started again"
    return {"slices_done": moment}


def deliver_six_times(scene: Scene, chance: Random) -> Facts:
    scene.kill_worker()
    source_id = scene.add_source()
    job_id = scene.stack.start_job(source_id, **OPTIONS)
    performed = 0
    # The plan and the shard's opening are done by six threads at once; then all tasks are sent six times, done or not.
    for _ in range(2):
        task = next(task for task in scene.stack.read_tasks(job_id) if task.state == TaskState.WAITING)
        barrier = threading.Barrier(DELIVERIES)

        def perform(task_id: int = task.id, barrier: threading.Barrier = barrier) -> None:
            performer = Performer(Context.open(scene.stack.settings))
            barrier.wait()
            performer.perform(task_id)

        threads = [threading.Thread(target=perform) for _ in range(DELIVERIES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        found = scene.read_task(task.id)
        assert (found.state, found.attempts) == (TaskState.DONE, 1)
        performed += 1
    tasks = scene.stack.read_tasks(job_id)
    messages = [(task.id, task.queue) for task in tasks] * DELIVERIES
    chance.shuffle(messages)
    assert scene.stack.context.messenger.send(messages)
    scene.require_undisturbed(job_id)
    return {"messages": len(messages), "tasks_in_threads": performed}


def put_clock_ahead(scene: Scene, chance: Random) -> Facts:
    """The worker's clock is ten minutes ahead: were it asked, every lease would look over, and every new one too long."""
    scene.switch("clock")
    job_id = scene.start_job()
    context = scene.stack.context
    longest = 0.0
    while scene.stack.read_job(job_id).state in (JobState.QUEUED, JobState.RUNNING):
        with context.database.reading() as session:
            left = session.execute(
                select(Task.lease_until - now()).where(Task.job_id == job_id, Task.state == TaskState.RUNNING)
            ).scalars()
            longest = max([longest, *left])
    scene.require_undisturbed(job_id)
    assert 0 < longest <= context.settings.lease
    assert _hold_a_task(scene) == TaskState.RUNNING
    return {"longest_lease_seconds": round(longest, 3)}


def _hold_a_task(scene: Scene) -> str:
    """The state of a task that is held for a while under a long lease, with the worker's steward looking on."""
    context = Context(scene.stack.context.settings, scene.stack.context.database, SilentMessenger())
    profile_id, source_id = scene.stack.add_profile(), scene.add_source()
    job = service.start_job(
        context, SYSTEM, source_id=source_id, profile_id=profile_id, options=JobOptions(has_encoder=False)
    )
    (plan,) = scene.stack.read_tasks(job.id)
    with context.database.transaction() as session:
        lease = flow.begin(session, plan.id, worker="somebody/1", seconds=60)
    assert lease is not None
    time.sleep(1.5)
    held = scene.read_task(plan.id)
    with context.database.transaction() as session:
        flow.withdraw(session, lease)
    service.cancel_job(context, SYSTEM, job.id)
    assert held.lease_token == lease.token
    return held.state


def outlive_lease(scene: Scene, chance: Random) -> Facts:
    """A process stands still for longer than its lease; another does its task; what it brings when it wakes counts for nothing."""
    job_id = scene.start_job()
    moment = scene.wait_for_moment(job_id, chance)
    task_id, pid = scene.stop_running(job_id)
    try:
        scene.wait_until(lambda: scene.read_task(task_id).state == TaskState.DONE)
    finally:
        continue_process(pid)
    scene.require_undisturbed(job_id)
    return {"slices_done": moment, "attempts": scene.read_task(task_id).attempts}


def fill_disk(scene: Scene, chance: Random) -> Facts:
    """The disk of the runs fills up at some slice, or while exporting: the job waits with the reason, and goes on when there is room."""
    runs = scene.stack.settings.runs
    runs.mkdir(parents=True, exist_ok=True)
    size = chance.randrange(250, 900)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(runs)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk needs the right to mount one")
    try:
        job_id = scene.start_job()
        job = scene.stack.wait_for(job_id, JobState.PAUSED)
        assert "The disk is full" in job.error
        assert "Free space" in job.error_hint
        scene.wait_until(lambda: scene.find_running(job_id) is None)
        moment = scene.stack.read_job(job_id).slices_done
        subprocess.run(["mount", "-o", "remount,size=64m", str(runs)], check=True)
        service.resume_job(scene.stack.context, SYSTEM, job_id)
        scene.require_undisturbed(job_id)
        assert scene.stack.read_job(job_id).error is None
    finally:
        subprocess.run(["umount", "--lazy", str(runs)], check=True)
    return {"slices_done": moment, "disk_kib": size}


def delete_shard(scene: Scene, chance: Random) -> Facts:
    path = scene.copy_source()
    aside = path.with_suffix(".aside")
    return _harm_shard(scene, chance, path, lambda: path.rename(aside), lambda: aside.rename(path), "there is no file")


def change_shard(scene: Scene, chance: Random) -> Facts:
    """One byte of a text is another, and the file as long as before."""
    path = scene.copy_source()
    content = path.read_bytes()
    place = chance.randrange(len(content) // 4, len(content) // 2)
    changed = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    return _harm_shard(
        scene, chance, path, lambda: _replace(path, changed), lambda: _replace(path, content), "has changed"
    )


def _replace(path: Path, content: bytes) -> None:
    """At once: nobody reads a half of it."""
    beside = path.with_suffix(".new")
    beside.write_bytes(content)
    beside.replace(path)


def _harm_shard(
    scene: Scene, chance: Random, path: Path, harm: Callable[[], Any], mend: Callable[[], Any], words: str
) -> Facts:
    job_id = scene.start_job(path)
    moment = scene.wait_for_moment(job_id, chance)
    harm()
    job = scene.stack.wait_for(job_id)
    assert job.state == JobState.PARTLY_FAILED
    failed = [task for task in scene.stack.read_tasks(job_id) if task.state == TaskState.FAILED]
    assert failed
    assert job.failed_tasks == len(failed)
    for task in failed:
        assert path.name in str(task.error)
        assert words in str(task.error), task.error
        assert task.error_hint
    assert job.error == failed[0].error
    assert not (scene.stack.run_folder(job_id) / "export").exists()
    mend()
    service.retry_job(scene.stack.context, SYSTEM, job_id)
    scene.require_undisturbed(job_id)
    return {"slices_done": moment, "failed_tasks": len(failed)}


def poison_document(scene: Scene, chance: Random) -> Facts:
    scene.switch("poison", POISON)
    job_id = scene.start_job()
    job = scene.stack.wait_for(job_id)
    assert job.state == JobState.PARTLY_FAILED
    states = [task.state for task in scene.stack.read_tasks(job_id) if task.kind == TaskKind.MEASURE]
    assert sorted(states) == [TaskState.DONE] * (SLICES - 1) + [TaskState.QUARANTINED]
    (poisoned,) = [task for task in scene.stack.read_tasks(job_id) if task.state == TaskState.QUARANTINED]
    assert poisoned.attempts == scene.stack.settings.max_attempts
    assert poisoned.error == "The process that worked on it ended, or fell silent, every time."
    assert job.slices_done == SLICES - 1
    scene.switch_off()
    service.retry_job(scene.stack.context, SYSTEM, job_id)
    scene.require_undisturbed(job_id)
    return {"attempts": poisoned.attempts}


def cancel(scene: Scene, chance: Random) -> Facts:
    job_id = scene.start_job()
    moment = scene.wait_for_moment(job_id, chance)
    began = time.monotonic()
    service.cancel_job(scene.stack.context, SYSTEM, job_id)
    job = scene.stack.wait_for(job_id)
    seconds = time.monotonic() - began
    assert job.state == JobState.CANCELLED
    folder = scene.stack.run_folder(job_id)
    assert not (folder / "export").exists()
    assert not (folder / ".export.exporting").exists()
    states = {task.state for task in scene.stack.read_tasks(job_id)}
    assert states <= {TaskState.DONE, TaskState.CANCELLED}
    done = [task for task in scene.stack.read_tasks(job_id) if task.state == TaskState.DONE]
    assert job.slices_done == sum(task.kind == TaskKind.MEASURE for task in done)
    return {"slices_done": moment, "seconds": round(seconds, 3)}


def pause(scene: Scene, chance: Random) -> Facts:
    job_id = scene.start_job()
    moment = scene.wait_for_moment(job_id, chance)
    service.pause_job(scene.stack.context, SYSTEM, job_id)
    scene.wait_until(lambda: all(task.state != TaskState.RUNNING for task in scene.stack.read_tasks(job_id)))
    done = scene.stack.read_job(job_id).slices_done
    time.sleep(0.5)
    job = scene.stack.read_job(job_id)
    assert (job.state, job.slices_done) == (JobState.PAUSED, done)
    assert not (scene.stack.run_folder(job_id) / "export").exists()
    service.resume_job(scene.stack.context, SYSTEM, job_id)
    scene.require_undisturbed(job_id)
    return {"slices_done": moment}


def pause_within_batches(scene: Scene, chance: Random) -> Facts:
    """A slice of sixty batches is let go of within three, however long it would have gone on."""
    scene.switch("slow", str(BATCH_SECONDS))
    job_id = scene.start_job(slice_bytes=1 << 20)
    batches = scene.switches / "batches"
    wanted = chance.randrange(1, 6)
    scene.wait_until(lambda: batches.exists() and len(batches.read_text().splitlines()) >= wanted)
    service.pause_job(scene.stack.context, SYSTEM, job_id)
    paused = time.monotonic()
    scene.wait_until(lambda: all(task.state != TaskState.RUNNING for task in scene.stack.read_tasks(job_id)))
    after = [float(line) for line in batches.read_text().splitlines() if float(line) > paused]
    assert len(after) <= BATCHES_AFTER_PAUSE
    (task,) = [task for task in scene.stack.read_tasks(job_id) if task.kind == TaskKind.MEASURE]
    assert (task.state, task.attempts) == (TaskState.WAITING, 0)
    scene.switch_off()
    service.cancel_job(scene.stack.context, SYSTEM, job_id)
    assert scene.stack.wait_for(job_id).state == JobState.CANCELLED
    return {"batches_after_pause": len(after)}


def start_two_jobs(scene: Scene, chance: Random) -> Facts:
    source_id = scene.add_source()
    assert scene.worker.poll() is None
    jobs = []
    for _ in range(2):
        jobs.append(scene.stack.start_job(source_id, **OPTIONS))
        time.sleep(chance.uniform(0, 0.3))
    for job_id in jobs:
        scene.require_undisturbed(job_id)
    assert len({scene.stack.run_folder(job_id) for job_id in jobs}) == 2
    return {}


def die_before_sending(scene: Scene, chance: Random) -> Facts:
    """A process dies after a commit and before it sends what that commit announced: the steward sends it."""
    assert scene.worker.poll() is None
    dropping = Context(scene.stack.context.settings, scene.stack.context.database, SilentMessenger())
    source_id, profile_id = scene.add_source(), scene.stack.add_profile()
    options = JobOptions(**OPTIONS)
    job_id = service.start_job(dropping, SYSTEM, source_id=source_id, profile_id=profile_id, options=options).id
    moment = scene.wait_for_moment(job_id, chance)
    scene.switch("deaf")
    scene.require_undisturbed(job_id)
    return {"slices_done": moment}


FAULTS: dict[str, Callable[[Scene, Random], Facts]] = {
    fault.__name__: fault
    for fault in (
        kill_worker,
        kill_one_process,
        restart_broker_empty,
        take_broker_away,
        stop_database,
        deliver_six_times,
        put_clock_ahead,
        outlive_lease,
        fill_disk,
        delete_shard,
        change_shard,
        poison_document,
        cancel,
        pause,
        pause_within_batches,
        start_two_jobs,
        die_before_sending,
    )
}

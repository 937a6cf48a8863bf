"""What people do with jobs: start, pause, resume, cancel, retry, clone. Each change is one transaction, and audited."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection

from sqlalchemy.orm import Session

from curation.errors import QuotaError
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.jobs import dispatch, flow, repository
from primer.app.jobs.flow import Follower
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import JobKind, JobState, TaskKind
from primer.app.models import Job
from primer.app.vocabularies.repository import choose_version

# A ledger weighs about a fifth of its source, an export at most the kept rows of it and their control.
_DISK_SHARE_OF_SOURCE = 0.3


def start_job(
    context: Context,
    actor: Actor,
    *,
    source_id: int,
    profile_id: int,
    options: JobOptions,
    base_job_id: int | None = None,
) -> Job:
    """Curate a source. Raises NotFound, Conflict when source or profile are not ready, QuotaError when the disk has no room."""
    actor.require(Action.JOBS)
    with context.database.transaction() as session:
        source = repository.get_source(session, source_id)
        if source.state != "ready":
            raise Conflict(
                f"The source {source.name} is {source.state}, not ready.", hint="Wait for its scan, or see its error."
            )
        require_published(session, profile_id)
        choose_version(session, options.vocabulary_id)
        require_room(context, source.size_bytes or 0, options)
        job = _add_job(session, actor, JobKind.CURATE, source_id, profile_id, options, base_job_id)
        job.folder = f"runs/job-{job.id:06d}"
        _announce_new(session, context, actor, job)
        return job


def measure_undecided(context: Context, actor: Actor, job_id: int, *, profile_id: int) -> Job:
    """Let the encoder score what a finished job's run leaves undecided under a profile."""
    actor.require(Action.JOBS)
    with context.database.transaction() as session:
        base = repository.get_job(session, job_id)
        if base.state != JobState.SUCCEEDED or base.kind != JobKind.CURATE:
            raise Conflict(
                f"Job {job_id} is {base.state}: only a run that is measured to its end can be measured further.",
                hint="Name the job that curated the source.",
            )
        require_published(session, profile_id)
        options = JobOptions.model_validate(base.options)
        job = _add_job(session, actor, JobKind.MEASURE_UNDECIDED, base.source_id, profile_id, options, base.id)
        job.folder = base.folder
        _announce_new(session, context, actor, job)
        return job


def add_job_on_run(
    session: Session,
    context: Context,
    actor: Actor,
    base: Job,
    kind: JobKind,
    task: TaskKind,
    *,
    profile_id: int,
    vocabulary_id: int | None = None,
) -> Job:
    """A job of one task on the run of a finished job, in the caller's transaction; by its vocabulary, or another."""
    options = JobOptions.model_validate(base.options)
    if vocabulary_id is not None:
        options = options.model_copy(update={"vocabulary_id": vocabulary_id})
    job = _add_job(session, actor, kind, base.source_id, profile_id, options, base.id)
    job.folder = base.folder
    _announce_new(session, context, actor, job, task)
    return job


def clone_job(context: Context, actor: Actor, job_id: int) -> Job:
    """The same again, from the source as it is now."""
    actor.require(Action.JOBS)
    with context.database.reading() as session:
        base = repository.get_job(session, job_id)
    if base.kind == JobKind.MEASURE_UNDECIDED:
        assert base.base_job_id is not None
        return measure_undecided(context, actor, base.base_job_id, profile_id=base.profile_id)
    if base.kind != JobKind.CURATE:
        raise Conflict(
            f"Job {job_id} is of the kind {base.kind}, which is not started again as a copy.",
            hint="Ask for another export, verification or push.",
        )
    return start_job(
        context,
        actor,
        source_id=base.source_id,
        profile_id=base.profile_id,
        options=JobOptions.model_validate(base.options),
        base_job_id=base.id,
    )


def pause_job(context: Context, actor: Actor, job_id: int) -> Job:
    """What runs is let go of within a batch."""
    return _change(context, actor, job_id, "pause", (JobState.QUEUED, JobState.RUNNING), flow.pause)


def resume_job(context: Context, actor: Actor, job_id: int) -> Job:
    return _change(context, actor, job_id, "resume", (JobState.PAUSED,), flow.resume)


def cancel_job(context: Context, actor: Actor, job_id: int) -> Job:
    """What was measured stays in the run folder; nothing is exported."""
    states = (JobState.QUEUED, JobState.RUNNING, JobState.PAUSED)
    return _change(context, actor, job_id, "cancel", states, flow.cancel)


def retry_job(context: Context, actor: Actor, job_id: int) -> Job:
    """The failed slices and nothing else."""

    def retry(session: Session, job: Job) -> None:
        if not flow.retry(session, job):
            raise Conflict(f"Job {job.id} has no failed tasks.", hint="There is nothing to retry.")

    states = (JobState.RUNNING, JobState.PARTLY_FAILED, JobState.FAILED)
    return _change(context, actor, job_id, "retry", states, retry)


def _change(
    context: Context,
    actor: Actor,
    job_id: int,
    verb: str,
    states: Collection[JobState],
    change: Callable[[Session, Job], None],
) -> Job:
    actor.require(Action.JOBS)
    with context.database.transaction() as session:
        repository.get_job(session, job_id)
        job = flow.lock_job(session, job_id)
        before = job.state
        if before not in states:
            raise Conflict(
                f"Job {job_id} is {before}: it cannot be asked to {verb}.",
                hint=f"That is for jobs that are {', '.join(states)}.",
            )
        change(session, job)
        dispatch.announce(session, context, job)
        record_change(
            session, actor, f"job.{verb}", f"job/{job_id}", before={"state": before}, after={"state": str(job.state)}
        )
        return job


def _add_job(
    session: Session,
    actor: Actor,
    kind: JobKind,
    source_id: int,
    profile_id: int,
    options: JobOptions,
    base_job_id: int | None,
) -> Job:
    job = Job(
        kind=kind,
        state=JobState.QUEUED,
        source_id=source_id,
        profile_id=profile_id,
        base_job_id=base_job_id,
        options=options.model_dump(mode="json"),
        folder="",
        created_by=actor.name,
        created_at=now(),
    )
    session.add(job)
    session.flush()
    return job


def _announce_new(session: Session, context: Context, actor: Actor, job: Job, task: TaskKind = TaskKind.PLAN) -> None:
    flow.add_tasks(session, job, [Follower(task)])
    flow.tell_new(session, job)
    dispatch.announce(session, context, job)
    record_change(session, actor, "job.start", f"job/{job.id}", after={"kind": job.kind, "options": job.options})


def require_published(session: Session, profile_id: int) -> None:
    """Raises NotFound, Conflict for a draft."""
    profile = repository.get_profile(session, profile_id)
    if profile.state != "published":
        raise Conflict(
            f"{profile.name} v{profile.version} is a draft, which may still change.",
            hint="Publish it, then start the job.",
        )


def require_room(context: Context, source_bytes: int, options: JobOptions) -> None:
    """Raises QuotaError when the disk is likely to fill up."""
    settings = context.settings
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(settings.data_dir).free
    share = 0.0 if options.limit is not None else _DISK_SHARE_OF_SOURCE * (options.sample_share or 1.0)
    wanted = settings.min_free_bytes + round(source_bytes * share)
    if free < wanted:
        raise QuotaError(
            f"The disk of the data folder has {free / 1e9:.1f} GB free; this job may need {wanted / 1e9:.1f} GB.",
            hint="Free space, take a sample of the source, or lower PRIMER_MIN_FREE_BYTES.",
        )

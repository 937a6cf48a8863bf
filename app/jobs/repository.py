"""Queries over jobs and their tasks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from curation.profile import Profile
from primer.app.core.errors import NotFound
from primer.app.jobs.states import JobState, TaskState
from primer.app.models import Event, Job, ProfileVersion, Source, SourceShard, Task


def get_job(session: Session, job_id: int) -> Job:
    """Raises NotFound."""
    job = session.get(Job, job_id)
    if job is None:
        raise NotFound(f"There is no job {job_id}.", hint="See the list of jobs.")
    return job


def get_source(session: Session, source_id: int) -> Source:
    """Raises NotFound."""
    source = session.get(Source, source_id)
    if source is None:
        raise NotFound(f"There is no source {source_id}.", hint="Register it first.")
    return source


def get_profile(session: Session, profile_id: int) -> ProfileVersion:
    """Raises NotFound."""
    profile = session.get(ProfileVersion, profile_id)
    if profile is None:
        raise NotFound(f"There is no profile version {profile_id}.", hint="See the list of profiles.")
    return profile


def read_profile(session: Session, profile_id: int) -> Profile:
    """What a version says. Raises NotFound."""
    return Profile.model_validate(get_profile(session, profile_id).content)


def list_jobs(
    session: Session, *, before: int | None, limit: int, state: JobState | None, source_id: int | None
) -> Sequence[tuple[Job, Source, ProfileVersion]]:
    """Newest first."""
    statement = (
        select(Job, Source, ProfileVersion)
        .join(Source, Source.id == Job.source_id)
        .join(ProfileVersion, ProfileVersion.id == Job.profile_id)
        .order_by(Job.id.desc())
        .limit(limit)
    )
    if before is not None:
        statement = statement.where(Job.id < before)
    if state is not None:
        statement = statement.where(Job.state == state)
    if source_id is not None:
        statement = statement.where(Job.source_id == source_id)
    return [(row[0], row[1], row[2]) for row in session.execute(statement)]


def list_tasks(
    session: Session, job_id: int, *, after: int | None, limit: int, state: TaskState | None
) -> Sequence[Task]:
    statement = select(Task).where(Task.job_id == job_id).order_by(Task.id).limit(limit)
    if after is not None:
        statement = statement.where(Task.id > after)
    if state is not None:
        statement = statement.where(Task.state == state)
    return session.execute(statement).scalars().all()


def name_shards(session: Session, source_id: int, positions: Collection[int]) -> dict[int, str]:
    """Names of a source's shards by their place in it."""
    rows = session.execute(
        select(SourceShard.position, SourceShard.name).where(
            SourceShard.source_id == source_id, SourceShard.position.in_(positions)
        )
    ).all()
    return {row[0]: row[1] for row in rows}


def list_events(session: Session, *, after: int, limit: int, job_id: int | None) -> Sequence[Event]:
    statement = select(Event).where(Event.sequence > after).order_by(Event.sequence).limit(limit)
    if job_id is not None:
        statement = statement.where(Event.job_id == job_id)
    return session.execute(statement).scalars().all()

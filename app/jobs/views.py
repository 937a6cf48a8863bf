"""Jobs and tasks as the API shows them."""

from __future__ import annotations

from typing import Any

from primer.app.core.context import Context
from primer.app.jobs import progress, repository
from primer.app.jobs.schemas import JobDetail, JobView, Named, NamedProfile, TaskView
from primer.app.models import Job, ProfileVersion, Source, Task


def read_detail(context: Context, job_id: int) -> JobDetail:
    """One job with its progress, at one moment. Raises NotFound."""
    with context.database.reading() as session:
        job = repository.get_job(session, job_id)
        source = repository.get_source(session, job.source_id)
        profile = repository.get_profile(session, job.profile_id)
        found = progress.measure_progress(session, job)
        funnel = progress.build_funnel(session, job)
        tasks = progress.count_tasks(session, job.id)
    return JobDetail(
        **_describe(job, source, profile),
        is_total_known=found.is_total_known,
        documents_per_second=found.documents_per_second,
        seconds_left=found.seconds_left,
        tasks=tasks,
        tokens_kept=funnel.tokens["kept"] if funnel else None,
        funnel=funnel.report() if funnel else None,
        facts=job.facts,
        report=job.report,
    )


def describe_job(job: Job, source: Source, profile: ProfileVersion) -> JobView:
    return JobView(**_describe(job, source, profile))


def describe_task(task: Task, names: dict[int, str]) -> TaskView:
    """`names`: of the source's shards, by their place."""
    facts = {name: getattr(task, name) for name in TaskView.model_fields if hasattr(task, name)}
    return TaskView(**facts, hint=task.error_hint, shard=names.get(task.shard_index))


def _describe(job: Job, source: Source, profile: ProfileVersion) -> dict[str, Any]:
    return {
        **{name: getattr(job, name) for name in JobView.model_fields if hasattr(job, name)},
        "hint": job.error_hint,
        "source": Named(id=source.id, name=source.name),
        "profile": NamedProfile(id=profile.id, name=profile.name, version=profile.version),
    }

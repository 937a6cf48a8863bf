"""Bringing a run that `primer run` made into the service, as a job that has succeeded. Doing so again changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from curation.profile import Profile
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.exports.first import add_first_export
from primer.app.jobs import flow
from primer.app.jobs.imported_run import ImportedRun, place_run, read_imported_run
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import JobKind, JobState
from primer.app.models import Job, Outcome, ProfileVersion, Source, SourceShard
from primer.app.profiles import content
from primer.app.profiles import repository as profiles
from primer.app.profiles.bundled import list_bundled_names
from primer.app.profiles.states import VersionState
from primer.app.sources.states import SourceState


@dataclass(frozen=True)
class Import:
    """`is_new` False: the run was here already."""

    job_id: int
    folder: Path
    is_new: bool


def import_run(context: Context, actor: Actor, folder: Path, *, source_name: str, is_copied: bool = False) -> Import:
    """Raises LedgerError for what is no whole finished run, Conflict when its source's name is another's or when the same
    source was imported under the same recipe but with another profile or export."""
    actor.require(Action.JOBS)
    actor.require(Action.SOURCES)
    run = read_imported_run(folder)
    relative = f"runs/import-{run.plan.run_id}"
    target = context.settings.data_dir / relative
    with context.database.reading() as session:
        known = session.execute(select(Job.id).where(Job.folder == relative).order_by(Job.id)).scalars().first()
    if target.exists():
        _require_same(run, target)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        place_run(folder, target, is_copied=is_copied)
    if known is not None:
        return Import(known, target, is_new=False)
    with context.database.transaction() as session:
        source = _find_or_add_source(session, actor, source_name, run)
        profile = _find_or_add_profile(session, actor, run.request.profile)
        job = _add_job(session, actor, source, profile, run, relative)
        record_change(
            session, actor, "job.import", f"job/{job.id}", after={"run_id": run.plan.run_id, "source": source_name}
        )
        flow.tell_new(session, job)
        return Import(job.id, target, is_new=True)


def _require_same(run: ImportedRun, target: Path) -> None:
    found = read_imported_run(target)
    if (found.plan, found.request) != (run.plan, run.request):
        raise Conflict(
            f"The run {run.plan.run_id} is here already, asked for otherwise.",
            hint="Its ledger answers for every profile: decide and export from the job that is here.",
        )


def _find_or_add_source(session: Session, actor: Actor, name: str, run: ImportedRun) -> Source:
    found = session.execute(select(Source).where(Source.name == name)).scalar_one_or_none()
    hashes = [(manifest.name, manifest.sha256) for manifest in run.manifests]
    if found is not None:
        rows = session.execute(
            select(SourceShard.name, SourceShard.sha256)
            .where(SourceShard.source_id == found.id)
            .order_by(SourceShard.position)
        ).all()
        if [(row.name, row.sha256) for row in rows] != hashes:
            raise Conflict(f"There is a source {name} of other shards.", hint="Choose another --name.")
        return found
    moment = session.execute(select(now())).scalar_one()
    source = Source(
        name=name,
        locations=run.locations,
        config=run.request.config,
        split=run.request.split,
        text_field=run.plan.recipe.text_field,
        state=SourceState.READY,
        shard_count=len(run.manifests),
        row_count=sum(manifest.row_count for manifest in run.manifests),
        size_bytes=sum(manifest.size_bytes for manifest in run.manifests),
        created_by=actor.name,
        created_at=moment,
        scanned_at=moment,
    )
    session.add(source)
    session.flush()
    session.add_all(
        SourceShard(
            source_id=source.id,
            position=position,
            name=manifest.name,
            size_bytes=manifest.size_bytes,
            sha256=manifest.sha256,
            row_count=manifest.row_count,
            row_groups=None,
            error=manifest.error,
        )
        for position, manifest in enumerate(run.manifests)
    )
    return source


def _find_or_add_profile(session: Session, actor: Actor, profile: Profile) -> ProfileVersion:
    """The published version that decides the same, or a new one: a version that is published is never changed."""
    described = content.describe(profile)
    published = select(ProfileVersion).where(ProfileVersion.state == VersionState.PUBLISHED)
    for version in session.execute(published.order_by(ProfileVersion.id)).scalars():
        if version.content | {"name": "", "version": 0} == described | {"name": "", "version": 0}:
            return version
    name = f"{profile.name}-imported" if profile.name in list_bundled_names() else profile.name
    number = profiles.find_last_number(session, name) + 1
    described |= {"name": name, "version": number}
    moment = session.execute(select(now())).scalar_one()
    version = ProfileVersion(
        name=name,
        version=number,
        state=VersionState.PUBLISHED,
        content=described,
        sha256=content.hash_content(described),
        note="came with an imported run",
        author=actor.name,
        created_at=moment,
        changed_at=moment,
        published_at=moment,
    )
    session.add(version)
    session.flush()
    return version


def _add_job(
    session: Session, actor: Actor, source: Source, profile: ProfileVersion, run: ImportedRun, folder: str
) -> Job:
    moment = session.execute(select(now())).scalar_one()
    documents = run.funnel.document_count
    job = Job(
        kind=JobKind.CURATE,
        state=JobState.SUCCEEDED,
        source_id=source.id,
        profile_id=profile.id,
        options=_describe_options(run).model_dump(mode="json"),
        folder=folder,
        slices_total=run.slice_count,
        slices_done=run.slice_count,
        documents_total=documents,
        documents_done=documents,
        bytes_done=run.text_bytes,
        facts={
            "run_id": run.plan.run_id,
            "recipe_sha256": run.plan.recipe.sha256,
            "stages": list(run.stages),
            "left_out": list(run.left_out),
        },
        report=run.report,
        created_by=actor.name,
        created_at=moment,
        started_at=moment,
        finished_at=moment,
    )
    session.add(job)
    session.flush()
    session.add_all(
        Outcome(job_id=job.id, failed=failed, missing=missing, kept=kept, documents=count, tokens=tokens)
        for (failed, missing, kept), (count, tokens) in run.funnel.outcomes.items()
    )
    add_first_export(session, job)
    return job


def _describe_options(run: ImportedRun) -> JobOptions:
    export, sample = run.request.export, run.plan.sample
    return JobOptions(
        limit=run.plan.row_limit,
        sample_share=sample.share if sample else None,
        sample_seed=sample.seed if sample else 0,
        has_encoder="encoder" in run.plan.recipe.artifacts,
        slice_bytes=run.plan.recipe.slice_bytes,
        token_budget=export.token_budget or None,
        validation_share=export.validation_share,
        shuffle_seed=export.shuffle_seed,
        control_match=export.control_match,
        control_seed=export.control_seed,
    )

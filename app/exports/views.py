"""Exports as the API shows them."""

from __future__ import annotations

from typing import Any

from curation.run_folder import RunFolder
from primer.app.auth.actor import Actor
from primer.app.auth.roles import Action
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.exports import repository, service
from primer.app.exports.comparisons import Comparisons
from primer.app.exports.diff import Difference, Side
from primer.app.exports.files import Contents, read_contents
from primer.app.exports.repository import Found
from primer.app.exports.schemas import (
    CheckView,
    ComparisonView,
    DifferenceView,
    ExportDetail,
    ExportView,
    FileView,
    PushView,
    TermView,
)
from primer.app.jobs.schemas import Named, NamedProfile
from primer.app.models import ExportCheck, ExportPush, Job

_comparisons = Comparisons()


def describe_export(found: Found) -> ExportView:
    return ExportView(**_describe(found))


def read_detail(context: Context, actor: Actor, export_id: int) -> ExportDetail:
    """Raises NotFound, ExportError when its files are lost."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        found = repository.require_export(session, export_id)
        checks = repository.list_checks(session, export_id)
        pushes = repository.list_pushes(session, export_id)
    contents = None
    if service.has_files(found):
        contents = read_contents(context.settings.data_dir / found.export.folder)
    return ExportDetail(
        **_describe(found),
        statement=contents.manifest["statement"] if contents else None,
        manifest=contents.summary if contents else None,
        files=[FileView.model_validate(entry) for entry in contents.files] if contents else None,
        load=contents.write_loading_lines(str(contents.folder.resolve())) if contents else None,
        card=contents.card if contents else None,
        checks=[_describe_check(check, job) for check, job in checks],
        pushes=[_describe_push(push, job, contents) for push, job in pushes],
    )


def compare(context: Context, actor: Actor, export_id: int, other_id: int) -> ComparisonView:
    """Raises NotFound, NotReady while they are compared, Conflict when they are of different sources or one has no files."""
    own, own_folder = service.find_files(context, actor, export_id)
    other, other_folder = service.find_files(context, actor, other_id)
    if own.source.id != other.source.id:
        raise Conflict(
            f"Export {export_id} is of the source {own.source.name}, export {other_id} of {other.source.name}.",
            hint="Compare exports of one source.",
        )
    root = context.settings.data_dir
    comparison = _comparisons.get(
        Side(export_id, own_folder, RunFolder(root / own.job.folder)),
        Side(other_id, other_folder, RunFolder(root / other.job.folder)),
    )
    return ComparisonView(
        export_id=export_id,
        other_id=other_id,
        common=comparison.common,
        gained=_describe_difference(comparison.gained),
        lost=_describe_difference(comparison.lost),
    )


def _describe(found: Found) -> dict[str, Any]:
    export, job = found.export, found.job
    facts = {name: getattr(export, name) for name in ExportView.model_fields if hasattr(export, name)}
    times = {name: getattr(job, name) for name in ("state", "created_by", "created_at", "started_at", "finished_at")}
    return {
        **facts,
        **times,
        "error": job.error,
        "hint": job.error_hint,
        "source": Named(id=found.source.id, name=found.source.name),
        "profile": NamedProfile(id=found.profile.id, name=found.profile.name, version=found.profile.version),
    }


def _describe_check(check: ExportCheck, job: Job) -> CheckView:
    facts = {name: getattr(check, name) for name in CheckView.model_fields if hasattr(check, name)}
    return CheckView.model_validate({**facts, "state": job.state})


def _describe_push(push: ExportPush, job: Job, contents: Contents | None) -> PushView:
    load = None
    if contents is not None and push.commit_sha is not None:
        load = contents.write_loading_lines(push.repository, push.commit_sha)
    return PushView.model_validate(
        {
            "job_id": job.id,
            "state": job.state,
            "repo_id": push.repository,
            "revision": push.revision,
            "private": push.is_private,
            "commit": push.commit_sha,
            "url": push.url,
            "pushed_at": push.pushed_at,
            "error": job.error,
            "load": load,
        }
    )


def _describe_difference(difference: Difference) -> DifferenceView:
    terms = [TermView(term=term, documents=count) for term, count in difference.terms]
    return DifferenceView(documents=difference.documents, tokens=difference.tokens, terms=terms)

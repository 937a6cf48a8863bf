"""Routes of exports."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.status import HTTP_201_CREATED, HTTP_202_ACCEPTED, HTTP_204_NO_CONTENT, HTTP_304_NOT_MODIFIED

from primer.app.auth.dependencies import ActorDep
from primer.app.core.context import ContextDep
from primer.app.core.etags import IfNoneMatch, is_known
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_id_cursor, encode_cursor
from primer.app.exports import service, views
from primer.app.exports.files import read_contents
from primer.app.exports.options import ExportChoices
from primer.app.exports.schemas import ComparisonView, ExportDetail, ExportRequest, ExportView, PushRequest
from primer.app.jobs.schemas import JobDetail
from primer.app.jobs.views import read_detail as read_job

router = APIRouter(prefix="/exports", tags=["exports"])

_PARTS: dict[int | str, dict[str, Any]] = {
    206: {"description": "The part that the header Range names."},
    304: {"description": "It is as the ETag says."},
    400: {"content": {"text/plain": {}}, "description": "A Range that cannot be understood."},
    416: {"content": {"text/plain": {}}, "description": "A Range outside of the file."},
}


@router.post("", status_code=HTTP_201_CREATED)
def request_export(asked: ExportRequest, actor: ActorDep, context: ContextDep) -> ExportView:
    """Export a finished job's run: curriculum, control, manifest and card, verified and loaded back. Rulings are pinned.

    A run with undecided documents is refused by the job, which says how many there are."""
    choices = ExportChoices(**asked.model_dump(include=set(ExportChoices.model_fields)))
    found = service.request_export(
        context,
        actor,
        base_job_id=asked.base_job_id,
        profile_id=asked.profile_id,
        overrides_revision=asked.overrides_revision,
        choices=choices,
    )
    return views.describe_export(found)


@router.get("")
def list_exports(
    actor: ActorDep,
    context: ContextDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    source_id: Annotated[int | None, Query(ge=1, lt=1 << 63)] = None,
    base_job_id: Annotated[int | None, Query(ge=1, lt=1 << 63, description="Of this job's run.")] = None,
) -> Page[ExportView]:
    """Exports, the newest first; those of curate jobs themselves are of the kind first."""
    found = service.list_exports(
        context, actor, before=decode_id_cursor(cursor), limit=limit + 1, source_id=source_id, base_job_id=base_job_id
    )
    items = [views.describe_export(row) for row in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(found) > limit else None)


@router.get("/{export_id}")
def read_export(export_id: RowId, actor: ActorDep, context: ContextDep) -> ExportDetail:
    """One export: what it holds, its files with their hashes, how to load it, its card, its checks and pushes."""
    return views.read_detail(context, actor, export_id)


@router.delete("/{export_id}", status_code=HTTP_204_NO_CONTENT)
def delete_export(export_id: RowId, actor: ActorDep, context: ContextDep) -> None:
    """Remove its files. What it was stays readable."""
    service.delete_export(context, actor, export_id)


@router.get("/{export_id}/files/{path:path}", response_class=FileResponse, responses=_PARTS)
def download_file(
    export_id: RowId,
    path: str,
    actor: ActorDep,
    context: ContextDep,
    if_none_match: IfNoneMatch = None,
    _range: Annotated[str | None, Header(alias="Range", description="bytes=FIRST-LAST")] = None,
) -> Response:
    """One file that the manifest lists, or a part of it. Its ETag is its sha256."""
    _, folder = service.find_files(context, actor, export_id)
    entry = read_contents(folder).require_file(path)
    etag = f'"{entry.sha256}"'
    if is_known(if_none_match, etag):
        return Response(status_code=HTTP_304_NOT_MODIFIED, headers={"ETag": etag})
    name = entry.path.rpartition("/")[2]
    return FileResponse(folder / entry.path, filename=name, headers={"ETag": etag})


@router.get("/{export_id}/archive", response_class=PlainTextResponse)
def list_archive(export_id: RowId, actor: ActorDep, context: ContextDep) -> PlainTextResponse:
    """Every file with its sha256, in lines that `sha256sum -c` checks a download by."""
    _, folder = service.find_files(context, actor, export_id)
    return PlainTextResponse(read_contents(folder).write_checksums())


@router.post("/{export_id}/verify", status_code=HTTP_202_ACCEPTED)
def verify_export(export_id: RowId, actor: ActorDep, context: ContextDep) -> JobDetail:
    """Check every file, load it, and measure and decide a sample again, as a job of its own."""
    return read_job(context, service.request_check(context, actor, export_id).id)


@router.get("/{export_id}/diff")
def compare_exports(
    export_id: RowId,
    other: Annotated[int, Query(ge=1, lt=1 << 63, description="Another export of the same source.")],
    actor: ActorDep,
    context: ContextDep,
) -> ComparisonView:
    """Which documents, tokens and words this export has and the other has not, and the reverse."""
    return views.compare(context, actor, export_id, other)


@router.post("/{export_id}/push", status_code=HTTP_202_ACCEPTED)
def push_export(export_id: RowId, asked: PushRequest, actor: ActorDep, context: ContextDep) -> JobDetail:
    """Upload it to a repository of the Hub, as a job of its own; asked again, only what is missing there is sent."""
    job = service.request_push(
        context, actor, export_id, repo_id=asked.repo_id, revision=asked.revision, is_private=asked.private
    )
    return read_job(context, job.id)

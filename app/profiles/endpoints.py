"""Routes of profiles."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse
from starlette.status import HTTP_201_CREATED, HTTP_204_NO_CONTENT, HTTP_304_NOT_MODIFIED

from primer.app.auth.dependencies import ActorDep
from primer.app.core.context import ContextDep
from primer.app.core.errors import Unprocessable
from primer.app.core.etags import IfMatch, IfNoneMatch, is_known, mark_unchanging
from primer.app.core.paging import Cursor, Limit, Page, decode_cursor, decode_id_cursor, encode_cursor
from primer.app.models import ProfileVersion
from primer.app.profiles import content, service
from primer.app.profiles.schemas import (
    DifferenceAnswer,
    DraftChange,
    DraftCreate,
    ProfileAnswer,
    ProfileName,
    VersionAnswer,
    VersionNumber,
    VersionSummary,
)
from primer.app.profiles.states import VersionState

router = APIRouter(prefix="/profiles", tags=["profiles"])

_VERSION = "/{name}/versions/{version}"
_Id = Annotated[int, Query(ge=1, lt=1 << 63, description="The id of a version.")]


@router.get("")
def list_profiles(
    actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[ProfileAnswer]:
    """Profiles by name, each with its newest version."""
    found = service.list_profiles(context, actor, after=_decode_name(cursor), limit=limit + 1)
    items = [
        ProfileAnswer(name=newest.name, version_count=count, newest=VersionSummary.model_validate(newest))
        for newest, count in found[:limit]
    ]
    return Page(items=items, next=encode_cursor(items[-1].name) if len(found) > limit else None)


@router.post("", status_code=HTTP_201_CREATED)
def create_draft(asked: DraftCreate, response: Response, actor: ActorDep, context: ContextDep) -> VersionAnswer:
    """Make a draft: the next version of its name."""
    draft = service.create_draft(context, actor, name=asked.name, note=asked.note or "", template=asked.template)
    return _answer(draft, response)


@router.get("/diff")
def compare_versions(before: _Id, after: _Id, actor: ActorDep, context: ContextDep) -> list[DifferenceAnswer]:
    """Where two versions differ."""
    differences = service.compare_versions(context, actor, before, after)
    return [DifferenceAnswer.model_validate(difference) for difference in differences]


@router.get("/{name}/versions")
def list_versions(
    name: ProfileName, actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[VersionSummary]:
    """The versions of a profile, oldest first."""
    found = service.list_versions(context, actor, name, after=decode_id_cursor(cursor) or 0, limit=limit + 1)
    items = [VersionSummary.model_validate(version) for version in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].version) if len(found) > limit else None)


@router.get(_VERSION, responses={304: {"description": "It is as the ETag says."}})
def read_version(
    name: ProfileName,
    version: VersionNumber,
    response: Response,
    actor: ActorDep,
    context: ContextDep,
    if_none_match: IfNoneMatch = None,
) -> VersionAnswer:
    """One version. A published one stays as it is and may be kept; a draft's ETag is for If-Match."""
    found = service.read_version(context, actor, name, version)
    if found.state == VersionState.PUBLISHED and is_known(if_none_match, _tag(found)):
        known = Response(status_code=HTTP_304_NOT_MODIFIED)
        mark_unchanging(known, _tag(found))
        return known  # type: ignore[return-value]
    return _answer(found, response)


@router.put(_VERSION)
def change_draft(
    name: ProfileName,
    version: VersionNumber,
    asked: DraftChange,
    response: Response,
    actor: ActorDep,
    context: ContextDep,
    if_match: IfMatch = None,
) -> VersionAnswer:
    """Change a draft that is still as If-Match says."""
    draft = service.change_draft(
        context, actor, name, version, note=asked.note, template=asked.template, if_match=if_match
    )
    return _answer(draft, response)


@router.delete(_VERSION, status_code=HTTP_204_NO_CONTENT)
def discard_draft(name: ProfileName, version: VersionNumber, actor: ActorDep, context: ContextDep) -> None:
    """Discard a draft. Its number is not given again."""
    service.discard_draft(context, actor, name, version)


@router.post(_VERSION + "/publish")
def publish_draft(
    name: ProfileName,
    version: VersionNumber,
    response: Response,
    actor: ActorDep,
    context: ContextDep,
    if_match: IfMatch = None,
) -> VersionAnswer:
    """Publish a draft that is still as If-Match says. Nobody can change it after."""
    return _answer(service.publish_draft(context, actor, name, version, if_match=if_match), response)


@router.get(
    _VERSION + "/yaml",
    response_class=PlainTextResponse,
    responses={200: {"content": {"application/yaml": {}}}, 304: {"description": "It is as the ETag says."}},
)
def download_version(
    name: ProfileName,
    version: VersionNumber,
    actor: ActorDep,
    context: ContextDep,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """A version as a file that `primer run --profile` takes."""
    found = service.read_version(context, actor, name, version)
    is_published = found.state == VersionState.PUBLISHED
    if is_published and is_known(if_none_match, _tag(found)):
        response = Response(status_code=HTTP_304_NOT_MODIFIED)
    else:
        response = Response(
            content.write_yaml(found.content),
            media_type="application/yaml",
            headers={"Content-Disposition": f'attachment; filename="{name}-v{version}.yaml"'},
        )
    if is_published:
        mark_unchanging(response, _tag(found))
    return response


def _answer(version: ProfileVersion, response: Response) -> VersionAnswer:
    if version.state == VersionState.PUBLISHED:
        mark_unchanging(response, _tag(version))
    else:
        # Not to be kept: the tag says nothing about the state, which may change.
        response.headers["ETag"] = _tag(version)
        response.headers["Cache-Control"] = "no-store"
    return VersionAnswer.model_validate(version)


def _tag(version: ProfileVersion) -> str:
    return f'"{version.sha256}"'


def _decode_name(cursor: str | None) -> str:
    key = decode_cursor(cursor)
    if key is None:
        return ""
    if len(key) != 1 or not isinstance(key[0], str):
        raise Unprocessable("The cursor is not one of ours.", hint="Give `next` of the page before, unchanged.")
    return key[0]

"""Routes of vocabulary versions."""

from __future__ import annotations

from typing import Annotated, Any

import yaml
from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse
from starlette.status import HTTP_201_CREATED, HTTP_304_NOT_MODIFIED

from curation.vocabulary_audit import export_csv, import_csv
from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.core.context import ContextDep
from primer.app.core.errors import Unprocessable
from primer.app.core.etags import IfNoneMatch, is_known, mark_unchanging
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_cursor, decode_id_cursor, encode_cursor
from primer.app.models import VocabularyRecord
from primer.app.vocabularies import service
from primer.app.vocabularies.content import WordRulings
from primer.app.vocabularies.schemas import (
    CsvRequest,
    RevertRequest,
    VersionCreate,
    VersionNumber,
    VocabularyAnswer,
    VocabularyDetail,
    VocabularyName,
    VocabularySummary,
    WordChangeAnswer,
    describe,
    describe_change,
    summarize,
)

router = APIRouter(prefix="/vocabularies", tags=["vocabularies"])

_VERSION = "/{name}/versions/{version}"
_Id = Annotated[int, Query(ge=1, lt=1 << 63, description="The id of a version.")]
_UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "It is as the ETag says."}}


@router.get("")
def list_vocabularies(
    actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[VocabularyAnswer]:
    """Vocabularies by name, each with its newest version."""
    found = service.list_vocabularies(context, actor, after=_decode_name(cursor), limit=limit + 1)
    items = [
        VocabularyAnswer(name=newest.name, version_count=count, newest=summarize(newest))
        for newest, count in found[:limit]
    ]
    return Page(items=items, next=encode_cursor(items[-1].name) if len(found) > limit else None)


@router.get("/diff")
def compare_versions(before: _Id, after: _Id, actor: ActorDep, context: ContextDep) -> list[WordChangeAnswer]:
    """The words of which two versions say different things, in alphabetical order."""
    return [describe_change(change) for change in service.compare_versions(context, actor, before, after).changes]


@router.post("/read-csv")
def read_csv(asked: CsvRequest, actor: ActorDep) -> WordRulings:
    """What a CSV file rules, to look at and preview before it is saved. What is wrong with it is named with its line."""
    actor.require(Action.READ)
    return _read_csv(asked.csv)


@router.get("/{name}/versions")
def list_versions(
    name: VocabularyName, actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[VocabularySummary]:
    """The versions of a vocabulary, the newest first."""
    found = service.list_versions(context, actor, name, before=decode_id_cursor(cursor), limit=limit + 1)
    items = [summarize(record) for record in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].version) if len(found) > limit else None)


@router.get("/ids/{version_id}", responses=_UNCHANGED)
def read_version_by_id(
    version_id: RowId, response: Response, actor: ActorDep, context: ContextDep, if_none_match: IfNoneMatch = None
) -> VocabularyDetail:
    """One version by its id, which jobs and decision sets name."""
    return _answer(service.read_record_by_id(context, actor, version_id), response, if_none_match)


@router.post("/{name}/versions", status_code=HTTP_201_CREATED)
def save_version(
    name: VocabularyName, asked: VersionCreate, response: Response, actor: ActorDep, context: ContextDep
) -> VocabularyDetail:
    """Save the version that follows `based_on`. 409 says who saved another one since, and when."""
    actor.require(Action.RULE)
    rulings = asked.content if asked.content is not None else _read_csv(asked.csv or "")
    record = service.save_version(context, actor, name, based_on=asked.based_on, rulings=rulings, note=asked.note)
    return _answer(record, response)


@router.get(_VERSION, responses=_UNCHANGED)
def read_version(
    name: VocabularyName,
    version: VersionNumber,
    response: Response,
    actor: ActorDep,
    context: ContextDep,
    if_none_match: IfNoneMatch = None,
) -> VocabularyDetail:
    """One version. It stays as it is and may be kept."""
    return _answer(service.read_record(context, actor, name, version), response, if_none_match)


@router.get(
    _VERSION + "/csv",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/csv": {}}}, **_UNCHANGED},
)
def download_csv(
    name: VocabularyName,
    version: VersionNumber,
    actor: ActorDep,
    context: ContextDep,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """A version for a spreadsheet; cells that a spreadsheet would run begin with an apostrophe."""
    found = service.read_version(context, actor, name, version)
    return _download(export_csv(found), "text/csv", f"{name}-v{version}.csv", f'"{found.sha256}"', if_none_match)


@router.get(
    _VERSION + "/yaml",
    response_class=PlainTextResponse,
    responses={200: {"content": {"application/yaml": {}}}, **_UNCHANGED},
)
def download_yaml(
    name: VocabularyName,
    version: VersionNumber,
    actor: ActorDep,
    context: ContextDep,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """A version as a file that `primer run --vocabulary` takes."""
    found = service.read_version(context, actor, name, version)
    content = yaml.safe_dump(found.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    return _download(content, "application/yaml", f"{name}-v{version}.yaml", f'"{found.sha256}"', if_none_match)


@router.post("/{name}/revert", status_code=HTTP_201_CREATED)
def revert(
    name: VocabularyName, asked: RevertRequest, response: Response, actor: ActorDep, context: ContextDep
) -> VocabularyDetail:
    """Save a new version that rules as an earlier one did."""
    record = service.revert(context, actor, name, based_on=asked.based_on, to_version=asked.to_version, note=asked.note)
    return _answer(record, response)


def _answer(record: VocabularyRecord, response: Response, if_none_match: str | None = None) -> VocabularyDetail:
    etag = f'"{record.sha256}"'
    if is_known(if_none_match, etag):
        known = Response(status_code=HTTP_304_NOT_MODIFIED)
        mark_unchanging(known, etag)
        return known  # type: ignore[return-value]
    mark_unchanging(response, etag)
    return describe(record)


def _download(content: str, media_type: str, name: str, etag: str, if_none_match: str | None) -> Response:
    if is_known(if_none_match, etag):
        response = Response(status_code=HTTP_304_NOT_MODIFIED)
    else:
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        response = Response(content, media_type=media_type, headers=headers)
    mark_unchanging(response, etag)
    return response


def _read_csv(content: str) -> WordRulings:
    """Raises ProfileError that names the line, Unprocessable for more than a version may hold."""
    version = import_csv(content.encode(errors="replace"), name="draft")
    try:
        return WordRulings.of(version)
    except ValueError as error:
        raise Unprocessable(f"The rulings cannot be kept: {error}.", hint="Shorten the list or its notes.") from error


def _decode_name(cursor: str | None) -> str:
    key = decode_cursor(cursor)
    if key is None:
        return ""
    if len(key) != 1 or not isinstance(key[0], str):
        raise Unprocessable("The cursor is not one of ours.", hint="Give `next` of the page before, unchanged.")
    return key[0]

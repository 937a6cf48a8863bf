"""Routes of the catalogue of concepts and its versions."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import PlainTextResponse
from starlette.status import HTTP_201_CREATED, HTTP_304_NOT_MODIFIED

from curation.concepts.catalogue import Band, Concept, Subject, dump_catalogue
from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.concepts import csv_file, impact, versions
from primer.app.concepts.content import read_catalogue
from primer.app.concepts.in_runs import require_concept
from primer.app.concepts.schemas import (
    CatalogueDiffView,
    CatalogueImpactRequest,
    CatalogueImpactView,
    CatalogueRevertRequest,
    CatalogueSaveRequest,
    CatalogueVersionDetail,
    CatalogueVersionView,
)
from primer.app.core.context import ContextDep
from primer.app.core.etags import IfNoneMatch, is_known, mark_unchanging
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_id_cursor, encode_cursor
from primer.app.documents.decisions import open_choice
from primer.app.documents.endpoints import IndexesDep
from primer.app.models import CatalogueRecord

router = APIRouter(prefix="/concepts", tags=["concepts"])

ConceptId = Annotated[str, Path(max_length=60)]
_Version = Annotated[int, Query(ge=1, lt=1 << 63)]
_KNOWN: dict[int | str, dict[str, Any]] = {304: {"description": "It is as the ETag says."}}


@router.get("/versions")
def list_versions(
    actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[CatalogueVersionView]:
    """Versions of the catalogue, the newest first."""
    found = versions.list_versions(context, actor, before=decode_id_cursor(cursor), limit=limit + 1)
    items = [CatalogueVersionView.model_validate(record) for record in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].version) if len(found) > limit else None)


@router.post("/versions", status_code=HTTP_201_CREATED)
def save_version(asked: CatalogueSaveRequest, actor: ActorDep, context: ContextDep) -> CatalogueVersionView:
    """Save an edit of the newest version as the next one. 409 where somebody saved in between: it says who, what and when."""
    actor.require(Action.RULE)
    edit = asked.read_edit()
    return CatalogueVersionView.model_validate(
        versions.save_version(context, actor, based_on=asked.based_on, edit=edit, note=asked.note)
    )


@router.post("/versions/revert", status_code=HTTP_201_CREATED)
def revert_version(asked: CatalogueRevertRequest, actor: ActorDep, context: ContextDep) -> CatalogueVersionView:
    """Save what an older version said as the next one. Nothing is erased."""
    return CatalogueVersionView.model_validate(
        versions.revert_version(context, actor, based_on=asked.based_on, to=asked.to, note=asked.note)
    )


@router.get("/versions/diff")
def compare_versions(before: _Version, after: _Version, actor: ActorDep, context: ContextDep) -> CatalogueDiffView:
    """What a version says otherwise than another, and which concepts must be looked for again for it."""
    return impact.describe_diff(*versions.compare_versions(context, actor, before, after))


@router.post("/versions/impact")
def preview_edit(
    asked: CatalogueImpactRequest, actor: ActorDep, context: ContextDep, indexes: IndexesDep
) -> CatalogueImpactView:
    """What an edit changes, and in a run: how much must be measured again, what goes with removed concepts, and what comes and goes in a
    sample of documents that are read now. Nothing is saved."""
    old, new = versions.draft_version(context, actor, based_on=asked.based_on, edit=asked.read_edit())
    found = open_choice(context, indexes, asked.job_id, asked.decisions) if asked.job_id is not None else None
    return impact.describe_impact(context, old, new, found, sample=asked.sample, seed=asked.seed)


@router.get("/versions/{version}", responses=_KNOWN)
def read_version(
    version: RowId, response: Response, actor: ActorDep, context: ContextDep, if_none_match: IfNoneMatch = None
) -> CatalogueVersionDetail:
    """One version, with the values to filter its concepts by."""
    record = versions.read_version(context, actor, version)
    if is_known(if_none_match, _tag(record)):
        return _answer_known(record)  # type: ignore[return-value]
    mark_unchanging(response, _tag(record))
    catalogue = read_catalogue(record)
    return CatalogueVersionDetail.model_validate(
        {
            **{name: getattr(record, name) for name in CatalogueVersionView.model_fields},
            "name": catalogue.name,
            "subjects": Counter(concept.subject for concept in catalogue.concepts),
            "bands": Counter(concept.band for concept in catalogue.concepts),
            "standards": Counter(concept.standard or "" for concept in catalogue.concepts),
        }
    )


@router.get("/versions/{version}/concepts")
def list_concepts(
    version: RowId,
    actor: ActorDep,
    context: ContextDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    search: Annotated[str, Query(max_length=100, description="In ids, names and all words.")] = "",
    subject: Subject | None = None,
    band: Band | None = None,
    standard: Annotated[
        str | None, Query(max_length=40, description="A code or its beginning, such as MS-LS; empty: those without.")
    ] = None,
) -> Page[Concept]:
    """The concepts of a version in its own order: words, standard, what excuses them, and the K-5 neighbour that is fine."""
    catalogue = read_catalogue(versions.read_version(context, actor, version))
    start = decode_id_cursor(cursor) or 0
    wanted = [
        (place, concept)
        for place, concept in enumerate(catalogue.concepts[start:], start + 1)
        if (subject is None or concept.subject == subject)
        and (band is None or concept.band == band)
        and _has_standard(concept, standard)
        and search.casefold() in _join_words(concept)
    ]
    page = wanted[:limit]
    items = [concept for _, concept in page]
    return Page(items=items, next=encode_cursor(page[-1][0]) if len(wanted) > limit else None)


@router.get("/versions/{version}/concepts/{concept_id}")
def read_concept(version: RowId, concept_id: ConceptId, actor: ActorDep, context: ContextDep) -> Concept:
    """One concept of a version."""
    return require_concept(read_catalogue(versions.read_version(context, actor, version)), concept_id)


@router.get(
    "/versions/{version}/csv",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/csv": {}}}, **_KNOWN},
)
def download_csv(version: RowId, actor: ActorDep, context: ContextDep, if_none_match: IfNoneMatch = None) -> Response:
    """A version for a spreadsheet; send it back as `csv` of an edit."""
    record = versions.read_version(context, actor, version)
    if is_known(if_none_match, _tag(record)):
        return _answer_known(record)
    return _attach(record, csv_file.export_csv(read_catalogue(record)), "csv", "text/csv; charset=utf-8")


@router.get(
    "/versions/{version}/yaml",
    response_class=PlainTextResponse,
    responses={200: {"content": {"application/yaml": {}}}, **_KNOWN},
)
def download_yaml(version: RowId, actor: ActorDep, context: ContextDep, if_none_match: IfNoneMatch = None) -> Response:
    """A version as the file that `primer concepts --concepts` and `primer probe --concepts` take."""
    record = versions.read_version(context, actor, version)
    if is_known(if_none_match, _tag(record)):
        return _answer_known(record)
    return _attach(record, dump_catalogue(read_catalogue(record)), "yaml", "application/yaml")


def _attach(record: CatalogueRecord, content: str | bytes, ending: str, media_type: str) -> Response:
    name = f"concepts-v{record.version}.{ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = Response(content, media_type=media_type, headers=headers)
    mark_unchanging(response, _tag(record))
    return response


def _answer_known(record: CatalogueRecord) -> Response:
    known = Response(status_code=HTTP_304_NOT_MODIFIED)
    mark_unchanging(known, _tag(record))
    return known


def _tag(record: CatalogueRecord) -> str:
    return f'"{record.sha256}"'


def _has_standard(concept: Concept, standard: str | None) -> bool:
    if standard is None:
        return True
    return concept.standard is None if not standard else (concept.standard or "").startswith(standard)


def _join_words(concept: Concept) -> str:
    senses = (word for sense in concept.senses for word in (*sense.terms, *sense.near))
    words = (*concept.terms, *concept.verbs, *concept.exact, *senses, *concept.innocent, concept.k5_neighbour)
    return "\n".join((concept.id, concept.name, *words)).casefold()

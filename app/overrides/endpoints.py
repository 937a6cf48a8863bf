"""Routes of rulings."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Query, Response
from starlette.status import HTTP_201_CREATED, HTTP_304_NOT_MODIFIED

from primer.app.auth.dependencies import ActorDep
from primer.app.core.context import ContextDep
from primer.app.core.errors import Unprocessable
from primer.app.core.etags import IfNoneMatch, is_known
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_id_cursor, encode_cursor
from primer.app.overrides import service
from primer.app.overrides.id_sets import ID_SCHEMA
from primer.app.overrides.schemas import (
    BulkRequest,
    DisagreementAnswer,
    RevisionAnswer,
    RuledAnswer,
    RulingAnswer,
    RulingRequest,
    UndoRequest,
)
from primer.app.overrides.service import Ruled

router = APIRouter(prefix="/sources/{source_id}", tags=["rulings"])


@router.get("/rulings")
def list_rulings(
    source_id: RowId,
    actor: ActorDep,
    context: ContextDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    author: Annotated[str | None, Query(max_length=200)] = None,
    shard_sha256: Annotated[
        str | None, Query(pattern="^[0-9a-f]{64}$", description="With `row`: one document.")
    ] = None,
    row: Annotated[int | None, Query(ge=0, lt=1 << 63)] = None,
) -> Page[RulingAnswer]:
    """Rulings on documents of a source, the newest first: all, of one author, on one document."""
    if (shard_sha256 is None) != (row is None):
        raise Unprocessable("A document is named by shard_sha256 and row together.", hint="Give both, or neither.")
    place = (shard_sha256, row) if shard_sha256 is not None and row is not None else None
    found = service.list_rulings(
        context, actor, source_id, before=decode_id_cursor(cursor), limit=limit + 1, author=author, place=place
    )
    items = [RulingAnswer.model_validate(record) for record in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].revision) if len(found) > limit else None)


@router.get("/rulings/revision")
def read_revision(source_id: RowId, actor: ActorDep, context: ContextDep) -> RevisionAnswer:
    """The number of the newest ruling: it rises by one with every change."""
    revision, at = service.read_revision(context, actor, source_id)
    return RevisionAnswer.model_validate({"revision": revision, "at": at})


@router.get(
    "/rulings.jsonl",
    response_class=Response,
    responses={200: {"content": {"application/jsonl": {}}}, 304: {"description": "It is as the ETag says."}},
)
def download_rulings(
    source_id: RowId,
    actor: ActorDep,
    context: ContextDep,
    revision: Annotated[int | None, Query(ge=0, lt=1 << 63, description="Default: the newest.")] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """All rulings up to a revision, as the file that `primer decide --overrides` and `primer export --overrides` take."""
    overrides = service.read_all(context, actor, source_id, revision)
    etag = f'"{overrides.sha256}"'
    if is_known(if_none_match, etag):
        return Response(status_code=HTTP_304_NOT_MODIFIED, headers={"ETag": etag})
    name = f"rulings-{source_id}-{overrides.revision}.jsonl"
    headers = {"ETag": etag, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(service.encode_overrides(overrides), media_type="application/jsonl", headers=headers)


@router.post("/rulings", status_code=HTTP_201_CREATED)
def rule(source_id: RowId, asked: RulingRequest, actor: ActorDep, context: ContextDep) -> RuledAnswer:
    """Keep or exclude one document, whatever the profile says. The answer names whom it overrules."""
    return _answer(service.rule(context, actor, source_id, **asked.model_dump()))


@router.post("/rulings/bulk", status_code=HTTP_201_CREATED)
def rule_in_bulk(source_id: RowId, asked: BulkRequest, actor: ActorDep, context: ContextDep) -> RuledAnswer:
    """One ruling on a list of documents, which is frozen with it."""
    shards = np.repeat(np.array(list(asked.rows), object), [len(rows) for rows in asked.rows.values()])
    rows = [row for listed in asked.rows.values() for row in listed]
    table = pa.Table.from_arrays([pa.array(shards, pa.string()), pa.array(rows, pa.int64())], schema=ID_SCHEMA)
    return _answer(service.rule_in_bulk(context, actor, source_id, table, asked.action, asked.reason, None))


@router.post("/rulings/undo", status_code=HTTP_201_CREATED)
def undo(source_id: RowId, asked: UndoRequest, actor: ActorDep, context: ContextDep) -> RuledAnswer:
    """Undo what is in force on a document, or one ruling wherever it is in force. This is an entry of its own."""
    if asked.revision is not None:
        return _answer(service.undo_ruling(context, actor, source_id, asked.revision, reason=asked.reason))
    assert asked.shard_sha256 is not None
    assert asked.row is not None
    return _answer(
        service.undo_row(context, actor, source_id, shard_sha256=asked.shard_sha256, row=asked.row, reason=asked.reason)
    )


def _answer(ruled: Ruled) -> RuledAnswer:
    return RuledAnswer(
        ruling=RulingAnswer.model_validate(ruled.record),
        disagreement_count=ruled.disagreement_count,
        disagreements=[DisagreementAnswer.model_validate(other) for other in ruled.disagreements],
    )

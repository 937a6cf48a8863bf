"""Routes of sources, the allow-list and source rules."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from starlette.status import HTTP_201_CREATED, HTTP_202_ACCEPTED, HTTP_204_NO_CONTENT, HTTP_304_NOT_MODIFIED

from curation.recipe import hash_json
from primer.app.auth.dependencies import ActorDep
from primer.app.core.context import ContextDep
from primer.app.core.etags import IfNoneMatch, is_known
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_id_cursor, encode_cursor
from primer.app.sources import allow_list, rules, service
from primer.app.sources.schemas import (
    ColumnAnswer,
    PrefixAnswer,
    PrefixCreate,
    PreviewAnswer,
    RuleAnswer,
    RuleCreate,
    ShardAnswer,
    SourceAnswer,
    SourceCreate,
)

router = APIRouter()

_sources = APIRouter(prefix="/sources", tags=["sources"])
_prefixes = APIRouter(prefix="/allowed-prefixes", tags=["allow-list"])
_rules = APIRouter(prefix="/source-rules", tags=["source rules"])


@_sources.post("", status_code=HTTP_202_ACCEPTED)
def register_source(asked: SourceCreate, actor: ActorDep, context: ContextDep) -> SourceAnswer:
    """Register a source; its scan begins as soon as a worker is free."""
    source = service.register_source(context, actor, **asked.model_dump())
    return SourceAnswer.model_validate(source)


@_sources.get("")
def list_sources(actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50) -> Page[SourceAnswer]:
    """All sources, in the order of their registration."""
    found = service.list_sources(context, actor, after=decode_id_cursor(cursor) or 0, limit=limit + 1)
    items = [SourceAnswer.model_validate(source) for source in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(found) > limit else None)


@_sources.get("/{source_id}")
def read_source(source_id: RowId, actor: ActorDep, context: ContextDep) -> SourceAnswer:
    """One source."""
    return SourceAnswer.model_validate(service.read_source(context, actor, source_id))


@_sources.delete("/{source_id}", status_code=HTTP_204_NO_CONTENT)
def remove_source(source_id: RowId, actor: ActorDep, context: ContextDep) -> None:
    """Forget a source that no job was made from. Its files stay."""
    service.remove_source(context, actor, source_id)


@_sources.post("/{source_id}/scan", status_code=HTTP_202_ACCEPTED)
def scan_source(source_id: RowId, actor: ActorDep, context: ContextDep) -> SourceAnswer:
    """List and describe the shards anew, as soon as a worker is free."""
    return SourceAnswer.model_validate(service.request_scan(context, actor, source_id))


@_sources.get("/{source_id}/shards")
def list_shards(
    source_id: RowId, actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 100
) -> Page[ShardAnswer]:
    """The shards of a source as they were scanned, in order."""
    after = decode_id_cursor(cursor)
    found = service.list_shards(context, actor, source_id, after=-1 if after is None else after, limit=limit + 1)
    items = [ShardAnswer.model_validate(shard) for shard in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].position) if len(found) > limit else None)


@_sources.get("/{source_id}/shards/{position}", responses={304: {"description": "It is as the ETag says."}})
def read_shard(
    source_id: RowId,
    position: Annotated[int, Path(ge=0, lt=1 << 63)],
    response: Response,
    actor: ActorDep,
    context: ContextDep,
    if_none_match: IfNoneMatch = None,
) -> ShardAnswer:
    """One shard. Its ETag holds until a scan finds another file in its place."""
    answer = ShardAnswer.model_validate(service.read_shard(context, actor, source_id, position))
    etag = f'"{hash_json(answer.model_dump())}"'
    if is_known(if_none_match, etag):
        return Response(status_code=HTTP_304_NOT_MODIFIED, headers={"ETag": etag})  # type: ignore[return-value]
    response.headers["ETag"] = etag
    return answer


@_sources.get("/{source_id}/preview")
def preview_source(
    source_id: RowId, actor: ActorDep, context: ContextDep, rows: Annotated[int, Query(ge=1, le=20)] = 5
) -> PreviewAnswer:
    """The columns and first rows of the first shard."""
    preview = service.preview_source(context, actor, source_id, row_count=rows)
    columns = [ColumnAnswer(name=name, type=type_name) for name, type_name in preview.columns]
    return PreviewAnswer(**{**asdict(preview), "columns": columns})


@_prefixes.get("")
def list_prefixes(actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50) -> Page[PrefixAnswer]:
    """The places that sources may name."""
    found = allow_list.list_prefixes(context, actor, after=decode_id_cursor(cursor) or 0, limit=limit + 1)
    items = [PrefixAnswer.model_validate(prefix) for prefix in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(found) > limit else None)


@_prefixes.post("", status_code=HTTP_201_CREATED)
def allow_prefix(asked: PrefixCreate, actor: ActorDep, context: ContextDep) -> PrefixAnswer:
    """Allow a place and everything below it."""
    row = allow_list.allow_prefix(
        context, actor, prefix=asked.prefix, allows_private=asked.allows_private, note=asked.note
    )
    return PrefixAnswer.model_validate(row)


@_prefixes.delete("/{prefix_id}", status_code=HTTP_204_NO_CONTENT)
def remove_prefix(prefix_id: RowId, actor: ActorDep, context: ContextDep) -> None:
    """Allow a place no longer. Sources that name it stay, and can be neither scanned nor read."""
    allow_list.remove_prefix(context, actor, prefix_id)


@_rules.get("")
def list_rules(
    actor: ActorDep,
    context: ContextDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    source_id: Annotated[
        int | None, Query(ge=1, lt=1 << 63, description="Those that bind this source, the common ones too.")
    ] = None,
    has_retired: Annotated[bool, Query(description="Retired rules as well.")] = False,
) -> Page[RuleAnswer]:
    """Source rules, in the order in which they were made."""
    found = rules.list_rules(
        context,
        actor,
        after=decode_id_cursor(cursor) or 0,
        limit=limit + 1,
        source_id=source_id,
        has_retired=has_retired,
    )
    items = [RuleAnswer.model_validate(rule) for rule in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(found) > limit else None)


@_rules.post("", status_code=HTTP_201_CREATED)
def add_rule(asked: RuleCreate, actor: ActorDep, context: ContextDep) -> RuleAnswer:
    """Exclude documents from every run that begins from now on, whatever curators rule."""
    return RuleAnswer.model_validate(rules.add_rule(context, actor, **asked.model_dump()))


@_rules.post("/{rule_id}/retire")
def retire_rule(rule_id: RowId, actor: ActorDep, context: ContextDep) -> RuleAnswer:
    """Let a rule bind no run that begins from now on."""
    return RuleAnswer.model_validate(rules.retire_rule(context, actor, rule_id))


for _room in (_sources, _prefixes, _rules):
    router.include_router(_room)

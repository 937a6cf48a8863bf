"""Routes of documents. Questions are bodies, for they may hold a whole draft of a profile; none of them changes anything."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from primer.app.auth.actor import Actor
from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.core.context import Context, ContextDep
from primer.app.core.fields import RowId
from primer.app.documents import rulings, service
from primer.app.documents.decisions import OpenDecisions, open_choice
from primer.app.documents.indexes import Indexes
from primer.app.documents.schemas import (
    BulkRulingRequest,
    BulkRulingView,
    DecisionChoice,
    DocumentPage,
    DocumentView,
    FacetRequest,
    FacetView,
    FlipPage,
    FlipRequest,
    HistogramRequest,
    HistogramView,
    PlaceView,
    SearchRequest,
    WhatIfRequest,
    WhatIfView,
)

router = APIRouter(tags=["documents"])


def _read_indexes(request: Request) -> Indexes:
    indexes = request.app.state.indexes
    assert isinstance(indexes, Indexes)
    return indexes


IndexesDep = Annotated[Indexes, Depends(_read_indexes)]
Position = Annotated[int, Path(ge=0, lt=1 << 63)]


@router.post("/jobs/{job_id}/documents/search", summary="Documents of a decision set, filtered and sorted")
def search(
    job_id: RowId, body: SearchRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> DocumentPage:
    return service.search(_open(context, indexes, actor, job_id, body.decisions), body)


@router.post("/jobs/{job_id}/documents/facets", summary="Exact counts of the documents of a query")
def count_facets(
    job_id: RowId, body: FacetRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> FacetView:
    return service.count_facets(_open(context, indexes, actor, job_id, body.decisions), body.query)


@router.post("/jobs/{job_id}/documents/histogram", summary="A signal's values, kept and excluded apart")
def draw_histogram(
    job_id: RowId, body: HistogramRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> HistogramView:
    return service.draw_histogram(_open(context, indexes, actor, job_id, body.decisions), body)


@router.get("/jobs/{job_id}/documents/find", summary="Where a row of a shard stands in the run")
def find_document(
    job_id: RowId,
    context: ContextDep,
    indexes: IndexesDep,
    actor: ActorDep,
    shard_sha256: Annotated[str, Query(pattern="^[0-9a-f]{64}$")],
    row: Annotated[int, Query(ge=0, lt=1 << 63)],
) -> PlaceView:
    return service.find_place(_open(context, indexes, actor, job_id, DecisionChoice()), shard_sha256, row)


@router.get("/jobs/{job_id}/documents/{position}", summary="One document: text, evidence, signals, distances, decision")
def read_document(
    job_id: RowId,
    position: Position,
    context: ContextDep,
    indexes: IndexesDep,
    actor: ActorDep,
    profile_id: Annotated[int | None, Query(ge=1, lt=1 << 63)] = None,
    vocabulary_id: Annotated[int | None, Query(ge=1, lt=1 << 63)] = None,
    revision: Annotated[int | None, Query(ge=0, lt=1 << 63)] = None,
) -> DocumentView:
    choice = DecisionChoice(profile_id=profile_id, vocabulary_id=vocabulary_id, revision=revision)
    return service.read_document(_open(context, indexes, actor, job_id, choice), position)


@router.post("/jobs/{job_id}/documents/{position}/read", summary="The same under any decision set, a draft included")
def read_document_under(
    job_id: RowId, position: Position, body: DecisionChoice, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> DocumentView:
    return service.read_document(_open(context, indexes, actor, job_id, body), position)


@router.post("/jobs/{job_id}/what-if", summary="What another decision set would keep, over all documents")
def compare(
    job_id: RowId, body: WhatIfRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> WhatIfView:
    baseline = _open(context, indexes, actor, job_id, body.baseline)
    return service.compare(baseline, _open(context, indexes, actor, job_id, body.other))


@router.post("/jobs/{job_id}/what-if/flips", summary="The documents that another decision set decides otherwise")
def list_flips(job_id: RowId, body: FlipRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep) -> FlipPage:
    baseline = _open(context, indexes, actor, job_id, body.baseline)
    return service.list_flips(baseline, _open(context, indexes, actor, job_id, body.other), body)


@router.post("/jobs/{job_id}/documents/rulings", summary="Rule on every document of a query, or preview it")
def rule_in_bulk(
    job_id: RowId, body: BulkRulingRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> BulkRulingView:
    actor.require(Action.RULE)
    return rulings.rule_by_query(context, actor, _open(context, indexes, actor, job_id, body.decisions), body)


def _open(context: Context, indexes: Indexes, actor: Actor, job_id: int, choice: DecisionChoice) -> OpenDecisions:
    actor.require(Action.READ)
    return open_choice(context, indexes, job_id, choice)

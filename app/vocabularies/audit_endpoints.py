"""Routes of the vocabulary audit. Questions are bodies, for they may hold a whole draft; none of them changes anything."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.status import HTTP_201_CREATED

from primer.app.auth.actor import Actor
from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.core.context import Context, ContextDep
from primer.app.core.fields import RowId
from primer.app.documents.decisions import OpenDecisions, open_choice
from primer.app.documents.endpoints import IndexesDep
from primer.app.documents.indexes import Indexes
from primer.app.documents.schemas import DecisionChoice
from primer.app.jobs.schemas import JobDetail
from primer.app.jobs.views import read_detail
from primer.app.vocabularies import audit_service
from primer.app.vocabularies.audit_schemas import (
    ConcordanceRequest,
    ConcordanceView,
    ImpactRequest,
    ImpactView,
    SamplingRequest,
    SamplingView,
    SensesRequest,
    Term,
    TermDetail,
    TermRequest,
    TermsPage,
    TermsRequest,
)
from primer.app.vocabularies.measuring import request_measuring
from primer.app.vocabularies.repository import read_version

router = APIRouter(prefix="/jobs/{job_id}/vocabulary", tags=["vocabularies"])


@router.post("/terms", summary="Words of the vocabulary with what each costs, filtered and sorted")
def list_terms(
    job_id: RowId, body: TermsRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> TermsPage:
    return audit_service.list_words_of(_open(context, indexes, actor, job_id, body.decisions), body)


@router.post("/terms/{term}", summary="One word: what it costs, what the version says of it, its other forms")
def read_term(
    job_id: RowId, term: Term, body: TermRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> TermDetail:
    return audit_service.read_term(_open(context, indexes, actor, job_id, body.decisions), term)


@router.post("/terms/{term}/concordance", summary="A word in its contexts, from kept and excluded documents")
def read_concordance(
    job_id: RowId, term: Term, body: ConcordanceRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> ConcordanceView:
    return audit_service.read_concordance(_open(context, indexes, actor, job_id, body.decisions), term, body)


@router.post("/impact", summary="What a vocabulary version would keep and lose, before it is saved")
def preview_impact(
    job_id: RowId, body: ImpactRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> ImpactView:
    found = _open(context, indexes, actor, job_id, body.decisions)
    if body.vocabulary is not None:
        version = body.vocabulary.name_version("draft", 1)
    else:
        assert body.vocabulary_id is not None
        with context.database.reading() as session:
            version = read_version(session, body.vocabulary_id)
    return audit_service.preview_version(found, version, body)


@router.post(
    "/measure-senses",
    status_code=HTTP_201_CREATED,
    summary="Read the documents that hold words told apart by sense, so that decisions by a version are exact",
)
def measure_senses(job_id: RowId, body: SensesRequest, context: ContextDep, actor: ActorDep) -> JobDetail:
    job = request_measuring(context, actor, job_id, vocabulary_id=body.vocabulary_id)
    return read_detail(context, job.id)


@router.post("/sampling", summary="What keeping by chance, less often the higher the score, would keep")
def preview_sampling(
    job_id: RowId, body: SamplingRequest, context: ContextDep, indexes: IndexesDep, actor: ActorDep
) -> SamplingView:
    return audit_service.preview_draw(_open(context, indexes, actor, job_id, body.decisions), body)


def _open(context: Context, indexes: Indexes, actor: Actor, job_id: int, choice: DecisionChoice) -> OpenDecisions:
    actor.require(Action.READ)
    return open_choice(context, indexes, job_id, choice)

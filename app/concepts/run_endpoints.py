"""Routes of concepts in a run, and of probes."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Query
from starlette.status import HTTP_202_ACCEPTED

from primer.app.auth.actor import Actor
from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.concepts import in_runs, measuring, probes
from primer.app.concepts.endpoints import ConceptId
from primer.app.concepts.in_runs import PUBLISHED, find_exact_interval
from primer.app.concepts.probes import FoundProbe
from primer.app.concepts.run_schemas import (
    ConceptConcordanceRequest,
    ConceptConcordanceView,
    ConceptLayerView,
    ConceptMeasureRequest,
    ConceptMeasuringJob,
    ConceptPlanView,
    ConceptReportRequest,
    ConceptReportView,
    LeakView,
    MentioningPage,
    MentioningRequest,
    ProbeDetail,
    ProbeRequest,
    ProbeView,
)
from primer.app.core.context import Context, ContextDep
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_id_cursor, encode_cursor
from primer.app.documents.decisions import OpenDecisions, open_choice
from primer.app.documents.endpoints import IndexesDep
from primer.app.documents.indexes import Indexes
from primer.app.documents.schemas import DecisionChoice
from primer.app.jobs.schemas import JobDetail
from primer.app.jobs.views import read_detail

router = APIRouter(tags=["concepts"])

_Number = Annotated[int | None, Query(ge=1, lt=1 << 63)]


@router.get("/jobs/{job_id}/concepts", summary="Which catalogues a run was, or is being, measured with")
def list_layers(job_id: RowId, actor: ActorDep, context: ContextDep) -> list[ConceptLayerView]:
    return [
        ConceptLayerView(
            layer=found.layer,
            version=found.version,
            slices_measured=found.slices_measured,
            slices=found.slices,
            is_whole=found.slices_measured == found.slices,
            job=ConceptMeasuringJob.model_validate(found.job) if found.job is not None else None,
        )
        for found in measuring.list_layers(context, actor, job_id)
    ]


@router.get("/jobs/{job_id}/concepts/plan", summary="What must be measured before a version can be asked of a run")
def plan_measuring(job_id: RowId, actor: ActorDep, context: ContextDep, version: _Number = None) -> ConceptPlanView:
    record, found = measuring.plan(context, actor, job_id, version)
    return ConceptPlanView(
        version=record.version,
        layer=found.layer,
        slices_missing=found.slices_missing,
        slices=found.slices,
        concepts=list(found.concepts),
        base_layer=found.base.layer if found.base is not None else None,
    )


@router.post(
    "/jobs/{job_id}/concepts/measure",
    status_code=HTTP_202_ACCEPTED,
    summary="Look for a version's concepts in every document of a run, as a job of its own",
)
def measure_concepts(job_id: RowId, asked: ConceptMeasureRequest, actor: ActorDep, context: ContextDep) -> JobDetail:
    return read_detail(context, measuring.request_measuring(context, actor, job_id, asked.version).id)


@router.post("/jobs/{job_id}/concepts/report", summary="What a boundary does to each concept, and what leaks")
def report(
    job_id: RowId, body: ConceptReportRequest, actor: ActorDep, context: ContextDep, indexes: IndexesDep
) -> ConceptReportView:
    return in_runs.report(context, _open(context, indexes, actor, job_id, body.decisions), body)


@router.post(
    "/jobs/{job_id}/concepts/{concept_id}/concordance", summary="A concept in context, in any of its documents"
)
def read_concordance(
    job_id: RowId,
    concept_id: ConceptId,
    body: ConceptConcordanceRequest,
    actor: ActorDep,
    context: ContextDep,
    indexes: IndexesDep,
) -> ConceptConcordanceView:
    found = _open(context, indexes, actor, job_id, body.decisions)
    return in_runs.read_concordance(context, found, concept_id, body)


@router.post("/jobs/{job_id}/concepts/{concept_id}/documents", summary="The documents that mention a concept")
def list_documents(
    job_id: RowId,
    concept_id: ConceptId,
    body: MentioningRequest,
    actor: ActorDep,
    context: ContextDep,
    indexes: IndexesDep,
) -> MentioningPage:
    found = _open(context, indexes, actor, job_id, body.decisions)
    return in_runs.list_documents(context, found, concept_id, body)


@router.post(
    "/probes", status_code=HTTP_202_ACCEPTED, summary="Look for every concept in what a run keeps, or in an export"
)
def request_probe(asked: ProbeRequest, actor: ActorDep, context: ContextDep) -> ProbeView:
    return _describe(probes.request_probe(context, actor, **asked.model_dump()))


@router.get("/probes", summary="Probes, the newest first: all, of one job's run, of one export")
def list_probes(
    actor: ActorDep,
    context: ContextDep,
    cursor: Cursor = None,
    limit: Limit = 50,
    base_job_id: _Number = None,
    export_id: _Number = None,
) -> Page[ProbeView]:
    found = probes.list_probes(
        context,
        actor,
        before=decode_id_cursor(cursor),
        limit=limit + 1,
        base_job_id=base_job_id,
        export_id=export_id,
    )
    items = [_describe(row) for row in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(found) > limit else None)


@router.get("/probes/{probe_id}", summary="One probe: what was found, with a few lines of each concept")
def read_probe(probe_id: RowId, actor: ActorDep, context: ContextDep) -> ProbeDetail:
    found = probes.read_probe(context, actor, probe_id)
    told = orjson.loads(found[0].report) if found[0].report is not None else None
    leaks = None
    if told is not None:
        leaks = [LeakView.model_validate({"concept": name, **leak}) for name, leak in told["concepts"].items()]
    return ProbeDetail(**_describe(found).model_dump(), concepts=leaks)


def _describe(found: FoundProbe) -> ProbeView:
    probe, job, record = found
    share = interval = is_above = None
    if probe.documents is not None and probe.leaking is not None:
        share = probe.leaking / probe.documents if probe.documents else 0.0
        interval = find_exact_interval(probe.leaking, probe.documents)
        is_above = probe.max_share is not None and share > probe.max_share
    facts = ("id", "job_id", "base_job_id", "export_id", "overrides_revision", "max_share", "documents", "leaking")
    job_facts = ("state", "error", "profile_id", "created_by", "created_at", "finished_at")
    return ProbeView.model_validate(
        {
            **{name: getattr(probe, name) for name in facts},
            **{name: getattr(job, name) for name in job_facts},
            "hint": job.error_hint,
            "version": record.version,
            "share": share,
            "interval": interval,
            "is_above": is_above,
            "published": PUBLISHED,
        }
    )


def _open(context: Context, indexes: Indexes, actor: Actor, job_id: int, choice: DecisionChoice) -> OpenDecisions:
    actor.require(Action.READ)
    return open_choice(context, indexes, job_id, choice)

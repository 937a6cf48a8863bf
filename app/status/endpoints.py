"""Routes of the service's status."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from primer.app.auth.dependencies import ActorDep
from primer.app.auth.roles import Action
from primer.app.core.context import ContextDep
from primer.app.status.checks import OK, check_readiness
from primer.app.status.metrics import CONTENT_TYPE, render_metrics
from primer.app.status.schemas import Health, Readiness, WorkView
from primer.app.status.work import read_work

router = APIRouter(tags=["status"])
work = APIRouter(tags=["status"])


@router.get("/healthz", summary="Whether this process lives")
def read_health() -> Health:
    return Health(status="alive")


@router.get(
    "/readyz",
    summary="Whether the service can work: database, schema, broker, data folder",
    responses={503: {"model": Readiness, "description": "What is not `ok` says why."}},
)
def read_readiness(context: ContextDep, response: Response) -> Readiness:
    checks = check_readiness(context)
    is_ready = all(found == OK for found in checks.values())
    response.status_code = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
    response.headers["Cache-Control"] = "no-store"
    return Readiness(is_ready=is_ready, checks=checks)


@router.get("/metrics", summary="Figures for Prometheus", response_class=PlainTextResponse)
def read_metrics(context: ContextDep, actor: ActorDep) -> Response:
    actor.require(Action.READ)
    return Response(render_metrics(context), media_type=CONTENT_TYPE)


@work.get("/work", summary="Which workers live, what each does, and what waits in the queues")
def list_work(context: ContextDep, actor: ActorDep) -> WorkView:
    actor.require(Action.JOBS)
    return WorkView.model_validate(read_work(context))

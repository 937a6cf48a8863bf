"""The HTTP service: one application made of rooms. Nothing is decided here; it only puts the parts together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from primer.app.artifacts.endpoints import router as artifacts
from primer.app.auth.endpoints import router as auth
from primer.app.concepts.endpoints import router as concepts
from primer.app.concepts.run_endpoints import router as concepts_in_runs
from primer.app.core.context import Context
from primer.app.core.errors import Problem, install_error_handlers
from primer.app.core.middleware import install_middleware
from primer.app.core.settings import Settings
from primer.app.documents.endpoints import router as documents
from primer.app.documents.indexes import Indexes
from primer.app.exports.endpoints import router as exports
from primer.app.jobs.endpoints import router as jobs
from primer.app.jobs.trial_turns import TrialTurns
from primer.app.openapi import router as openapi
from primer.app.overrides.endpoints import router as overrides
from primer.app.profiles.endpoints import router as profiles
from primer.app.sources.endpoints import router as sources
from primer.app.status.endpoints import router as status
from primer.app.status.endpoints import work
from primer.app.status.metrics import serving_metrics
from primer.app.texts.endpoints import router as texts
from primer.app.vocabularies.audit_endpoints import router as vocabulary_audit
from primer.app.vocabularies.endpoints import router as vocabularies
from primer.app.web import find_workbench, serve_workbench

API_PREFIX = "/api/v1"

# Every room's routes, in the order in which the documentation shows them.
ROOMS: tuple[APIRouter, ...] = (
    auth,
    sources,
    profiles,
    jobs,
    documents,
    concepts,
    concepts_in_runs,
    overrides,
    vocabularies,
    vocabulary_audit,
    exports,
    texts,
    artifacts,
    work,
    openapi,
)


@asynccontextmanager
async def _run(app: FastAPI) -> AsyncIterator[None]:
    with serving_metrics(app.state.context):
        yield


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application; it reaches for database and broker when they are first asked for."""
    settings = settings or Settings()
    app = FastAPI(
        title="Primer",
        version=version("primer-curation"),
        summary="Curation of grade-bounded pretraining corpora.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=_run,
        responses={"default": {"model": Problem, "content": {"application/problem+json": {}}}},
    )
    app.state.context = Context.open(settings)
    app.state.indexes = Indexes(settings.indexes)
    app.state.trial_turns = TrialTurns()
    install_middleware(app, settings)
    install_error_handlers(app)
    for room in ROOMS:
        app.include_router(room, prefix=API_PREFIX)
    app.include_router(status)
    serve_workbench(app, find_workbench())
    return app

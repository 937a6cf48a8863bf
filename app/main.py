"""The HTTP service: one application made of rooms. Nothing is decided here; it only puts the parts together."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from primer.app.auth.endpoints import router as auth
from primer.app.core.context import Context
from primer.app.core.errors import Problem, install_error_handlers
from primer.app.core.middleware import install_middleware
from primer.app.core.settings import Settings
from primer.app.jobs.endpoints import router as jobs
from primer.app.openapi import router as openapi
from primer.app.profiles.endpoints import router as profiles
from primer.app.sources.endpoints import router as sources

API_PREFIX = "/api/v1"

# Every room's routes, in the order in which the documentation shows them.
ROOMS: tuple[APIRouter, ...] = (auth, sources, profiles, jobs, openapi)


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
        responses={"default": {"model": Problem, "content": {"application/problem+json": {}}}},
    )
    app.state.context = Context.open(settings)
    install_middleware(app, settings)
    install_error_handlers(app)
    for room in ROOMS:
        app.include_router(room, prefix=API_PREFIX)
    return app

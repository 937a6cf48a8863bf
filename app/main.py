"""The HTTP service: one application made of rooms. Nothing is decided here; it only puts the parts together."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from starlette.middleware.trustedhost import TrustedHostMiddleware

from primer.app.core.context import Context
from primer.app.core.errors import Problem, install_error_handlers
from primer.app.core.settings import Settings

API_PREFIX = "/api/v1"

# Every room's routes, in the order in which the documentation shows them.
ROOMS: tuple[APIRouter, ...] = ()


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application; it reaches for database and broker when they are first asked for."""
    settings = settings or Settings()
    app = FastAPI(
        title="Primer",
        version=version("primer-curation"),
        summary="Curation of grade-bounded pretraining corpora.",
        openapi_url=f"{API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses={"default": {"model": Problem, "content": {"application/problem+json": {}}}},
    )
    app.state.context = Context.open(settings)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.allowed_hosts))
    install_error_handlers(app)
    for room in ROOMS:
        app.include_router(room, prefix=API_PREFIX)
    return app

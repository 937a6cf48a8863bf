"""The description of the whole API, for who may read anything of it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from primer.app.auth.dependencies import ActorDep

router = APIRouter()


@router.get("/openapi.json", include_in_schema=False)
def read_openapi(request: Request, _actor: ActorDep) -> dict[str, Any]:
    description = request.app.openapi()
    assert isinstance(description, dict)
    return description

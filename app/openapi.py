"""The description of the whole API, for who may read anything of it.

`python -m primer.app.openapi` prints it; the workbench's client is generated from that.
"""

from __future__ import annotations

import sys
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI, Request

from primer.app.auth.dependencies import ActorDep

router = APIRouter()


@router.get("/openapi.json", include_in_schema=False)
def read_openapi(request: Request, _actor: ActorDep) -> dict[str, Any]:
    description = request.app.openapi()
    assert isinstance(description, dict)
    return description


def dump_description(app: FastAPI) -> bytes:
    """As JSON, the same bytes for the same API."""
    return orjson.dumps(app.openapi(), option=orjson.OPT_SORT_KEYS)


if __name__ == "__main__":
    from primer.app.main import create_app

    sys.stdout.buffer.write(dump_description(create_app()) + b"\n")

"""The workbench in the browser: the built files of frontend/, served beside the API.

What no route answers is a page of the workbench, which finds its own way. Where it was not built, a plain page says how.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

_HERE = Path(__file__).resolve().parent
# Inside the installed package, and in a checkout.
_PLACES: Final = (_HERE.parent / "workbench", _HERE.parent / "frontend" / "dist")
_HASHED: Final = "assets"  # names here hold a hash of what is in the file
_API: Final = "/api/"

_UNBUILT_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Primer</title></head>
<body>
<h1>Primer</h1>
<p>The service is running, and its workbench is not built here: <code>make install</code> builds it where Node 20 or newer
is installed.</p>
<p>The API is described by <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>, for who is signed in
(POST /api/v1/session) or shows a token.</p>
</body>
</html>
"""


class _Files(StaticFiles):
    """A path without a file is a page, unless its last part looks like a file's name: those names change with every build."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != HTTPStatus.NOT_FOUND or "." in Path(path).name:
                raise
            response = await super().get_response("index.html", scope)
        is_lasting = Path(path).parts[:1] == (_HASHED,)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_lasting else "no-cache"
        return response


def find_workbench() -> Path | None:
    """The folder of the built files; None where there are none."""
    return next((place for place in _PLACES if (place / "index.html").is_file()), None)


def serve_workbench(app: FastAPI, folder: Path | None) -> None:
    """Answer what no route of `app` answers, below the API's and the probes' paths excepted."""
    missing = app.router.default
    files: ASGIApp = _answer_unbuilt
    if folder is not None:
        files = GZipMiddleware(_Files(directory=folder), minimum_size=1_000)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http" and not scope["path"].startswith(_API)
        await (files if is_page else missing)(scope, receive, send)

    app.router.default = answer


async def _answer_unbuilt(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] != "/" or scope["method"] not in ("GET", "HEAD"):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    await HTMLResponse(_UNBUILT_PAGE)(scope, receive, send)

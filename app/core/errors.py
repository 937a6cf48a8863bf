"""Errors of the service, answered as problem details (RFC 9457): a type, a title, a status, what happened and what to do.

ServiceError
├── NotFound          there is no such thing, or not for this reader
├── NotAllowed        the role does not suffice, or the allow-list forbids it
├── NotAuthenticated  nobody is signed in
├── Conflict          what was asked does not fit the state that things are in
├── Unprocessable     what was sent cannot be understood
├── NotReady          it is being made; ask again
└── TooManyRequests   too often in too short a time
"""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from curation.errors import ArtifactError, ExportError, LedgerError, PrimerError, ProfileError, QuotaError, SourceError

MEDIA_TYPE = "application/problem+json"


class ServiceError(PrimerError):
    status: ClassVar[int] = 500


class NotFound(ServiceError):
    status = 404


class NotAllowed(ServiceError):
    status = 403


class NotAuthenticated(ServiceError):
    status = 401


class Conflict(ServiceError):
    status = 409


class Unprocessable(ServiceError):
    status = 422


class _Later(ServiceError):
    """`retry_after_seconds`: from then on it may be tried again."""

    def __init__(self, message: str, *, hint: str = "", retry_after_seconds: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_seconds = retry_after_seconds


class TooManyRequests(_Later):
    status = 429


class NotReady(_Later):
    status = 503


# The library's errors as answers: most say that what was asked for cannot be done with what is there.
_LIBRARY_STATUS: dict[type[PrimerError], int] = {
    SourceError: 422,
    ProfileError: 422,
    ArtifactError: 409,
    LedgerError: 409,
    ExportError: 409,
    QuotaError: 507,
}


class Problem(BaseModel):
    """The body of every error."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    hint: str = ""
    errors: list[dict[str, str]] = []


def install_error_handlers(app: FastAPI) -> None:
    """Answer every error of a route as a problem."""

    @app.exception_handler(PrimerError)
    def _answer_primer_error(_request: Request, error: PrimerError) -> JSONResponse:
        retry = {"Retry-After": str(error.retry_after_seconds)} if isinstance(error, _Later) else {}
        return answer_problem(_status_of(error), error.message, error.hint, headers=retry)

    @app.exception_handler(HTTPException)
    def _answer_http_error(_request: Request, error: HTTPException) -> JSONResponse:
        return answer_problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    def _answer_invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        # Without the input: it may be a document or a password.
        found = [{"where": ".".join(map(str, e["loc"])), "message": str(e["msg"])} for e in error.errors()]
        return answer_problem(422, "The request cannot be understood.", "See errors.", found)


def _status_of(error: PrimerError) -> int:
    if isinstance(error, ServiceError):
        return error.status
    return next((status for kind, status in _LIBRARY_STATUS.items() if isinstance(error, kind)), 500)


def answer_problem(
    status: int,
    detail: str,
    hint: str = "",
    errors: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """The answer that every error gets, whatever noticed it."""
    problem = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, hint=hint, errors=errors or [])
    headers = {**(headers or {}), **({"WWW-Authenticate": "Bearer"} if status == 401 else {})}
    # Replaced where a message quotes what is no Unicode: an error must not fail for its own text.
    body = problem.model_dump()
    body["detail"], body["hint"] = (_encodable(body[key]) for key in ("detail", "hint"))
    return JSONResponse(body, status, headers=headers, media_type=MEDIA_TYPE)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()

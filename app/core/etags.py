"""ETags: for what never changes once it is there, and for changes that must not overwrite what their author has not seen."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header, Response

from primer.app.core.errors import Conflict, ServiceError

IfNoneMatch = Annotated[str | None, Header(description="An ETag that is known: the answer is 304 if it still holds.")]
IfMatch = Annotated[str | None, Header(description="The ETag of what is to be changed.")]

_YEAR_SECONDS = 31_536_000


class PreconditionRequired(ServiceError):
    status = 428


class PreconditionFailed(Conflict):
    status = 412


def is_known(if_none_match: str | None, etag: str) -> bool:
    """Whether the client has this version already."""
    return if_none_match is not None and any(tag in {"*", etag} for tag in _list_tags(if_none_match))


def require_match(if_match: str | None, etag: str) -> None:
    """Raises PreconditionRequired without a tag, PreconditionFailed when it is of another version."""
    if if_match is None:
        raise PreconditionRequired(
            "The change names no version.", hint=f"Send If-Match: {etag}, if that is what you have seen."
        )
    if etag not in _list_tags(if_match):
        raise PreconditionFailed("Somebody changed it meanwhile.", hint="Read it again, then repeat the change.")


def _list_tags(header: str) -> list[str]:
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]


def mark_unchanging(response: Response, etag: str) -> None:
    """For an answer that will be the same for ever."""
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = f"private, max-age={_YEAR_SECONDS}, immutable"

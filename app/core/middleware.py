"""What every request and every answer passes: a request id, safe headers, a last word on errors, a limit of the body.

Plain ASGI, so that streams are passed on as they come.
"""

from __future__ import annotations

import re
import uuid
from typing import Final

import structlog
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from primer.app.core.errors import answer_problem
from primer.app.core.settings import Settings

log = structlog.get_logger(__name__)

REQUEST_ID: Final = "X-Request-Id"
_PLAIN_TOKEN: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def install_middleware(app: FastAPI, settings: Settings) -> None:
    """The last added is the first to see a request."""
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.allowed_hosts))
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(LastWord)
    app.add_middleware(SafeHeaders)
    app.add_middleware(RequestId)


class RequestId:
    """The caller's id if it is a plain token, else a new one: in every log line, and in the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).getlist(REQUEST_ID)
        is_plain = len(given) == 1 and _PLAIN_TOKEN.fullmatch(given[0]) is not None
        request_id = given[0] if is_plain else uuid.uuid4().hex

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._app(scope, receive, send_with_id)


class SafeHeaders:
    """Headers that a route did not set itself. What the API answers is not stored, unless the route says how."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    # An ETag is of use only to who may keep the answer and ask whether it still holds.
                    headers.setdefault("Cache-Control", "private, no-cache" if "ETag" in headers else "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)


class LastWord:
    """An error that nothing expected is answered as a problem without its text, and raised on for the server's log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_started = False

        async def watch(message: Message) -> None:
            nonlocal is_started
            is_started = is_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception as error:
            log.error("unexpected_error", error=type(error).__name__, path=scope["path"])
            if not is_started:
                answer = answer_problem(
                    500, "The service failed.", "Try again; its log has more under the answer's X-Request-Id."
                )
                await answer(scope, receive, watch)
            raise


class _BodyTooLarge(HTTPException):
    def __init__(self, max_bytes: int) -> None:
        super().__init__(413, f"A request's body may have {max_bytes:,} bytes.")


class BodyLimit:
    """Refuses bodies that are or become too long, whether or not they said so beforehand."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = _BodyTooLarge(self._max_bytes)
        if self._is_too_large(Headers(scope=scope).get("Content-Length", "")):
            # What comes is not read: the connection is of no further use.
            answer = answer_problem(413, refusal.detail, headers={"Connection": "close"})
            await answer(scope, receive, send)
            return
        received = 0

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes:
                raise refusal  # answered where the application answers its errors
            return message

        await self._app(scope, receive_counted, send)

    def _is_too_large(self, length: str) -> bool:
        return length.isdecimal() and (len(length) > 18 or int(length) > self._max_bytes)

"""Who a request comes from, for the routes of every room: `actor: ActorDep`."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPBearer

from primer.app.auth import sessions
from primer.app.auth.actor import Actor
from primer.app.auth.sessions import Identity
from primer.app.core.context import Context, ContextDep
from primer.app.core.errors import NotAuthenticated
from primer.app.core.settings import Settings

CSRF_HEADER: Final = "X-CSRF-Token"
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_COOKIE: Final = "primer_session"

_bearer = HTTPBearer(auto_error=False, description="A token of a program: prm_...")
_cookie = APIKeyCookie(
    name=_COOKIE,
    auto_error=False,
    description=f"A session from POST /api/v1/session; changes need the header {CSRF_HEADER} too. By https: __Host-{_COOKIE}.",
)


def name_cookie(settings: Settings) -> str:
    """By https the name itself makes browsers refuse a cookie that a neighbouring host has set."""
    return f"__Host-{_COOKIE}" if settings.is_https else _COOKIE


def identify(context: Context, request: Request) -> Identity:
    """Who sent the request. Raises NotAuthenticated; NotAllowed when a session's change lacks its CSRF token."""
    authorization = request.headers.get("Authorization")
    if authorization is not None:
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise NotAuthenticated(
                "The Authorization header is not of a kind that is known here.",
                hint="Authorization: Bearer prm_...",
            )
        return sessions.identify_token(context, secret.strip())
    secret = request.cookies.get(name_cookie(context.settings), "")
    if not secret:
        raise NotAuthenticated("Nobody is signed in.", hint="Sign in, or send a token: Authorization: Bearer prm_...")
    identity = sessions.identify_session(context, secret)
    if request.method not in _SAFE_METHODS:
        identity.require_csrf_token(request.headers.get(CSRF_HEADER))
    return identity


def read_actor(context: Context, request: Request) -> Actor | None:
    """For streams, to ask now and then while they last: who sent the request, None once they may no longer."""
    try:
        return identify(context, request).actor
    except NotAuthenticated:
        return None


def _identify(
    request: Request,
    context: ContextDep,
    _token: Annotated[object, Depends(_bearer)],
    _session: Annotated[object, Depends(_cookie)],
) -> Identity:
    return identify(context, request)


IdentityDep = Annotated[Identity, Depends(_identify)]


def _name_actor(identity: IdentityDep) -> Actor:
    return identity.actor


ActorDep = Annotated[Actor, Depends(_name_actor)]


def _read_address(request: Request) -> str:
    return request.client.host if request.client is not None else "local"


AddressDep = Annotated[str, Depends(_read_address)]

"""Routes of sessions, users, tokens and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from primer.app.auth import audit_log, service, sessions, tokens
from primer.app.auth.audit_log import AuditFilter
from primer.app.auth.dependencies import ActorDep, AddressDep, IdentityDep, name_cookie
from primer.app.auth.schemas import (
    AuditAnswer,
    Credentials,
    PasswordChange,
    PasswordReset,
    SessionAnswer,
    TokenAnswer,
    TokenCreate,
    TokenCreated,
    UserAnswer,
    UserChange,
    UserCreate,
)
from primer.app.auth.sessions import Identity
from primer.app.core.context import Context, ContextDep
from primer.app.core.fields import RowId
from primer.app.core.paging import Cursor, Limit, Page, decode_id_cursor, encode_cursor
from primer.app.models import ApiToken

router = APIRouter()

_session = APIRouter(prefix="/session", tags=["session"])
_tokens = APIRouter(prefix="/tokens", tags=["tokens"])
_users = APIRouter(prefix="/users", tags=["users"])
_audit = APIRouter(tags=["audit"])


@_session.post("")
def sign_in(
    asked: Credentials, request: Request, response: Response, context: ContextDep, address: AddressDep
) -> SessionAnswer:
    """Sign in: a cookie for the browser, and the token that changes need beside it."""
    secret, identity = sessions.sign_in(
        context,
        asked.name,
        asked.password.get_secret_value(),
        address=address,
        replaces=request.cookies.get(name_cookie(context.settings)),
    )
    response.set_cookie(
        name_cookie(context.settings),
        secret,
        max_age=int(context.settings.session_hours * 3_600),
        path="/",
        secure=context.settings.is_https,
        httponly=True,
        samesite="strict",
    )
    return _answer_session(identity)


@_session.get("")
def read_session(identity: IdentityDep) -> SessionAnswer:
    """Who is signed in, and the session's CSRF token."""
    return _answer_session(identity)


@_session.delete("", status_code=204)
def sign_out(identity: IdentityDep, response: Response, context: ContextDep) -> None:
    """Sign out."""
    sessions.sign_out(context, identity)
    _forget_cookie(response, context)


@_session.put("/password", status_code=204)
def change_own_password(
    asked: PasswordChange, actor: ActorDep, response: Response, context: ContextDep, address: AddressDep
) -> None:
    """Change your own password. All your sessions and tokens end with the old one: sign in again."""
    service.change_own_password(
        context,
        actor,
        old=asked.old_password.get_secret_value(),
        new=asked.new_password.get_secret_value(),
        address=address,
    )
    _forget_cookie(response, context)


@_tokens.get("")
def list_own_tokens(
    actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[TokenAnswer]:
    """Your tokens, by their first characters."""
    after = decode_id_cursor(cursor) or 0
    return _page_tokens(tokens.list_own_tokens(context, actor, after=after, limit=limit + 1), limit)


@_tokens.post("", status_code=201)
def create_token(asked: TokenCreate, actor: ActorDep, context: ContextDep) -> TokenCreated:
    """Make a token for a program. Its secret is shown in this answer and never again."""
    secret, token = tokens.create_token(context, actor, name=asked.name, role=asked.role, days=asked.expires_in_days)
    return TokenCreated(token=_answer_token(token, is_live=True), secret=secret)


@_tokens.delete("/{token_id}", status_code=204)
def revoke_own_token(token_id: RowId, actor: ActorDep, context: ContextDep) -> None:
    """Revoke a token of yours, at once."""
    tokens.revoke_own_token(context, actor, token_id)


@_users.get("")
def list_users(actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50) -> Page[UserAnswer]:
    """All users, in the order of their making."""
    users = service.list_users(context, actor, after=decode_id_cursor(cursor) or 0, limit=limit + 1)
    items = [UserAnswer.model_validate(user) for user in users[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(users) > limit else None)


@_users.post("", status_code=201)
def create_user(asked: UserCreate, actor: ActorDep, context: ContextDep) -> UserAnswer:
    """Add a user, with a password to hand over."""
    user = service.create_user(
        context, actor, name=asked.name, role=asked.role, password=asked.password.get_secret_value()
    )
    return UserAnswer.model_validate(user)


@_users.get("/{user_id}")
def read_user(user_id: RowId, actor: ActorDep, context: ContextDep) -> UserAnswer:
    """One user."""
    return UserAnswer.model_validate(service.read_user(context, actor, user_id))


@_users.patch("/{user_id}")
def change_user(user_id: RowId, asked: UserChange, actor: ActorDep, context: ContextDep) -> UserAnswer:
    """Change a user's role, or shut them out or let them in. Their sessions and tokens end at once."""
    user = service.change_user(context, actor, user_id, role=asked.role, is_active=asked.is_active)
    return UserAnswer.model_validate(user)


@_users.put("/{user_id}/password", status_code=204)
def set_password(user_id: RowId, asked: PasswordReset, actor: ActorDep, context: ContextDep) -> None:
    """Set a user's password. Their sessions and tokens end at once, and so does a wait to sign in."""
    service.set_password(context, actor, user_id, asked.password.get_secret_value())


@_users.get("/{user_id}/tokens")
def list_tokens_of(
    user_id: RowId, actor: ActorDep, context: ContextDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[TokenAnswer]:
    """A user's tokens."""
    after = decode_id_cursor(cursor) or 0
    return _page_tokens(tokens.list_tokens_of(context, actor, user_id, after=after, limit=limit + 1), limit)


@_users.delete("/{user_id}/tokens/{token_id}", status_code=204)
def revoke_token_of(user_id: RowId, token_id: RowId, actor: ActorDep, context: ContextDep) -> None:
    """Revoke a user's token, at once."""
    tokens.revoke_token_of(context, actor, user_id, token_id)


_Wanted = Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")]


def _read_filter(user: _Wanted = None, action: _Wanted = None, subject: _Wanted = None) -> AuditFilter:
    return AuditFilter(user, action, subject)


FilterDep = Annotated[AuditFilter, Depends(_read_filter)]


@_audit.get("/audit")
def list_audit(
    actor: ActorDep, context: ContextDep, wanted: FilterDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[AuditAnswer]:
    """Who changed what, newest first; by user, by the beginning of the action, by subject."""
    before = decode_id_cursor(cursor)
    entries = audit_log.list_entries(context, actor, wanted, before=before, limit=limit + 1)
    items = [AuditAnswer.model_validate(entry) for entry in entries[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(entries) > limit else None)


@_audit.get("/audit.csv", response_class=StreamingResponse, responses={200: {"content": {"text/csv": {}}}})
def export_audit(actor: ActorDep, context: ContextDep, wanted: FilterDep) -> StreamingResponse:
    """All of it as CSV, newest first, whose cells no spreadsheet takes for formulas."""
    return StreamingResponse(
        audit_log.stream_csv(context, actor, wanted),
        media_type="text/csv",
        headers={"Content-Disposition": 'attachment; filename="audit.csv"'},
    )


for _room in (_session, _tokens, _users, _audit):
    router.include_router(_room)


def _answer_session(identity: Identity) -> SessionAnswer:
    actor = identity.actor
    assert actor.user_id is not None
    return SessionAnswer(
        user_id=actor.user_id,
        name=actor.name,
        role=actor.role,
        is_program=actor.is_program,
        csrf_token=identity.csrf_token,
        expires_at=identity.expires_at,  # type: ignore[arg-type]  # an Instant is built from seconds
    )


def _answer_token(token: ApiToken, *, is_live: bool) -> TokenAnswer:
    return TokenAnswer.model_validate({**vars(token), "is_live": is_live})


def _page_tokens(found: Sequence[tuple[ApiToken, bool]], limit: int) -> Page[TokenAnswer]:
    items = [_answer_token(token, is_live=is_live) for token, is_live in found[:limit]]
    return Page(items=items, next=encode_cursor(items[-1].id) if len(found) > limit else None)


def _forget_cookie(response: Response, context: Context) -> None:
    settings = context.settings
    response.delete_cookie(name_cookie(settings), path="/", secure=settings.is_https, httponly=True, samesite="strict")

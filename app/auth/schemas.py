"""What the routes of sessions, users, tokens and the audit log take and answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.config import JsonDict

from primer.app.auth.names import USER_NAME_PATTERN
from primer.app.auth.passwords import MAX_CHARS, MIN_CHARS
from primer.app.auth.roles import Role
from primer.app.auth.tokens import MAX_DAYS
from primer.app.core.fields import Label
from primer.app.core.times import Instant

# Described here and checked in the service, whose message says more than that a pattern does not match.
UserName = Annotated[str, Field(json_schema_extra={"pattern": USER_NAME_PATTERN})]
NewPassword = Annotated[SecretStr, Field(json_schema_extra={"minLength": MIN_CHARS, "maxLength": MAX_CHARS})]

_USER: JsonDict = {
    "id": 3,
    "name": "anna.berg",
    "role": "curator",
    "is_active": True,
    "created_at": "2026-03-01T09:30:00Z",
}
_TOKEN: JsonDict = {
    "id": 5,
    "name": "nightly export",
    "prefix": "prm_Zk3q81xA",
    "role": "viewer",
    "is_live": True,
    "created_at": "2026-03-01T09:30:00Z",
    "expires_at": "2026-05-30T09:30:00Z",
    "revoked_at": None,
    "last_used_at": "2026-03-02T02:00:10Z",
}


class Asked(BaseModel):
    """What is not known is refused: a misspelt field must not be taken for none."""

    model_config = ConfigDict(extra="forbid")


class Credentials(Asked):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "anna.berg", "password": "four words nobody expects"}]}
    )

    name: str
    password: SecretStr


class SessionAnswer(BaseModel):
    """`csrf_token` goes into the header X-CSRF-Token of every change; null for a token, which needs none."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "user_id": 3,
                    "name": "anna.berg",
                    "role": "curator",
                    "is_program": False,
                    "csrf_token": "f3b1c7a0e5",
                    "expires_at": "2026-03-01T21:30:00Z",
                }
            ]
        }
    )

    user_id: int
    name: str
    role: Role
    is_program: bool
    csrf_token: str | None
    expires_at: Instant | None


class PasswordChange(Asked):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"old_password": "four words nobody expects", "new_password": "four others, as unexpected"}]
        }
    )

    old_password: SecretStr
    new_password: NewPassword


class PasswordReset(Asked):
    model_config = ConfigDict(json_schema_extra={"examples": [{"password": "four words nobody expects"}]})

    password: NewPassword


class UserCreate(Asked):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "anna.berg", "role": "curator", "password": "four words nobody expects"}]
        }
    )

    name: UserName
    role: Role
    password: NewPassword


class UserChange(Asked):
    """What is left out stays. Either change ends the user's sessions and tokens."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"role": "operator"}, {"is_active": False}]})

    role: Role | None = None
    is_active: bool | None = None


class UserAnswer(BaseModel):
    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [_USER]})

    id: int
    name: str
    role: Role
    is_active: bool
    created_at: Instant


class TokenCreate(Asked):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "nightly export", "role": "viewer", "expires_in_days": 90}]}
    )

    name: Label
    role: Role
    expires_in_days: Annotated[int, Field(ge=1, le=MAX_DAYS)] = 90


class TokenAnswer(BaseModel):
    """`is_live`: neither revoked nor expired, and of the owner's present role and password."""

    model_config = ConfigDict(json_schema_extra={"examples": [_TOKEN]})

    id: int
    name: str
    prefix: str
    role: Role
    is_live: bool
    created_at: Instant
    expires_at: Instant | None
    revoked_at: Instant | None
    last_used_at: Instant | None


class TokenCreated(BaseModel):
    """`secret` is shown this once."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"token": _TOKEN, "secret": "prm_Zk3q81xAThisIsAnExampleAndOpensNothingAtAll"}]}
    )

    token: TokenAnswer
    secret: str


class AuditAnswer(BaseModel):
    """Who changed what, from what, to what."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": 41,
                    "at": "2026-03-01T09:30:00Z",
                    "user_id": 1,
                    "user_name": "admin",
                    "action": "user.change",
                    "subject": "user/3",
                    "before": {"role": "curator", "is_active": True},
                    "after": {"role": "operator", "is_active": True},
                }
            ]
        },
        from_attributes=True,
    )

    id: int
    at: Instant
    user_id: int | None
    user_name: str
    action: str
    subject: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

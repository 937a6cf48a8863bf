"""Who may: people, the tokens of their programs, the sessions of their browsers. Secrets are kept as hashes alone."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Hash, Id, Name, Note, Seconds


class User(Base):
    """`epoch` rises when role or password change; sessions and tokens of an older epoch are void."""

    __tablename__ = "users"

    id: Mapped[Id]
    name: Mapped[Name] = mapped_column(unique=True)
    password_hash: Mapped[Note]
    role: Mapped[Name]
    is_active: Mapped[bool]
    epoch: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[Seconds]


class ApiToken(Base):
    """`role` is at most the owner's; `prefix` is what a person sees of it."""

    __tablename__ = "api_tokens"

    id: Mapped[Id]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    name: Mapped[Name]
    prefix: Mapped[Name]
    digest: Mapped[Hash] = mapped_column(unique=True)
    role: Mapped[Name]
    epoch: Mapped[int]
    created_at: Mapped[Seconds]
    expires_at: Mapped[Seconds | None]
    revoked_at: Mapped[Seconds | None]
    last_used_at: Mapped[Seconds | None]


class BrowserSession(Base):
    __tablename__ = "browser_sessions"
    __table_args__ = (Index(None, "user_id"),)

    id: Mapped[Id]
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    digest: Mapped[Hash] = mapped_column(unique=True)
    epoch: Mapped[int]
    created_at: Mapped[Seconds]
    expires_at: Mapped[Seconds]
    ended_at: Mapped[Seconds | None]

"""Attempts to sign in, counted for each name and each address. A row is worth nothing once its window has ended."""

from __future__ import annotations

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from primer.app.models.base import Base, Hash, Seconds


class LoginAttempts(Base):
    """`key` is a hash: what people type for a name may be anything, their password too."""

    __tablename__ = "login_attempts"
    __table_args__ = (Index(None, "ends_at"),)

    key: Mapped[Hash] = mapped_column(primary_key=True)
    attempts: Mapped[int]
    ends_at: Mapped[Seconds]

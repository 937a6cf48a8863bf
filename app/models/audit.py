"""What people changed: who, what, before and after. Rows are added and never changed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index
from sqlalchemy.orm import Mapped

from primer.app.models.base import Base, Id, Name, Seconds


class AuditEntry(Base):
    """`user_name` stays readable after the user is gone; `subject` is such as `job/12`."""

    __tablename__ = "audit_entries"
    __table_args__ = (Index(None, "subject"),)

    id: Mapped[Id]
    at: Mapped[Seconds]
    user_id: Mapped[int | None]
    user_name: Mapped[Name]
    action: Mapped[Name]
    subject: Mapped[Name]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any] | None]

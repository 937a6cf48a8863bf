"""Writing the audit log: in the transaction that makes the change, so that neither is without the other."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from primer.app.auth.actor import Actor
from primer.app.core.clock import now
from primer.app.models import AuditEntry


def record_change(
    session: Session,
    actor: Actor,
    action: str,
    subject: str,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """`action` is such as `job.cancel`, `subject` such as `job/12`. No secret and no document text goes into either side."""
    session.execute(
        insert(AuditEntry).values(
            at=now(),
            user_id=actor.user_id,
            user_name=actor.name,
            action=action,
            subject=subject,
            before=before,
            after=after,
        )
    )

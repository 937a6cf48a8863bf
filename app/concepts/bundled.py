"""The library's own catalogue as the first version, brought in when the service starts.

Once there is a version, a newer bundled one is not brought in by itself: it would take the place of what curators made.
"""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from curation.concepts.catalogue import open_catalogue
from primer.app.auth.actor import SYSTEM
from primer.app.auth.audit import record_change
from primer.app.concepts import content, repository
from primer.app.core.clock import now
from primer.app.models import CatalogueRecord


def import_bundled_catalogue(session: Session) -> CatalogueRecord | None:
    """Add the newest bundled catalogue where there is no version; what was added."""
    if repository.find_newest(session) is not None:
        return None
    catalogue = open_catalogue()
    record = CatalogueRecord(
        version=catalogue.version,
        content=content.dump_content(catalogue),
        sha256=catalogue.sha256,
        concept_count=len(catalogue.concepts),
        changes={},
        note="comes with the library",
        author=SYSTEM.name,
        created_at=session.execute(select(now())).scalar_one(),
        based_on=None,
    )
    session.add(record)
    session.flush()
    record_change(session, SYSTEM, "catalogue.import", f"catalogue/{record.version}", after={"sha256": record.sha256})
    return record

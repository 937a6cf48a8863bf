"""The first export of a run: the one that its curate job writes into the run folder."""

from __future__ import annotations

from typing import Final

from sqlalchemy.orm import Session

from curation.export.request import CONTROL, CURRICULUM
from primer.app.models import Export, Job

FIRST: Final = "first"
MADE: Final = "made"


def add_first_export(session: Session, job: Job) -> None:
    """List the export of a curate job that has just been finished, with what the job's report says of it."""
    written = (job.report or {}).get("export") or {}
    session.add(
        Export(
            kind=FIRST,
            source_id=job.source_id,
            base_job_id=job.id,
            job_id=job.id,
            folder=f"{job.folder}/export",
            documents_written=sum(written.get(f"{config}_rows", 0) for config in (CURRICULUM, CONTROL)),
            tokens_written=sum(written.get(f"{config}_tokens", 0) for config in (CURRICULUM, CONTROL)),
            bytes_written=written.get("bytes", 0),
        )
    )

"""Whether a row that somebody rules on exists: in the shards of the source as scanned, or as one of its runs opened them."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import islice
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curation.errors import LedgerError
from curation.run_folder import RunFolder
from primer.app.core.context import Context
from primer.app.core.errors import Unprocessable
from primer.app.jobs.states import JobKind
from primer.app.models import Job, SourceShard
from primer.app.overrides.id_sets import RowsByShard

_SHARDS_A_STATEMENT = 500


def require_rows(context: Context, session: Session, source_id: int, rows: RowsByShard) -> None:
    """Raises Unprocessable that names the first row which the source does not have."""
    counts = _count_rows(context, session, source_id, rows)
    for sha256, wanted in rows.items():
        if sha256 not in counts:
            raise Unprocessable(
                f"The source has no shard {sha256}.",
                hint="See the sha256 of its shards; scan it if it was never scanned.",
            )
        if len(wanted) and (wanted[0] < 0 or wanted[-1] >= counts[sha256]):
            row = int(wanted[0] if wanted[0] < 0 else wanted[-1])
            raise Unprocessable(
                f"Shard {sha256} has no row {row}.", hint=f"It has {counts[sha256]:,} rows, counted from 0."
            )


def _count_rows(context: Context, session: Session, source_id: int, wanted: Collection[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    names = iter(wanted)
    while portion := list(islice(names, _SHARDS_A_STATEMENT)):
        found = session.execute(
            select(SourceShard.sha256, func.max(SourceShard.row_count))
            .where(
                SourceShard.source_id == source_id,
                SourceShard.sha256.in_(portion),
                SourceShard.row_count.is_not(None),
            )
            .group_by(SourceShard.sha256)
        )
        counts.update((row[0] or "", row[1] or 0) for row in found)
    missing = set(wanted) - counts.keys()
    if missing:
        # Formats that are counted only when they are read, and shards that the source had before a scan found others.
        jobs = session.execute(
            select(Job.folder, Job.finished_at)
            .where(Job.source_id == source_id, Job.kind == JobKind.CURATE)
            .order_by(Job.id.desc())
        )
        for job in jobs:
            read = _read_shards if job.finished_at is not None else _read_shards.__wrapped__
            opened = read(context.settings.data_dir / job.folder)
            counts.update({sha256: opened[sha256] for sha256 in missing & opened.keys()})
            missing -= opened.keys()
            if not missing:
                break
    return counts


@lru_cache(maxsize=32)
def _read_shards(folder: Path) -> dict[str, int]:
    """Rows by sha256 of the shards that a run has opened."""
    ledger = RunFolder(folder).ledger
    try:
        opened = [ledger.read_shard(index) for index in range(len(ledger.read_plan().shards))]
    except LedgerError:
        return {}
    return {manifest.sha256: manifest.row_count for manifest in opened if manifest is not None}

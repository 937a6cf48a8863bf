"""The scan: list a source's shards and record what each says of itself. Safe to repeat at any moment.

What was known stays until the scan is through; then all of it is replaced in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select
from sqlalchemy.orm import Session

from curation.errors import PrimerError
from primer.app.auth.actor import SYSTEM
from primer.app.auth.audit import record_change
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.models import Source, SourceShard
from primer.app.sources import claims, repository
from primer.app.sources.claims import ScanClaim
from primer.app.sources.facts import ShardFacts, read_facts
from primer.app.sources.listing import list_allowed, reaching_source
from primer.app.sources.states import SourceState

_NAMED_SHARDS = 20  # in the audit log and in messages


def scan_source(context: Context, held: ScanClaim, *, check: Callable[[], None] = lambda: None) -> None:
    """Scan a claimed source to its end: it is then ready, or failed with the reason. Nothing is recorded by who lost the claim.

    `check` is called before every shard; what it raises ends the scan, and nothing is recorded.
    """
    with context.database.reading() as session:
        source = session.get(Source, held.source_id)
        places = repository.read_places(session)
    if source is None:
        return
    try:
        shards = list_allowed(places, source.locations, config=source.config, split=source.split)
        facts = []
        with reaching_source(places, source.locations):
            for shard in shards:
                check()
                facts.append(read_facts(shard))
    except PrimerError as error:
        _end_without_shards(context, held, str(error))
        return
    _record(context, held, facts)


def _end_without_shards(context: Context, held: ScanClaim, error: str) -> None:
    with context.database.transaction() as session:
        source = claims.lock_claimed(session, held)
        if source is not None:
            source.state, source.error = SourceState.FAILED, error


def _record(context: Context, held: ScanClaim, facts: list[ShardFacts]) -> None:
    with context.database.transaction() as session:
        source = claims.lock_claimed(session, held)
        if source is None:
            return
        source_id = source.id
        before = {shard.name: shard.sha256 for shard in repository.list_shards(session, source_id, -1, 1 << 31)}
        rows = [
            SourceShard(
                source_id=source_id,
                position=position,
                name=fact.name,
                size_bytes=fact.size_bytes,
                sha256=fact.sha256,
                row_count=fact.row_count,
                row_groups=fact.row_groups,
                error=fact.error,
            )
            for position, fact in enumerate(facts)
        ]
        repository.replace_shards(session, source_id, rows)
        broken = [fact for fact in facts if fact.error is not None]
        source.state = SourceState.FAILED if broken else SourceState.READY
        source.error = _describe_broken(broken, len(facts)) if broken else None
        source.shard_count = len(facts)
        source.size_bytes = sum(fact.size_bytes for fact in facts)
        counts = [fact.row_count for fact in facts]
        source.row_count = None if None in counts else sum(count or 0 for count in counts)
        source.scanned_at = session.execute(select(now())).scalar_one()
        if before:
            _record_difference(session, source_id, before, facts)


def _describe_broken(broken: list[ShardFacts], total: int) -> str:
    more = f" And {len(broken) - 1} more." if len(broken) > 1 else ""
    return f"{len(broken)} of {total} shards cannot be read: {broken[0].error}{more}"


def _record_difference(
    session: Session, source_id: int, before: dict[str, str | None], facts: list[ShardFacts]
) -> None:
    """Shards do not change: where one did, it is said for good."""
    after = {fact.name: fact.sha256 for fact in facts}
    difference = {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(name for name in after.keys() & before.keys() if after[name] != before[name]),
    }
    if any(difference.values()):
        named = {key: names[:_NAMED_SHARDS] for key, names in difference.items()}
        counts = {f"{key}_count": len(names) for key, names in difference.items()}
        record_change(session, SYSTEM, "source.changed", f"source/{source_id}", after={**counts, **named})

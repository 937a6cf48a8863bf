"""The SQL of sources, their shards, the allow-list and source rules. It decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from primer.app.core.errors import NotFound
from primer.app.models import AllowedPrefix, BulkRuling, Job, Override, Source, SourceRule, SourceShard
from primer.app.sources.places import Places, Prefix


def require_source(session: Session, source_id: int) -> Source:
    """Raises NotFound."""
    source = session.get(Source, source_id)
    if source is None:
        raise NotFound(f"There is no source {source_id}.")
    return source


def lock_source(session: Session, source_id: int) -> Source | None:
    """The source, that nobody else changes until the transaction ends; None when it is gone."""
    return session.get(Source, source_id, with_for_update={"key_share": True})


def list_sources(session: Session, after: int, limit: int) -> Sequence[Source]:
    return session.execute(select(Source).where(Source.id > after).order_by(Source.id).limit(limit)).scalars().all()


def list_shards(session: Session, source_id: int, after: int, limit: int) -> Sequence[SourceShard]:
    """By position; `after` is one."""
    wanted = select(SourceShard).where(SourceShard.source_id == source_id, SourceShard.position > after)
    return session.execute(wanted.order_by(SourceShard.position).limit(limit)).scalars().all()


def require_shard(session: Session, source_id: int, position: int) -> SourceShard:
    """Raises NotFound."""
    wanted = select(SourceShard).where(SourceShard.source_id == source_id, SourceShard.position == position)
    shard = session.execute(wanted).scalar_one_or_none()
    if shard is None:
        raise NotFound(f"Source {source_id} has no shard {position}.", hint="Scan it first, or count from 0.")
    return shard


def replace_shards(session: Session, source_id: int, shards: Sequence[SourceShard]) -> None:
    session.execute(delete(SourceShard).where(SourceShard.source_id == source_id))
    session.add_all(shards)


def count_jobs(session: Session, source_id: int) -> int:
    return session.execute(select(func.count()).select_from(Job).where(Job.source_id == source_id)).scalar_one()


def count_rulings(session: Session, source_id: int) -> int:
    counts = (
        select(func.count()).select_from(kind).where(kind.source_id == source_id) for kind in (Override, BulkRuling)
    )
    return sum(session.execute(count).scalar_one() for count in counts)


def delete_source(session: Session, source: Source) -> None:
    """With its shards and its own rules."""
    session.execute(delete(SourceShard).where(SourceShard.source_id == source.id))
    session.execute(delete(SourceRule).where(SourceRule.source_id == source.id))
    session.delete(source)


def read_places(session: Session) -> Places:
    """The allow-list."""
    return Places(Prefix(row.prefix, row.allows_private) for row in session.execute(select(AllowedPrefix)).scalars())


def list_prefixes(session: Session, after: int, limit: int) -> Sequence[AllowedPrefix]:
    wanted = select(AllowedPrefix).where(AllowedPrefix.id > after).order_by(AllowedPrefix.id).limit(limit)
    return session.execute(wanted).scalars().all()


def require_prefix(session: Session, prefix_id: int) -> AllowedPrefix:
    """Raises NotFound."""
    prefix = session.get(AllowedPrefix, prefix_id)
    if prefix is None:
        raise NotFound(f"There is no allowed prefix {prefix_id}.")
    return prefix


def list_rules(
    session: Session, after: int, limit: int, *, source_id: int | None, has_retired: bool
) -> Sequence[SourceRule]:
    """Of every source and of `source_id`; None: those of all sources."""
    wanted = select(SourceRule).where(SourceRule.id > after)
    if source_id is not None:
        wanted = wanted.where(or_(SourceRule.source_id.is_(None), SourceRule.source_id == source_id))
    if not has_retired:
        wanted = wanted.where(SourceRule.retired_at.is_(None))
    return session.execute(wanted.order_by(SourceRule.id).limit(limit)).scalars().all()


def list_rules_in_force(session: Session, source_id: int) -> Sequence[SourceRule]:
    """What binds a run of the source that begins now."""
    wanted = select(SourceRule).where(
        SourceRule.retired_at.is_(None), or_(SourceRule.source_id.is_(None), SourceRule.source_id == source_id)
    )
    return session.execute(wanted.order_by(SourceRule.id)).scalars().all()


def lock_rule(session: Session, rule_id: int) -> SourceRule:
    """Raises NotFound."""
    rule = session.get(SourceRule, rule_id, with_for_update={"key_share": True})
    if rule is None:
        raise NotFound(f"There is no source rule {rule_id}.")
    return rule

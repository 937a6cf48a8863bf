"""What people do with sources: register, scan anew, remove, look into. Each change is one transaction, and audited."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.models import Source, SourceShard
from primer.app.sources import claims, repository
from primer.app.sources.listing import list_allowed, reaching_source
from primer.app.sources.places import normalize_location
from primer.app.sources.preview import Preview, preview_shard
from primer.app.sources.states import SourceState


def register_source(
    context: Context,
    actor: Actor,
    *,
    name: str,
    locations: Sequence[str],
    config: str | None,
    split: str | None,
    text_field: str,
) -> Source:
    """A source that waits for its scan. Its locations are kept in their normal spelling.

    Raises NotAllowed when one is under no allowed prefix, Conflict when the name is taken.
    """
    actor.require(Action.SOURCES)
    normal = list(dict.fromkeys(normalize_location(location) for location in locations))
    try:
        with context.database.transaction() as session:
            places = repository.read_places(session)
            for location in normal:
                places.find(location)
            source = Source(
                name=name,
                locations=normal,
                config=config,
                split=split,
                text_field=text_field,
                state=SourceState.REGISTERED,
                created_by=actor.name,
                created_at=session.execute(select(now())).scalar_one(),
            )
            session.add(source)
            claims.wait_for_scan(session, context, source)
            record_change(session, actor, "source.register", f"source/{source.id}", after=_describe(source))
            return source
    except IntegrityError as error:
        raise Conflict(f"There is already a source {name}.", hint="Choose another name.") from error


def request_scan(context: Context, actor: Actor, source_id: int) -> Source:
    """Let a source be scanned again; one that waits already goes on waiting. Raises NotFound."""
    actor.require(Action.SOURCES)
    with context.database.transaction() as session:
        repository.require_source(session, source_id)
        source = repository.lock_source(session, source_id)
        assert source is not None
        before = source.state
        if before != SourceState.REGISTERED:
            claims.wait_for_scan(session, context, source)
        if before != source.state:
            record_change(
                session,
                actor,
                "source.scan",
                f"source/{source_id}",
                before={"state": before},
                after={"state": source.state},
            )
        return source


def list_sources(context: Context, actor: Actor, *, after: int, limit: int) -> Sequence[Source]:
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_sources(session, after, limit)


def read_source(context: Context, actor: Actor, source_id: int) -> Source:
    """Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.require_source(session, source_id)


def list_shards(context: Context, actor: Actor, source_id: int, *, after: int, limit: int) -> Sequence[SourceShard]:
    """By position. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        repository.require_source(session, source_id)
        return repository.list_shards(session, source_id, after, limit)


def read_shard(context: Context, actor: Actor, source_id: int, position: int) -> SourceShard:
    """Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.require_shard(session, source_id, position)


def preview_source(context: Context, actor: Actor, source_id: int, *, row_count: int) -> Preview:
    """The first rows of the first shard. Raises NotFound, NotAllowed where the allow-list has changed, SourceError."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        source = repository.require_source(session, source_id)
        places = repository.read_places(session)
    first = source.locations[:1]
    shards = list_allowed(places, first, config=source.config, split=source.split)
    with reaching_source(places, first):
        return preview_shard(shards[0], source.text_field, row_count)


def remove_source(context: Context, actor: Actor, source_id: int) -> None:
    """With its shards' facts and its own rules; no file is touched. Raises NotFound, Conflict while jobs or rulings name it."""
    actor.require(Action.SOURCES)
    try:
        with context.database.transaction() as session:
            source = repository.require_source(session, source_id)
            if jobs := repository.count_jobs(session, source_id):
                raise Conflict(
                    f"The source {source.name} is what {jobs} jobs were made from.",
                    hint="Their results would no longer say where they are from: keep the source.",
                )
            if rulings := repository.count_rulings(session, source_id):
                raise Conflict(
                    f"The source {source.name} has {rulings} rulings, which are never erased.", hint="Keep it."
                )
            repository.delete_source(session, source)
            record_change(session, actor, "source.remove", f"source/{source_id}", before=_describe(source))
    except IntegrityError as error:
        raise Conflict(
            "A job was started from the source, or somebody ruled on it, meanwhile.", hint="Keep the source."
        ) from error


def _describe(source: Source) -> dict[str, object]:
    return {
        "name": source.name,
        "locations": source.locations,
        "config": source.config,
        "split": source.split,
        "text_field": source.text_field,
    }

"""What people do with rulings: keep or exclude documents, one or many, and undo. Each is one transaction, and audited.

The source's revision is taken first and holds until the commit: of two people who rule at once, the second is told of
the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from sqlalchemy import select
from sqlalchemy.orm import Session

from curation.overrides import Action as Verb
from curation.overrides import Overrides
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotFound, Unprocessable
from primer.app.core.events import record_event
from primer.app.models import BulkRuling, Override
from primer.app.overrides import repository
from primer.app.overrides.id_sets import RowsByShard, group_rows, write_id_set
from primer.app.overrides.known_rows import require_rows
from primer.app.overrides.loading import encode_overrides, load_overrides, read_ids
from primer.app.overrides.repository import Record
from primer.app.sources.repository import require_source

__all__ = ["encode_overrides", "load_overrides"]  # what other rooms find here

_EXAMPLES = 20


@dataclass(frozen=True)
class Disagreement:
    """Another person's ruling that was in force on a row and said otherwise."""

    shard_sha256: str
    row: int
    revision: int
    action: str
    author: str
    reason: str


@dataclass(frozen=True)
class Ruled:
    """A ruling that was made. `disagreement_count` rows had another person's ruling; the first are named."""

    record: Record
    disagreement_count: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)


def list_rulings(
    context: Context,
    actor: Actor,
    source_id: int,
    *,
    before: int | None,
    limit: int,
    author: str | None = None,
    place: tuple[str, int] | None = None,
) -> list[Record]:
    """Newest first; `place` (shard sha256, row): what was ruled on that document alone. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        require_source(session, source_id)
        if place is None:
            return repository.list_rulings(session, source_id, before=before, limit=limit, author=author)
        reader = partial(read_ids, context)
        return repository.list_of_row(session, source_id, *place, reader, before=before, limit=limit, author=author)


def read_revision(context: Context, actor: Actor, source_id: int) -> tuple[int, float | None]:
    """The number of the newest ruling and when it was made; 0 and None where there is none. Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        require_source(session, source_id)
        revision = repository.read_revision(session, source_id)
        return revision, repository.find_time(session, source_id, revision)


def read_all(context: Context, actor: Actor, source_id: int, revision: int | None) -> Overrides:
    """Raises NotFound."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        require_source(session, source_id)
    return load_overrides(context, source_id, revision)


def rule(
    context: Context,
    actor: Actor,
    source_id: int,
    *,
    shard_sha256: str,
    row: int,
    action: Literal["keep", "exclude"],
    reason: str,
) -> Ruled:
    """Raises NotFound, Unprocessable for a row that the source does not have."""
    actor.require(Action.RULE)
    with context.database.reading() as session:
        require_source(session, source_id)
        require_rows(context, session, source_id, {shard_sha256: np.array([row], np.int64)})
    with context.database.transaction() as session:
        revision = repository.take_revision(session, source_id)
        before = _find_in_force(context, session, source_id, shard_sha256, row)
        return _add_single(session, actor, source_id, revision, shard_sha256, row, action, reason, before)


def undo_row(context: Context, actor: Actor, source_id: int, *, shard_sha256: str, row: int, reason: str) -> Ruled:
    """Let the profile decide a document again. Raises NotFound, Conflict where no ruling is in force."""
    actor.require(Action.RULE)
    with context.database.transaction() as session:
        require_source(session, source_id)
        revision = repository.take_revision(session, source_id)
        before = _find_in_force(context, session, source_id, shard_sha256, row)
        if before is None:
            raise Conflict(
                f"No ruling is in force on row {row} of shard {shard_sha256}.", hint="There is nothing to undo."
            )
        return _add_single(session, actor, source_id, revision, shard_sha256, row, "undo", reason, before)


def undo_ruling(context: Context, actor: Actor, source_id: int, revision: int, *, reason: str) -> Ruled:
    """Undo one ruling wherever it is still in force; what was ruled later stays. Raises NotFound, Conflict where it is in
    force nowhere."""
    actor.require(Action.RULE)
    with context.database.reading() as session:
        require_source(session, source_id)
        record = repository.find_ruling(session, source_id, revision)
    if record is None:
        raise NotFound(f"Source {source_id} has no ruling {revision}.")
    overrides = load_overrides(context, source_id)
    shards = [record.shard_sha256] if record.shard_sha256 is not None else list(read_ids(context, record))
    rows = {}
    for shard in shards:
        found, entries = overrides.find_in_force(shard, "")
        rows[shard] = found[entries == revision - 1]
    rows = {shard: found for shard, found in rows.items() if len(found)}
    if not rows:
        raise Conflict(f"Ruling {revision} is in force nowhere any more.", hint="There is nothing to undo.")
    if record.row is not None and record.shard_sha256 is not None:
        return undo_row(context, actor, source_id, shard_sha256=record.shard_sha256, row=record.row, reason=reason)
    return _rule_on(context, actor, source_id, rows, "undo", reason, {"undoes": revision})


def rule_in_bulk(
    context: Context,
    actor: Actor,
    source_id: int,
    rows: pa.Table,
    action: Verb,
    reason: str,
    query: dict[str, Any] | None,
) -> Ruled:
    """One ruling on all `rows` (columns shard_sha256 and row), which are frozen. `query`: how they were found, as JSON.

    Raises NotFound, Unprocessable for no rows or one that the source does not have.
    """
    actor.require(Action.RULE)
    grouped = group_rows(rows)
    if not grouped:
        raise Unprocessable("A bulk ruling needs at least one row.", hint="Name rows, or widen the query.")
    with context.database.reading() as session:
        require_source(session, source_id)
        require_rows(context, session, source_id, grouped)
    return _rule_on(context, actor, source_id, grouped, action, reason, query)


def _rule_on(
    context: Context,
    actor: Actor,
    source_id: int,
    rows: RowsByShard,
    action: Verb,
    reason: str,
    query: dict[str, Any] | None,
) -> Ruled:
    file, sha256 = write_id_set(context.settings.data_dir, source_id, rows)
    load_overrides(context, source_id)  # so that only what is new is left to read while others wait
    with context.database.transaction() as session:
        revision = repository.take_revision(session, source_id)
        count, examples = _find_disagreements(load_overrides(context, source_id), actor, rows, action)
        row_count = sum(map(len, rows.values()))
        at = session.execute(select(now())).scalar_one()
        record = Record(revision, action, actor.name, reason, at, row_count, file=file, file_sha256=sha256, query=query)
        session.add(
            BulkRuling(
                source_id=source_id,
                revision=revision,
                action=action,
                author=actor.name,
                reason=reason,
                at=at,
                row_count=row_count,
                file=file,
                file_sha256=sha256,
                query=query,
            )
        )
        _tell(session, actor, source_id, record, None)
        return Ruled(record, count, examples)


def _add_single(
    session: Session,
    actor: Actor,
    source_id: int,
    revision: int,
    shard_sha256: str,
    row: int,
    action: Verb,
    reason: str,
    before: Record | None,
) -> Ruled:
    at = session.execute(select(now())).scalar_one()
    record = Record(revision, action, actor.name, reason, at, 1, shard_sha256, row)
    session.add(
        Override(
            source_id=source_id,
            revision=revision,
            shard_sha256=shard_sha256,
            row=row,
            action=action,
            author=actor.name,
            reason=reason,
            at=at,
        )
    )
    _tell(session, actor, source_id, record, before)
    if before is None or before.author == actor.name or before.action == action:
        return Ruled(record)
    other = Disagreement(shard_sha256, row, before.revision, before.action, before.author, before.reason)
    return Ruled(record, 1, [other])


def _tell(session: Session, actor: Actor, source_id: int, record: Record, before: Record | None) -> None:
    session.flush()
    described = _describe(record)
    record_change(
        session,
        actor,
        f"ruling.{record.action}",
        f"source/{source_id}",
        before=_describe(before) if before else None,
        after=described | {"query": record.query} if record.is_bulk else described,
    )
    told = ("revision", "action", "author", "row_count", "shard_sha256", "row")
    record_event(session, "ruling", {"source_id": source_id} | {name: getattr(record, name) for name in told})


def _describe(record: Record) -> dict[str, object]:
    described: dict[str, object] = {
        "revision": record.revision,
        "action": record.action,
        "author": record.author,
        "reason": record.reason,
    }
    if record.is_bulk:
        return described | {"row_count": record.row_count, "file_sha256": record.file_sha256}
    return described | {"shard_sha256": record.shard_sha256, "row": record.row}


def _find_in_force(context: Context, session: Session, source_id: int, shard_sha256: str, row: int) -> Record | None:
    reader = partial(read_ids, context)
    latest = repository.list_of_row(session, source_id, shard_sha256, row, reader, limit=1)
    return latest[0] if latest and latest[0].action != "undo" else None


def _find_disagreements(
    overrides: Overrides, actor: Actor, rows: RowsByShard, action: Verb
) -> tuple[int, list[Disagreement]]:
    count = 0
    examples: list[Disagreement] = []
    for shard, wanted in rows.items():
        ruled, entries = overrides.find_in_force(shard, "")
        entries = entries[np.isin(ruled, wanted, assume_unique=True)]
        ruled = ruled[np.isin(ruled, wanted, assume_unique=True)]
        differing = [
            place
            for place in np.unique(entries).tolist()
            if (entry := overrides.rulings[place]).author != actor.name and entry.action != action
        ]
        is_other = np.isin(entries, differing)
        count += int(is_other.sum())
        for row, place in zip(ruled[is_other].tolist(), entries[is_other].tolist(), strict=True):
            if len(examples) == _EXAMPLES:
                break
            entry = overrides.rulings[place]
            examples.append(Disagreement(shard, row, place + 1, entry.action, entry.author, entry.reason))
    return count, examples

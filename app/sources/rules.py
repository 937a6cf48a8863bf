"""Source rules in the service: added with a reason, retired, never changed. They bind the runs that begin after."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from curation import source_rules
from curation.source_rules import RuleKind
from primer.app.auth.actor import Actor
from primer.app.auth.audit import record_change
from primer.app.auth.roles import Action
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, Unprocessable
from primer.app.models import SourceRule
from primer.app.sources import repository


def list_rules(
    context: Context, actor: Actor, *, after: int, limit: int, source_id: int | None, has_retired: bool
) -> Sequence[SourceRule]:
    """Of all sources; with `source_id` those that bind it."""
    actor.require(Action.READ)
    with context.database.reading() as session:
        return repository.list_rules(session, after, limit, source_id=source_id, has_retired=has_retired)


def add_rule(
    context: Context, actor: Actor, *, source_id: int | None, kind: RuleKind, value: str, reason: str
) -> SourceRule:
    """`source_id` None: for every source. Raises Unprocessable for what is no rule, NotFound, Conflict when it is in force."""
    actor.require(Action.SOURCES)
    try:
        wanted = source_rules.SourceRule(kind=kind, value=value)
    except ValidationError as error:
        raise Unprocessable(f"The rule's value: {error.errors()[0]['msg']}.") from error
    with context.database.transaction() as session:
        if source_id is not None:
            repository.require_source(session, source_id)
        known = repository.list_rules(session, 0, 1 << 31, source_id=source_id, has_retired=False)
        if any((rule.kind, rule.value) == (wanted.kind, wanted.value) for rule in known):
            raise Conflict(f"{wanted.kind} {wanted.value!a} is excluded already.", hint="See GET /api/v1/source-rules.")
        rule = SourceRule(
            source_id=source_id,
            kind=wanted.kind,
            value=wanted.value,
            reason=reason,
            created_by=actor.name,
            created_at=session.execute(select(now())).scalar_one(),
        )
        session.add(rule)
        session.flush()
        record_change(session, actor, "source_rule.add", f"source-rule/{rule.id}", after=_describe(rule))
        return rule


def retire_rule(context: Context, actor: Actor, rule_id: int) -> SourceRule:
    """It binds no run that begins after. Raises NotFound, Conflict when it is retired already."""
    actor.require(Action.SOURCES)
    with context.database.transaction() as session:
        rule = repository.lock_rule(session, rule_id)
        if rule.retired_at is not None:
            raise Conflict(f"{rule.retired_by} has retired rule {rule_id} already.")
        rule.retired_by = actor.name
        rule.retired_at = session.execute(select(now())).scalar_one()
        record_change(session, actor, "source_rule.retire", f"source-rule/{rule_id}", before=_describe(rule))
        return rule


def read_binding_rules(session: Session, source_id: int) -> tuple[source_rules.SourceRule, ...]:
    """What a run of the source that begins now is asked for with, in the order in which the rules were made."""
    rows = repository.list_rules_in_force(session, source_id)
    return tuple(source_rules.SourceRule.model_validate({"kind": row.kind, "value": row.value}) for row in rows)


def _describe(rule: SourceRule) -> dict[str, object]:
    return {"source_id": rule.source_id, "kind": rule.kind, "value": rule.value, "reason": rule.reason}

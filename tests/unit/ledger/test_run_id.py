"""The id of a run: one plan, one id, on every machine; another plan, another id."""

from __future__ import annotations

import json
from hashlib import sha256

from curation.ledger.store import Plan, PlannedShard
from curation.recipe import Recipe

RECIPE = Recipe(artifacts={"aoa": "a" * 64}, frequencies="a list")
SHARDS = (PlannedShard(name="a.parquet", size_bytes=1), PlannedShard(name="b.parquet", size_bytes=2))


def test_the_id_is_the_beginning_of_the_hash_of_the_plan() -> None:
    plan = Plan(recipe=RECIPE, shards=SHARDS, row_limit=None)
    assert plan.run_id == sha256(json.dumps(plan.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:16]
    assert Plan.model_validate_json(plan.model_dump_json()).run_id == plan.run_id


def test_whatever_differs_gives_another_id() -> None:
    plans = [
        Plan(recipe=RECIPE, shards=SHARDS, row_limit=None),
        Plan(recipe=RECIPE, shards=SHARDS, row_limit=0),
        Plan(recipe=RECIPE, shards=SHARDS[::-1], row_limit=None),
        Plan(recipe=RECIPE, shards=SHARDS[:1], row_limit=None),
        Plan(recipe=RECIPE.model_copy(update={"text_field": "content"}), shards=SHARDS, row_limit=None),
    ]
    assert len({plan.run_id for plan in plans}) == len(plans)

"""Samples of slices: drawn by share, seed, shard and number alone, and never empty in the first shard."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from pydantic import ValidationError
from test_chance import mix

from curation.ledger.store import Plan, PlannedShard
from curation.recipe import Recipe
from curation.shards.manifest import ShardManifest, Slice
from curation.slice_sample import Sample, choose_slices

RECIPE = Recipe(artifacts={"aoa": "a" * 64}, frequencies="a list")


def make_manifest(slices: int, *, index: int = 0, content: bytes = b"a shard") -> ShardManifest:
    pieces = tuple(Slice(index=i, first_row=i * 10, row_count=10, file="", row_groups=(i,)) for i in range(slices))
    return ShardManifest(
        index=index,
        name=f"shard-{index}.parquet",
        sha256=sha256(content).hexdigest(),
        size_bytes=1,
        row_count=slices * 10,
        blank_line_count=0,
        staging="",
        slices=pieces,
        error=None,
    )


def choose(manifest: ShardManifest, share: float, seed: int = 0) -> list[int]:
    return [piece.index for piece in choose_slices(manifest, Sample(share=share, seed=seed))]


def test_without_a_sample_every_slice_is_chosen() -> None:
    manifest = make_manifest(5)
    assert choose_slices(manifest, None) == manifest.slices


def test_the_slices_below_the_share_are_drawn() -> None:
    manifest = make_manifest(200, index=3)
    expected = [i for i in range(200) if (mix(manifest.sha256, i, 7, "slices") >> 11) / 2**53 < 0.3]
    assert choose(manifest, 0.3, seed=7) == expected
    assert 40 < len(expected) < 80


def test_a_larger_share_adds_slices_and_takes_none_away() -> None:
    manifest = make_manifest(200, index=3)
    assert set(choose(manifest, 0.1)) < set(choose(manifest, 0.5)) < set(range(200))


def test_seeds_and_shards_draw_independently() -> None:
    drawn = {
        tuple(choose(make_manifest(64, index=1, content=content), 0.5, seed))
        for content in (b"a", b"b")
        for seed in (0, 1)
    }
    assert len(drawn) == 4


def test_the_place_of_a_shard_in_the_source_changes_nothing() -> None:
    assert choose(make_manifest(64, index=0), 0.5) == choose(make_manifest(64, index=9), 0.5)


def test_only_the_first_shard_gives_its_first_slice_where_none_is_drawn() -> None:
    assert choose(make_manifest(3, index=0), 1e-9) == [0]
    assert choose(make_manifest(3, index=1), 1e-9) == []
    assert choose(make_manifest(0, index=0), 1e-9) == []


@pytest.mark.parametrize("values", [{"share": 0}, {"share": 1}, {"share": -0.1}, {"share": 0.5, "seed": -1}, {}])
def test_what_is_no_share_or_seed_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Sample(**values)


def test_a_plan_without_a_sample_keeps_its_bytes_and_id() -> None:
    plan = Plan(recipe=RECIPE, shards=(PlannedShard(name="a", size_bytes=1),), row_limit=None)
    content = {
        "recipe": RECIPE.model_dump(mode="json"),
        "shards": [{"name": "a", "size_bytes": 1}],
        "row_limit": None,
    }
    assert plan.model_dump(mode="json") == content
    assert json.loads(plan.model_dump_json()) == content
    assert plan.run_id == sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def test_a_plan_with_a_sample_is_another_run_and_comes_back() -> None:
    plans = [
        Plan(recipe=RECIPE, shards=(), row_limit=None, sample=sample)
        for sample in (None, Sample(share=0.1), Sample(share=0.2), Sample(share=0.1, seed=1))
    ]
    assert len({plan.run_id for plan in plans}) == 4
    assert [Plan.model_validate_json(plan.model_dump_json()) for plan in plans] == plans
    assert plans[1].model_dump(mode="json")["sample"] == {"share": 0.1, "seed": 0}

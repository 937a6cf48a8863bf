"""The layer equals a recount in plain Python; it is measured once, by any number of workers, and older ones stay readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from concept_catalogues import CELL, GAS, SLOPE, SMALL, make_catalogue, make_concept
from concept_world import World
from plain_concepts import count_plainly

from curation.concepts.catalogue import Catalogue
from curation.concepts.layer import CONCEPTS_SCHEMA, list_recorded, name_concepts_layer, read_concepts
from curation.concepts.measure import ConceptProgress, measure_concepts, plan_measuring
from curation.errors import LedgerError
from curation.normalize import normalize
from curation.run_folder import RunFolder

NEWER = make_catalogue(
    SLOPE,
    GAS.model_copy(update={"innocent": (), "terms": ("compound",)}),
    CELL.model_copy(update={"name": "cells"}),
    make_concept("dog", terms=["dog"]),
    version=2,
)


def read_layer(run: RunFolder, catalogue: Catalogue) -> list[tuple[str, int, str, int, int, int]]:
    return [
        (ref.shard.name, row["row"], row["concept"], row["count"], row["start"], row["end"])
        for ref in run.ledger.slices()
        for row in read_concepts(run.ledger, ref.id, catalogue).to_pylist()
    ]


def recount(world: World, catalogue: Catalogue) -> list[tuple[str, int, str, int, int, int]]:
    order = [concept.id for concept in catalogue.concepts]
    found = []
    for shard, texts in world.texts.items():
        normalized = [None if text is None else normalize(text).text for text in texts]
        counted = count_plainly(catalogue.concepts, normalized)
        found += [(shard, row, concept, *counts) for (row, concept), counts in counted.items()]
    return sorted(found, key=lambda entry: (entry[0], entry[1], order.index(entry[2])))


def read_parts(run: RunFolder, catalogue: Catalogue) -> dict[str, bytes]:
    layer = name_concepts_layer(catalogue)
    return {path.name: path.read_bytes() for path in (run.ledger.folder / "parts" / layer).iterdir()}


def test_the_layer_equals_a_plain_recount(fresh: World) -> None:
    progress = measure_concepts(fresh.run, SMALL)
    slices = list(fresh.run.ledger.slices())
    assert len(slices) > 3
    assert progress == ConceptProgress(
        f"concepts-1-{SMALL.sha256[:12]}", len(slices), 3, slices_done=len(slices), documents=63
    )
    layer = read_layer(fresh.run, SMALL)
    assert layer == recount(fresh, SMALL)
    assert ("shard-0.parquet", 1, "gas", 3, 15, 23) in layer
    assert not any(row == 3 for shard, row, *_ in layer if shard == "shard-0.parquet")
    assert read_concepts(fresh.run.ledger, slices[0].id, SMALL).schema.equals(CONCEPTS_SCHEMA)


def test_measuring_again_reads_nothing_and_workers_change_no_byte(
    fresh: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    measure_concepts(fresh.run, SMALL)
    before = read_parts(fresh.run, SMALL)
    again = measure_concepts(fresh.run, SMALL)
    assert (again.documents, again.slices_reused, again.slices_done) == (0, again.slices, again.slices)
    assert plan_measuring(fresh.run, SMALL).concepts == ()
    (fresh.run.ledger.folder / "commits" / name_concepts_layer(SMALL)).rename(
        tmp_path_factory.mktemp("old") / "commits"
    )
    assert measure_concepts(fresh.run, SMALL, workers=2).documents == 63
    assert read_parts(fresh.run, SMALL) == before


def test_a_killed_measuring_carries_on(fresh: World) -> None:
    class Killed(Exception):
        pass

    def kill(progress: ConceptProgress) -> None:
        if progress.slices_done == 2:
            raise Killed

    with pytest.raises(Killed):
        measure_concepts(fresh.run, SMALL, on_progress=kill)
    ref = next(iter(fresh.run.ledger.slices()))
    assert plan_measuring(fresh.run, SMALL).slices_missing == plan_measuring(fresh.run, SMALL).slices - 2
    assert len(read_concepts(fresh.run.ledger, ref.id, SMALL)) > 0
    progress = measure_concepts(fresh.run, SMALL)
    assert (progress.slices_reused, progress.slices_done) == (2, progress.slices)
    assert read_layer(fresh.run, SMALL) == recount(fresh, SMALL)


def test_of_a_new_version_only_what_changed_is_looked_for_and_the_old_layer_stays(
    fresh: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    measure_concepts(fresh.run, SMALL)
    old = read_layer(fresh.run, SMALL)
    plan = plan_measuring(fresh.run, NEWER)
    assert plan.concepts == ("gas", "dog")
    assert plan.base is not None
    assert plan.base.catalogue == SMALL
    progress = measure_concepts(fresh.run, NEWER)
    assert progress.concepts_copied == 2
    assert read_layer(fresh.run, NEWER) == recount(fresh, NEWER)
    assert read_layer(fresh.run, SMALL) == old
    assert [recorded.catalogue for recorded in list_recorded(fresh.run.ledger)] == [SMALL, NEWER]
    assert all(recorded.is_whole for recorded in list_recorded(fresh.run.ledger))
    copied = read_parts(fresh.run, NEWER)
    for kind in ("commits", "parts"):
        for layer in (SMALL, NEWER):
            name = name_concepts_layer(layer)
            (fresh.run.ledger.folder / kind / name).rename(tmp_path_factory.mktemp("away") / f"{kind}-{name}")
    measure_concepts(fresh.run, NEWER)
    assert read_parts(fresh.run, NEWER) == copied


def test_a_catalogue_that_is_only_reworded_reads_no_text(fresh: World) -> None:
    measure_concepts(fresh.run, SMALL)
    reworded = make_catalogue(*(c.model_copy(update={"name": f"{c.name} anew"}) for c in SMALL.concepts), version=2)
    assert measure_concepts(fresh.run, reworded).documents == 0
    assert read_layer(fresh.run, reworded) == read_layer(fresh.run, SMALL)


def test_a_renamed_concept_keeps_its_hits(fresh: World) -> None:
    measure_concepts(fresh.run, SMALL)
    renamed = make_catalogue(GAS.model_copy(update={"id": "gases"}), version=2)
    assert measure_concepts(fresh.run, renamed).documents == 0
    assert read_layer(fresh.run, renamed) == recount(fresh, renamed)


def test_sweeping_the_ledger_takes_no_layer_away(fresh: World) -> None:
    measure_concepts(fresh.run, SMALL)
    assert fresh.run.ledger.sweep() == 0
    assert read_layer(fresh.run, SMALL) == recount(fresh, SMALL)


def test_a_shard_that_changed_is_told_and_the_rest_goes_on(fresh: World) -> None:
    path = fresh.tmp / "source" / "shard-1.parquet"
    path.write_bytes(path.read_bytes() + b" ")
    progress = measure_concepts(fresh.run, SMALL)
    assert progress.slices_done == progress.slices - len(progress.failures)
    assert {failure["where"].split()[0] for failure in progress.failures} == {"shard-1.parquet"}
    assert "has changed" in progress.failures[0]["error"]


def test_what_was_not_measured_is_an_error_that_says_what_to_do(world: World) -> None:
    ref = next(iter(world.run.ledger.slices()))
    with pytest.raises(LedgerError, match=r"was not measured with the concepts test v9 .*primer concepts measure"):
        read_concepts(world.run.ledger, ref.id, make_catalogue(GAS, version=9))


def test_an_empty_folder_has_no_run(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="There is no run"):
        measure_concepts(RunFolder(tmp_path / "none"), SMALL)

"""A measured run with its index, of the bundled sample and of a shared shard."""

from __future__ import annotations

from pathlib import Path

import pytest
from indexed_runs import World, measure_run, open_world

from curation.index import SignalIndex, build_index, open_index
from curation.sample.build import sample_dir


@pytest.fixture(scope="session", params=["sample", "shared"])
def audited(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, SignalIndex]:
    return _prepare(request, tmp_path_factory.mktemp(f"audited-{request.param}"))


def _prepare(request: pytest.FixtureRequest, folder: Path) -> tuple[World, SignalIndex]:
    if request.param == "shared":
        shard = request.getfixturevalue("shared") / "data" / "shards" / "fineweb_edu-00000.parquet"
        run = measure_run(folder / "run", [shard], row_limit=316, slice_bytes=1 << 19)
    else:
        run = measure_run(folder / "run", sorted(sample_dir().glob("*.parquet")), row_limit=300)
    world = open_world(run)
    return world, open_index(build_index(run, folder / "indexes", table=world.table))

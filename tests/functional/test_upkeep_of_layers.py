"""Layers that are measured after a run travel with it: import brings them, gc and a sweep leave them, a backup has the catalogues."""

from __future__ import annotations

from pathlib import Path

import cli_runs
import pytest
from exported_runs import bring_run
from sqlalchemy import select

from curation.concepts.catalogue import open_catalogue
from curation.concepts.layer import list_recorded, name_concepts_layer, read_concepts
from curation.concepts.measure import measure_concepts
from curation.run_folder import RunFolder
from primer.app.concepts.bundled import import_bundled_catalogue
from primer.app.concepts.content import read_catalogue
from primer.app.concepts.repository import require_version
from primer.app.core.context import Context
from primer.app.core.settings import Settings
from primer.app.models import CatalogueRecord
from primer.app.upkeep.archive import write_backup
from primer.app.upkeep.garbage import collect_garbage
from primer.app.upkeep.restore import restore_backup

BUNDLED = open_catalogue()
SENSES = "senses-0123456789ab"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The sample with concepts, and with a part of every slice in a layer named as one of senses is."""
    out = tmp_path_factory.mktemp("layers") / "run"
    cli_runs.run_primer("run", cli_runs.SAMPLE, "--out", out, "--no-encoder", "--workers", "1", "-q")
    run = RunFolder(out)
    assert measure_concepts(run, BUNDLED).failures == []
    for ref in run.ledger.slices():
        run.ledger.commit(SENSES, ref.id, read_concepts(run.ledger, ref.id, BUNDLED))
    return run


def require_layers(run: RunFolder, expected: RunFolder) -> None:
    [recorded] = list_recorded(run.ledger)
    assert (recorded.catalogue, recorded.is_whole) == (BUNDLED, True)
    for ref in expected.ledger.slices():
        for layer in (name_concepts_layer(BUNDLED), SENSES):
            assert run.ledger.read_part(layer, ref.id).equals(expected.ledger.read_part(layer, ref.id))


def test_an_import_brings_layers_and_catalogues_and_upkeep_leaves_them(context: Context, run: RunFolder) -> None:
    job = bring_run(context, run.folder, cli_runs.SAMPLE)
    brought = RunFolder(context.settings.data_dir / job.folder)
    require_layers(brought, run)
    assert collect_garbage(context, days=0).folders == []
    require_layers(brought, run)
    brought.ledger.sweep()
    require_layers(brought, run)


def test_a_backup_has_the_versions_of_the_catalogue(context: Context, tmp_path: Path) -> None:
    with context.database.transaction() as session:
        import_bundled_catalogue(session)
    write_backup(context, tmp_path / "backup")
    if not context.database.is_sqlite:
        pytest.skip("test_backup brings back every table on PostgreSQL")
    other = Context.open(
        Settings(data_dir=tmp_path / "other", database_url=f"sqlite:///{tmp_path / 'other.sqlite3'}")  # type: ignore[arg-type]
    )
    restore_backup(other, tmp_path / "backup")
    with other.database.reading() as session:
        assert session.execute(select(CatalogueRecord.version)).scalars().all() == [1]
        assert read_catalogue(require_version(session, 1)) == BUNDLED
    other.database.engine.dispose()

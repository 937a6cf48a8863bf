"""`primer backup` and `primer restore`: one moment of the database, whole, into an empty installation and no other."""

from __future__ import annotations

import tarfile
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import servers
from cli_runs import run_json, run_primer
from sqlalchemy import func, select, text

from primer.app.auth import service as users
from primer.app.auth.actor import SYSTEM
from primer.app.auth.roles import Role
from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, Unprocessable
from primer.app.core.events import record_event
from primer.app.core.migrate import find_drift, is_current, migrate
from primer.app.core.settings import Settings
from primer.app.models import Base, Event, Job, ProfileVersion, Source, SourceShard, User
from primer.app.overrides.id_sets import ID_SCHEMA
from primer.app.overrides.service import load_overrides, rule_in_bulk
from primer.app.upkeep.archive import hash_plan, write_backup
from primer.app.upkeep.restore import restore_backup

_PASSWORD = "four words nobody expects"


def _open(url: str, data_dir: Path) -> Context:
    settings = Settings(
        data_dir=data_dir,
        database_url=url,  # type: ignore[arg-type]
        password_memory_kib=8,
        password_rounds=1,
    )
    return Context.open(settings)


@pytest.fixture
def empty(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[Context]:
    """Another installation, of the same kind of database, with nothing in it."""
    if database_url.startswith("sqlite"):
        url = f"sqlite:///{tmp_path / 'other.sqlite3'}"
    else:
        url = request.getfixturevalue("postgres").create_database(f"restored_{uuid.uuid4().hex}")
    context = _open(url, tmp_path / "other")
    yield context
    context.database.engine.dispose()


def _fill(context: Context) -> Path:
    """A user, a job with its run; the run's folder."""
    users.create_user(context, SYSTEM, name="anna", role=Role.ADMIN, password=_PASSWORD)
    run = context.settings.data_dir / "runs" / "job-000001"
    (run / "ledger").mkdir(parents=True)
    (run / "ledger" / "plan.json").write_text('{"a": "plan"}')
    with context.database.transaction() as session:
        source = Source(name="s", locations=["/x"], text_field="text", state="ready", created_by="x", created_at=now())
        profile = ProfileVersion(
            name="p", version=1, state="published", content={"a": [1, None, "ä"]}, sha256="0" * 64, note="",
            author="x", created_at=now(), changed_at=now(),
        )  # fmt: skip
        session.add_all([source, profile])
        session.flush()
        session.add(
            Job(
                kind="curate", state="running", source_id=source.id, profile_id=profile.id, options={},
                folder="runs/job-000001", created_by="x", created_at=now(),
            )
        )  # fmt: skip
        record_event(session, "job.state", {"state": "running"}, job_id=1)
    return run


def _read_all(context: Context) -> dict[str, list[tuple[object, ...]]]:
    with context.database.reading() as session:
        return {
            table.name: sorted((tuple(map(str, row)) for row in session.execute(select(table))), key=str)
            for table in Base.metadata.sorted_tables
        }


def test_what_was_saved_comes_back_row_by_row(context: Context, empty: Context, tmp_path: Path) -> None:
    run = _fill(context)
    file = tmp_path / "kept" / "backup.tar.gz"
    manifest = write_backup(context, file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["backup.tar.gz"]
    assert [(entry.folder, entry.plan_sha256) for entry in manifest.runs] == [("runs/job-000001", hash_plan(run))]
    before = _read_all(context)
    restored = restore_backup(empty, file)
    assert (restored.missing, restored.different) == (("runs/job-000001",), ())
    assert _read_all(empty) == before
    assert is_current(empty.database)
    assert find_drift(empty.database) == []
    # Rows that are added go on from there.
    users.create_user(empty, SYSTEM, name="ben", role=Role.VIEWER, password=_PASSWORD)
    with empty.database.transaction() as session:
        record_event(session, "job.state", {}, job_id=1)


def test_bulk_rulings_come_back_with_their_rows(context: Context, empty: Context, tmp_path: Path) -> None:
    _fill(context)
    shard = "a" * 64
    with context.database.transaction() as session:
        session.add(SourceShard(source_id=1, position=0, name="a", sha256=shard, row_count=10))
    rows = pa.table({"shard_sha256": [shard, shard], "row": [2, 1]}, schema=ID_SCHEMA)
    rule_in_bulk(context, SYSTEM, 1, rows, "exclude", "many", None)
    (context.settings.data_dir / "rulings" / "stranger").write_bytes(b"not ours")
    write_backup(context, tmp_path / "backup")
    restore_backup(empty, tmp_path / "backup")
    loaded, expected = load_overrides(empty, 1), load_overrides(context, 1)
    assert (loaded.revision, loaded.sha256) == (1, expected.sha256)
    assert loaded.of_shard(shard, "") == {1: False, 2: False}
    assert [path.name for path in (empty.settings.data_dir / "rulings").iterdir()] == ["source-000001"]


def test_runs_that_are_not_those_of_the_backup_are_named(context: Context, empty: Context, tmp_path: Path) -> None:
    run = _fill(context)
    write_backup(context, tmp_path / "backup")
    placed = empty.settings.data_dir / "runs" / "job-000001" / "ledger"
    placed.mkdir(parents=True)
    (placed / "plan.json").write_text('{"another": "plan"}')
    restored = restore_backup(empty, tmp_path / "backup")
    assert (restored.missing, restored.different) == ((), ("runs/job-000001",))
    assert run.exists()


def test_an_installation_that_holds_something_is_not_touched(context: Context, empty: Context, tmp_path: Path) -> None:
    _fill(context)
    write_backup(context, tmp_path / "backup")
    migrate(empty.database)
    users.create_user(empty, SYSTEM, name="carla", role=Role.VIEWER, password=_PASSWORD)
    before = _read_all(empty)
    with pytest.raises(Conflict, match="This installation has users"):
        restore_backup(empty, tmp_path / "backup")
    assert _read_all(empty) == before


def test_a_migrated_database_without_users_counts_as_empty(context: Context, empty: Context, tmp_path: Path) -> None:
    _fill(context)
    write_backup(context, tmp_path / "backup")
    migrate(empty.database)
    restore_backup(empty, tmp_path / "backup")
    assert _read_all(empty) == _read_all(context)


def test_a_backup_is_of_one_moment_while_others_write(context: Context, empty: Context, tmp_path: Path) -> None:
    """Each transaction adds two events: whatever the moment, an even number of them is saved."""
    _fill(context)
    stopped = threading.Event()

    def write() -> None:
        while not stopped.is_set():
            with context.database.transaction() as session:
                record_event(session, "one", {"text": "x" * 2_000})
                record_event(session, "two", {"text": "y" * 2_000})

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            write_backup(context, tmp_path / f"backup-{number}")
    finally:
        stopped.set()
        writer.join()
    restore_backup(empty, tmp_path / "backup-2")
    with empty.database.reading() as session:
        rows = session.execute(select(Event.kind, func.count()).group_by(Event.kind)).all()
    counts = {row[0]: row[1] for row in rows}
    assert counts["one"] == counts["two"] > 0
    with empty.database.engine.connect() as connection:
        if empty.database.is_sqlite:
            assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"


def test_a_file_is_never_overwritten(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_bytes(b"precious")
    with pytest.raises(Conflict, match="is there already"):
        write_backup(context, file)
    assert file.read_bytes() == b"precious"


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def _change_database(file: Path) -> None:
    with tarfile.open(file) as tar:
        tar.extractall(file.parent / "parts", filter="data")
    database = file.parent / "parts" / "database"
    database.write_bytes(database.read_bytes() + b"!")
    with tarfile.open(file, "w:gz") as tar:
        for name in ("manifest.json", "database"):
            tar.add(file.parent / "parts" / name, name)


def _replace(file: Path) -> None:
    file.write_text("not a backup")


@pytest.mark.parametrize("spoil", [_cut, _change_database, _replace])
def test_a_damaged_backup_is_refused_before_anything_is_changed(
    context: Context, empty: Context, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    _fill(context)
    file = tmp_path / "backup"
    write_backup(context, file)
    spoil(file)
    with pytest.raises(Unprocessable):
        restore_backup(empty, file)
    with empty.database.engine.connect() as connection:
        assert not connection.dialect.has_table(connection, User.__tablename__)


def test_a_backup_of_another_kind_of_database_is_refused(
    migrated_sqlite: Path, postgres: servers.PostgresServer, tmp_path: Path
) -> None:
    saved = _open(f"sqlite:///{migrated_sqlite}", tmp_path / "saved")
    write_backup(saved, tmp_path / "backup")
    other = _open(postgres.create_database("another_kind"), tmp_path / "other")
    with pytest.raises(Conflict, match=r"The backup is of sqlite; this installation keeps its state in postgresql\."):
        restore_backup(other, tmp_path / "backup")
    for context in (saved, other):
        context.database.engine.dispose()


def test_the_commands(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    run_primer("migrate", PRIMER_DATA_DIR=first)
    made = run_json("backup", tmp_path / "backup", PRIMER_DATA_DIR=first)
    assert (made["database"], made["runs"]) == ("sqlite", [])
    restored = run_json("restore", tmp_path / "backup", PRIMER_DATA_DIR=second)
    assert restored == {"revision": made["schema_revision"], "missing": [], "different": []}
    refused = run_primer("backup", tmp_path / "backup", status=1, PRIMER_DATA_DIR=second)
    assert "is there already" in refused.stderr

"""`primer gc`: what goes, what stays, and that a dry run changes nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from cli_runs import digest_folder, run_json
from sqlalchemy import select

from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.core.db import Database
from primer.app.core.events import record_event
from primer.app.core.migrate import migrate
from primer.app.models import Event, Export, Job, LoginAttempts, ProfileVersion, Source
from primer.app.upkeep.garbage import collect_garbage, find_garbage

_DAY = 86_400


class Scene:
    """Jobs with their folders in one installation."""

    def __init__(self, context: Context) -> None:
        self.context = context
        with context.database.transaction() as session:
            source = Source(name="s", locations=[], text_field="text", state="ready", created_by="x", created_at=now())
            profile = ProfileVersion(
                name="p", version=1, state="published", content={}, sha256="0" * 64, note="", author="x",
                created_at=now(), changed_at=now(),
            )  # fmt: skip
            session.add_all([source, profile])
            session.flush()
            self.source_id, self.profile_id = source.id, profile.id

    def add_job(self, folder: str, state: str, *, ended_days_ago: float | None = None) -> int:
        with self.context.database.transaction() as session:
            job = Job(
                kind="curate", state=state, source_id=self.source_id, profile_id=self.profile_id, options={},
                folder=folder, created_by="x", created_at=now(),
                finished_at=None if ended_days_ago is None else now() - ended_days_ago * _DAY,
            )  # fmt: skip
            session.add(job)
            session.flush()
            return job.id

    def write(self, path: str, size: int = 1_000, *, hours_ago: float = 0) -> Path:
        file = self.context.settings.data_dir / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
        for place in (file, file.parent):
            os.utime(place, times=(time.time() - hours_ago * 3600,) * 2)
        return file

    def list_files(self) -> set[str]:
        return set(digest_folder(self.context.settings.data_dir))


@pytest.fixture
def scene(context: Context) -> Scene:
    return Scene(context)


def test_folders_of_no_job_go_once_they_are_old_enough_to_be_no_import(scene: Scene) -> None:
    scene.add_job("runs/job-000001", "succeeded", ended_days_ago=400)
    scene.write("runs/job-000001/ledger", hours_ago=9_000)
    scene.write("runs/job-000009/ledger", size=2_500, hours_ago=2)
    scene.write("runs/.importing-abc/ledger", size=300, hours_ago=2)
    scene.write("runs/import-0123/ledger", hours_ago=0.5)
    scene.write("primer.sqlite3-other")
    found = find_garbage(scene.context, days=30)
    assert [(left.path.name, left.size_bytes, left.reason) for left in found.folders] == [
        (".importing-abc", 300, "of no job"),
        ("job-000009", 2_500, "of no job"),
    ]
    assert found.size_bytes == 2_800
    collect_garbage(scene.context, days=30)
    assert scene.list_files() == {"runs/job-000001/ledger", "runs/import-0123/ledger", "primer.sqlite3-other"}


def test_cancelled_jobs_keep_their_runs_for_some_days(scene: Scene) -> None:
    scene.add_job("runs/old", "cancelled", ended_days_ago=31)
    scene.add_job("runs/new", "cancelled", ended_days_ago=29)
    scene.add_job("runs/failed", "failed", ended_days_ago=31)
    scene.add_job("runs/shared", "cancelled", ended_days_ago=31)
    scene.add_job("runs/shared", "succeeded", ended_days_ago=31)
    for name in ("old", "new", "failed", "shared"):
        scene.write(f"runs/{name}/ledger", hours_ago=9_000)
    removed: list[str] = []
    collect_garbage(scene.context, days=30, on_removed=lambda left: removed.append(left.path.name))
    assert removed == ["old"]
    assert scene.list_files() == {"runs/new/ledger", "runs/failed/ledger", "runs/shared/ledger"}


def test_half_staged_shards_go_unless_the_job_may_still_be_staging(scene: Scene) -> None:
    scene.add_job("runs/ended", "failed", ended_days_ago=0)
    scene.add_job("runs/active", "paused")
    for name in ("ended", "active"):
        scene.write(f"runs/{name}/staged/.0123.abc/chunk", size=70)
        scene.write(f"runs/{name}/staged/0123/chunk")
    found = collect_garbage(scene.context, days=30)
    assert [(left.path.name, left.size_bytes, left.reason) for left in found.folders] == [
        (".0123.abc", 70, "half-staged")
    ]
    assert scene.list_files() == {
        "runs/ended/staged/0123/chunk",
        "runs/active/staged/0123/chunk",
        "runs/active/staged/.0123.abc/chunk",
    }


def test_exports_that_no_row_names_go(scene: Scene) -> None:
    job_id = scene.add_job("runs/job-000001", "succeeded", ended_days_ago=1)
    with scene.context.database.transaction() as session:
        session.add(
            Export(
                kind="made", source_id=scene.source_id, base_job_id=job_id, job_id=job_id,
                folder="exports/export-000001",
            )
        )  # fmt: skip
    scene.write("exports/export-000001/manifest.json", hours_ago=9_000)
    scene.write("exports/.deleting-export-000002-abc/manifest.json", hours_ago=2)
    scene.write("exports/export-000003/manifest.json", hours_ago=0)
    found = collect_garbage(scene.context, days=30)
    assert [(left.path.name, left.reason) for left in found.folders] == [
        (".deleting-export-000002-abc", "of no export")
    ]
    assert scene.list_files() == {"exports/export-000001/manifest.json", "exports/export-000003/manifest.json"}


def test_old_events_and_sign_in_attempts_go(scene: Scene) -> None:
    with scene.context.database.transaction() as session:
        for name in ("old", "new"):
            record_event(session, name, {})
        session.add(LoginAttempts(key="a" * 64, attempts=1, ends_at=now() - 1))
        session.add(LoginAttempts(key="b" * 64, attempts=1, ends_at=now() + 300))
    with scene.context.database.transaction() as session:
        session.execute(select(Event).where(Event.kind == "old")).scalar_one().at = time.time() - 31 * _DAY
    dry = find_garbage(scene.context, days=30)
    assert (dry.events, dry.login_attempts) == (1, 1)
    collect_garbage(scene.context, days=30)
    with scene.context.database.reading() as session:
        assert session.execute(select(Event.kind)).scalars().all() == ["new"]
        assert session.execute(select(LoginAttempts.key)).scalars().all() == ["b" * 64]
    # The numbers of events go on where they were.
    with scene.context.database.transaction() as session:
        record_event(session, "newest", {})
    with scene.context.database.reading() as session:
        assert session.execute(select(Event.sequence).where(Event.kind == "newest")).scalar_one() == 3


def test_files_that_are_linked_elsewhere_free_nothing_and_links_are_not_followed(scene: Scene, tmp_path: Path) -> None:
    kept = scene.write("elsewhere/part", size=5_000)
    scene.write("runs/left/own", size=10)
    os.link(kept, scene.context.settings.runs / "left" / "part")
    (scene.context.settings.runs / "left" / "link").symlink_to(kept)
    outside = scene.context.settings.runs / "outside"
    outside.symlink_to(kept.parent)
    old = time.time() - 7_200
    for place in (outside, scene.context.settings.runs / "left"):
        os.utime(place, (old, old), follow_symlinks=False)
    found = collect_garbage(scene.context, days=30)
    assert [left.path.name for left in found.folders] == ["left", "outside"]
    link_bytes = len(str(kept))
    assert found.folders[0].size_bytes == 10 + link_bytes
    assert kept.stat().st_size == 5_000
    assert scene.list_files() == {"elsewhere/part"}


def test_the_command_says_what_would_go_and_leaves_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    migrate(Database(f"sqlite:///{data / 'primer.sqlite3'}"))
    left = data / "runs" / "job-000001" / "ledger"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"x" * 77)
    os.utime(left.parent, (0, 0))
    dry = run_json("gc", "--dry-run", PRIMER_DATA_DIR=str(data))
    assert dry == {
        "is_dry_run": True,
        "size_bytes": 77,
        "folders": [{"path": str(left.parent), "size_bytes": 77, "reason": "of no job"}],
        "events": 0,
        "login_attempts": 0,
    }
    assert left.exists()
    done = run_json("gc", PRIMER_DATA_DIR=str(data))
    assert done == {**dry, "is_dry_run": False}
    assert not left.parent.exists()
    assert run_json("gc", PRIMER_DATA_DIR=str(data))["folders"] == []

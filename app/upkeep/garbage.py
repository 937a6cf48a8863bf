"""What nobody needs any more: folders of no job and no export, runs cancelled long ago, half-staged shards, old rows.

Folders are listed before rows are read, and a row is there before its folder: what is younger is never taken for left
over.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from primer.app.core.clock import now
from primer.app.core.context import Context
from primer.app.jobs.states import FINAL, JobState
from primer.app.models import Event, Export, Job, LoginAttempts

_DAY_SECONDS = 86_400.0
# An import brings its folder before its job: within this time it is no orphan.
_GRACE_SECONDS = 3_600.0
_EXPORTS = "exports"


@dataclass(frozen=True)
class Leftover:
    """A folder that can go, and why."""

    path: Path
    size_bytes: int
    reason: str


@dataclass(frozen=True)
class Garbage:
    """What there is to remove, or was removed."""

    folders: Sequence[Leftover]
    events: int
    login_attempts: int

    @property
    def size_bytes(self) -> int:
        return sum(folder.size_bytes for folder in self.folders)


def find_garbage(context: Context, *, days: float) -> Garbage:
    """Cancelled jobs and events count as old after so many days. Nothing is changed."""
    runs = context.settings.runs
    listed, exported = _list_entries(runs), _list_entries(context.settings.data_dir / _EXPORTS)
    with context.database.reading() as session:
        used, cancelled, ended = _read_folders(session, days)
        exports = set(session.execute(select(Export.folder).where(Export.deleted_at.is_(None))).scalars())
        events = session.execute(select(func.count()).select_from(Event).where(_is_old(Event.at, days))).scalar_one()
        attempts = session.execute(
            select(func.count()).select_from(LoginAttempts).where(LoginAttempts.ends_at < now())
        ).scalar_one()
    folders = []
    for path in listed:
        name = f"{runs.name}/{path.name}"
        if name in cancelled:
            folders.append(_measure(path, "of a cancelled job"))
        elif name in used:
            if name in ended:
                folders += [_measure(left, "half-staged") for left in sorted((path / "staged").glob(".*"))]
        elif _is_settled(path):
            folders.append(_measure(path, "of no job"))
    unknown = [path for path in exported if f"{_EXPORTS}/{path.name}" not in exports and _is_settled(path)]
    folders += [_measure(path, "of no export") for path in unknown]
    return Garbage(folders, events, attempts)


def collect_garbage(
    context: Context, *, days: float, on_removed: Callable[[Leftover], None] = lambda _: None
) -> Garbage:
    """Remove what `find_garbage` finds, and say what it was."""
    found = find_garbage(context, days=days)
    for folder in found.folders:
        if folder.path.is_dir() and not folder.path.is_symlink():
            shutil.rmtree(folder.path)
        else:
            folder.path.unlink(missing_ok=True)
        on_removed(folder)
    with context.database.transaction() as session:
        session.execute(delete(LoginAttempts).where(LoginAttempts.ends_at < now()))
    with context.database.transaction() as session:
        session.execute(delete(Event).where(_is_old(Event.at, days)))
    return found


def _list_entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _read_folders(session: Session, days: float) -> tuple[set[str], set[str], set[str]]:
    """Folders of jobs: all, those that only jobs cancelled long ago name, and those that only ended jobs name."""
    rows = session.execute(select(Job.folder, Job.state, _is_old(Job.finished_at, days).label("is_old"))).all()
    used = {row.folder for row in rows}
    kept = {row.folder for row in rows if row.state != JobState.CANCELLED or not row.is_old}
    active = {row.folder for row in rows if row.state not in FINAL}
    return used, used - kept, used - active


def _is_old(column: object, days: float) -> ColumnElement[bool]:
    is_old: ColumnElement[bool] = column < now() - days * _DAY_SECONDS
    return is_old


def _is_settled(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > _GRACE_SECONDS
    except FileNotFoundError:
        return False


def _measure(path: Path, reason: str) -> Leftover:
    """Bytes that removing it frees: files that are linked elsewhere free none."""
    return Leftover(path, sum(_list_sizes(path)), reason)


def _list_sizes(path: Path) -> Iterator[int]:
    if not path.is_dir() or path.is_symlink():
        yield path.lstat().st_size
        return
    for folder, _, files in os.walk(path):
        for name in files:
            status = (Path(folder) / name).lstat()
            yield status.st_size if status.st_nlink == 1 else 0

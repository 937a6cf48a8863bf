"""A backup: one file that holds the database as it was at one moment, the rows of bulk rulings, and a list of the run
folders that belong to it.

Runs and shards are not in it: they are never changed, so that any copy of them will do. The list tells whether they are
the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import select

from curation.ledger.store import PLAN
from curation.publish import publish_bytes
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, Unprocessable
from primer.app.core.migrate import read_revision
from primer.app.models import Job
from primer.app.upkeep import dumps

FORMAT = 1
_MANIFEST = "manifest.json"
_DATABASE = "database"
_ID_SET = re.compile(r"rulings/source-[0-9]{6,18}/[0-9a-f]{64}\.parquet")


class RunEntry(BaseModel):
    """`plan_sha256` None: the run had no plan yet."""

    model_config = ConfigDict(frozen=True)

    folder: str
    plan_sha256: str | None


class Manifest(BaseModel):
    """`database` is sqlite or postgresql; `created_at` in seconds since 1970."""

    model_config = ConfigDict(frozen=True)

    format: int
    version: str
    created_at: float
    database: str
    schema_revision: str
    database_sha256: str
    runs: tuple[RunEntry, ...]


def write_backup(context: Context, file: Path) -> Manifest:
    """Raises Conflict when the file is there already, or what dumps a PostgreSQL database is not installed."""
    if file.exists():
        raise Conflict(f"{file} is there already.", hint="Choose another name: a backup is never overwritten.")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".backup-") as folder:
        dump = Path(folder) / _DATABASE
        dumps.dump(context.database, dump)
        manifest = Manifest(
            format=FORMAT,
            version=version("primer-curation"),
            created_at=time.time(),
            database=context.database.engine.dialect.name,
            schema_revision=read_revision(context.database) or "",
            database_sha256=_hash_file(dump),
            runs=_list_runs(context),
        )
        archive = Path(folder) / "archive"
        with tarfile.open(archive, "w:gz") as tar:
            _add(tar, _MANIFEST, json.dumps(manifest.model_dump(mode="json"), indent=1).encode())
            tar.add(dump, _DATABASE, filter=_leave_out_owner)
            # Listed after the dump: a file is there before the ruling that names it.
            for name in _list_id_sets(context.settings.data_dir):
                tar.add(context.settings.data_dir / name, name, filter=_leave_out_owner)
        # It holds hashes of passwords.
        archive.chmod(0o600)
        os.link(archive, file)
    return manifest


@contextmanager
def open_backup(file: Path) -> Iterator[tuple[Manifest, Path]]:
    """The manifest, and the database's dump in a file of its own while the context is open. Raises Unprocessable."""
    with tempfile.TemporaryDirectory(prefix="primer-restore-") as folder:
        dump = Path(folder) / _DATABASE
        try:
            with tarfile.open(file, "r:gz") as tar:
                manifest = Manifest.model_validate_json(_read(tar, _MANIFEST).read())
                with dump.open("wb") as out:
                    content = _read(tar, _DATABASE)
                    while block := content.read(1 << 20):
                        out.write(block)
        except (OSError, EOFError, tarfile.TarError, ValidationError) as error:
            raise Unprocessable(f"{file} is no whole backup ({type(error).__name__}).", hint="Take another.") from error
        if manifest.format > FORMAT:
            raise Unprocessable(f"{file} was written by version {manifest.version}.", hint="Restore it with that one.")
        if _hash_file(dump) != manifest.database_sha256:
            raise Unprocessable(f"{file} is damaged: its database is not the one that was saved.", hint="Take another.")
        yield manifest, dump


def bring_id_sets(file: Path, data_dir: Path) -> None:
    """Put the rows of bulk rulings back where the database says they are; what is there already stays."""
    with tarfile.open(file, "r:gz") as tar:
        for member in tar:
            if member.isfile() and _ID_SET.fullmatch(member.name):
                publish_bytes(data_dir / member.name, _read(tar, member.name).read())


def _list_id_sets(data_dir: Path) -> list[str]:
    found = (path.relative_to(data_dir).as_posix() for path in (data_dir / "rulings").rglob("*.parquet"))
    return sorted(name for name in found if _ID_SET.fullmatch(name))


def hash_plan(run: Path) -> str | None:
    """What identifies a run: its plan's hash; None where there is none."""
    try:
        return hashlib.sha256((run / "ledger" / PLAN).read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _list_runs(context: Context) -> tuple[RunEntry, ...]:
    with context.database.reading() as session:
        folders = session.execute(select(Job.folder).distinct().order_by(Job.folder)).scalars().all()
    root = context.settings.data_dir
    return tuple(RunEntry(folder=folder, plan_sha256=hash_plan(root / folder)) for folder in folders if folder)


def _read(tar: tarfile.TarFile, name: str) -> io.BufferedIOBase:
    try:
        member = tar.extractfile(name)
    except KeyError as error:
        raise tarfile.ReadError(f"no {name}") from error
    if member is None:
        raise tarfile.ReadError(f"{name} is no file")
    return member  # type: ignore[return-value]


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def _leave_out_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

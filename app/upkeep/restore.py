"""Bringing a backup back: into an installation that holds nothing, and never over one that does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import inspect, select

from primer.app.core.context import Context
from primer.app.core.errors import Conflict
from primer.app.core.migrate import migrate
from primer.app.models import Job, Source, User
from primer.app.upkeep import dumps
from primer.app.upkeep.archive import Manifest, bring_id_sets, hash_plan, open_backup


@dataclass(frozen=True)
class Restored:
    """`missing`: run folders that are not here; `different`: those that hold another run."""

    manifest: Manifest
    revision: str
    missing: tuple[str, ...]
    different: tuple[str, ...]


def restore_backup(context: Context, file: Path) -> Restored:
    """The database as it was, brought to this version's schema. Raises Conflict unless the installation is empty and of the
    same kind of database, Unprocessable for what is no whole backup."""
    with open_backup(file) as (manifest, dump):
        kind = context.database.engine.dialect.name
        if manifest.database != kind:
            raise Conflict(
                f"The backup is of {manifest.database}; this installation keeps its state in {kind}.",
                hint="Set PRIMER_DATABASE_URL to a database of that kind.",
            )
        _require_empty(context)
        dumps.load(context.database, dump)
        revision = migrate(context.database)
    bring_id_sets(file, context.settings.data_dir)
    runs = [
        (entry, hash_plan(context.settings.data_dir / entry.folder)) for entry in manifest.runs if entry.plan_sha256
    ]
    return Restored(
        manifest=manifest,
        revision=revision,
        missing=tuple(entry.folder for entry, found in runs if found is None),
        different=tuple(entry.folder for entry, found in runs if found not in (None, entry.plan_sha256)),
    )


def _require_empty(context: Context) -> None:
    with context.database.engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
    held = []
    with context.database.reading() as session:
        for model, what in ((User, "users"), (Source, "sources"), (Job, "jobs")):
            if model.__tablename__ in tables and session.execute(select(model.id).limit(1)).first() is not None:
                held.append(what)
    if held:
        raise Conflict(
            f"This installation has {', '.join(held)}: a backup is never restored over them.",
            hint="Name an empty database or data folder by PRIMER_DATABASE_URL or PRIMER_DATA_DIR.",
        )

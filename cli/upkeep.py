"""`primer gc`, `primer backup`, `primer restore`: the upkeep of an installation that PRIMER_ variables name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from primer.cli.output import JsonOption, console, print_json

_OLD_DAYS = 30.0
_RUNS_MISSING_STATUS = 3


def gc(
    days: Annotated[
        float, typer.Option(min=0, help="Cancelled jobs' runs and events go after so many days.")
    ] = _OLD_DAYS,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and leave it.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove what nobody needs: runs of no job or of cancelled jobs, half-staged shards, old events and sign-in attempts."""
    from primer.app.upkeep.garbage import collect_garbage, find_garbage
    from primer.cli.service import open_service

    context = open_service()
    found = find_garbage(context, days=days) if dry_run else collect_garbage(context, days=days)
    if as_json:
        print_json(
            {
                "is_dry_run": dry_run,
                "size_bytes": found.size_bytes,
                "folders": [
                    {"path": str(left.path), "size_bytes": left.size_bytes, "reason": left.reason}
                    for left in found.folders
                ],
                "events": found.events,
                "login_attempts": found.login_attempts,
            }
        )
        return
    for left in found.folders:
        _say(f"{left.size_bytes:>15,} bytes  {left.path}  ({left.reason})")
    verb = "Would remove" if dry_run else "Removed"
    _say(
        f"{verb} {len(found.folders):,} folders ({found.size_bytes:,} bytes), {found.events:,} events, "
        f"{found.login_attempts:,} sign-in attempts."
    )


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file, such as primer-2026-11-30.tar.gz.")],
    as_json: JsonOption = False,
) -> None:
    """Save the service's state: its database at one moment, and the list of run folders. Not the runs, not the shards."""
    from primer.app.upkeep.archive import write_backup
    from primer.cli.service import open_service

    manifest = write_backup(open_service(), file)
    if as_json:
        print_json({"file": str(file), **manifest.model_dump(mode="json")})
    else:
        _say(f"{file}: {file.stat().st_size:,} bytes, schema {manifest.schema_revision}, {len(manifest.runs):,} runs.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `primer backup` wrote.")],
    as_json: JsonOption = False,
) -> None:
    """Bring a backup back into an empty installation. Exits with status 3 when runs that belong to it are not there."""
    from primer.app.core.context import Context
    from primer.app.upkeep.restore import restore_backup
    from primer.cli.service import read_settings
    from primer.workers.folder_lock import FolderLock

    settings = read_settings()
    with FolderLock(settings.data_dir):
        restored = restore_backup(Context.open(settings), file)
    if as_json:
        print_json({"revision": restored.revision, "missing": restored.missing, "different": restored.different})
    else:
        _say(f"Restored the state of version {restored.manifest.version}; the schema is {restored.revision}.")
        for folder in restored.missing:
            _say(f"Missing run: {settings.data_dir / folder}. Copy it there from where the runs are kept.")
        for folder in restored.different:
            _say(f"Another run lies in {settings.data_dir / folder}: replace it by the one that was backed up.")
    if restored.missing or restored.different:
        raise typer.Exit(_RUNS_MISSING_STATUS)


def _say(text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)

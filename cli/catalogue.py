"""`primer profiles` and `primer artifacts`: what there is to decide with, and with which models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.table import Table

from curation.artifacts.artifact_set import KINDS, bundled_folder, published_folder, resolve_artifacts
from curation.artifacts.checksums import verify_bundle
from curation.artifacts.pull import pull_artifacts
from curation.profile import list_profiles, load_profile
from primer.cli.output import JsonOption, console, print_json, results

profiles = typer.Typer(help="The boundaries to choose from.", no_args_is_help=True)
artifacts = typer.Typer(help="The models and tables that signals are measured with.", no_args_is_help=True)


@profiles.command("list")
def list_all(as_json: JsonOption = False) -> None:
    """The profiles that come with Primer."""
    found = list_profiles()
    if as_json:
        print_json(
            [{"name": p.name, "version": p.version, "stages": p.stages, "description": p.description} for p in found]
        )
        return
    table = Table()
    for column in ("profile", "stages", "what it is"):
        table.add_column(column)
    for profile in found:
        table.add_row(f"{profile.name} v{profile.version}", ", ".join(profile.stages), profile.description)
    results.print(table)


@profiles.command("show")
def show(
    profile: Annotated[str, typer.Argument(help="A bundled profile's name or a YAML file.")],
    as_json: JsonOption = False,
) -> None:
    """One profile, whole; the YAML can be saved and changed into a profile of your own."""
    content = load_profile(profile).model_dump(mode="json", exclude_none=True)
    if as_json:
        print_json(content)
    else:
        typer.echo(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), nl=False)


@profiles.command("diff")
def diff(
    first: Annotated[str, typer.Argument(help="A bundled profile's name or a YAML file.")],
    second: Annotated[str, typer.Argument(help="Another one.")],
    as_json: JsonOption = False,
) -> None:
    """What two profiles say differently."""
    old, new = (
        _flatten(load_profile(first).model_dump(mode="json")),
        _flatten(load_profile(second).model_dump(mode="json")),
    )
    changed = {key: (old.get(key), new.get(key)) for key in sorted(old | new) if old.get(key) != new.get(key)}
    if as_json:
        print_json({key: {"first": a, "second": b} for key, (a, b) in changed.items()})
        return
    table = Table()
    for column in ("field", first, second):
        table.add_column(column)
    for key, (a, b) in changed.items():
        table.add_row(key, "" if a is None else str(a), "" if b is None else str(b))
    results.print(table)


def _flatten(value: dict[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, entry in value.items():
        if isinstance(entry, dict):
            flat.update(_flatten(entry, f"{prefix}{key}."))
        else:
            flat[prefix + key] = entry
    return flat


@artifacts.command("list")
def list_artifacts(
    where: Annotated[str | None, typer.Option("--artifacts", help="`bundled`, `published`, or a folder.")] = None,
    as_json: JsonOption = False,
) -> None:
    """The models and tables in use, with their hashes."""
    found = resolve_artifacts(where)
    rows: list[dict[str, Any]] = [
        {"kind": kind, "origin": a.origin, "path": str(a.path), "bytes": a.size_bytes, "sha256": a.sha256}
        if (a := found.get(kind))
        else {"kind": kind}
        for kind in KINDS
    ]
    if as_json:
        print_json(rows)
        return
    table = Table()
    for column in ("kind", "origin", "file", "size", "sha256"):
        table.add_column(column)
    for row in rows:
        if "path" in row:
            table.add_row(
                row["kind"], row["origin"], Path(str(row["path"])).name, f"{row['bytes']:,} B", str(row["sha256"])[:16]
            )
        else:
            table.add_row(row["kind"], "none", "", "", "")
    results.print(table)


@artifacts.command("pull")
def pull(
    repository: Annotated[
        str, typer.Argument(metavar="OWNER/NAME", help="The Hub model repository that holds the published artefacts.")
    ],
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit; default: the newest.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch published artefacts from the Hub, for `--artifacts published`."""
    pulled = pull_artifacts(repository, revision, published_folder())
    if as_json:
        print_json({"folder": str(published_folder()), "files": pulled})
    else:
        console.print(
            f"{len(pulled)} files in {published_folder()}: {', '.join(pulled)}", highlight=False, markup=False
        )


@artifacts.command("verify")
def verify(as_json: JsonOption = False) -> None:
    """Check the bundled artefacts against the hashes they were shipped with."""
    problems = verify_bundle(bundled_folder())
    if as_json:
        print_json({"problems": problems})
    else:
        for problem in problems:
            console.print(f"[red]{problem}")
        if not problems:
            console.print("Every bundled artefact is as shipped.")
    raise typer.Exit(1 if problems else 0)

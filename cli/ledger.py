"""`primer ledger`: the ledger as a table for other tools, and a run made elsewhere as a job of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.ledger.signals import decide_ledger
from curation.ledger.view import dump_flat_view
from curation.run_folder import RunFolder
from primer.cli.decisions import open_wanted
from primer.cli.options import OverridesOption, RunArgument, SourceRulesOption, VocabularyOption
from primer.cli.output import JsonOption, console, print_json

app = typer.Typer(help="Read a run's ledger, or bring a run into the service.", no_args_is_help=True)


@app.callback()
def _root() -> None:
    pass


@app.command()
def dump(
    folder: RunArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The Parquet file to write.")],
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", help="Decide under this profile; default: the run's.")
    ] = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write one row an input row: what was measured, what was decided, why (columns: docs/ledger.md)."""
    run_folder = RunFolder(folder)
    run_folder.require_run()
    decisions = open_wanted(run_folder, profile, vocabulary, overrides, source_rules)
    slices = decide_ledger(
        run_folder.ledger, decisions.bound, decisions.word_scores, decisions.overrides, decisions.source_rules
    )
    rows = dump_flat_view(slices, decisions.bound, out)
    if as_json:
        print_json({"path": str(out), "rows": rows, "statement": decisions.statement})
    else:
        console.print(f"{out}: {rows:,} rows.", highlight=False, markup=False)


@app.command("import")
def import_run(
    folder: RunArgument,
    name: Annotated[str, typer.Option("--name", "-n", help="What the service calls the run's source.")],
    copy: Annotated[bool, typer.Option("--copy", help="Copy the files even where links to them would do.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a finished run into the service as a job, with its ledger, export and figures. A second time changes nothing."""
    from primer.app.auth.actor import SYSTEM
    from primer.app.jobs import imports
    from primer.cli.service import open_service

    found = imports.import_run(open_service(), SYSTEM, folder, source_name=name, is_copied=copy)
    if as_json:
        print_json({"job_id": found.job_id, "folder": str(found.folder), "is_new": found.is_new})
    else:
        said = "is now" if found.is_new else "was already"
        console.print(f"{folder} {said} job {found.job_id}: {found.folder}", highlight=False, markup=False)

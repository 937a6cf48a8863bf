"""`primer ledger`: the ledger as a table for other tools."""

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

app = typer.Typer(help="Read a run's ledger.", no_args_is_help=True)


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

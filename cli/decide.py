"""`primer decide`: what a run would keep under another profile, vocabulary or set of overrides, from its ledger alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from curation.compare import compare_decisions
from curation.curate import open_decision_set
from curation.ledger.signals import decide_ledger
from curation.ledger.view import dump_flat_view
from curation.run_folder import RunFolder
from primer.cli.decisions import open_wanted
from primer.cli.options import OverridesOption, RunArgument, SourceRulesOption, VocabularyOption
from primer.cli.output import JsonOption, console, print_funnel, print_json, results, show_safely

_MOVE_NAMES = {
    "now_kept": "excluded before, kept now",
    "now_excluded": "kept before, excluded now",
    "now_undecided": "decided before, undecided now",
    "no_longer_undecided": "undecided before, decided now",
}


def decide(
    folder: RunArgument,
    profile: Annotated[
        str | None, typer.Option("--profile", "-p", help="A bundled profile or a YAML file; default: the run's.")
    ] = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the flat view of these decisions as Parquet.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Decide a measured run anew: the funnel, what flips both ways against the run's own decisions, what stays undecided."""
    run_folder = RunFolder(folder)
    run_folder.require_run()
    baseline = open_decision_set(run_folder)
    wanted = open_wanted(run_folder, profile, vocabulary, overrides, source_rules)
    report = compare_decisions(baseline, wanted).report()
    if out is not None:
        slices = decide_ledger(
            run_folder.ledger, wanted.bound, wanted.word_scores, wanted.overrides, wanted.source_rules
        )
        report["flat_view"] = {"path": str(out), "rows": dump_flat_view(slices, wanted.bound, out)}
    report["statement"] = wanted.statement
    if as_json:
        print_json(report)
        return
    funnel, flips = report["funnel"], report["flips"]
    assert isinstance(funnel, dict)
    assert isinstance(flips, dict)
    print_funnel(funnel, wanted.statement)
    table = Table(title="Against the run's own decisions", title_justify="left")
    for column in ("documents that were", "documents", "tokens", "for example"):
        table.add_column(column, justify="right" if column in ("documents", "tokens") else "left")
    for move, name in _MOVE_NAMES.items():
        moved = flips[move]
        example = moved["examples"][0] if moved["examples"] else None
        place = show_safely(f"{example['shard']} row {example['row']}") if example else ""
        table.add_row(name, f"{moved['documents']:,}", f"{moved['tokens']:,}", place)
    results.print(table)
    strays = report["rulings_without_row"]
    assert isinstance(strays, dict)
    if strays["count"]:
        first = strays["examples"][0]
        place = show_safely(f"{first['shard']} row {first['row']}")
        console.print(
            f"[yellow]{strays['count']:,} rulings are on rows that the run does not have (first: {place}).",
            highlight=False,
        )

"""`primer measure`: score what a profile needs of the encoder and a run has not measured, so that nothing stays undecided."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from curation.curate import begin_measuring
from curation.lexicon.vocabulary import read_vocabulary_version
from curation.profile import load_profile
from curation.run import measure_run
from curation.run_folder import RunFolder
from primer.cli.options import ProfileOption, RunArgument, VocabularyOption
from primer.cli.output import JsonOption, console, print_funnel, print_json, show_safely
from primer.cli.progress import RunDisplay
from primer.cli.run import INCOMPLETE_STATUS


def measure(
    folder: RunArgument,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", min=1, help="Processes; default: one a core.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Score with the encoder exactly the documents of a measured run that are undecided for it under a profile.

    What was measured stays as it is; the scores are added to the ledger, and every profile reads them from then on.
    """
    run_folder = RunFolder(folder)
    run_folder.require_run()
    job = begin_measuring(
        run_folder,
        profile=load_profile(profile) if profile else None,
        vocabulary=read_vocabulary_version(vocabulary) if vocabulary else None,
    )
    with RunDisplay(is_quiet=quiet or as_json) as display:
        progress = measure_run(job, workers=workers or os.cpu_count() or 1, on_progress=display.show)
    if as_json:
        print_json(
            {
                "scored": progress.scored_later,
                "documents": progress.documents,
                "funnel": progress.funnel.report(),
                "failures": progress.failures,
            }
        )
    else:
        for failure in progress.failures:
            console.print(
                f"[red]Not measured:[/] {show_safely(failure['where'])}: {show_safely(failure['error'])}",
                highlight=False,
            )
        print_funnel(progress.funnel.report(), f"The encoder scored {progress.scored_later:,} more documents.")
    raise typer.Exit(INCOMPLETE_STATUS if progress.failures else 0)

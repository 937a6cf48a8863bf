"""`primer evaluate`: what a profile's whole cascade keeps of labelled documents that its models never saw."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.artifacts.artifact_set import resolve_artifacts
from curation.profile import DEFAULT_PROFILE, load_profile
from curation.training.evaluation import evaluate_profile
from curation.training.evaluation_report import score_evaluation
from curation.training.evaluation_text import write_report
from curation.training.figures import draw_figures, require_matplotlib
from curation.training.grader_curves import trace_graders
from primer.cli.output import JsonOption, console, print_json


def evaluate(
    data: Annotated[Path, typer.Option(help="A folder of labelled data, or a file of training rows.")],
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A bundled profile's name or a YAML file.")
    ] = DEFAULT_PROFILE,
    out: Annotated[Path | None, typer.Option(help="The Markdown report; default: standard output.")] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Draw calibration.svg and precision_recall.svg into this folder (extra `train`)."),
    ] = None,
    artifacts: Annotated[
        str | None, typer.Option(help="`bundled`, or a folder of artefacts with their training folders.")
    ] = None,
    live: Annotated[
        int, typer.Option(min=0, help="Of each source, score at most so many rows that a grader never saw.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Draws the rows of --live.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Decide labelled documents out of fold and report purity, what is kept of K5 and what leaks, with intervals.

    Rule signals are measured; graders and vocabulary speak through the predictions that training kept of held-out rows.
    """
    if figures is not None:
        require_matplotlib()
    evaluation = evaluate_profile(data, load_profile(profile), resolve_artifacts(artifacts), live_count=live, seed=seed)
    report = score_evaluation(evaluation)
    text = write_report(report)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
        console.print(f"Wrote {out}.", highlight=False, markup=False)
    if figures is not None:
        for path in draw_figures(trace_graders(evaluation), report.profile, figures):
            console.print(f"Wrote {path}.", highlight=False, markup=False)
    if as_json:
        print_json(report.to_json())
    elif out is None:
        typer.echo(text, nl=False)

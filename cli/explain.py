"""`primer explain`: every signal, threshold, decision and evidence span of one text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.table import Table

from curation.artifacts.artifact_set import resolve_artifacts
from curation.cascade import Meters
from curation.errors import SourceError
from curation.explain import Explanation, explain_text
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, read_vocabulary_version
from curation.profile import DEFAULT_PROFILE, bind_profile, load_profile
from curation.recipe import build_recipe
from curation.source_rules import match_rules, read_source_rules
from primer.cli.options import SourceRulesOption, VocabularyOption
from primer.cli.output import JsonOption, print_json, results, show_safely

_SHOWN_EVIDENCE = 12
_CONTEXT_CHARS = 30


def explain(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A text file, or - for standard input.")],
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A bundled profile's name or a YAML file.")
    ] = DEFAULT_PROFILE,
    vocabulary: VocabularyOption = None,
    source_rules: SourceRulesOption = None,
    url: Annotated[str | None, typer.Option(help="Where the text is from, for --source-rules.")] = None,
    licence: Annotated[str | None, typer.Option(help="Its licence, for --source-rules.")] = None,
    artifacts: Annotated[
        str | None, typer.Option(help="`bundled`, `published`, or a folder of models and tables.")
    ] = None,
    aoa: Annotated[Path | None, typer.Option(help="Other age norms: Parquet with columns word and aoa.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain one text: each stage's values, thresholds and verdict, and the places in the text that speak for them."""
    text = _read_text(file)
    found = resolve_artifacts(artifacts, aoa=aoa)
    recipe = build_recipe(found)
    bound = bind_profile(load_profile(profile), recipe)
    version = read_vocabulary_version(vocabulary) if vocabulary else PLAIN_VOCABULARY
    rules = read_source_rules(source_rules) if source_rules else ()
    [is_barred] = match_rules(rules, pa.array([url], pa.string()), pa.array([licence], pa.string())).tolist()
    explanation = explain_text(text, Meters(found, recipe), bound, version, is_barred=is_barred)
    if as_json:
        print_json(explanation.to_json())
    else:
        _show(explanation)


def _read_text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise SourceError(
            f"{file}: cannot be read ({error.strerror}).", hint="Give a text file, or - for standard input."
        ) from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{file}: not UTF-8 ({error.reason} at byte {error.start}).", hint="Convert the text to UTF-8."
        ) from error


def _show(explanation: Explanation) -> None:
    verdict = {True: "[bold green]kept", False: "[bold red]excluded", None: "[bold yellow]undecided"}[explanation.kept]
    by = explanation.excluded_by or explanation.undecided_for
    results.print(f"{verdict}[/] by {explanation.profile}{': ' + ', '.join(by) if by else ''}", highlight=False)
    if explanation.changes:
        changes = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in explanation.changes.items())
        results.print(f"normalisation touched {changes} (offsets are of the {explanation.form} text)", highlight=False)
    table = Table()
    for column in ("stage", "verdict", "measured", "thresholds"):
        table.add_column(column)
    for stage in explanation.stages:
        table.add_row(stage.stage, stage.verdict, _describe(stage.values), _describe(stage.thresholds))
    results.print(table)
    for stage in explanation.stages:
        for place in stage.evidence[:_SHOWN_EVIDENCE]:
            value = f" {place.value:.2f}" if place.value is not None else ""
            context = explanation.text[
                max(place.start - _CONTEXT_CHARS, 0) : min(place.end, place.start + 60) + _CONTEXT_CHARS
            ]
            line = f"  {stage.stage} {place.kind} {place.name}{value} at {place.start}-{place.end}: …{' '.join(context.split())}…"
            results.print(show_safely(line), highlight=False)
        if len(stage.evidence) > _SHOWN_EVIDENCE:
            results.print(
                f"  {stage.stage}: {len(stage.evidence) - _SHOWN_EVIDENCE} more places (--json has them)",
                highlight=False,
            )


def _describe(values: dict[str, object]) -> str:
    lines = []
    for key, value in values.items():
        if value is None or value == []:
            continue
        if isinstance(value, float):
            shown = f"{value:.4g}"
        elif isinstance(value, list) and value and isinstance(value[0], float):
            shown = " ".join(f"{band} {p:.3f}" for band, p in zip(("K5", "K8", "K12", "OOS"), value, strict=True))
        elif isinstance(value, dict):
            shown = ", ".join(f"{name} {score:.2f}" for name, score in value.items()) or "none"
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        lines.append(f"{key} {shown}")
    return show_safely("\n".join(lines))

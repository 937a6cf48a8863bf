"""`primer export`, `primer control`, `primer verify`: corpora for a trainer, and the check that they are what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn

from curation.artifacts.artifact_set import resolve_artifacts
from curation.concepts.catalogue import open_catalogue
from curation.curate import build_export_request, describe_export
from curation.export.build import write_export
from curation.export.request import DEFAULT_SHARD_BYTES, ControlMatch, ExportProgress, ExportResult
from curation.export.verify import verify_export
from curation.overrides import read_overrides
from curation.request import ExportOptions, read_request
from curation.run_folder import RunFolder
from primer.cli.decisions import open_wanted
from primer.cli.options import (
    ConceptsOption,
    ControlSeedOption,
    MatchOption,
    OverridesOption,
    ProfileOption,
    RunArgument,
    ShuffleOption,
    SourceRulesOption,
    TokensOption,
    ValidationOption,
    VocabularyOption,
)
from primer.cli.output import JsonOption, console, print_json, results, show_safely

OutOption = Annotated[Path, typer.Option("--out", "-o", help="The folder of the export; must not exist yet.")]


def export(
    folder: RunArgument,
    out: OutOption,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    tokens: TokensOption = None,
    validation_share: ValidationOption = 0.0,
    shuffle_seed: ShuffleOption = None,
    match: MatchOption = ControlMatch.TOKENS,
    control_seed: ControlSeedOption = 0,
    max_leak_share: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.999999,
            help="Fail when a larger share of documents mentions a concept; default: nobody looks.",
        ),
    ] = None,
    concepts: ConceptsOption = None,
    shard_mb: Annotated[float, typer.Option(min=0.001, help="Size at which a file ends, in MiB.")] = DEFAULT_SHARD_BYTES
    / (1 << 20),
    as_json: JsonOption = False,
) -> None:
    """Export a measured run under any profile, vocabulary, overrides and source rules: curriculum, control, manifest, card."""
    options = ExportOptions(
        shard_bytes=round(shard_mb * (1 << 20)),
        shuffle_seed=shuffle_seed,
        token_budget=tokens,
        validation_share=validation_share,
        control_match=match,
        control_seed=control_seed,
        max_leak_share=max_leak_share,
    )
    _write(
        folder,
        out,
        options,
        concepts=concepts,
        profile=profile,
        vocabulary=vocabulary,
        overrides=overrides,
        source_rules=source_rules,
        as_json=as_json,
    )


def control(
    folder: RunArgument,
    out: OutOption,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    tokens: TokensOption = None,
    match: MatchOption = ControlMatch.TOKENS,
    control_seed: ControlSeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Draw another control for a run: the unfiltered source matched to what the profile keeps, without the curriculum."""
    options = ExportOptions(
        shard_bytes=DEFAULT_SHARD_BYTES,
        shuffle_seed=None,
        token_budget=tokens,
        validation_share=0.0,
        control_match=match,
        control_seed=control_seed,
        has_curriculum=False,
    )
    _write(
        folder,
        out,
        options,
        profile=profile,
        vocabulary=vocabulary,
        overrides=overrides,
        source_rules=source_rules,
        as_json=as_json,
    )


def _write(
    folder: Path,
    out: Path,
    options: ExportOptions,
    *,
    profile: str | None,
    vocabulary: Path | None,
    overrides: Path | None,
    source_rules: Path | None,
    as_json: bool,
    concepts: str | None = None,
) -> None:
    run_folder = RunFolder(folder)
    run_folder.require_run()
    decisions = open_wanted(run_folder, profile, vocabulary, overrides, source_rules)
    catalogue = open_catalogue(concepts) if concepts is not None else None
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[done]}"))
    with Progress(*columns, console=console, disable=as_json or not console.is_terminal) as bar:
        task = bar.add_task("exporting", total=None, done="")

        def show(progress: ExportProgress) -> None:
            done = f"{progress.documents:,} documents, {progress.tokens:,} tokens, {progress.bytes / 1e6:,.1f} MB"
            bar.update(task, done=done)

        result = write_export(build_export_request(decisions, out, options, leak_catalogue=catalogue, on_progress=show))
    if as_json:
        print_json({**describe_export(result), "statement": result.statement, "is_new": result.is_new})
    else:
        _show(result)


def _show(result: ExportResult) -> None:
    report = describe_export(result)
    if not result.is_new:
        console.print(f"Nothing to do: {result.folder} holds this export.", highlight=False, markup=False)
    results.print(result.statement, highlight=False, markup=False)
    results.print(
        f"Curriculum  {report['curriculum_rows']:,} documents, {report['curriculum_tokens']:,} tokens", highlight=False
    )
    results.print(
        f"Control     {report['control_rows']:,} documents, {report['control_tokens']:,} tokens", highlight=False
    )
    results.print(f"Export      {result.folder}", highlight=False, markup=False, soft_wrap=True)


def verify(
    folder: Annotated[Path, typer.Argument(metavar="E", help="An export folder.")],
    run: Annotated[
        Path | None, typer.Option(help="The run it was made from; default: the folder above, where it is one.")
    ] = None,
    sample: Annotated[int, typer.Option(min=0, help="Rows to read, measure and decide again.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of that sample.")] = 0,
    overrides: OverridesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check an export: every hash, size and row count, that it loads, and a sample measured and decided again."""
    source = run or folder.resolve().parent
    run_folder = RunFolder(source) if run is not None or RunFolder(source).ledger.has_plan() else None
    artifacts = None
    if run_folder is not None:
        request = read_request(run_folder.folder)
        artifacts = resolve_artifacts(request.artifacts, aoa=Path(request.aoa) if request.aoa else None)
    report = verify_export(
        folder,
        run_folder,
        sample,
        seed,
        artifacts=artifacts,
        overrides=read_overrides(overrides) if overrides else None,
    )
    if as_json:
        problems = [{"file": p.file, "row": p.row, "what": p.what} for p in report.problems]
        print_json(
            {
                "is_sound": report.is_sound,
                "files": report.files_checked,
                "rows": report.rows_rechecked,
                "problems": problems,
            }
        )
    else:
        for problem in report.problems:
            console.print(f"[red]{show_safely(str(problem))}", highlight=False)
        again = (
            f"{report.rows_rechecked:,} rows measured and decided again"
            if run_folder
            else "no run given: rows were not measured again"
        )
        verdict = "sound" if report.is_sound else f"{len(report.problems)} problems"
        console.print(f"{folder}: {verdict}; {report.files_checked} files, {again}.", highlight=False, markup=False)
    raise typer.Exit(0 if report.is_sound else 1)

"""`primer run` and `primer finish`: curate a source from one command, or join the parts of a run split over machines."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from curation.artifacts.artifact_set import BUNDLED, PUBLISHED
from curation.curate import begin_run, finish_run, is_finished, measure, read_report
from curation.export.request import DEFAULT_SHARD_BYTES, ControlMatch
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, read_vocabulary_version
from curation.profile import DEFAULT_PROFILE, load_profile
from curation.recipe import DEFAULT_SLICE_BYTES
from curation.request import ExportOptions, RunRequest
from curation.run import WHOLE, Part
from curation.run_folder import RunFolder
from curation.slice_sample import Sample
from curation.source_rules import read_source_rules
from primer.cli.options import ControlSeedOption, MatchOption, ShuffleOption, TokensOption, ValidationOption
from primer.cli.output import JsonOption, console, print_funnel, print_json, results, show_safely
from primer.cli.progress import RunDisplay

INCOMPLETE_STATUS = 3  # some slices could not be measured; what could be is committed
_PART = re.compile(r"([1-9]\d*)/([1-9]\d*)")


def run(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Files, folders or globs of .parquet, .jsonl[.gz|.zst]; any fsspec URL; hf://datasets/OWNER/NAME.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the run: ledger/, export/, run.json.")],
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A bundled profile's name or a YAML file.")
    ] = DEFAULT_PROFILE,
    vocabulary: Annotated[Path | None, typer.Option(help="A vocabulary version (YAML: allow, block).")] = None,
    source_rules: Annotated[
        Path | None, typer.Option(help="Documents to exclude (YAML: kind, value of each rule).")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Read only the first N rows; 0 reads none.")] = None,
    sample: Annotated[
        float | None, typer.Option(min=0, max=1, help="Measure only about this share of the slices; 0.01 is a trial.")
    ] = None,
    sample_seed: Annotated[int, typer.Option(min=0, help="Which slices the sample draws.")] = 0,
    text_field: Annotated[str, typer.Option(help="The column or field that holds the text.")] = "text",
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", min=1, help="Processes; default: one a core.")
    ] = None,
    artifacts: Annotated[
        str | None, typer.Option(help="`bundled`, `published`, or a folder of models and tables.")
    ] = None,
    aoa: Annotated[Path | None, typer.Option(help="Other age norms: Parquet with columns word and aoa.")] = None,
    part: Annotated[
        str | None, typer.Option(metavar="I/N", help="Measure only part I of N; then `primer finish`.")
    ] = None,
    config: Annotated[str | None, typer.Option(help="Configuration of a Hub data set.")] = None,
    split: Annotated[str | None, typer.Option(help="Split of a Hub data set.")] = None,
    cache_gb: Annotated[
        float | None, typer.Option(min=0.001, help="Quota of the cache of downloaded shards, in GB.")
    ] = None,
    slice_mb: Annotated[
        float, typer.Option(min=0.001, help="Rows of about this many MB of text make one task.")
    ] = DEFAULT_SLICE_BYTES / (1 << 20),
    no_encoder: Annotated[
        bool, typer.Option("--no-encoder", help="Leave the encoder's stage out: faster, and a coarser boundary.")
    ] = False,
    tokens: TokensOption = None,
    validation_share: ValidationOption = 0.0,
    shuffle_seed: ShuffleOption = None,
    match: MatchOption = ControlMatch.TOKENS,
    control_seed: ControlSeedOption = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    strict: Annotated[bool, typer.Option(help="Exit with status 3 when any shard or row could not be read.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Curate SOURCE into --out: measure every document, decide by the profile, export the curriculum and its control.

    A killed run carries on when the same command is given again; a finished one is left alone.
    """
    options = ExportOptions(
        shard_bytes=DEFAULT_SHARD_BYTES,
        shuffle_seed=shuffle_seed,
        token_budget=tokens,
        validation_share=validation_share,
        control_match=match,
        control_seed=control_seed,
    )
    request = RunRequest(
        sources=tuple(sources),
        config=config,
        split=split,
        artifacts=_make_absolute(artifacts),
        aoa=str(aoa.resolve()) if aoa else None,
        profile=load_profile(profile),
        vocabulary=read_vocabulary_version(vocabulary) if vocabulary else PLAIN_VOCABULARY,
        export=options,
        source_rules=read_source_rules(source_rules) if source_rules else (),
    )
    chosen = _parse_part(part)
    quota = round(cache_gb * 1e9) if cache_gb is not None else None
    folder = RunFolder(out, cache_quota_bytes=quota)
    job = begin_run(
        folder,
        request,
        text_field=text_field,
        slice_bytes=round(slice_mb * (1 << 20)),
        row_limit=limit,
        has_encoder=not no_encoder,
        sample=_make_sample(sample, sample_seed),
    )
    if is_finished(folder):
        if not quiet and not as_json:
            console.print(f"Nothing to do: {out} holds this run, finished.", highlight=False)
        _show(folder, read_report(folder), as_json=as_json)
        return
    with RunDisplay(is_quiet=quiet or as_json) as display:
        progress = measure(job, workers=workers or os.cpu_count() or 1, part=chosen, on_progress=display.show)
    if chosen != WHOLE:
        if as_json:
            print_json(
                {
                    "part": chosen.number,
                    "of": chosen.total,
                    "documents": progress.documents,
                    "failures": progress.failures,
                }
            )
        else:
            console.print(
                f"Part {chosen.number} of {chosen.total}: {progress.documents:,} documents measured. "
                f"When all parts are, run: primer finish {out}",
                highlight=False,
                markup=False,
            )
        raise typer.Exit(INCOMPLETE_STATUS if progress.failures else 0)
    report = finish_run(folder, progress=progress)
    _show(folder, report, as_json=as_json)
    _exit_for(report, strict=strict)


def finish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The --out of the parts.")],
    strict: Annotated[bool, typer.Option(help="Exit with status 3 when any shard or row could not be read.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Join the parts of a run that was split with --part: decide, export and report once every part is measured."""
    run_folder = RunFolder(folder)
    run_folder.require_run()
    report = read_report(run_folder) if is_finished(run_folder) else finish_run(run_folder)
    _show(run_folder, report, as_json=as_json)
    _exit_for(report, strict=strict)


def _make_absolute(artifacts: str | None) -> str | None:
    """Later commands may run in another folder."""
    return artifacts if artifacts in (None, BUNDLED, PUBLISHED) else str(Path(artifacts).resolve())


def _make_sample(share: float | None, seed: int) -> Sample | None:
    if share is None:
        return None
    if not 0 < share < 1:
        raise typer.BadParameter("A share lies between 0 and 1, such as 0.01.", param_hint="--sample")
    return Sample(share=share, seed=seed)


def _parse_part(part: str | None) -> Part:
    if part is None:
        return WHOLE
    match = _PART.fullmatch(part)
    if match is None or int(match[1]) > int(match[2]):
        raise typer.BadParameter(f"{part!r} is not I/N with 1 <= I <= N, such as 2/8.", param_hint="--part")
    return Part(int(match[1]), int(match[2]))


def _exit_for(report: dict[str, object], *, strict: bool) -> None:
    row_errors = report.get("row_errors")
    has_row_errors = isinstance(row_errors, dict) and row_errors["count"]
    if report["state"] != "finished" or (strict and (report["shard_errors"] or has_row_errors)):
        raise typer.Exit(INCOMPLETE_STATUS)


def _show(folder: RunFolder, report: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    for failure in _rows(report, "failures"):
        console.print(
            f"[red]Not measured:[/] {show_safely(failure['where'])}: {show_safely(failure['error'])}", highlight=False
        )
    if report["state"] != "finished":
        console.print("The run is incomplete: nothing was exported. Repair what is named above and repeat the command.")
        return
    funnel = report["funnel"]
    assert isinstance(funnel, dict)
    for shard in _rows(report, "shard_errors"):
        console.print(f"[yellow]Shard error:[/] {show_safely(shard['error'])}", highlight=False)
    row_errors = report["row_errors"]
    assert isinstance(row_errors, dict)
    if row_errors["count"]:
        console.print(
            f"[yellow]{row_errors['count']:,} rows could not be read[/] (column `error` of the ledger); the first: "
            + show_safely(str(row_errors["examples"][0]["error"])),
            highlight=False,
        )
    print_funnel(funnel, str(report["statement"]))
    exported = report["export"]
    assert isinstance(exported, dict)
    lines = [
        ("Curriculum", f"{exported['curriculum_rows']:,} documents, {exported['curriculum_tokens']:,} tokens"),
        ("Control", f"{exported['control_rows']:,} documents, {exported['control_tokens']:,} tokens"),
        ("Export", f"{folder.export}  (load_dataset({str(folder.export)!r}))"),
        ("Ledger", f"{folder.ledger.folder}  (primer ledger dump {folder.folder} --out ledger.parquet)"),
        ("Report", str(folder.report)),
    ]
    for name, value in lines:
        results.print(f"{name:<11} {value}", highlight=False, markup=False, soft_wrap=True)


def _rows(report: dict[str, object], key: str) -> list[dict[str, str]]:
    rows = report.get(key, [])
    assert isinstance(rows, list)
    return rows

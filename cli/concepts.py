"""`primer concepts` and `primer probe`: which ideas beyond grade 5 a boundary excludes, and which leak through."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, cast, get_args

import typer
from rich.table import Table

from curation.concepts.catalogue import Catalogue, Concept, diff_catalogues, open_catalogue
from curation.concepts.concordance import ConceptLine
from curation.concepts.layer import list_recorded, name_concepts_layer
from curation.concepts.measure import ConceptProgress, measure_concepts, plan_measuring
from curation.concepts.probe import DEFAULT_LINES, PUBLISHED_NGRAMS, PUBLISHED_SHARE, ProbeReport, probe_export
from curation.concepts.probe_run import probe_run
from curation.concepts.report import Counts, Outcome, read_lines, report_concepts
from curation.errors import CatalogueError
from curation.run_folder import RunFolder
from primer.cli.decisions import open_wanted
from primer.cli.options import (
    ConceptsOption,
    OverridesOption,
    ProfileOption,
    RunArgument,
    SourceRulesOption,
    VocabularyOption,
)
from primer.cli.output import JsonOption, console, print_json, results, show_safely
from primer.cli.run import INCOMPLETE_STATUS

app = typer.Typer(
    help="What is taught after grade 5: which of it a boundary excludes and lets through.", no_args_is_help=True
)

CatalogueArgument = Annotated[
    str, typer.Argument(metavar="CATALOGUE", help="A catalogue (YAML), or a bundled version's number.")
]


@app.command("list")
def list_all(
    concepts: ConceptsOption = None,
    subject: Annotated[str | None, typer.Option(help="Only this subject.")] = None,
    search: Annotated[str, typer.Option(help="Only concepts whose id, name or words hold this.")] = "",
    as_json: JsonOption = False,
) -> None:
    """The concepts of a catalogue."""
    catalogue = open_catalogue(concepts)
    found = [
        concept
        for concept in catalogue.concepts
        if (subject is None or concept.subject == subject) and search.lower() in _join_words(concept).lower()
    ]
    if as_json:
        print_json({**_identify(catalogue), "concepts": [concept.model_dump(mode="json") for concept in found]})
        return
    table = Table(title=catalogue.label)
    for column in ("concept", "subject", "band", "standard or basis"):
        table.add_column(column)
    for concept in found:
        table.add_row(concept.id, concept.subject, concept.band, concept.standard or concept.basis)
    results.print(table)


@app.command("show")
def show(
    concept_id: Annotated[str, typer.Argument(metavar="CONCEPT", help="The id of a concept.")],
    concepts: ConceptsOption = None,
    as_json: JsonOption = False,
) -> None:
    """One concept: its words, what excuses them, and the K-5 neighbour that is fine."""
    concept = open_catalogue(concepts).require(concept_id)
    if as_json:
        print_json(concept.model_dump(mode="json"))
        return
    table = Table(show_header=False)
    for name, value in concept.model_dump(mode="json", exclude_defaults=True).items():
        table.add_row(name, _say(value))
    results.print(table)


@app.command("diff")
def diff(old: CatalogueArgument, new: CatalogueArgument, as_json: JsonOption = False) -> None:
    """What a catalogue says differently from an older one, and which concepts must be measured again for it."""
    found = diff_catalogues(open_catalogue(old), open_catalogue(new))
    if as_json:
        print_json({**found.model_dump(mode="json"), "remeasured": list(found.remeasured)})
        return
    table = Table()
    for column in ("concept", "what", "fields"):
        table.add_column(column)
    for concept_id in found.added:
        table.add_row(concept_id, "added", "")
    for concept_id in found.removed:
        table.add_row(concept_id, "removed", "")
    for concept_id, fields in found.changed.items():
        table.add_row(concept_id, "finds otherwise", ", ".join(fields))
    for concept_id, fields in found.reworded.items():
        table.add_row(concept_id, "described otherwise", ", ".join(fields))
    results.print(table)
    results.print(f"{len(found.remeasured):,} concepts must be measured again.", highlight=False)


@app.command("measure")
def measure(
    folder: RunArgument,
    concepts: ConceptsOption = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", min=1, help="Processes; default: one a core.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what must be measured.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Look for a catalogue's concepts in every text of a measured run. Older catalogues' layers stay; what they know is not looked
    for again."""
    run_folder = RunFolder(folder)
    run_folder.require_run()
    catalogue = open_catalogue(concepts)
    plan = plan_measuring(run_folder, catalogue)
    if dry_run:
        base = plan.base.catalogue.label if plan.base else None
        if as_json:
            print_json({**asdict(plan), "base": base})
        else:
            known = f" {base} knows the others." if base else ""
            results.print(
                f"{catalogue.label}: {plan.slices_missing:,} of {plan.slices:,} slices, {len(plan.concepts):,} of "
                f"{len(catalogue.concepts):,} concepts.{known}",
                highlight=False,
                markup=False,
            )
        return

    def show_progress(progress: ConceptProgress) -> None:
        if not as_json and console.is_terminal:
            console.print(f"{progress.slices_done:,}/{progress.slices:,} slices", highlight=False, end="\r")

    progress = measure_concepts(
        run_folder, catalogue, workers=workers or os.cpu_count() or 1, on_progress=show_progress
    )
    if as_json:
        print_json({**_identify(catalogue), **asdict(progress)})
    else:
        for failure in progress.failures:
            where, error = show_safely(failure["where"]), show_safely(failure["error"])
            console.print(f"[red]Not measured:[/] {where}: {error}", highlight=False)
        results.print(
            f"{progress.layer}: {progress.slices_done:,} slices, {progress.slices_reused:,} of them before, "
            f"{progress.documents:,} texts read for {progress.concepts - progress.concepts_copied:,} concepts.",
            highlight=False,
        )
    raise typer.Exit(INCOMPLETE_STATUS if progress.failures else 0)


@app.command("report")
def report(
    folder: RunArgument,
    concept_id: Annotated[str | None, typer.Option("--concept", help="One concept, with its concordance.")] = None,
    outcome: Annotated[str, typer.Option(help=f"Of the concordance: {', '.join(get_args(Outcome))}.")] = "kept",
    limit: Annotated[int, typer.Option(min=1, help="Rows of a table, documents of a concordance.")] = 30,
    seed: Annotated[int, typer.Option(help="Seed of a concordance's sample.")] = 0,
    concepts: ConceptsOption = None,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """What a boundary does to each concept: documents kept and excluded, by which stage, alone or not, and what leaks."""
    if outcome not in get_args(Outcome):
        raise CatalogueError(f"{outcome!r} is no outcome.", hint=f"Choose one of {', '.join(get_args(Outcome))}.")
    run_folder = RunFolder(folder)
    run_folder.require_run()
    catalogue = _choose_measured(run_folder, concepts)
    concept = catalogue.require(concept_id) if concept_id is not None else None
    decisions = open_wanted(run_folder, profile, vocabulary, overrides, source_rules)
    found = report_concepts(decisions, catalogue, judgements=limit)
    lines = (
        read_lines(decisions, catalogue, concept, outcome=cast(Outcome, outcome), max_documents=limit, seed=seed)
        if concept is not None
        else []
    )
    if as_json:
        print_json({**asdict(found), "leak_share": found.leak_share, "lines": [asdict(line) for line in lines]})
        return
    low, high = found.leak_interval
    results.print(
        f"{found.catalogue}: {found.leaking:,} of {found.kept:,} kept documents ({found.leak_share:.3%}; {low:.3%} to {high:.3%}) "
        "mention a concept.",
        highlight=False,
        markup=False,
    )
    if concept is not None:
        results.print(_draw_counts("concept", {concept.id: found.concepts[concept.id]}, limit))
        results.print(_draw_lines(lines))
        return
    results.print(_draw_counts("subject", found.subjects, limit))
    results.print(_draw_counts("concept", found.concepts, limit))


def probe(
    target: Annotated[Path, typer.Argument(metavar="RUN|EXPORT", help="A run's folder, or an export's.")],
    max_share: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Exit with status 1 when a larger share of documents mentions a concept."),
    ] = None,
    lines: Annotated[int, typer.Option(min=0, help="Lines of the concordance for each concept.")] = DEFAULT_LINES,
    concepts: ConceptsOption = None,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for every concept in what a run keeps, or in an export's curriculum. Profile, vocabulary and rulings are of a run."""
    catalogue = open_catalogue(concepts)
    run_folder = RunFolder(target)
    if run_folder.ledger.has_plan():
        found = probe_run(
            open_wanted(run_folder, profile, vocabulary, overrides, source_rules), catalogue, max_lines=lines
        )
    else:
        found = probe_export(target, catalogue, max_lines=lines)
    is_above = max_share is not None and found.exceeds(max_share)
    if as_json:
        print_json({**found.to_json(), "max_share": max_share, "is_above": is_above})
    else:
        _show_probe(found, max_share)
    raise typer.Exit(1 if is_above else 0)


def _show_probe(found: ProbeReport, max_share: float | None) -> None:
    low, high = found.interval
    results.print(
        f"{found.leaking:,} of {found.documents:,} documents ({found.share:.4%}; exact 95 % interval {low:.4%} to {high:.4%}) "
        f"mention a concept of {found.catalogue}.",
        highlight=False,
        markup=False,
    )
    results.print(
        f"Beside it: of {PUBLISHED_NGRAMS} n-grams of grade 6 and above, {PUBLISHED_SHARE:.2%} of the published corpus' passages "
        "hold one (another list).",
        highlight=False,
    )
    if max_share is not None:
        verdict = "above" if found.exceeds(max_share) else "not above"
        results.print(f"The share is {verdict} {max_share:.4%}.", highlight=False)
    if not found.concepts:
        return
    table = Table()
    for column in ("concept", "documents", "hits"):
        table.add_column(column, justify="left" if column == "concept" else "right")
    for concept_id, leaks in found.concepts.items():
        table.add_row(concept_id, f"{leaks.documents:,}", f"{leaks.hits:,}")
    results.print(table)
    if shown := [line for leaks in found.concepts.values() for line in leaks.lines]:
        results.print(_draw_lines(shown))


def _choose_measured(folder: RunFolder, concepts: str | None) -> Catalogue:
    """The catalogue asked for, or else the newest that the run was measured with."""
    if concepts is not None:
        return open_catalogue(concepts)
    bundled = open_catalogue()
    if measured := [recorded for recorded in list_recorded(folder.ledger) if recorded.is_whole]:
        layers = {recorded.layer for recorded in measured}
        return bundled if name_concepts_layer(bundled) in layers else measured[-1].catalogue
    return bundled


def _identify(catalogue: Catalogue) -> dict[str, object]:
    return {"catalogue": catalogue.name, "version": catalogue.version, "sha256": catalogue.sha256}


def _join_words(concept: Concept) -> str:
    words = (
        *concept.terms,
        *concept.verbs,
        *concept.exact,
        *(term for sense in concept.senses for term in sense.terms),
    )
    return " ".join((concept.id, concept.name, *words))


def _say(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(_say(entry) for entry in value)
    if isinstance(value, dict):
        return "; ".join(
            f"{key}: {', '.join(entry) if isinstance(entry, list) else entry}" for key, entry in value.items()
        )
    return str(value)


def _draw_counts(name: str, counts: dict[str, Counts], limit: int) -> Table:
    table = Table()
    for column in (name, "documents", "kept", "excluded", "undecided", "excluded by", "sole cause"):
        is_text = column in (name, "excluded by", "sole cause")
        table.add_column(column, justify="left" if is_text else "right", no_wrap=column == name)
    found = [(key, entry) for key, entry in counts.items() if entry.documents]
    found.sort(key=lambda pair: (-pair[1].kept, -pair[1].documents))
    for key, entry in found[:limit]:
        table.add_row(
            key,
            f"{entry.documents:,}",
            f"{entry.kept:,}",
            f"{entry.excluded:,}",
            f"{entry.undecided:,}",
            ", ".join(f"{stage} {count:,}" for stage, count in entry.excluded_by.items()),
            ", ".join(f"{stage} {count:,}" for stage, count in entry.sole_cause.items()),
        )
    return table


def _draw_lines(lines: list[ConceptLine]) -> Table:
    table = Table(show_lines=False)
    table.add_column("concept")
    table.add_column("left", justify="right")
    table.add_column("hit", style="bold")
    table.add_column("right")
    table.add_column("where")
    for line in lines:
        where = f"{line.shard} row {line.row}" + (f" ({line.domain})" if line.domain else "")
        table.add_row(line.concept, *(show_safely(part) for part in (line.left, line.hit, line.right, where)))
    return table

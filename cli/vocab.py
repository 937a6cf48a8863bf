"""`primer vocab`: what the vocabulary excludes, words in their contexts, and versions that allow, block or tell apart by sense."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer
import yaml
from rich.table import Table

from curation.curate import DecisionSet
from curation.errors import ProfileError
from curation.index import Decided, DecisionRequest, build_index, open_index
from curation.index.query import Outcome
from curation.index.senses import add_senses
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion, read_vocabulary_version
from curation.publish import publish_bytes
from curation.run_folder import RunFolder
from curation.sense_layer import measure_senses
from curation.stages import VocabularySampling
from curation.vocabulary_audit import (
    ConcordanceQuery,
    ConcordanceReader,
    TermQuery,
    TermRow,
    WordChange,
    audit_terms,
    diff_versions,
    export_csv,
    find_related,
    import_csv,
    list_terms,
    make_next_version,
    preview_impact,
    preview_sampling,
    read_word_counts,
    revert_version,
)
from curation.vocabulary_audit.concordance import LineSort
from curation.vocabulary_audit.term_list import Ruling, TermSort, describe_term
from primer.cli.decisions import open_wanted
from primer.cli.options import OverridesOption, ProfileOption, RunArgument, SourceRulesOption, VocabularyOption
from primer.cli.output import JsonOption, console, print_json, results, show_safely

INDEXES = "indexes"

app = typer.Typer(help="Audit which words exclude documents, and rule on them.", no_args_is_help=True)

TermArgument = Annotated[str, typer.Argument(help="One word, two or more letters a-z.")]
VersionArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A vocabulary version (YAML).")]
SeedOption = Annotated[int, typer.Option(help="Seed of the sample.")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="The file to write; one that is there is kept.")]


def _open(
    folder: Path, profile: str | None, vocabulary: Path | None, overrides: Path | None, source_rules: Path | None
) -> tuple[RunFolder, DecisionSet, Decided]:
    run_folder = RunFolder(folder)
    run_folder.require_run()
    wanted = open_wanted(run_folder, profile, vocabulary, overrides, source_rules)
    index = open_index(build_index(run_folder, run_folder.folder / INDEXES))
    add_senses(run_folder, index, wanted.vocabulary.senses)
    return run_folder, wanted, index.decide(DecisionRequest.of(wanted))


@app.command("table")
def table(
    folder: RunArgument,
    search: Annotated[str, typer.Option(help="Only words that hold these letters.")] = "",
    sort: Annotated[str, typer.Option(help=f"One of {', '.join(get_args(TermSort))}.")] = "sole_documents",
    ascending: Annotated[bool, typer.Option("--ascending", help="The smallest first.")] = False,
    ruling: Annotated[str | None, typer.Option(help="none, allow, block or sense.")] = None,
    harmless: Annotated[bool, typer.Option("--harmless", help="Only words that look harmless.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 30,
    offset: Annotated[int, typer.Option(min=0)] = 0,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Every word of the vocabulary with what it costs: documents that hold it, that it alone loses, and its share of what is kept."""
    query = TermQuery(
        search=search,
        sort=cast(TermSort, _choose(sort, get_args(TermSort))),
        is_descending=not ascending,
        ruling=cast(Ruling, _choose(ruling, get_args(Ruling))) if ruling else None,
        looks_harmless=harmless,
        limit=limit,
        offset=offset,
    )
    _, wanted, decided = _open(folder, profile, vocabulary, overrides, source_rules)
    audited = audit_terms(decided)
    page = list_terms(audited, query, _read_counts(wanted))
    if as_json:
        print_json({"losses": asdict(audited.losses), "total": page.total, "terms": [asdict(row) for row in page.rows]})
        return
    losses = audited.losses
    results.print(
        f"Vocabulary excludes {losses.excluded[0]:,} documents: {losses.with_others[0]:,} other stages exclude as well, "
        f"{losses.one_word[0]:,} one word alone, {losses.several_words[0]:,} several words together"
        + (f", {losses.maybe_one_word[0]:,} perhaps one word (signals missing)." if losses.maybe_one_word[0] else "."),
        highlight=False,
    )
    results.print(_draw_terms(page.rows))
    if offset + len(page.rows) < page.total:
        console.print(f"{page.total:,} words; --offset and --limit show more.", highlight=False)


def _choose(value: str, names: tuple[str, ...]) -> str:
    if value not in names:
        raise ProfileError(f"{value!r} is none of them.", hint=f"Choose one of {', '.join(names)}.")
    return value


def _read_counts(wanted: DecisionSet) -> dict[str, Any]:
    return read_word_counts(wanted.artifacts.require("vocabulary").path)


def _draw_terms(rows: list[TermRow]) -> Table:
    drawn = Table()
    columns = (
        "word",
        "score",
        "ruling",
        "in K-5",
        "beyond",
        "documents",
        "alone",
        "tokens lost",
        "with others",
        "kept",
    )
    for column in columns:
        drawn.add_column(column, justify="left" if column in ("word", "ruling") else "right")
    for row in rows:
        drawn.add_row(
            row.word,
            "-" if row.score is None else f"{row.score:.2f}",
            row.ruling or ("looks harmless" if row.looks_harmless else ""),
            f"{row.counts.count_k5:,}" if row.counts else "-",
            f"{row.counts.count_beyond:,}" if row.counts else "-",
            f"{row.documents:,}",
            f"{row.sole_documents:,}",
            f"{row.sole_tokens:,}",
            f"{row.several_documents:,}",
            f"{100 * row.kept_share:.2f} %",
        )
    return drawn


@app.command("show")
def show(
    folder: RunArgument,
    term: TermArgument,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """One word: what it costs, what the version says of it, and its other forms."""
    _, wanted, decided = _open(folder, profile, vocabulary, overrides, source_rules)
    word = term.strip().lower()
    audited = audit_terms(decided)
    row = None
    if word in audited.words:
        place = audited.words.index(word)
        row = describe_term(audited, place, _read_counts(wanted), bool(audited.find_harmless()[place]))
    documents = len(decided.index.find_term(word, decided.request.bound.profile.form))
    related = find_related(decided, word)
    rule = next((rule for rule in wanted.vocabulary.senses if rule.term == word), None)
    note = wanted.vocabulary.notes.get(word, rule.note if rule else "")
    if as_json:
        content = {"word": word, "documents": documents, "row": asdict(row) if row else None, "note": note}
        content["rule"] = rule.model_dump(mode="json") if rule else None
        print_json({**content, "related": [asdict(found) for found in related]})
        return
    if row is None:
        results.print(f"{word} excludes nothing here; {documents:,} documents hold it.", highlight=False, markup=False)
    else:
        results.print(_draw_terms([row]))
    if note:
        results.print(show_safely(note), highlight=False)
    if related:
        drawn = Table(title="Other forms", title_justify="left")
        for column in ("form", "score", "documents", "counts"):
            drawn.add_column(column, justify="left" if column in ("form", "counts") else "right")
        for found in related:
            score = "-" if found.score is None else f"{found.score:.2f}"
            drawn.add_row(
                found.word, score, f"{found.documents:,}", found.ruling or ("yes" if found.is_blocked else "no")
            )
        results.print(drawn)


@app.command("kwic")
def kwic(
    folder: RunArgument,
    term: TermArgument,
    outcome: Annotated[str | None, typer.Option(help="kept, excluded or undecided; default: all.")] = None,
    sort: Annotated[str, typer.Option(help=f"One of {', '.join(get_args(LineSort))}.")] = "document",
    domain: Annotated[str | None, typer.Option(help="Only this host and those below it.")] = None,
    sole: Annotated[bool, typer.Option("--sole", help="Only documents that nothing but vocabulary excludes.")] = False,
    seed: SeedOption = 0,
    documents: Annotated[int, typer.Option(min=1, help="Read at most so many documents.")] = 200,
    whole: Annotated[
        bool, typer.Option("--whole", help="Read them wherever they lie, however long that takes.")
    ] = False,
    width: Annotated[int, typer.Option(min=10, max=400, help="Characters of context on each side.")] = 60,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """A word in its contexts (concordance), from kept and excluded documents."""
    query = ConcordanceQuery(
        term,
        outcome=cast(Outcome, _choose(outcome, get_args(Outcome))) if outcome else None,
        domain=domain,
        excluded_by="vocabulary" if sole else None,
        is_sole=sole,
        sort=cast(LineSort, _choose(sort, get_args(LineSort))),
        seed=seed,
        max_documents=documents,
        max_groups=None if whole else ConcordanceQuery.max_groups,
        context_chars=width,
    )
    run_folder, _, decided = _open(folder, profile, vocabulary, overrides, source_rules)
    found = ConcordanceReader(run_folder).read(decided, query)
    if as_json:
        print_json(asdict(found))
        return
    for line in found.lines:
        mark = {"kept": "[green]kept    [/]", "excluded": "[red]excluded[/]"}.get(line.outcome, "[yellow]undecided[/]")
        left, right = show_safely(line.left[-width:].rjust(width)), show_safely(line.right[:width].ljust(width))
        place = show_safely(f"{line.domain or line.address.shard} row {line.address.row} at {line.start}")
        sense = f" ({line.sense})" if line.sense else ""
        results.print(f"{mark} {left} [bold]{line.match}[/] {right} {place}{sense}", highlight=False, soft_wrap=True)
    sampled = f", a sample drawn with seed {found.seed}" if found.is_sampled else ""
    console.print(
        f"{len(found.lines):,} lines of {found.occurrences:,} places in {found.documents_read:,} of {found.documents:,} "
        f"documents{sampled}. Offsets are of the {found.form} text.",
        highlight=False,
    )


@app.command("impact")
def impact(
    folder: RunArgument,
    to: Annotated[Path, typer.Option("--to", help="The new vocabulary version (YAML).")],
    seed: SeedOption = 0,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """What a new version would keep and lose against the run's own (or --vocabulary), before it is used."""
    run_folder, _, decided = _open(folder, profile, vocabulary, overrides, source_rules)
    version = read_vocabulary_version(to)
    add_senses(run_folder, decided.index, version.senses)
    found = preview_impact(decided, version, seed=seed)
    if as_json:
        print_json(
            {
                "moves": {name: {"documents": move[0], "tokens": move[1]} for name, move in found.moves.items()},
                "uncertain": {"documents": found.uncertain[0], "tokens": found.uncertain[1]},
                "undecided": {"documents": found.undecided[0], "tokens": found.undecided[1]},
                "needs_senses": found.needs_senses,
                "seed": found.seed,
                "changes": [_describe_change(change) for change in found.diff.changes],
                "examples": [
                    {**asdict(example.address), "move": example.move, "words": example.words}
                    for example in found.examples
                ],
            }
        )
        return
    drawn = Table()
    for column in ("documents that are", "documents", "tokens"):
        drawn.add_column(column, justify="left" if column == "documents that are" else "right")
    for name, (documents, tokens) in found.moves.items():
        drawn.add_row(name.replace("_", " "), f"{documents:,}", f"{tokens:,}")
    drawn.add_row("undecided until senses are measured", f"{found.uncertain[0]:,}", f"{found.uncertain[1]:,}")
    results.print(drawn)
    for example in found.examples:
        place = show_safely(f"{example.address.shard} row {example.address.row} {example.address.url or ''}")
        results.print(f"{example.move.replace('_', ' ')}: {place} ({', '.join(example.words)})", highlight=False)
    if found.needs_senses:
        console.print(
            f"`primer vocab measure-senses {folder} --vocabulary {to}` makes it exact.", highlight=False, markup=False
        )


def _describe_change(change: WordChange) -> dict[str, object]:
    rules = {
        name: rule.model_dump(mode="json") if rule else None
        for name, rule in (("rule_before", change.rule_before), ("rule_after", change.rule_after))
    }
    return {
        "word": change.word,
        "before": change.before,
        "after": change.after,
        **rules,
        "note_before": change.note_before,
        "note_after": change.note_after,
    }


@app.command("sampling")
def sampling(
    folder: RunArgument,
    halving: Annotated[float | None, typer.Option(min=0.0, help="Points of score that halve the chance.")] = None,
    sampling_seed: Annotated[int, typer.Option(help="Seed of the draw, with --halving.")] = 0,
    profile: ProfileOption = None,
    vocabulary: VocabularyOption = None,
    overrides: OverridesOption = None,
    source_rules: SourceRulesOption = None,
    as_json: JsonOption = False,
) -> None:
    """What sampling by score keeps, expected and drawn, by score: the profile's own, or another one beside blocking."""
    if halving is not None and halving <= 0:
        raise ProfileError("--halving is 0: no chance could halve.", hint="Give a number above 0.")
    wanted = VocabularySampling(halving=halving, seed=sampling_seed) if halving is not None else None
    _, _, decided = _open(folder, profile, vocabulary, overrides, source_rules)
    found = preview_sampling(decided, wanted)
    if as_json:
        content = asdict(found) | {"sampling": found.sampling.model_dump()}
        content["bands"] = [
            {name: None if value == float("inf") else value for name, value in asdict(band).items()}
            for band in found.bands
        ]
        print_json(content)
        return
    drawn = Table()
    for column in ("highest score", "documents", "expected", "drawn", "kept in the end"):
        drawn.add_column(column, justify="left" if column == "highest score" else "right")
    for band in found.bands:
        name = "never in K-5" if band.low == float("inf") else f"{band.low:.2f} to {band.high:.2f}"
        expected = f"{band.expected:.1f} ± {band.deviation:.1f}"
        drawn.add_row(name, f"{band.documents:,}", expected, f"{band.drawn:,}", f"{band.kept:,}")
    results.print(drawn)
    results.print(
        f"{found.kept[0]:,} documents are kept with sampling, {found.kept_when_blocking[0]:,} with blocking.",
        highlight=False,
    )


@app.command("measure-senses")
def measure(
    folder: RunArgument,
    vocabulary: Annotated[Path, typer.Option("--vocabulary", help="The version whose sense rules to measure (YAML).")],
    as_json: JsonOption = False,
) -> None:
    """Read the documents that hold words told apart by sense, so that decisions by the version are exact."""
    version = read_vocabulary_version(vocabulary)
    run_folder = RunFolder(folder)
    run_folder.require_run()
    progress = measure_senses(run_folder, version)
    if progress is None:
        raise ProfileError(f"{vocabulary} tells no word apart by sense.", hint="There is nothing to measure.")
    if as_json:
        print_json(asdict(progress))
    else:
        console.print(
            f"{progress.documents_read:,} documents read; {progress.slices_done - progress.slices_reused:,} slices measured, "
            f"{progress.slices_reused:,} were there ({progress.layer}).",
            highlight=False,
        )


@app.command("diff")
def diff(
    first: VersionArgument,
    second: Annotated[Path, typer.Argument(metavar="FILE", help="Another one.")],
    as_json: JsonOption = False,
) -> None:
    """What two versions say differently, word by word."""
    found = diff_versions(read_vocabulary_version(first), read_vocabulary_version(second))
    if as_json:
        print_json([_describe_change(change) for change in found.changes])
        return
    drawn = Table()
    for column in ("word", "before", "after", "note"):
        drawn.add_column(column)
    for change in found.changes:
        drawn.add_row(change.word, change.before or "", change.after or "", show_safely(change.note_after))
    results.print(drawn)


@app.command("export")
def export(
    version: VersionArgument,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The CSV file to write; default: print it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """A version as CSV for a spreadsheet; cells that a spreadsheet would run begin with an apostrophe."""
    content = export_csv(read_vocabulary_version(version))
    if out is not None:
        _write_new(out, content.encode())
    if as_json:
        print_json({"path": str(out) if out else None, "csv": None if out else content})
    elif out is None:
        typer.echo(content, nl=False)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="CSV", help="What `primer vocab export` writes, edited.")],
    out: OutOption,
    name: Annotated[str | None, typer.Option(help="Name of the vocabulary; default: the parent's.")] = None,
    parent: Annotated[Path | None, typer.Option(help="The version that it follows (YAML).")] = None,
    author: Annotated[str | None, typer.Option(help="Who ruled so.")] = None,
    note: Annotated[str, typer.Option(help="Why.")] = "",
    as_json: JsonOption = False,
) -> None:
    """A CSV file as a new version (YAML): the first one of its name, or the one after --parent."""
    before = read_vocabulary_version(parent) if parent else None
    if before is None and name is None:
        raise ProfileError("Nobody said what the vocabulary is called.", hint="Give --name, or --parent.")
    try:
        content = import_csv(file.read_bytes(), name=name or (before or PLAIN_VOCABULARY).name)
    except OSError as error:
        raise ProfileError(f"{file}: cannot be read ({error.strerror}).", hint="Give a CSV file.") from error
    now = datetime.now(UTC).replace(microsecond=0)
    if before is None:
        version = content.model_copy(update={"author": author, "note": note, "created": now})
    else:
        version = make_next_version(before, content, author=author, note=note, created=now)
    _save(version, out, as_json)


@app.command("revert")
def revert(
    current: VersionArgument,
    wanted: Annotated[Path, typer.Argument(metavar="FILE", help="The earlier version whose rulings to take back.")],
    out: OutOption,
    author: Annotated[str | None, typer.Option(help="Who went back.")] = None,
    as_json: JsonOption = False,
) -> None:
    """A new version that rules as an earlier one did."""
    now = datetime.now(UTC).replace(microsecond=0)
    version = revert_version(
        read_vocabulary_version(current), read_vocabulary_version(wanted), author=author, created=now
    )
    _save(version, out, as_json)


def _save(version: VocabularyVersion, out: Path, as_json: bool) -> None:
    content = version.model_dump(mode="json")
    _write_new(out, yaml.safe_dump(content, sort_keys=False, allow_unicode=True).encode())
    if as_json:
        print_json({"path": str(out), "sha256": version.sha256, "version": content})
    else:
        console.print(f"{version.name} version {version.version}: {out}", highlight=False, markup=False)


def _write_new(path: Path, content: bytes) -> None:
    if not publish_bytes(path, content):
        raise ProfileError(f"{path} is there already.", hint="Versions are kept: choose another name.")

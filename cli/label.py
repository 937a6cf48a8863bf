"""`primer label`: a language model judges documents under several prompts. The work is in `curation.training.judge`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from curation.shards.retries import RetryPolicy
from curation.training.judge.agree import Rule
from curation.training.judge.api_key import ApiKey, read_api_key
from curation.training.judge.cache import AnswerCache, open_cache
from curation.training.judge.estimate import Estimate, Limits, Prices
from curation.training.judge.excerpt import DEFAULT_BUDGET_CHARS, MIN_BUDGET_CHARS
from curation.training.judge.pace import ANSWER_SECONDS
from curation.training.judge.plan import (
    ANSWERS,
    DEFAULT_PARAMETERS,
    LABELS,
    RESERVED_PARAMETERS,
    STAGED,
    LabelJob,
    LabelRequest,
    plan_labels,
    remove_staged,
    require_label_folder,
)
from curation.training.judge.prompts import VARIANTS
from primer.cli.output import JsonOption, console, print_json, results, show_safely

if TYPE_CHECKING:
    from curation.training.judge.label import LabelProgress, OnProgress

INCOMPLETE_STATUS = 3  # some questions got no answer; the same command asks them again


def label(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Files, folders or globs of .parquet, .jsonl[.gz|.zst]; any fsspec URL; hf://datasets/OWNER/NAME.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the labels: labels.parquet, answers.jsonl.")],
    endpoint: Annotated[
        str,
        typer.Option(
            envvar=["PRIMER_LABEL_ENDPOINT", "OPENAI_BASE_URL"],
            help="Base URL of a chat-completions API. The key comes from PRIMER_LABEL_API_KEY or OPENAI_API_KEY.",
        ),
    ] = "",
    model: Annotated[str, typer.Option(envvar="PRIMER_LABEL_MODEL", help="The judge, as the endpoint names it.")] = "",
    variants: Annotated[
        list[str] | None,
        typer.Option("--prompt", help=f"A prompt to ask with; repeat it. Default: {', '.join(VARIANTS)}."),
    ] = None,
    agreement: Annotated[
        Rule, typer.Option(help="unanimous: prompts that differ give no label; majority: ties go to the higher band.")
    ] = Rule.UNANIMOUS,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=JSON",
            help="Sent with each question; null takes a default away. "
            f"Defaults: {', '.join(f'{name}={value}' for name, value in DEFAULT_PARAMETERS.items())}.",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="Read only the first N rows; 0 reads none.")] = None,
    text_field: Annotated[str, typer.Option(help="The column or field that holds the text.")] = "text",
    config: Annotated[str | None, typer.Option(help="Configuration of a Hub data set.")] = None,
    split: Annotated[str | None, typer.Option(help="Split of a Hub data set.")] = None,
    max_chars: Annotated[
        int, typer.Option(min=MIN_BUDGET_CHARS, help="Longer documents are judged by first, last and drawn windows.")
    ] = DEFAULT_BUDGET_CHARS,
    seed: Annotated[int, typer.Option(help="Draws the windows of long documents.")] = 0,
    concurrency: Annotated[int, typer.Option(min=1, max=512, help="Questions under way at once.")] = 8,
    requests_per_minute: Annotated[float | None, typer.Option(min=0.01, help="Start no more requests.")] = None,
    tokens_per_minute: Annotated[float | None, typer.Option(min=1, help="Spend no more tokens, in and out.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")] = ANSWER_SECONDS,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts a question.")] = RetryPolicy.attempts,
    price_in: Annotated[float | None, typer.Option(min=0, help="Price of a million tokens in.")] = None,
    price_out: Annotated[float | None, typer.Option(min=0, help="Price of a million tokens out.")] = None,
    cache_gb: Annotated[
        float | None, typer.Option(min=0.001, help="Quota of the cache of downloaded shards, in GB.")
    ] = None,
    ask_again: Annotated[bool, typer.Option("--ask-again", help="Ask anew where an answer was unusable.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be asked, with one example; send nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the first question.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Label the documents of SOURCE with grade bands, as a language model judges them under several prompts.

    Answers are kept as they come: a killed run carries on when the same command is given again and pays for nothing twice.
    """
    request = LabelRequest(
        sources=tuple(sources),
        endpoint=endpoint,
        model=model,
        config=config,
        split=split,
        text_field=text_field,
        row_limit=limit,
        parameters=_read_parameters(parameters or []),
        variants=_check_variants(variants),
        rule=agreement,
        budget_chars=max_chars,
        seed=seed,
        limits=Limits(concurrency, requests_per_minute, tokens_per_minute),
        prices=Prices(price_in, price_out),
        is_asking_again=ask_again,
        cache_quota_bytes=round(cache_gb * 1e9) if cache_gb is not None else None,
    )
    require_label_folder(out)
    if dry_run:
        with tempfile.TemporaryDirectory(prefix="primer-label-") as staging:
            job = plan_labels(request, AnswerCache(out / ANSWERS), staging=Path(staging))
        _show_plan(job, as_json=as_json)
        return
    # Imported here: HTTP clients take a second to load, and other commands need none.
    from curation.training.judge.label import run_labels

    key = read_api_key()
    policy = RetryPolicy(attempts=attempts, read_timeout_seconds=timeout)
    with open_cache(out / ANSWERS) as cache:
        job = plan_labels(request, cache, staging=out / STAGED)
        if not quiet and not as_json:
            _print_estimate(job.estimate, key)
        if job.pending and not yes and sys.stdin.isatty() and console.is_terminal:
            typer.confirm(f"Ask {job.estimate.calls:,} questions?", default=False, abort=True, err=True)
        report = run_labels(
            job, cache, out, key=key, policy=policy, on_progress=_make_display(is_quiet=quiet or as_json)
        )
        remove_staged(out)
    _show(out, report, as_json=as_json)
    if report["state"] != "finished":
        raise typer.Exit(INCOMPLETE_STATUS)


def _check_variants(variants: list[str] | None) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(variants or VARIANTS))
    for variant in chosen:
        if variant not in VARIANTS:
            raise typer.BadParameter(f"{variant!r} is none of {', '.join(VARIANTS)}.", param_hint="--prompt")
    return chosen


def _read_parameters(given: list[str]) -> dict[str, Any]:
    found = dict(DEFAULT_PARAMETERS)
    for parameter in given:
        name, equals, value = parameter.partition("=")
        if not equals or not name or name in RESERVED_PARAMETERS:
            raise typer.BadParameter(
                f"{parameter!r} is not NAME=JSON, or names what Primer sets.", param_hint="--parameter"
            )
        try:
            found[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise typer.BadParameter(
                f"{value!r} is no JSON; text needs quotes, such as {name}='\"low\"'.", param_hint="--parameter"
            ) from None
    return {name: value for name, value in found.items() if value is not None}


def _show_plan(job: LabelJob, *, as_json: bool) -> None:
    if as_json:
        print_json({"estimate": job.estimate, "example": job.example})
        return
    _print_estimate(job.estimate, None)
    if job.example is None:
        results.print("There is no document to ask about.")
        return
    for message in job.example:
        results.print(
            f"\n[bold]--- {message['role']} ---[/]\n{show_safely(message['content'])}", highlight=False, soft_wrap=True
        )


def _print_estimate(estimate: Estimate, key: ApiKey | None) -> None:
    lines = [
        f"{estimate.documents:,} documents: {estimate.questions:,} questions, {estimate.answered:,} answered already, "
        f"{estimate.calls:,} to ask.",
        f"About {estimate.tokens_in:,} tokens in and {estimate.tokens_out:,} out, {_describe_time(estimate.seconds)}"
        + (
            f", cost {estimate.cost:,.2f}."
            if estimate.cost is not None
            else "; for the cost give the --price- options."
        ),
    ]
    if estimate.unread:
        lines.append(f"{estimate.unread:,} rows have no text and are not asked about.")
    if estimate.excerpts:
        lines.append(f"{estimate.excerpts:,} long documents are judged by an excerpt.")
    if key is not None:
        lines.append(f"The key is that of {key.variable}." if key.variable else "No key is sent: none is set.")
    for line in lines:
        console.print(line, highlight=False, markup=False)


def _describe_time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class _Lines:
    """A line of progress whenever a twentieth of the questions has been asked."""

    def __init__(self) -> None:
        self._shown = 0

    def show(self, progress: LabelProgress) -> None:
        step = max(1, progress.calls // 20)
        if progress.asked // step > self._shown:
            self._shown = progress.asked // step
            console.print(
                f"{progress.asked:,}/{progress.calls:,} questions, {len(progress.faults):,} without an answer, "
                f"{progress.spent.prompt_tokens:,} tokens in, {progress.spent.completion_tokens:,} out",
                highlight=False,
            )


def _make_display(*, is_quiet: bool) -> OnProgress:
    return (lambda _: None) if is_quiet else _Lines().show


def _show(out: Path, report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    for error in report["shard_errors"].values():
        console.print(f"[yellow]Shard error:[/] {show_safely(error)}", highlight=False)
    counts, spent = report["counts"], report["spent"]
    cost = f", cost {spent['cost']:,.2f}" if spent["cost"] is not None else ""
    lines = [
        ("Labels", ", ".join(f"{band} {count:,}" for band, count in counts["bands"].items()) or "no documents"),
        ("Agreement", ", ".join(f"{name} {count:,}" for name, count in counts["agreement"].items()) or "-"),
        ("Votes", ", ".join(f"{name} {count:,}" for name, count in counts["votes"].items()) or "-"),
        (
            "Paid so far",
            f"{spent['answers']:,} answers, {spent['tokens_in']:,} tokens in, {spent['tokens_out']:,} out{cost}",
        ),
        ("Table", str(out / LABELS)),
    ]
    for name, value in lines:
        results.print(f"{name:<11} {value}", highlight=False, markup=False, soft_wrap=True)
    if report["unanswered"]:
        console.print(
            f"{report['unanswered']:,} questions got no answer: the same command asks them again.", highlight=False
        )

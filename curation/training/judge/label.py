"""A labelling run: ask what is not answered yet, keep each answer as it comes, then write the labels.

What to ask is planned in `plan`. Invariant: a question whose answer is in the cache is not asked; whatever stops a run,
every answer that arrived is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from curation.publish import replace_bytes
from curation.shards.remote_shard import mask_url
from curation.shards.retries import RetryPolicy
from curation.training.judge.answers import Fault, NoJudgement, Outcome, RawAnswer, read_answer
from curation.training.judge.api_key import ApiKey
from curation.training.judge.cache import CachedAnswer, Spent, WritableCache
from curation.training.judge.client import ChatClient
from curation.training.judge.estimate import TOKENS_PER_ANSWER, count_question_tokens
from curation.training.judge.pace import ANSWER_SECONDS, Clock, Pace, Stopped, SystemClock
from curation.training.judge.plan import LABELS, REPORT, LabelJob, LabelRequest
from curation.training.judge.problem import JudgeError
from curation.training.judge.questions import Inquiry, Question, select_pending
from curation.training.judge.table import write_labels

# So many questions in a row without an answer are no accident of one document.
_GIVE_UP_AFTER = 5
_REPORT_EVERY = 50  # answers between two states of label.json


@dataclass
class LabelProgress:
    """What was asked in this run; `requests` includes repeats, `spent` every answer of the folder."""

    calls: int
    spent: Spent
    asked: int = 0
    requests: int = 0
    faults: dict[str, NoJudgement] = field(default_factory=dict)


OnProgress = Callable[[LabelProgress], None]


def run_labels(
    job: LabelJob,
    cache: WritableCache,
    out: Path,
    *,
    key: ApiKey,
    policy: RetryPolicy | None = None,
    clock: Clock | None = None,
    on_progress: OnProgress = lambda _: None,
) -> dict[str, Any]:
    """Ask every pending question, write labels.parquet and label.json; returns the content of label.json.

    Raises JudgeError when the endpoint cannot be used; the answers that arrived are kept and label.json says "stopped".
    """
    policy = policy or RetryPolicy(read_timeout_seconds=ANSWER_SECONDS)
    progress = LabelProgress(len(job.pending), cache.spent)

    def show(progress: LabelProgress) -> None:
        if progress.asked % _REPORT_EVERY == 0:
            _write_report(out, _describe(job, progress, "running"))
        on_progress(progress)

    if job.pending:
        show(progress)
        is_through = False
        try:
            with _open_client(job.request, key, policy, clock or SystemClock()) as client:
                _ask_pending(job, client, cache, progress, show)
            is_through = True
        finally:
            if not is_through:
                _write_report(out, _describe(job, progress, "stopped"))

    def find_outcome(question: str) -> Outcome:
        if question in progress.faults:
            return progress.faults[question]
        answer = cache.get(question)
        if answer is None:
            return NoJudgement(Fault.UNANSWERED, "its document changed while the run went on")
        return read_answer(answer.raw())

    counts = write_labels(out / LABELS, job.cases, find_outcome, job.request.rule)
    state = "incomplete" if progress.faults else "finished"
    report = {**_describe(job, progress, state), "counts": counts}
    _write_report(out, report)
    return report


def _open_client(request: LabelRequest, key: ApiKey, policy: RetryPolicy, clock: Clock) -> ChatClient:
    if not request.endpoint or not request.model:
        raise JudgeError(
            "Nobody said whom to ask.", hint="Give --endpoint (such as http://localhost:8000/v1) and --model."
        )
    limits = request.limits
    pace = Pace(clock, requests_per_minute=limits.requests_per_minute, tokens_per_minute=limits.tokens_per_minute)
    return ChatClient(
        request.endpoint,
        request.model,
        request.parameters,
        key=key,
        pace=pace,
        policy=policy,
        concurrency=limits.concurrency,
    )


def _ask_pending(
    job: LabelJob, client: ChatClient, cache: WritableCache, progress: LabelProgress, on_progress: OnProgress
) -> None:
    faults_in_a_row = 0
    pool = ThreadPoolExecutor(job.request.limits.concurrency, thread_name_prefix="ask")
    futures: dict[Future[NoJudgement | None], str] = {}

    def take_finished() -> None:
        nonlocal faults_in_a_row
        finished, _ = wait(futures, return_when=FIRST_COMPLETED)
        for future in finished:
            question = futures.pop(future)
            try:
                fault = future.result()
            except Stopped:
                continue  # another question met what stopped the run, and says so in its turn
            progress.asked += 1
            if fault is None:
                faults_in_a_row = 0
            else:
                progress.faults[question] = fault
                faults_in_a_row += 1
                if faults_in_a_row >= _GIVE_UP_AFTER:
                    raise JudgeError(
                        f"{client.label}: {faults_in_a_row} questions in a row had no answer; the last: {fault.reason}.",
                        hint="Check --endpoint, --model and --parameter, then run the same command again; it carries on.",
                    )
            on_progress(progress)

    try:
        for question in select_pending(job.reader.read(), job.inquiry, job.pending):
            futures[pool.submit(_ask, question, job.inquiry, client, cache)] = question.key
            if len(futures) >= 2 * job.request.limits.concurrency:
                take_finished()
        while futures:
            take_finished()
    finally:
        # What is under way is paid for: its answers are waited for and kept. What waits for its turn is not asked.
        client.stop()
        pool.shutdown(wait=True, cancel_futures=True)
        progress.requests = client.requests


def _ask(question: Question, inquiry: Inquiry, client: ChatClient, cache: WritableCache) -> NoJudgement | None:
    """Ask and keep the answer. None when there is one, of whatever worth."""
    messages = question.prompt.build_messages(question.text)
    found = client.ask(messages, count_question_tokens(question) + TOKENS_PER_ANSWER)
    if isinstance(found, NoJudgement):
        return found
    cache.add(_make_entry(question, inquiry, found))
    return None


def _make_entry(question: Question, inquiry: Inquiry, raw: RawAnswer) -> CachedAnswer:
    return CachedAnswer(
        question=question.key,
        text_sha256=question.text_sha256,
        prompt_sha256=question.prompt.sha256,
        variant=question.prompt.variant,
        model=inquiry.model,
        parameters=dict(inquiry.parameters),
        **asdict(raw),
    )


def _describe(job: LabelJob, progress: LabelProgress, state: str) -> dict[str, Any]:
    request, spent = job.request, progress.spent
    return {
        "state": state,
        "version": version("primer-curation"),
        "sources": [mask_url(source) for source in request.sources],
        "config": request.config,
        "split": request.split,
        "text_field": request.text_field,
        "row_limit": request.row_limit,
        "endpoint": mask_url(request.endpoint),
        "model": request.model,
        "parameters": dict(request.parameters),
        "prompts": {prompt.variant: prompt.sha256 for prompt in job.inquiry.prompts},
        "agreement": str(request.rule),
        "budget_chars": request.budget_chars,
        "seed": request.seed,
        "estimate": asdict(job.estimate),
        "shard_errors": job.reader.shard_errors,
        "asked": progress.asked,
        "requests": progress.requests,
        "unanswered": len(progress.faults),
        "spent": {
            "answers": spent.answers,
            "answers_without_counts": spent.uncounted,
            "tokens_in": spent.prompt_tokens,
            "tokens_out": spent.completion_tokens,
            "cost": request.prices.cost(spent.prompt_tokens, spent.completion_tokens),
        },
    }


def _write_report(out: Path, report: Mapping[str, Any]) -> None:
    replace_bytes(out / REPORT, orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

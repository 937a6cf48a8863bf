"""What a labelling run is to do: the request, the source read once, the questions still open and what they will take.

Sends nothing. Invariant: a question whose answer is in the cache is not open.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from curation.shards.source import list_shards
from curation.training.judge.agree import Rule
from curation.training.judge.answers import Judgement, read_answer
from curation.training.judge.cache import AnswerCache
from curation.training.judge.documents import DocumentReader
from curation.training.judge.estimate import (
    TOKENS_PER_ANSWER,
    Estimate,
    Limits,
    Prices,
    count_question_tokens,
    estimate_seconds,
)
from curation.training.judge.excerpt import DEFAULT_BUDGET_CHARS
from curation.training.judge.problem import JudgeError
from curation.training.judge.prompts import VARIANTS, Message, load_prompt
from curation.training.judge.questions import Case, Inquiry, Question, pose_questions

LABELS: Final = "labels.parquet"
ANSWERS: Final = "answers.jsonl"
REPORT: Final = "label.json"
STAGED: Final = "staged"

# The same text gets the same answer as far as a model allows, and room for the object with a sentence before it.
DEFAULT_PARAMETERS: Final[Mapping[str, Any]] = {"temperature": 0, "max_tokens": 400}


RESERVED_PARAMETERS: Final = frozenset({"model", "messages", "stream", "n"})


@dataclass(frozen=True)
class LabelRequest:
    """What to label and how. `sources`, `config`, `split`, `text_field`, `row_limit` mean what they mean to a run.

    `endpoint` and `model` may be "" as long as nothing is asked. `seed` draws the windows of long documents.
    """

    sources: tuple[str, ...]
    endpoint: str = ""
    model: str = ""
    config: str | None = None
    split: str | None = None
    text_field: str = "text"
    row_limit: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULT_PARAMETERS))
    variants: tuple[str, ...] = VARIANTS
    rule: Rule = Rule.UNANIMOUS
    budget_chars: int = DEFAULT_BUDGET_CHARS
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    prices: Prices = field(default_factory=Prices)
    is_asking_again: bool = False
    cache_quota_bytes: int | None = None


@dataclass(frozen=True)
class LabelJob:
    """A source that was read and weighed: its cases, the questions still open, and what they will take.

    `example` is the first question's messages (the first open one, else any; None where nothing is asked at all)."""

    request: LabelRequest
    inquiry: Inquiry
    reader: DocumentReader
    cases: tuple[Case, ...]
    pending: frozenset[str]
    estimate: Estimate
    example: list[Message] | None


def require_label_folder(out: Path) -> None:
    """Raises JudgeError when the folder holds something that is no labelling of ours."""
    if not out.exists():
        return
    if not out.is_dir():
        raise JudgeError(f"{out} is a file.", hint="Choose a new or empty folder for --out.")
    found = {path.name for path in out.iterdir()}
    if found and not found & {ANSWERS, REPORT}:
        raise JudgeError(
            f"{out} is not empty ({', '.join(sorted(found)[:3])}).", hint="Choose a new or empty folder for --out."
        )


def remove_staged(out: Path) -> None:
    """Remove the re-chunked lines of a source: the labels need them no more."""
    shutil.rmtree(out / STAGED, ignore_errors=True)


def plan_labels(request: LabelRequest, cache: AnswerCache, *, staging: Path) -> LabelJob:
    """Read the source once and find what is still to be asked. Sends nothing. Raises SourceError."""
    inquiry = Inquiry(
        prompts=tuple(map(load_prompt, request.variants)),
        model=request.model,
        parameters=dict(request.parameters),
        budget_chars=request.budget_chars,
        seed=request.seed,
    )
    reader = DocumentReader(
        list_shards(request.sources, config=request.config, split=request.split),
        staging=staging,
        text_field=request.text_field,
        row_limit=request.row_limit,
        cache_quota_bytes=request.cache_quota_bytes,
    )
    cases: list[Case] = []
    known: set[str] = set()
    pending: set[str] = set()
    tokens_in = 0
    example: Question | None = None
    for document in reader.read():
        case, questions = pose_questions(document, inquiry)
        cases.append(case)
        for question in questions:
            if question.key in known:
                continue
            known.add(question.key)
            if is_answered(cache, question.key, is_asking_again=request.is_asking_again):
                example = example or question
                continue
            if not pending:
                example = question
            pending.add(question.key)
            tokens_in += count_question_tokens(question)
    tokens_out = TOKENS_PER_ANSWER * len(pending)
    estimate = Estimate(
        documents=len(cases),
        unread=sum(not case.questions for case in cases),
        excerpts=sum(case.is_excerpt for case in cases),
        questions=len(known),
        answered=len(known) - len(pending),
        calls=len(pending),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=request.prices.cost(tokens_in, tokens_out),
        seconds=estimate_seconds(len(pending), tokens_in + tokens_out, request.limits),
    )
    messages = example.prompt.build_messages(example.text) if example else None
    return LabelJob(request, inquiry, reader, tuple(cases), frozenset(pending), estimate, messages)


def is_answered(cache: AnswerCache, key: str, *, is_asking_again: bool) -> bool:
    """Whether a question need not be asked; answers without a judgement count unless they are asked again."""
    answer = cache.get(key)
    if answer is None:
        return False
    return not is_asking_again or isinstance(read_answer(answer.raw()), Judgement)

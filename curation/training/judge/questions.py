"""From documents to questions: what is asked about each, under which key, and which are still to be asked.

Invariant: a question's key names the text as sent, the prompt, the model and the parameters, so equal documents share
questions and a changed word makes a new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from curation.training.judge.cache import hash_question
from curation.training.judge.documents import Document
from curation.training.judge.excerpt import take_excerpt
from curation.training.judge.prompts import Prompt

BLANK: Final = "The text is blank."


@dataclass(frozen=True)
class Inquiry:
    """How documents are asked about: everything that a question's key depends on but the document."""

    prompts: tuple[Prompt, ...]
    model: str
    parameters: Mapping[str, Any]
    budget_chars: int
    seed: int


@dataclass(frozen=True)
class Case:
    """One document before the judge, without its text. `questions` by variant, empty where `error` says why nothing is asked.

    `text_sha256`, `text_chars` are of the whole text, None and 0 for a row without one; `judged_chars` of what is sent.
    """

    doc_id: str | None
    shard: str
    shard_sha256: str
    row: int
    text_sha256: str | None
    text_chars: int
    judged_chars: int
    is_excerpt: bool
    questions: Mapping[str, str]
    error: str | None


@dataclass(frozen=True)
class Question:
    """`key` finds its answer in the cache; `text` is the document as sent."""

    key: str
    prompt: Prompt
    text: str
    text_sha256: str


def pose_questions(document: Document, inquiry: Inquiry) -> tuple[Case, tuple[Question, ...]]:
    """The document's record and its questions, one a prompt; none for a row that has no text."""
    text = document.text
    if text is None or not text.strip():
        return _describe_unread(document), ()
    text_sha256 = _hash(text)
    excerpt = take_excerpt(text, budget_chars=inquiry.budget_chars, seed=inquiry.seed, text_sha256=text_sha256)
    judged_sha256 = text_sha256 if excerpt.is_whole else _hash(excerpt.text)
    questions = tuple(
        Question(
            hash_question(judged_sha256, prompt.sha256, inquiry.model, inquiry.parameters),
            prompt,
            excerpt.text,
            judged_sha256,
        )
        for prompt in inquiry.prompts
    )
    case = Case(
        doc_id=document.doc_id,
        shard=document.shard,
        shard_sha256=document.shard_sha256,
        row=document.row,
        text_sha256=text_sha256,
        text_chars=len(text),
        judged_chars=excerpt.chars,
        is_excerpt=not excerpt.is_whole,
        questions={question.prompt.variant: question.key for question in questions},
        error=None,
    )
    return case, questions


def select_pending(documents: Iterable[Document], inquiry: Inquiry, pending: Container[str]) -> Iterator[Question]:
    """The questions among `pending`, each once, in order of the documents."""
    asked: set[str] = set()
    for document in documents:
        for question in pose_questions(document, inquiry)[1]:
            if question.key in pending and question.key not in asked:
                asked.add(question.key)
                yield question


def _describe_unread(document: Document) -> Case:
    text = document.text
    return Case(
        doc_id=document.doc_id,
        shard=document.shard,
        shard_sha256=document.shard_sha256,
        row=document.row,
        text_sha256=None if text is None else _hash(text),
        text_chars=len(text or ""),
        judged_chars=0,
        is_excerpt=False,
        questions={},
        error=document.error if text is None else BLANK,
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

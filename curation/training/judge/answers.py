"""Reads a judge's answer: the one JSON object at its end, or a typed reason why there is no judgement.

Lenient about wrapping (a code fence, words before the object), strict about values: nothing is mended, rounded or
guessed. The work is bounded whatever a model writes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

Band = Literal["K5", "K8", "K12", "OOS"]
Subject = Literal[
    "math",
    "physical science",
    "life science",
    "earth & space science",
    "reading-literature",
    "reading-informational",
    "social studies",
    "arts",
    "health",
    "life skills",
    "other",
]

# An answer as asked for has about 400 characters; reasoning before it may have thousands.
MAX_ANSWER_CHARS: Final = 100_000
# Every attempt to read an object costs at most the whole answer.
_MAX_ATTEMPTS = 64
_MAX_TERMS = 10  # four are asked for; a few more do no harm

_CLOSING_FENCE = re.compile(r"\s*```\s*\Z")
_REFUSAL = re.compile(
    r"\s*(?:I['’]m sorry|I am sorry|Sorry|I apologi[sz]e|I can(?:no|['’])t|I am unable|I['’]m unable|I won['’]t|As an AI)",
    re.IGNORECASE,
)

_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class Judgement(BaseModel):
    """A usable answer. `confidence` 3 certain, 2 likely, 1 could be the neighbouring band."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    band: Band
    confidence: Annotated[int, Field(ge=1, le=3)]
    why: _Line
    subject: Subject
    decisive_terms: Annotated[tuple[_Line, ...], Field(max_length=_MAX_TERMS, strict=False)]


class Fault(StrEnum):
    """Why a question has no judgement."""

    REFUSED = "refused"  # the model, or a filter before it, declined
    MALFORMED = "malformed"  # it answered something else than was asked for
    REJECTED = "rejected"  # the endpoint took the question for a bad request
    UNANSWERED = "unanswered"  # the endpoint gave no answer however often it was asked


@dataclass(frozen=True)
class NoJudgement:
    fault: Fault
    reason: str


Outcome = Judgement | NoJudgement


@dataclass(frozen=True)
class RawAnswer:
    """What an endpoint sent. `finish_reason` "" where it gave none; token counts None where it did not count."""

    content: str
    refusal: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def read_answer(raw: RawAnswer) -> Outcome:
    """The judgement in an answer, or why there is none."""
    if raw.refusal:
        return NoJudgement(Fault.REFUSED, "the model refused")
    if raw.finish_reason == "content_filter":
        return NoJudgement(Fault.REFUSED, "a content filter stopped the answer")
    if raw.finish_reason == "length":
        return NoJudgement(Fault.MALFORMED, "the answer was cut off at its token limit")
    if not raw.content.strip():
        return NoJudgement(Fault.MALFORMED, "the answer is empty")
    if len(raw.content) > MAX_ANSWER_CHARS:
        return NoJudgement(Fault.MALFORMED, f"the answer has more than {MAX_ANSWER_CHARS:,} characters")
    if "{" not in raw.content and _REFUSAL.match(raw.content):
        return NoJudgement(Fault.REFUSED, "the model refused")
    found = _find_object(raw.content)
    if isinstance(found, str):
        return NoJudgement(Fault.MALFORMED, found)
    try:
        return Judgement.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return NoJudgement(Fault.MALFORMED, f"{place}: {first['msg']}")


def _find_object(content: str) -> dict[str, Any] | str:
    """The JSON object that ends the answer, or what is wrong. A second object with a band makes the answer ambiguous."""
    text = _CLOSING_FENCE.sub("", content).rstrip()
    objects: list[tuple[int, dict[str, Any]]] = []
    position = text.find("{")
    attempts = 0
    while position >= 0 and attempts < _MAX_ATTEMPTS:
        attempts += 1
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            objects.append((end, value))
        position = text.find("{", end)
    if not objects or objects[-1][0] != len(text):
        return "no JSON object ends the answer"
    if sum("band" in value for _, value in objects) > 1:
        return "the answer holds two judgements"
    return objects[-1][1]


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeats, parse_constant=_refuse_constant)

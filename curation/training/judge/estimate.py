"""What a labelling run will ask, take and cost, told before the first question.

Arithmetic only. Tokens are estimated from bytes; what was really used stands in the answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from curation.training.judge.questions import Question

BYTES_PER_TOKEN: Final = 4.6  # English prose under current tokenizers
# The object that is asked for has about 300 characters with its keys.
TOKENS_PER_ANSWER: Final = 100
SECONDS_PER_ANSWER: Final = 3.0  # a hosted model of middle size; a guess that only the time rests on


@dataclass(frozen=True)
class Prices:
    """Per million tokens, in whatever currency; None where nobody said."""

    per_million_in: float | None = None
    per_million_out: float | None = None

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """None unless both prices are known."""
        if self.per_million_in is None or self.per_million_out is None:
            return None
        return (tokens_in * self.per_million_in + tokens_out * self.per_million_out) / 1e6


@dataclass(frozen=True)
class Limits:
    """How fast to ask. A limit of None does not limit."""

    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True)
class Estimate:
    """`questions` distinct ones of the run, `answered` of them in the cache, `calls` the rest. `documents` includes the
    `unread` rows that nothing is asked about and the `excerpts` that are judged in part. `cost` None: no prices."""

    documents: int
    unread: int
    excerpts: int
    questions: int
    answered: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    seconds: float


def count_question_tokens(question: Question) -> int:
    """Tokens of a question, estimated."""
    return round(question.prompt.count_bytes(len(question.text.encode("utf-8", "surrogatepass"))) / BYTES_PER_TOKEN)


def estimate_seconds(calls: int, tokens: int, limits: Limits) -> float:
    """The longest of what concurrency, requests a minute and tokens a minute allow."""
    bounds: Iterable[float] = (
        -(-calls // limits.concurrency) * SECONDS_PER_ANSWER,
        calls * 60.0 / limits.requests_per_minute if limits.requests_per_minute else 0.0,
        tokens * 60.0 / limits.tokens_per_minute if limits.tokens_per_minute else 0.0,
    )
    return max(bounds)

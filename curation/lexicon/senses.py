"""Senses of a word, told apart by the words around it: what a curator declares, as values.

An occurrence counts where a `counts_if` context holds; else it is innocent where an `innocent_if` context holds; anywhere else it
is as the word is without the rule. Tokens are those of `curation.signals.tokens`: numbers and single letters are not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

# A window of a page would hold for nearly every occurrence and say nothing of the sense.
MAX_WINDOW_TOKENS = 50
MAX_CONTEXT_WORDS = 500


def require_tokens(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, sorted and each once. Raises ValueError for what no text can hold as a token."""
    wrong = [word for word in words if not (len(word) >= 2 and word.isascii() and word.isalpha() and word.islower())]
    if wrong:
        raise ValueError(f"not tokens (two or more lower-case letters a-z): {', '.join(wrong[:5])}")
    return tuple(sorted(set(words)))


def _require_token(word: str) -> str:
    require_tokens((word,))
    return word


Words = Annotated[tuple[str, ...], AfterValidator(require_tokens), Field(min_length=1, max_length=MAX_CONTEXT_WORDS)]


class SenseContext(BaseModel):
    """Holds where any of `words` is among the `left` tokens before an occurrence or the `right` tokens after it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: Words
    left: int = Field(default=8, ge=0, le=MAX_WINDOW_TOKENS)
    right: int = Field(default=8, ge=0, le=MAX_WINDOW_TOKENS)

    @model_validator(mode="after")
    def _has_a_window(self) -> SenseContext:
        if self.left == self.right == 0:
            raise ValueError("left and right are both 0: there is no window to look in")
        return self


class SenseRule(BaseModel):
    """How one word is told apart. `note` says why; it decides nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    term: Annotated[str, AfterValidator(_require_token)]
    note: str = ""
    innocent_if: tuple[SenseContext, ...] = ()
    counts_if: tuple[SenseContext, ...] = ()

    @model_validator(mode="after")
    def _says_something(self) -> SenseRule:
        if not self.innocent_if and not self.counts_if:
            raise ValueError(f"{self.term}: needs innocent_if or counts_if")
        return self

    def describe(self) -> dict[str, object]:
        """What decides, as JSON."""
        return self.model_dump(mode="json", exclude={"note"})


def hash_senses(senses: Sequence[SenseRule]) -> str:
    """The sha256 that rules which tell the same apart share, whatever their notes and order are."""
    rules = sorted((rule.describe() for rule in senses), key=lambda rule: str(rule["term"]))
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()

"""Beyond-K-5 scores of words, and versions of the vocabulary: what curators allow and block over a table.

A table is immutable and known by its sha256. A version names its table, so its decisions can be repeated.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from curation.errors import ArtifactError, ProfileError
from curation.lexicon.senses import SenseRule, require_tokens

WORD_PATTERN = r"^[a-z]{2,}$"

# Names under which tables hold the score: ours, and the published one's.
_SCORE_COLUMNS = ("score", "log_odds", "log2_odds")


@dataclass(frozen=True)
class VocabularyTable:
    """`scores[word]`: log2(rate beyond K-5 / rate in K5 texts); infinity for words never seen in K5 texts."""

    scores: dict[str, float]
    sha256: str


def read_vocabulary_table(path: Path) -> VocabularyTable:
    """A Parquet table with columns `word` and `score` (or `log_odds`), float. Raises ArtifactError when it is not one."""
    try:
        content = path.read_bytes()
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise ArtifactError(f"{path}: cannot be read as Parquet ({error}).") from error
    column = next((name for name in _SCORE_COLUMNS if name in table.column_names), None)
    if column is None or "word" not in table.column_names:
        raise ArtifactError(f"{path}: expected columns word and score, found {', '.join(table.column_names)}.")
    try:
        words, values = table["word"].cast(pa.string()).to_pylist(), table[column].cast(pa.float64()).to_pylist()
    except pa.ArrowException as error:
        raise ArtifactError(f"{path}: {column} is not a number for every word ({error}).") from error
    scores = dict(zip(words, values, strict=True))
    if None in scores or any(score is None or score != score for score in scores.values()):
        raise ArtifactError(
            f"{path}: a word without a score.", hint="Every row needs a word and a number (infinity is one)."
        )
    return VocabularyTable(scores, hashlib.sha256(content).hexdigest())


class WordScores(dict[str, float]):
    """The blocked words with their scores; of a word that `senses` tell apart the score of an occurrence that no context holds of."""

    def __init__(self, scores: Mapping[str, float], senses: tuple[SenseRule, ...] = ()) -> None:
        super().__init__(scores)
        self.senses = senses


def read_senses_of(word_scores: Mapping[str, float]) -> tuple[SenseRule, ...]:
    """The sense rules that come with blocked words; none with a plain mapping."""
    return word_scores.senses if isinstance(word_scores, WordScores) else ()


class VocabularyVersion(BaseModel):
    """What curators decided over a table: words always allowed, words always blocked, and words told apart by sense.

    `notes`: why a word is allowed or blocked (a sense rule has its own). `author`, `created`, `note` and `parent` (the sha256 of the
    version that it was made from) say where a version comes from and decide nothing; `sha256` is of what decides, and of name and
    number.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    version: int = Field(ge=1)
    allow: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    senses: tuple[SenseRule, ...] = ()
    notes: dict[str, str] = Field(default_factory=dict)
    author: str | None = None
    note: str = ""
    created: AwareDatetime | None = None
    parent: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")

    @field_validator("allow", "block")
    @classmethod
    def _are_tokens(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        return require_tokens(words)

    @field_validator("notes")
    @classmethod
    def _say_something(cls, notes: dict[str, str]) -> dict[str, str]:
        return {word: note for word, note in sorted(notes.items()) if note}

    @field_validator("senses")
    @classmethod
    def _are_ordered(cls, senses: tuple[SenseRule, ...]) -> tuple[SenseRule, ...]:
        terms = [rule.term for rule in senses]
        if twice := sorted({term for term in terms if terms.count(term) > 1}):
            raise ValueError(f"two rules for one word: {', '.join(twice[:5])}")
        return tuple(sorted(senses, key=lambda rule: rule.term))

    @model_validator(mode="after")
    def _decides_each_word_once(self) -> VocabularyVersion:
        if both := set(self.allow) & set(self.block):
            raise ValueError(f"allowed and blocked at once: {', '.join(sorted(both)[:5])}")
        for rule in self.senses:
            if rule.term in self.allow and not rule.counts_if:
                raise ValueError(f"{rule.term}: allowed everywhere, so innocent_if alone changes nothing")
            if rule.term in self.block and not rule.innocent_if:
                raise ValueError(f"{rule.term}: blocked everywhere, so counts_if alone changes nothing")
        if strangers := set(self.notes) - {*self.allow, *self.block}:
            raise ValueError(f"notes on words neither allowed nor blocked: {', '.join(sorted(strangers)[:5])}")
        return self

    @model_serializer(mode="wrap")
    def _leave_out_what_is_not_said(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # A version without any of these has the bytes, and so the hash, that it had before there were such fields.
        content: dict[str, Any] = dump(self)
        for field in ("senses", "notes", "author", "note", "created", "parent"):
            if not content.get(field):
                content.pop(field, None)
        return content

    @property
    def ruled_words(self) -> set[str]:
        return {*self.allow, *self.block, *(rule.term for rule in self.senses)}

    def describe(self) -> dict[str, object]:
        """Name, number and what decides, as JSON; a version can be read from it."""
        content: dict[str, object] = self.model_dump(mode="json", include={"name", "version", "allow", "block"})
        if self.senses:
            content["senses"] = [rule.describe() for rule in self.senses]
        return content

    @property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()

    def score_words(self, table: VocabularyTable, min_score: float) -> WordScores:
        """Every blocked word with its score: the table's from `min_score` on, less the allowed, plus the blocked.

        A word blocked by a curator scores infinity, as one never seen in K5 texts: sampling never keeps it.
        """
        scores = {word: score for word, score in table.scores.items() if score >= min_score}
        for word in self.allow:
            scores.pop(word, None)
        return WordScores(scores | dict.fromkeys(self.block, math.inf), self.senses)

    def score_elsewhere(self, term: str, find_score: Callable[[str], float], min_score: float) -> float | None:
        """What a word told apart by sense scores where no context holds; None where it is not blocked there. `find_score`: the
        table's score, minus infinity for a word that it does not have."""
        if term in self.block:
            return math.inf
        score = find_score(term)
        return None if term in self.allow or score < min_score else score


PLAIN_VOCABULARY = VocabularyVersion(name="plain", version=1)


def read_vocabulary_version(path: Path) -> VocabularyVersion:
    """A YAML file with the fields of a VocabularyVersion. Raises ProfileError that says which field is wrong."""
    try:
        return VocabularyVersion.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        raise ProfileError(
            f"{path}: {'.'.join(map(str, first['loc'])) or 'the vocabulary'}: {first['msg']}."
        ) from error
    # ValueError: no UTF-8, or what looks like a date and is none.
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ProfileError(f"{path}: cannot be read as YAML ({error}).") from error

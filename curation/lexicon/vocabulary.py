"""Beyond-K-5 scores of words, and versions of the vocabulary: what curators allow and block over a table.

A table is immutable and known by its sha256. A version names its table, so its decisions can be repeated.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from curation.errors import ArtifactError, ProfileError

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


class VocabularyVersion(BaseModel):
    """What curators decided over a table: words always allowed and words always blocked, lower-case a-z."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    version: int = Field(ge=1)
    allow: tuple[str, ...] = ()
    block: tuple[str, ...] = ()

    @field_validator("allow", "block")
    @classmethod
    def _are_tokens(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [
            word for word in words if not (len(word) >= 2 and word.isascii() and word.isalpha() and word.islower())
        ]
        if wrong:
            raise ValueError(f"not tokens (two or more lower-case letters a-z): {', '.join(wrong[:5])}")
        return tuple(sorted(set(words)))

    @model_validator(mode="after")
    def _decides_each_word_once(self) -> VocabularyVersion:
        if both := set(self.allow) & set(self.block):
            raise ValueError(f"allowed and blocked at once: {', '.join(sorted(both)[:5])}")
        return self

    @property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()

    def score_words(self, table: VocabularyTable, min_score: float) -> dict[str, float]:
        """Every blocked word with its score: the table's from `min_score` on, less the allowed, plus the blocked.

        A word blocked by a curator scores infinity, as one never seen in K5 texts: sampling never keeps it.
        """
        scores = {word: score for word, score in table.scores.items() if score >= min_score}
        for word in self.allow:
            scores.pop(word, None)
        return scores | dict.fromkeys(self.block, math.inf)


PLAIN_VOCABULARY = VocabularyVersion(name="plain", version=1)


def read_vocabulary_version(path: Path) -> VocabularyVersion:
    """A YAML file with name, version, allow, block. Raises ProfileError that says which field is wrong."""
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

"""A recipe: everything that decides what is measured. Two runs with one recipe hash measured the same things.

Signals are facts: a recipe holds no threshold. Anything that changes a measured value must change a field here.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from importlib.metadata import version

from pydantic import BaseModel, ConfigDict, Field

from curation import normalize
from curation.artifacts.artifact_set import ArtifactSet
from curation.signals import fasttext_grade, lexical, notation, tokens, vocabulary, windows

LEDGER_SCHEMA = 1

DEFAULT_SLICE_BYTES = (
    32 << 20
)  # about a second of rule signals a core here: small enough to lose, large enough to batch
WINDOW_SEED = 20260813


def hash_json(value: object) -> str:
    """sha256 of canonical JSON, in hex."""
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    ).hexdigest()


class Recipe(BaseModel):
    """What is measured, with which versions of the signals and which models (by sha256)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ledger_schema: int = LEDGER_SCHEMA
    text_field: str = "text"
    slice_bytes: int = Field(default=DEFAULT_SLICE_BYTES, ge=1024)
    words_per_window: int = Field(default=windows.WORDS_PER_WINDOW, ge=2)
    max_windows: int = Field(default=windows.MAX_WINDOWS, ge=2)
    window_seed: int = WINDOW_SEED
    signals: dict[str, str] = Field(
        default_factory=lambda: {
            "normalization": normalize.NORMALIZATION_VERSION,
            "tokens": tokens.TOKENS_VERSION,
            "lexical": lexical.LEXICAL_VERSION,
            "notation": notation.NOTATION_VERSION,
            "vocabulary": vocabulary.VOCABULARY_VERSION,
            "fasttext": fasttext_grade.FASTTEXT_VERSION,
        }
    )
    artifacts: dict[str, str]
    frequencies: str
    unicode: str = unicodedata.unidata_version  # decides what is a word character, lower case, composed

    @property
    def sha256(self) -> str:
        return hash_json(self.model_dump(mode="json"))


def build_recipe(artifacts: ArtifactSet, *, text_field: str = "text", slice_bytes: int = DEFAULT_SLICE_BYTES) -> Recipe:
    """The default recipe over the given artefacts. `frequencies` names the word list: it is read from its package."""
    frequencies = f"wordfreq {version('wordfreq')} en best"
    return Recipe(text_field=text_field, slice_bytes=slice_bytes, artifacts=artifacts.hashes, frequencies=frequencies)

"""A recipe: everything that decides what is measured. Two runs with one recipe hash measured the same things.

Signals are facts: no threshold here decides; those of `encoder_selection` say which rows are worth the encoder's cost.
Anything that changes a measured value must change a field here.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from importlib.metadata import version
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from curation import normalize
from curation.artifacts.artifact_set import ArtifactSet
from curation.signals import encoder_grade, fasttext_grade, lexical, notation, tokens, vocabulary, windows
from curation.stages import EncoderReading, FastTextStage, LexicalStage, NotationStage, Thresholds, VocabularyStage

LEDGER_SCHEMA = 1

DEFAULT_SLICE_BYTES = (
    32 << 20
)  # about a second of rule signals a core here: small enough to lose, large enough to batch
WINDOW_SEED = 20260813


_SIGNAL_VERSIONS = {
    "normalization": normalize.NORMALIZATION_VERSION,
    "tokens": tokens.TOKENS_VERSION,
    "lexical": lexical.LEXICAL_VERSION,
    "notation": notation.NOTATION_VERSION,
    "vocabulary": vocabulary.VOCABULARY_VERSION,
    "fasttext": fasttext_grade.FASTTEXT_VERSION,
}


def hash_json(value: object) -> str:
    """sha256 of canonical JSON, in hex."""
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    ).hexdigest()


class EncoderSelection(Thresholds):
    """Which rows the encoder scores unasked: those that pass fastText and fail at most `max_failing_rules` of the lexical,
    notation and vocabulary stages given here (under the plain vocabulary), and a seeded sample of all rows."""

    form: Literal["raw", "normalized"]
    lexical: LexicalStage | None = None
    fasttext: FastTextStage | None = None
    notation: NotationStage | None = None
    vocabulary: VocabularyStage | None = None
    max_failing_rules: int = Field(default=1, ge=0)  # one: then it is known whether that stage alone excludes
    sample_share: float = Field(default=0.02, ge=0, le=1)
    sample_seed: int = WINDOW_SEED
    reading: EncoderReading = "window"


class Recipe(BaseModel):
    """What is measured, with which versions of the signals and which models (by sha256). `encoder_selection` None: the
    encoder, where there is one, scores no row unasked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ledger_schema: int = LEDGER_SCHEMA
    text_field: str = "text"
    slice_bytes: int = Field(default=DEFAULT_SLICE_BYTES, ge=1024)
    words_per_window: int = Field(default=windows.WORDS_PER_WINDOW, ge=2)
    max_windows: int = Field(default=windows.MAX_WINDOWS, ge=2)
    window_seed: int = WINDOW_SEED
    signals: dict[str, str] = Field(default_factory=lambda: dict(_SIGNAL_VERSIONS))
    artifacts: dict[str, str]
    encoder_selection: EncoderSelection | None = None
    frequencies: str
    unicode: str = unicodedata.unidata_version  # decides what is a word character, lower case, composed

    @property
    def sha256(self) -> str:
        return hash_json(self.model_dump(mode="json"))


def build_recipe(
    artifacts: ArtifactSet,
    *,
    text_field: str = "text",
    slice_bytes: int = DEFAULT_SLICE_BYTES,
    selection: EncoderSelection | None = None,
) -> Recipe:
    """The default recipe over the given artefacts. `frequencies` names the word list: it is read from its package.

    `selection` plays no part where there is no encoder.
    """
    has_encoder = artifacts.get("encoder") is not None
    return Recipe(
        text_field=text_field,
        slice_bytes=slice_bytes,
        signals=_SIGNAL_VERSIONS | ({"encoder": encoder_grade.ENCODER_VERSION} if has_encoder else {}),
        artifacts=artifacts.hashes,
        encoder_selection=selection if has_encoder else None,
        frequencies=f"wordfreq {version('wordfreq')} en best",
    )

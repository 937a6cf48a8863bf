"""The five stages and their thresholds: each reads signals, and none sees a text.

Used by profiles, which decide, and by the encoder's selection, which says what is worth its cost.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

STAGES = ("lexical", "fasttext", "encoder", "notation", "vocabulary")
Stage = Literal["lexical", "fasttext", "encoder", "notation", "vocabulary"]

# The text as the published filter cuts it short, or the hardest window of the whole.
EncoderReading = Literal["published", "window"]


class Thresholds(BaseModel):
    # A threshold is a finite number: a comparison with NaN would quietly pass or fail everything.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class LexicalStage(Thresholds):
    """Fails above either bound, and where there is no token or no word of known age."""

    max_p95_aoa: float = Field(gt=0, description="years")
    max_oov_ratio: float = Field(ge=0, le=1)


class FastTextStage(Thresholds):
    """Fails unless K5 is the likeliest band of the `top_band` reading, and P(K5) reaches each given minimum."""

    top_band: Literal["published", "document", "window"] | None = None
    min_k5_document: float | None = Field(default=None, ge=0, le=1)
    min_k5_window: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _asks_something(self) -> FastTextStage:
        if self.top_band is None and self.min_k5_document is None and self.min_k5_window is None:
            raise ValueError("needs top_band, min_k5_document or min_k5_window")
        return self

    @property
    def reads(self) -> Literal["published", "document", "window"]:
        """The reading that the flat view shows."""
        return self.top_band or ("window" if self.min_k5_window is not None else "document")


class EncoderStage(Thresholds):
    """Fails unless K5 is the likeliest band of the `top_band` reading, and P(K5) of the hardest window reaches the minimum."""

    top_band: Literal["published", "window"] | None = None
    min_k5_window: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _asks_of_one_reading(self) -> EncoderStage:
        if self.top_band is None and self.min_k5_window is None:
            raise ValueError("needs top_band or min_k5_window")
        if self.top_band == "published" and self.min_k5_window is not None:
            raise ValueError("reads either the published reading or the hardest window, not both")
        return self

    @property
    def reads(self) -> EncoderReading:
        """The reading that is decided by."""
        return self.top_band or "window"


class NotationStage(Thresholds):
    """Fails on any hit of the rule set, less the rules that are ignored."""

    rules: Literal["published", "recommended"]
    ignore: tuple[str, ...] = ()


class VocabularySampling(Thresholds):
    """Keep a text whose highest score is s with probability 0.5 ** ((s - min_score) / halving)."""

    halving: float = Field(gt=0, description="points of score that halve the chance")
    seed: int


class VocabularyStage(Thresholds):
    """Fails on more than `max_terms` distinct words scoring `min_score` or more, unless sampling keeps the text.

    `max_terms_per_1000` (distinct words per 1,000 tokens) excuses long texts: below it the stage passes.
    """

    mode: Literal["block", "sample"]
    min_score: float
    max_terms: int = Field(default=0, ge=0)
    max_terms_per_1000: float | None = Field(default=None, ge=0)
    sampling: VocabularySampling | None = None

    @model_validator(mode="after")
    def _mode_fits(self) -> VocabularyStage:
        if (self.mode == "sample") != (self.sampling is not None):
            raise ValueError("mode sample needs sampling, mode block must not have it")
        return self

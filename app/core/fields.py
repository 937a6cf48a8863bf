"""Kinds of fields that the rooms share: numbers that fit a row's id, and names that people give to things."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, Field

LABEL_CHARS = 100

RowId = Annotated[int, Path(ge=1, lt=1 << 63)]


def _require_one_line(text: str) -> str:
    # Controls, format characters (such as those that turn the direction of writing), surrogates, line breaks.
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for character in text):
        raise ValueError("a name must not contain control or invisible formatting characters")
    if text != text.strip():
        raise ValueError("a name must not begin or end with a space")
    return unicodedata.normalize("NFC", text)


Label = Annotated[str, Field(min_length=1, max_length=LABEL_CHARS), AfterValidator(_require_one_line)]

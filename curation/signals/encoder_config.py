"""What an encoder's config.json and tokenizer.json say of it: its labels, how long a window is, what stands around a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from curation.errors import ArtifactError
from curation.signals.bands import BANDS

PUBLISHED_TOKENS: Final = 2_048  # where the published filter cuts a text short

Ids = npt.NDArray[np.int32]


def load_tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more special
        raise ArtifactError(f"{path} is not a readable tokenizer: {error}.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def read_special_ids(tokenizer: Tokenizer, path: Path) -> tuple[Ids, Ids]:
    """What the tokenizer puts before and after a text."""
    encoding = tokenizer.encode("a", add_special_tokens=True)
    ids, mask = np.array(encoding.ids, np.int32), encoding.special_tokens_mask
    if 0 not in mask:
        raise ArtifactError(f"{path} gives no token for the letter a.", hint="Use the tokenizer of the model.")
    first, last = mask.index(0), len(mask) - 1 - mask[::-1].index(0)
    return ids[:first], ids[last + 1 :]


def read_config(path: Path) -> dict[str, object]:
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise ArtifactError(f"{path} is not JSON ({error}).") from error
    if not isinstance(config, dict):
        raise ArtifactError(f"{path} holds no object.")
    return config


def require_bands(config: dict[str, object], path: Path) -> None:
    """Raises ArtifactError unless the outputs are the four bands in their order, by name or unnamed (LABEL_0 to LABEL_3)."""
    found = config.get("id2label")
    labels = {str(key): str(label) for key, label in found.items()} if isinstance(found, dict) else {}
    names = [{band.lower(), str(index), f"label_{index}"} for index, band in enumerate(BANDS)]
    is_right = len(labels) == len(BANDS) and all(
        labels.get(str(index), "").lower() in allowed for index, allowed in enumerate(names)
    )
    if not is_right:
        raise ArtifactError(
            f"{path} has the labels {labels or 'nowhere'}, not the four grade bands.",
            hint=f"A grade model has id2label in the order {', '.join(BANDS)}.",
        )


def read_window_tokens(config: dict[str, object], path: Path) -> int:
    """Tokens a window holds, special ones included: `primer_window_tokens`, else the model's positions up to 2,048."""
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or positions < 1:
        raise ArtifactError(f"{path} does not say how long a text may be (max_position_embeddings).")
    window = config.get("primer_window_tokens", min(positions, PUBLISHED_TOKENS))
    if not isinstance(window, int) or not 1 <= window <= positions:
        raise ArtifactError(f"{path}: primer_window_tokens is {window}, not a number from 1 to {positions}.")
    return window

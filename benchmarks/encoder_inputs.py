"""What the encoder benchmarks score: a random ModernBERT-base, and windows and texts as long as those of real web pages.

`python -m benchmarks.encoder_inputs SHARDS` counts the tokens of the documents of a folder of Parquet shards anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from curation.signals.bands import BANDS

REPO = Path(__file__).resolve().parent.parent
LENGTHS = REPO / "benchmarks" / "token_lengths.json"
BUNDLED = REPO / "curation" / "artifacts" / "bundled" / "encoder"
MAX_TOKENS = 2_048
_STEP = 16

Ids = npt.NDArray[np.int32]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoder_inputs", description=__doc__)
    parser.add_argument("shards", type=Path, help="folder of Parquet shards with a column text")
    LENGTHS.write_text(json.dumps(count_lengths(parser.parse_args().shards)) + "\n")


def count_lengths(shards: Path) -> dict[str, object]:
    """Documents by length in tokens, special ones counted, cut at MAX_TOKENS: the last of `counts` is of those cut."""
    import pyarrow.parquet as pq

    tokenizer = read_tokenizer()
    lengths = [
        min(len(tokenizer.encode(text).ids), MAX_TOKENS)
        for pattern in ("fineweb_edu-*.parquet", "web-*.parquet")
        for path in sorted(shards.glob(pattern))
        for text in pq.read_table(path, columns=["text"])["text"].to_pylist()
        if text and text.encode(errors="ignore").decode() == text  # a lone surrogate is no text to a tokenizer
    ]
    counts = np.bincount(np.array(lengths) // _STEP, minlength=MAX_TOKENS // _STEP + 1)
    return {
        "documents": len(lengths),
        "mean": round(float(np.mean(lengths)), 1),
        "tokenizer": "that of the shipped encoder",
        "step": _STEP,
        "counts": counts.tolist(),
    }


def read_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def draw_lengths(count: int, *, path: Path = LENGTHS, seed: int = 1) -> npt.NDArray[np.int64]:
    """Lengths in tokens of `count` documents, drawn from the counts of a file."""
    stored = json.loads(path.read_text())
    chances = np.array(stored["counts"], float)
    chance = np.random.default_rng(seed)
    drawn = chance.choice(len(chances), size=count, p=chances / chances.sum()) * stored["step"]
    return np.clip(drawn + chance.integers(0, stored["step"], size=count), 3, MAX_TOKENS)


def draw_windows(lengths: Sequence[int] | npt.NDArray[np.int64], *, seed: int = 1) -> list[Ids]:
    """Random token ids between the special tokens."""
    tokenizer = read_tokenizer()
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    chance = np.random.default_rng(seed)
    windows = [
        chance.integers(1_000, tokenizer.get_vocab_size(), size=int(length)).astype(np.int32) for length in lengths
    ]
    for window in windows:
        window[0], window[-1] = first, last
    return windows


def write_texts(lengths: Sequence[int] | npt.NDArray[np.int64], *, seed: int = 1) -> list[str]:
    """Texts of that many tokens, special ones counted: words of the vocabulary, each one token, frequent ones often."""
    vocabulary = sorted((place, word) for word, place in read_tokenizer().get_vocab().items())
    words = np.array([word for _, word in vocabulary if word.isascii() and word.isalpha()])
    chances = 1.0 / np.arange(10, len(words) + 10)
    chance = np.random.default_rng(seed)
    drawn = chance.choice(words, size=int(np.sum(lengths)), p=chances / chances.sum())
    ends = np.cumsum(lengths)
    return [" ".join(drawn[end - length : end - 2]) for length, end in zip(lengths, ends, strict=True)]


def build_modernbert(*, seed: int = 1) -> Any:
    """ModernBERT-base (149M parameters) of random weights with a head of four bands, fp32, on the CPU."""
    import torch
    from transformers import ModernBertConfig, ModernBertForSequenceClassification

    torch.manual_seed(seed)
    config = ModernBertConfig(
        pad_token_id=0,
        cls_token_id=101,
        bos_token_id=101,
        sep_token_id=102,
        eos_token_id=102,
        id2label=dict(enumerate(BANDS)),
        label2id={band: index for index, band in enumerate(BANDS)},
    )
    return ModernBertForSequenceClassification(config).eval()


def save_modernbert(model: Any, folder: Path) -> None:
    """The published layout, with the shipped encoder's tokenizer."""
    model.save_pretrained(folder)
    shutil.copy(BUNDLED / "tokenizer.json", folder / "tokenizer.json")


def move_head(folder: Path, out: Path, shift: float) -> None:
    """A copy of a published folder whose head gives the first band `shift` more."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, out)
    state = load_file(folder / "model.safetensors")
    state["classifier.bias"][0] += shift
    save_file(state, out / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main()

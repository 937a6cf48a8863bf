"""Fine-tuning an encoder to grade windows of text: any Hugging Face sequence classifier (ModernBERT, MiniLM, ...).

Needs the extra `train` (torch, transformers). Reads rows, writes a model folder in the Hugging Face layout and grades
texts with it; turning it into what ships is `encoder_onnx`. Deterministic for one kind of device and one seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from curation.errors import TrainingError

BAND_COUNT = 4


@dataclass(frozen=True)
class EncoderSettings:
    """`window_tokens` counts the special tokens. `windows_per_document`: at most so many random windows an epoch.

    The defaults are those of the shipped MiniLM: found by held-out folds, not by the literature.
    """

    window_tokens: int = 384
    epochs: int = 6
    learning_rate: float = 6e-5
    batch_size: int = 64
    warmup_share: float = 0.06
    weight_decay: float = 0.01
    label_smoothing: float = 0.05
    windows_per_document: int = 2
    class_weights: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)


class EncoderRow(NamedTuple):
    """`band`: 0 to 3 in the order K5, K8, K12, OOS; `copies`: how often an epoch shows the document."""

    text: str
    band: int
    copies: int


def train_encoder(rows: Sequence[EncoderRow], base: Path, out: Path, *, settings: EncoderSettings, seed: int) -> None:
    """Fine-tune `base` (a folder in the Hugging Face layout) and save it to `out`.

    Raises TrainingError when a band has no rows, or torch and transformers are not installed.
    """
    if missing := sorted(set(range(BAND_COUNT)) - {row.band for row in rows}):
        raise TrainingError(f"No training rows for the bands numbered {missing}.", hint="Every band needs examples.")
    torch, transformers = _import_torch()
    _seed_everything(torch, seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    names = {0: "K5", 1: "K8", 2: "K12", 3: "OOS"}
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=BAND_COUNT, id2label=names, label2id={name: i for i, name in names.items()}
    ).to(device)
    windows = [_tokenize_windows(tokenizer, row.text, settings.window_tokens) for row in rows]
    chance = random.Random(seed)
    shown = sum(
        min(len(pieces), settings.windows_per_document) * row.copies for pieces, row in zip(windows, rows, strict=True)
    )
    total = -(-shown // settings.batch_size) * settings.epochs
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    scheduler = transformers.get_linear_schedule_with_warmup(optimizer, round(total * settings.warmup_share), total)
    weights = torch.tensor(settings.class_weights, device=device)
    loss_of = torch.nn.CrossEntropyLoss(weight=weights, label_smoothing=settings.label_smoothing)
    model.train()
    for _ in range(settings.epochs):
        for batch, bands in _draw_epoch(windows, rows, settings, chance):
            inputs = _pad(torch, tokenizer, batch, device)
            with torch.autocast(device_type=device, dtype=torch.bfloat16, enabled=device == "cuda"):
                logits = model(**inputs).logits
            loss = loss_of(logits.float(), torch.tensor(bands, device=device))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
    model.eval()
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def grade_texts(
    folder: Path, texts: Sequence[str], *, window_tokens: int, token_budget: int = 65_536
) -> npt.NDArray[np.float32]:
    """Probabilities of the hardest window of each text, float32 (n, 4): the one with the lowest P(K5). NaN for blank text."""
    torch, transformers = _import_torch()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).to(device).eval()
    owners: list[int] = []
    pieces: list[list[int]] = []
    for i, text in enumerate(texts):
        for window in _tokenize_windows(tokenizer, text, window_tokens):
            owners.append(i)
            pieces.append(window)
    order = sorted(range(len(pieces)), key=lambda i: len(pieces[i]))
    grades = np.full((len(texts), BAND_COUNT), np.nan, np.float32)
    at = 0
    while at < len(order):
        longest = len(pieces[order[min(at + 1024, len(order)) - 1]])
        size = max(1, min(1024, token_budget // longest))
        chosen = order[at : at + size]
        at += size
        with torch.inference_mode(), torch.autocast(device_type=device, dtype=torch.bfloat16, enabled=device == "cuda"):
            logits = model(**_pad(torch, tokenizer, [pieces[i] for i in chosen], device)).logits
        for i, row in zip(chosen, torch.softmax(logits.float(), dim=-1).cpu().numpy(), strict=True):
            if not grades[owners[i], 0] <= row[0]:
                grades[owners[i]] = row
    return grades


def _import_torch() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise TrainingError(
            "Training an encoder needs torch and transformers.", hint="pip install 'primer-curation[train]'"
        ) from error
    return torch, transformers


def _seed_everything(torch: Any, seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    torch.manual_seed(seed)
    torch.backends.cudnn.benchmark = False


def _tokenize_windows(tokenizer: Any, text: str, window_tokens: int) -> list[list[int]]:
    """Token ids of the text cut into windows of at most `window_tokens` with their special tokens; blank text has none.

    A last window shorter than a quarter joins nothing: it is cut from the end, so that it is as long as the others.
    """
    ids = tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
    if not ids:
        return []
    opening, closing = tokenizer("")["input_ids"]  # [CLS] and [SEP], by whatever names
    room = window_tokens - 2
    starts = list(range(0, len(ids), room))
    if len(starts) > 1 and len(ids) - starts[-1] < room // 4:
        starts[-1] = len(ids) - room
    return [[opening, *ids[start : start + room], closing] for start in starts]


def _draw_epoch(
    windows: Sequence[list[list[int]]], rows: Sequence[EncoderRow], settings: EncoderSettings, chance: random.Random
) -> Iterator[tuple[list[list[int]], list[int]]]:
    drawn: list[tuple[list[int], int]] = []
    for pieces, row in zip(windows, rows, strict=True):
        for _ in range(row.copies):
            count = min(len(pieces), settings.windows_per_document)
            drawn.extend((piece, row.band) for piece in chance.sample(pieces, count))
    chance.shuffle(drawn)
    for start in range(0, len(drawn), settings.batch_size):
        batch = drawn[start : start + settings.batch_size]
        yield [piece for piece, _ in batch], [band for _, band in batch]


def _pad(torch: Any, tokenizer: Any, batch: Sequence[list[int]], device: str) -> dict[str, Any]:
    longest = max(len(piece) for piece in batch)
    ids = torch.full((len(batch), longest), tokenizer.pad_token_id, dtype=torch.long)
    mask = torch.zeros((len(batch), longest), dtype=torch.long)
    for i, piece in enumerate(batch):
        ids[i, : len(piece)] = torch.tensor(piece)
        mask[i, : len(piece)] = 1
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}

"""What lower precision does to decisions: `python -m benchmarks.encoder_precision MODEL TEXTS.jsonl`.

MODEL is a folder in the Hugging Face layout, or `bundled` for the shipped encoder's weights in that layout. On CUDA: bf16
without and with the rescoring band, beside each window alone in fp32. On a CPU: the ONNX export beside fp32.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.encoder_inputs import BUNDLED
from benchmarks.rebuilt_encoder import rebuild_encoder
from curation.signals.encoder_grade import EXACT_BAND, EncoderGrade, PoolScorer

RESULT = Path(__file__).resolve().parent / "results" / "encoder_precision.md"
TARGET_SHARE = 0.999
_MAX_WINDOWS, _SEED = 64, 1
_NEAR = 0.05

Grades = npt.NDArray[np.float32]


class _OneWay:
    """Scores a pool and what is rescored in the same way: `way` is `score_pool` or `score_alone` of a scorer."""

    def __init__(self, scorer: PoolScorer, way: str) -> None:
        self.score_pool = self.score_alone = getattr(scorer, way)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoder_precision", description=__doc__)
    parser.add_argument("model", help="folder of a trained model, or bundled")
    parser.add_argument("texts", type=Path, help="JSON lines with a field text")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--onnx", type=Path, help="its ONNX export; bundled: the shipped file")
    parser.add_argument("--threshold", type=float, action="append", help="on P(K5); 0.2 unless given, may be repeated")
    parser.add_argument("--limit", type=int, help="read so many texts")
    parser.add_argument("--write", action="store_true", help=f"add to benchmarks/results/{RESULT.name}")
    options = parser.parse_args(arguments)
    with options.texts.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][: options.limit]
    with tempfile.TemporaryDirectory() as folder:
        is_bundled = options.model == "bundled"
        model = rebuild_encoder(BUNDLED, Path(folder) / "rebuilt") if is_bundled else Path(options.model)
        onnx = BUNDLED if is_bundled and options.device == "cpu" else options.onnx
        found = grade(model, onnx, options.device, texts)
    text = format_report(found, options.threshold or [0.2], describe(options.model, options.device, len(texts)))
    sys.stdout.write(text)
    if options.write:
        before = RESULT.read_text() + "\n" if RESULT.is_file() else ""
        RESULT.write_text(before + text)


def grade(model: Path, onnx: Path | None, device: str, texts: Sequence[str]) -> dict[str, tuple[Grades, Grades]]:
    """Published grades and those of the hardest window, float32 (n, 4) each, by way; fp32 first."""
    reader: Any = EncoderGrade(model, device=device)
    found = {}
    if device == "cuda":
        scorer = reader._scorer
        for way, chosen in (
            ("fp32, each window alone", _OneWay(scorer, "score_alone")),
            ("bf16", _OneWay(scorer, "score_pool")),
            (f"bf16, rescored from {EXACT_BAND[0]} to {EXACT_BAND[1]}", scorer),
        ):
            reader._scorer = chosen
            found[way] = _read(reader, texts)
    else:
        found["fp32, PyTorch"] = _read(reader, texts)
    if onnx is not None:
        found["ONNX, weights int8"] = _read(EncoderGrade(onnx, device="cpu"), texts)
    return found


def _read(model: EncoderGrade, texts: Sequence[str]) -> tuple[Grades, Grades]:
    hardest = model.grade_windows(texts, max_windows=_MAX_WINDOWS, seed=_SEED).grades
    return model.grade_published(texts), hardest


def describe(model: str, device: str, text_count: int) -> str:
    import torch

    hardware = torch.cuda.get_device_name() if device == "cuda" else f"CPU, {os.cpu_count()} cores"
    name = "the shipped encoder" if model == "bundled" else "a trained encoder"
    return (
        f"{hardware}; torch {torch.__version__}, transformers {version('transformers')}; "
        f"{datetime.datetime.now(datetime.UTC).date()}; {name}, {text_count:,} documents"
    )


def format_report(found: dict[str, tuple[Grades, Grades]], thresholds: Sequence[float], head: str) -> str:
    """The report as Markdown. Logits are compared by the log-odds of K5, as a softmax leaves nothing else of them."""
    [exact_way, exact], *others = found.items()
    lines = [
        head,
        "",
        f"| way, beside {exact_way} | reading | P(K5) >= | kept | same decision | within {_NEAR} "
        "| largest difference of log-odds |",
        "|---|---|---|---|---|---|---|",
    ]
    shares = []
    for way, grades in others:
        for reading, ours, theirs in zip(("published", "hardest window"), grades, exact, strict=True):
            is_read = ~np.isnan(theirs[:, 0])
            mine, right = ours[is_read].astype(float), theirs[is_read].astype(float)
            difference = np.abs(_find_log_odds(mine[:, 0]) - _find_log_odds(right[:, 0])).max()
            for threshold in thresholds:
                is_kept = right[:, 0] >= threshold
                shares.append(((mine[:, 0] >= threshold) == is_kept).mean())
                near = (np.abs(right[:, 0] - threshold) <= _NEAR).mean()
                lines.append(
                    f"| {way} | {reading} | {threshold:g} | {is_kept.mean():.2%} | {shares[-1]:.3%} | {near:.2%} "
                    f"| {difference:.4f} |"
                )
    verdict = "holds" if min(shares, default=0.0) >= TARGET_SHARE else "DOES NOT HOLD"
    return "\n".join(
        [*lines, "", f"Same decision on >= {TARGET_SHARE:.1%} of the documents in every row: {verdict}.", ""]
    )


def _find_log_odds(chances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.log(chances / np.maximum(1 - chances, 1e-9))  # type: ignore[no-any-return]


if __name__ == "__main__":
    main()

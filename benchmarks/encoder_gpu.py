"""Documents a second of stage 3 on CUDA, beside the published way in the same run: `python -m benchmarks.encoder_gpu`.

A random ModernBERT-base over documents as long as real web pages, cut at 2,048 tokens. Asserts nothing about speed; says
whether ours is TARGET_RATIO times the published way, and how far each way's logits lie from fp32.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import encoder_inputs as inputs
from curation.signals.encoder_grade import EXACT_BAND, EncoderGrade
from curation.signals.encoder_torch import CudaScorer

TARGET_RATIO, TARGET_DOCUMENTS = 45.0, 2_500
STEPS = ("padded", "ours", "texts", "compiled")
_OURS = "ours, from token ids"
RESULT = Path(__file__).resolve().parent / "results" / "encoder_gpu.md"
_ROWS = 32  # of a batch of the published way
_STEP = 64  # compiled batches are padded to a multiple
_CHECKED = 256  # documents whose logits are compared
_EXACT = 1_000  # documents whose decisions are compared
_ROUNDS = 3
_THRESHOLD = 0.2
_PATIENCE_SECONDS = 120

Ids = npt.NDArray[np.int32]
Logits = npt.NDArray[np.float32]


@dataclass
class Rate:
    """`difference`: the largest of any logit from the published way's, over the first documents."""

    way: str
    documents: int
    tokens: int
    seconds: float
    difference: float | None = None

    @property
    def documents_per_second(self) -> float:
        return self.documents / self.seconds

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds


@dataclass
class Report:
    """Rates in the order of the table. `path`: written anew after every step, so that a run cut short leaves what it has."""

    hardware: str
    corpus: str
    path: Path | None
    rates: list[Rate] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, rate: Rate, *, place: int | None = None) -> None:
        self.rates.insert(len(self.rates) if place is None else place, rate)
        sys.stderr.write(f"{rate.way}: {rate.documents_per_second:.0f} documents/s\n")
        if self.path is not None:
            self.path.write_text(format_report(self))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.encoder_gpu", description=__doc__)
    parser.add_argument("--gpus", type=int, default=1, help="also measure so many GPUs, one process each")
    parser.add_argument("--documents", type=int, default=12_000)
    parser.add_argument("--lengths", type=Path, default=inputs.LENGTHS, help="counts of documents by length")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS, help="what stands beside the published way")
    parser.add_argument("--write", action="store_true", help=f"also into benchmarks/results/{RESULT.name}")
    options = parser.parse_args(arguments)
    lengths = inputs.draw_lengths(options.documents, path=options.lengths)
    report = describe(lengths, RESULT if options.write else None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        windows = inputs.draw_windows(lengths)
        model, exact = measure_published(report, folder, windows)
        if "padded" in options.steps:
            measure_padded(report, model, windows, exact)
        if "ours" in options.steps:
            measure_ours(report, folder, windows, exact)
        if "texts" in options.steps:
            measure_texts(report, folder, lengths)
        if options.gpus > 1:
            measure_gpus(report, folder, lengths, options.gpus)
        if "compiled" in options.steps:
            measure_compiled(report, model, windows, exact)
    sys.stdout.write(format_report(report))
    if options.write:
        RESULT.write_text(format_report(report))


def describe(lengths: npt.NDArray[np.int64], path: Path | None) -> Report:
    import torch

    return Report(
        f"{torch.cuda.get_device_name()}, one unless said otherwise, {os.cpu_count()} cores; torch {torch.__version__}, "
        f"transformers {version('transformers')}; {datetime.datetime.now(datetime.UTC).date()}",
        f"{len(lengths):,} documents of {lengths.mean():.0f} tokens on average, at most {inputs.MAX_TOKENS:,}; "
        "ModernBERT-base of random weights (149M parameters)",
        path,
    )


def measure_published(report: Report, folder: Path, windows: Sequence[Ids]) -> tuple[Any, Logits]:
    """The published way over the first documents; the model in bf16, and the published way's logits."""
    import torch

    model = inputs.build_modernbert().to("cuda")
    calibrate_head(model, score_padded(model, windows[:_CHECKED]))
    inputs.save_modernbert(model, folder)
    chosen = windows[:_CHECKED]
    exact, seconds = time_call(lambda: score_padded(model, chosen))
    report.add(Rate("published: fp32, 32 in input order", len(chosen), count_tokens(chosen), seconds, 0.0))
    return model.to(torch.bfloat16), exact


def measure_padded(report: Report, model: Any, windows: Sequence[Ids], exact: Logits) -> None:
    for way, count, is_sorted in (("the same in bf16", 768, False), ("bf16, sorted by length", 3_072, True)):
        found, seconds = time_padded(model, windows[:count], is_sorted=is_sorted)
        report.add(Rate(way, len(found), count_tokens(windows[:count]), seconds, compare(found, exact)))


def measure_compiled(report: Report, model: Any, windows: Sequence[Ids], exact: Logits) -> None:
    import torch

    chosen = windows[:1_536]
    compiled = torch.compile(model, dynamic=True)
    found, seconds = time_padded(compiled, chosen, is_sorted=True, step=_STEP)
    rate = Rate("bf16, sorted and compiled", len(chosen), count_tokens(chosen), seconds, compare(found, exact))
    report.add(rate, place=min(3, len(report.rates)))


def time_padded(model: Any, windows: Sequence[Ids], *, is_sorted: bool, step: int = 0) -> tuple[Logits, float]:
    score_padded(model, windows[: 4 * _ROWS], is_sorted=is_sorted, step=step)
    return time_call(lambda: score_padded(model, windows, is_sorted=is_sorted, step=step))


def calibrate_head(model: Any, logits: Logits) -> None:
    """Spread the random head's logits as a trained one's, with a tenth of the documents above the threshold."""
    import torch

    scale = 3.0
    odds = find_log_odds(scale * logits)
    with torch.no_grad():
        model.classifier.weight.mul_(scale)
        model.classifier.bias.mul_(scale)
        model.classifier.bias[0] += float(np.log(_THRESHOLD / (1 - _THRESHOLD)) - np.quantile(odds, 0.9))


def find_log_odds(logits: Logits) -> npt.NDArray[np.float64]:
    """Of the first band against the others."""
    values = logits.astype(np.float64)
    return values[:, 0] - np.log(np.exp(values[:, 1:]).sum(axis=1))  # type: ignore[no-any-return]


def score_padded(model: Any, windows: Sequence[Ids], *, is_sorted: bool = False, step: int = 0) -> Logits:
    """Logits of batches of 32, padded to the longest or, with `step`, to a multiple of it."""
    import torch

    order = sorted(range(len(windows)), key=lambda i: len(windows[i])) if is_sorted else list(range(len(windows)))
    found = np.empty((len(windows), 4), np.float32)
    with torch.inference_mode():
        for first in range(0, len(order), _ROWS):
            chosen = order[first : first + _ROWS]
            length = max(len(windows[i]) for i in chosen)
            if step:
                length = -(-length // step) * step
            ids = np.zeros((len(chosen), length), np.int64)
            mask = np.zeros((len(chosen), length), np.int64)
            for row, place in enumerate(chosen):
                ids[row, : len(windows[place])] = windows[place]
                mask[row, : len(windows[place])] = 1
            copies = torch.from_numpy(ids).to("cuda"), torch.from_numpy(mask).to("cuda")
            found[chosen] = model(input_ids=copies[0], attention_mask=copies[1]).logits.float().cpu().numpy()
    return found


def measure_ours(report: Report, folder: Path, windows: Sequence[Ids], exact: Logits) -> None:
    """The model path from token ids, copies included; its decisions beside those of fp32 alone."""
    scorer = CudaScorer(folder, max_tokens=inputs.MAX_TOKENS)
    scorer.score_pool(windows[:_CHECKED])
    timed = [time_call(lambda: scorer.score_pool(windows)) for _ in range(_ROUNDS)]
    found = timed[0][0]
    seconds = float(np.median([seconds for _, seconds in timed]))
    report.add(Rate(_OURS, len(windows), count_tokens(windows), seconds, compare(found, exact)))

    order = np.random.default_rng(2).permutation(len(windows))
    again = scorer.score_pool([windows[i] for i in order])
    few = scorer.score_pool(windows[:3])
    equal = int((again.view(np.uint32) == found[order].view(np.uint32)).all(axis=1).sum())
    is_few_equal = few.tobytes() == found[:3].tobytes()
    report.notes.append(
        f"Neighbours: in another order {equal:,} of {len(windows):,} documents have the same bits; three scored by "
        f"themselves {'too' if is_few_equal else 'DO NOT'}."
    )
    scorer.score_alone(windows[:3])
    alone, seconds = time_call(lambda: scorer.score_alone(windows[:_EXACT]))
    is_alone_equal = scorer.score_alone(windows[:_ROWS][::-1])[::-1].tobytes() == alone[:_ROWS].tobytes()
    report.notes.append(f"Rescored in another order the same bits: {'yes' if is_alone_equal else 'NO'}.")
    way = "rescoring: each alone, fp32"
    report.add(Rate(way, len(alone), count_tokens(windows[:_EXACT]), seconds, compare(alone, exact)))
    fast = found[:_EXACT]
    odds, exact_odds = find_log_odds(fast), find_log_odds(alone)
    chances = 1 / (1 + np.exp(-odds))
    is_near = (chances >= EXACT_BAND[0]) & (chances < EXACT_BAND[1])
    settled = np.where(is_near, exact_odds, odds)
    edge = np.log(_THRESHOLD / (1 - _THRESHOLD))
    report.notes.append(
        f"Decisions at P(K5) >= {_THRESHOLD} on {len(alone):,} documents ({(exact_odds >= edge).mean():.1%} kept; logits "
        f"spread by {alone.std():.2f}): bf16 alone agrees with fp32 on {((odds >= edge) == (exact_odds >= edge)).mean():.2%}, "
        f"with rescoring on {((settled >= edge) == (exact_odds >= edge)).mean():.2%}. Largest logit difference "
        f"{np.abs(fast - alone).max():.3f}, of the log-odds of K5 {np.abs(odds - exact_odds).max():.3f} (the band of "
        f"{EXACT_BAND[0]} to {EXACT_BAND[1]} bears 0.74). In the band: {is_near.mean():.1%} of these documents."
    )


def measure_texts(report: Report, folder: Path, lengths: npt.NDArray[np.int64]) -> None:
    """From texts to grades, as the cascade asks for them, with no document and with one in a hundred near a threshold."""
    texts = inputs.write_texts(lengths)
    encodings = inputs.read_tokenizer().encode_batch(texts[:2_000])
    scorer = CudaScorer(folder, max_tokens=inputs.MAX_TOKENS)
    odds = find_log_odds(scorer.score_pool([np.array(encoding.ids, np.int32) for encoding in encodings]))
    edge = np.log(EXACT_BAND[0] / (1 - EXACT_BAND[0]))
    for share in (0.0, 0.01):
        moved = folder.with_name(f"moved-{share}")
        inputs.move_head(folder, moved, float(edge - np.quantile(odds, 1 - share)) - (0.0 if share else 10.0))
        model = EncoderGrade(moved, device="cuda")
        model.grade_published(texts[:512])
        grades, seconds = time_call(lambda: model.grade_published(texts))  # noqa: B023
        near = float(((grades[:, 0] >= EXACT_BAND[0]) & (grades[:, 0] < EXACT_BAND[1])).mean())
        report.add(Rate(f"ours, from texts, {near:.1%} rescored", len(texts), int(lengths.sum()), seconds))


def measure_gpus(report: Report, folder: Path, lengths: npt.NDArray[np.int64], gpus: int) -> None:
    """The documents on one GPU, then on each of several at once, one process each."""
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(gpus + 1), context.Queue()
    processes = [
        context.Process(target=_score_in_process, args=(i == 0, folder, lengths, start, results)) for i in range(gpus)
    ]
    for process in processes:
        process.start()
    start.wait(timeout=_PATIENCE_SECONDS)  # until every model is loaded
    _, seconds = results.get(timeout=_PATIENCE_SECONDS)
    documents, tokens = len(lengths), int(lengths.sum())
    one = Rate("ours, from token ids, in a process, 1 GPU", documents, tokens, seconds)
    report.add(one)
    start.wait(timeout=_PATIENCE_SECONDS)
    found = [results.get(timeout=_PATIENCE_SECONDS) for _ in processes]
    for process in processes:
        process.join()
    seconds = max(seconds for _, seconds in found)
    every = Rate(f"ours, from token ids, {gpus} GPUs", gpus * documents, gpus * tokens, seconds)
    report.notes.append(
        f"Processes used the GPUs {', '.join(str(gpu) for gpu in sorted({gpu for gpu, _ in found}))}: "
        f"{every.documents_per_second / one.documents_per_second:.2f} times one."
    )
    report.add(every)


def _score_in_process(is_first: bool, folder: Path, lengths: npt.NDArray[np.int64], start: Any, results: Any) -> None:
    windows = inputs.draw_windows(lengths)
    scorer = CudaScorer(folder, max_tokens=inputs.MAX_TOKENS)
    scorer.score_pool(windows[:_CHECKED])
    start.wait(timeout=_PATIENCE_SECONDS)
    if is_first:
        results.put((scorer.gpu, time_call(lambda: scorer.score_pool(windows))[1]))
    start.wait(timeout=_PATIENCE_SECONDS)
    results.put((scorer.gpu, time_call(lambda: scorer.score_pool(windows))[1]))


def count_tokens(windows: Sequence[Ids]) -> int:
    return sum(len(window) for window in windows)


def time_call(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` returns, and its wall seconds; it ends with its results on the host."""
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def compare(found: Logits, exact: Logits) -> float:
    return float(np.abs(found[: len(exact)] - exact).max())


def format_report(report: Report) -> str:
    """The report as Markdown."""
    published = report.rates[0].documents_per_second
    lines = [
        report.hardware,
        report.corpus + ".",
        "",
        "| way | documents/s | real tokens/s | times the published way | largest logit difference from fp32 |",
        "|---|---|---|---|---|",
    ]
    for rate in report.rates:
        difference = "" if rate.difference is None else f"{rate.difference:.4f}"
        lines.append(
            f"| {rate.way} | {rate.documents_per_second:,.0f} | {rate.tokens_per_second:,.0f} | "
            f"{rate.documents_per_second / published:.1f} | {difference} |"
        )
    lines += ["", *(f"- {note}" for note in report.notes), *([""] if report.notes else [])]
    ours = [rate.documents_per_second for rate in report.rates if rate.way == _OURS]
    if ours:
        verdict = "holds" if ours[0] >= max(TARGET_DOCUMENTS, TARGET_RATIO * published) else "DOES NOT HOLD"
        lines.append(f">= {TARGET_DOCUMENTS:,} documents/s and {TARGET_RATIO:g} times the published way: {verdict}.")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()

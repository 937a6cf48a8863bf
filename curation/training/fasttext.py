"""Trains the fastText grader and scores documents that a fold held out.

What to train on is decided in `data` and `sources`; thresholds in `evaluate`. Invariant: the same rows, settings and
seed give the same bytes (one thread), and an out-of-fold score comes from a model made exactly like the shipped one.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import fasttext
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.errors import TrainingError
from curation.normalize import normalize
from curation.signals.fasttext_grade import BANDS, FastTextGrade, flatten_line, measure_windows
from curation.signals.windows import split_windows
from curation.training.data import TrainingRow, hash_text, require_rows
from curation.training.sources import GRADED, LABELLED_WEB, PAIRED, PAIRED_WEB, WEB_READ, WRITTEN_WEB

_LABEL = "__label__"
_PREDICT_BATCH = 256


@dataclass(frozen=True)
class FastTextSettings:
    """How a grader is made.

    `source_shares`: what part of the training lines each source gets, whatever its size; sources not named share what
    is left. Inside a source the bands get equal parts, as far as `max_copies` of a line allows. `kept_rows`: words and
    n-grams that survive quantisation, which decides the size of the file.
    The defaults are the best of seven tried on the shared folds: more epochs at a higher rate grade the paired topics
    better and real pages worse (P(K5) ranks K5 pages at 0.15 average precision instead of 0.23).
    """

    epochs: int = 10
    learning_rate: float = 0.15
    dimension: int = 16
    word_ngrams: int = 1
    min_word_count: int = 3
    min_subword_chars: int = 3
    max_subword_chars: int = 5
    bucket_count: int = 300_000
    kept_rows: int = 60_000
    line_count: int = 9_000
    max_copies: int = 8
    max_windows_per_document: int = 4
    source_shares: Mapping[str, float] = field(
        default_factory=lambda: {
            LABELLED_WEB: 0.25,
            WEB_READ: 0.25,
            PAIRED: 0.15,
            PAIRED_WEB: 0.15,
            WRITTEN_WEB: 0.12,
            GRADED: 0.08,
        }
    )


def train_fasttext(
    rows: Sequence[TrainingRow], out: Path, *, seed: int, settings: FastTextSettings | None = None
) -> None:
    """Writes a quantised model to `out`. Raises TrainingError when a band has no row or fastText cannot train."""
    settings = settings or FastTextSettings()
    require_rows(rows, 1)
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "lines.txt"
        lines.write_text("\n".join(compose_lines(rows, settings, seed)) + "\n", encoding="utf-8")
        try:
            model = fasttext.train_supervised(
                str(lines),
                epoch=settings.epochs,
                lr=settings.learning_rate,
                dim=settings.dimension,
                wordNgrams=settings.word_ngrams,
                minCount=settings.min_word_count,
                minn=settings.min_subword_chars,
                maxn=settings.max_subword_chars,
                bucket=settings.bucket_count,
                loss="softmax",
                thread=1,
                seed=seed,
                verbose=0,
            )
            # Product quantisation has 256 centroids and cannot be learnt from fewer rows.
            if len(model.get_input_matrix()) >= 256:
                model.quantize(
                    str(lines), cutoff=settings.kept_rows, retrain=True, qnorm=True, thread=1, epoch=2, verbose=0
                )
        except (ValueError, RuntimeError) as error:
            raise TrainingError(f"fastText cannot train on these {len(rows)} rows: {error}.") from error
        out.parent.mkdir(parents=True, exist_ok=True)
        model.save_model(str(out))


def compose_lines(rows: Sequence[TrainingRow], settings: FastTextSettings, seed: int) -> list[str]:
    """Training lines, shuffled: windows of documents under the document's band, copied or left out so that sources
    and bands get their parts."""
    rng = random.Random(seed)
    pieces: list[tuple[str, str, str]] = []
    for number, row in enumerate(rows):
        text = normalize(row.text).text.encode("utf-8", "replace").decode()
        windows = split_windows(text, max_windows=settings.max_windows_per_document, seed=seed + number).windows
        for start, end in windows:
            line = " ".join(flatten_line(text[start:end]).replace(_LABEL, " ").split())
            if line:
                pieces.append((row.source, row.band, f"{_LABEL}{row.band} {line}"))
    counts = Counter((source, band) for source, band, _ in pieces)
    copies = {key: _count_copies(key[0], n, counts, settings) for key, n in counts.items()}
    rng.shuffle(pieces)
    owed = dict.fromkeys(copies, 0.0)
    lines: list[str] = []
    for source, band, line in pieces:
        key = source, band
        due = copies[key] + owed[key]
        lines.extend([line] * int(due))
        owed[key] = due % 1
    rng.shuffle(lines)
    return lines


def _count_copies(
    source: str, piece_count: int, counts: Mapping[tuple[str, str], int], settings: FastTextSettings
) -> float:
    sources = {name for name, _ in counts}
    unnamed = sources - settings.source_shares.keys()
    rest = max(0.0, 1.0 - sum(settings.source_shares.values())) if sources & settings.source_shares.keys() else 1.0
    shares = {name: settings.source_shares.get(name, rest / max(1, len(unnamed))) for name in sources}
    share = shares[source] / math.fsum(shares.values())
    band_count = sum(1 for name, _ in counts if name == source)
    return min(float(settings.max_copies), settings.line_count * share / band_count / piece_count)


def predict_out_of_fold(
    rows: Sequence[TrainingRow],
    folds: npt.NDArray[np.int64],
    *,
    seed: int,
    settings: FastTextSettings | None = None,
) -> pa.Table:
    """One row a training row, scored by the model of the folds that lack it. Columns as `grade_rows` gives them, and
    `fold` int64."""
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for fold in np.unique(folds).tolist():
            path = Path(folder) / f"fold{fold}.ftz"
            train_fasttext(
                [r for r, f in zip(rows, folds, strict=True) if f != fold], path, seed=seed, settings=settings
            )
            held_out = np.flatnonzero(folds == fold)
            part = grade_rows(FastTextGrade(path), [rows[i] for i in held_out.tolist()], seed=seed)
            parts.append(
                part.append_column("fold", pa.array([fold] * len(held_out), pa.int64())).append_column(
                    "_at", pa.array(held_out)
                )
            )
    return pa.concat_tables(parts).sort_by("_at").drop_columns(["_at"])


def grade_rows(model: FastTextGrade, rows: Sequence[TrainingRow], *, seed: int) -> pa.Table:
    """Columns: text_hash, source, group, band, word_count (white space delimits), window_count, then float32 p_k5,
    p_k8, p_k12, p_oos of the whole document and hardest_p_k5 of its hardest window; NaN where not measured."""
    columns: dict[str, list[object]] = {"word_count": [], "window_count": []}
    whole, hardest = [], []
    for at in range(0, len(rows), _PREDICT_BATCH):
        texts = [normalize(row.text).text for row in rows[at : at + _PREDICT_BATCH]]
        splits = [split_windows(text, seed=seed).windows for text in texts]
        grades = measure_windows(model, texts, splits)
        whole.append(grades.whole)
        hardest.append(grades.hardest[:, 0])
        columns["word_count"].extend(len(text.split()) for text in texts)
        columns["window_count"].extend(map(len, splits))
    probabilities = np.concatenate(whole) if whole else np.empty((0, len(BANDS)), np.float32)
    return pa.table(
        {
            "text_hash": [hash_text(row.text) for row in rows],
            "source": [row.source for row in rows],
            "group": [row.group for row in rows],
            "band": [row.band for row in rows],
            **{name: pa.array(values, pa.int64()) for name, values in columns.items()},
            **{f"p_{band.lower()}": pa.array(probabilities[:, i]) for i, band in enumerate(BANDS)},
            "hardest_p_k5": pa.array(np.concatenate(hardest) if hardest else np.empty(0, np.float32)),
        }
    )

"""Makes an artefact to ship: rows in, out-of-fold scores, the model or table trained on all rows, its card and hashes.

The steps are in the other files of this room; here is their order. Invariant: every score of a card is of documents
whose group the scoring model has not seen.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curation.normalize import normalize
from curation.signals.fasttext_grade import BANDS, FastTextGrade
from curation.training import report
from curation.training.card import (
    CARD_NAME,
    OUT_OF_FOLD_NAME,
    ROWS_NAME,
    TRAINING_FOLDER,
    count_rows,
    write_card,
    write_row_hashes,
)
from curation.training.data import (
    SAMPLE_FOLDER,
    TrainingRow,
    TrainingSet,
    build_training_set,
    hash_text,
    read_sample_guard,
)
from curation.training.encoder import EncoderRow, EncoderSettings, grade_texts, train_encoder
from curation.training.encoder_onnx import MODEL as ENCODER_MODEL
from curation.training.encoder_onnx import export_encoder
from curation.training.fasttext import FastTextSettings, grade_rows, predict_out_of_fold, train_fasttext
from curation.training.folds import assign_folds
from curation.training.sources import (
    GRADED,
    LABELLED_WEB,
    PAIRED,
    PAIRED_WEB,
    WEB_READ,
    WEB_SOURCES,
    WRITTEN_WEB,
    load_rows,
    select_vocabulary_rows,
)
from curation.training.vocabulary import VocabularySettings, train_vocabulary, write_vocabulary
from curation.training.vocabulary_scores import score_out_of_fold

FOLD_COUNT: Final = 5
MODEL_NAME: Final = "model.ftz"
TABLE_NAME: Final = "vocabulary.parquet"

# Where the known sources come from, and under what licence their texts stand.
_ORIGINS: Final = {
    PAIRED: "documents written for this project, by topic; the project's licence",
    PAIRED_WEB: "documents written for this project in the manner of scraped pages; the project's licence",
    WRITTEN_WEB: "pages written for this project in many voices (curation/training/labels); the project's licence",
    LABELLED_WEB: "web pages of FineWeb, FineWeb-Edu, C4 and DCLM, ODC-By 1.0 and Common Crawl terms; bands from the rubric",
    WEB_READ: "web pages of the same kind, judged for this project (curation/training/labels); likely K5 pages were chosen",
    GRADED: "passages of known level under open licences: public domain, CC BY, MIT, Apache-2.0 and the like",
}


def make_fasttext(
    data: Path, out: Path, *, seed: int, settings: FastTextSettings | None = None, sample: Path = SAMPLE_FOLDER
) -> Path:
    """Writes model.ftz, CARD.md and training/ into `out`; returns the model's path.

    Raises TrainingError when the rows that may be trained on are too few.
    """
    settings = settings or FastTextSettings()
    training = build_training_set(load_rows(data), guard=read_sample_guard(sample))
    folds = assign_folds(training.rows, fold_count=FOLD_COUNT, seed=seed)
    held_out = predict_out_of_fold(training.rows, folds, seed=seed, settings=settings)
    model = out / MODEL_NAME
    train_fasttext(training.rows, model, seed=seed, settings=settings)
    closed = grade_rows(FastTextGrade(model), training.closed, seed=seed)
    sections = [
        (
            "What it is",
            "A fastText classifier of U.S. grade bands (K5, K8, K12, OOS) for English web text, quantised. It reads "
            "normalised text as one line and gives probabilities; a profile sets the threshold.",
        ),
        ("Held out: top label", f"{report.HELD_OUT}\n\n{report.describe_top_label(held_out)}"),
        (
            "Held out: thresholds",
            "Thresholds that keep a stated part of the web pages beyond K-5, and what they do elsewhere.\n\n"
            + report.describe_thresholds(held_out),
        ),
        ("Held out: graded families", report.describe_groups(held_out)),
        (
            "Passages never trained on",
            "Graded passages whose licences keep them out of a shipped model, scored by this model; top label. Of families "
            "with a star other passages were trained on. `oos_other` is here mostly text in other languages: the grader "
            "knows English only, and the share of unknown words must catch the rest.\n\n"
            + report.describe_groups(closed, marked=frozenset(row.group for row in training.rows)),
        ),
        (
            "Limits",
            f"{report.LIMITS} The settings were chosen among seven on the same folds, which flatters them a little.",
        ),
    ]
    _write_beside(model, "Primer fastText grader", "fasttext", training, held_out, seed, settings, sections)
    return model


def make_vocabulary(
    data: Path, out: Path, *, seed: int, settings: VocabularySettings | None = None, sample: Path = SAMPLE_FOLDER
) -> Path:
    """Writes vocabulary.parquet, CARD.md and training/ into `out`; returns the table's path. The seed draws the folds.

    Raises TrainingError when the rows that may be trained on are too few.
    """
    settings = settings or VocabularySettings()
    training = build_training_set(select_vocabulary_rows(load_rows(data)), guard=read_sample_guard(sample))
    folds = assign_folds(training.rows, fold_count=FOLD_COUNT, seed=seed)
    held_out = score_out_of_fold(training.rows, folds, settings=settings)
    table = train_vocabulary(training.rows, settings=settings)
    path = out / TABLE_NAME
    write_vocabulary(table, path)
    scores = table["score"].to_numpy()
    sections = [
        (
            "What it is",
            "Every token of the training rows with log2 of its rate beyond K-5 over its rate in K5 text, and its plain "
            f"counts: {len(table):,} words, of which {int((scores >= 4).sum()):,} score 4 or more and "
            f"{int((scores >= 3).sum()):,} score 3 or more. A rare word scores 0: too little was seen to say.",
        ),
        (
            "Held out: rules",
            f"K5 kept / beyond K-5 kept. OOS web pages are not in it. {report.HELD_OUT}\n\n{report.describe_rules(held_out)}",
        ),
        (
            "Held out: rules by length",
            "Longer documents are hit more often. K5 kept / beyond K-5 kept by number of tokens, all sources.\n\n"
            + report.describe_rules_by_length(held_out),
        ),
        ("Limits", report.LIMITS),
    ]
    _write_beside(path, "Primer beyond-K-5 vocabulary", "vocabulary", training, held_out, seed, settings, sections)
    return path


# How often an epoch shows a document: the sources nearest to the web more often, and K5 web pages, which are few, most.
_ENCODER_COPIES: Final = {GRADED: 1, LABELLED_WEB: 2, WEB_READ: 2, PAIRED: 4, PAIRED_WEB: 4, WRITTEN_WEB: 4}
_K5_WEB_COPIES: Final = 10
_K8_FACTOR: Final = 2  # the band next to the boundary, and the one that easy words disguise best


def make_encoder(
    data: Path,
    base: Path,
    out: Path,
    *,
    seed: int,
    settings: EncoderSettings | None = None,
    sample: Path = SAMPLE_FOLDER,
) -> Path:
    """Fine-tunes `base`, writes model.onnx, tokenizer.json, config.json, CARD.md and training/ into `out`.

    Trains once a fold and once on all rows: six trainings, minutes each on a GPU. Raises TrainingError when rows are too
    few or the extra `train` is not installed.
    """
    settings = settings or EncoderSettings()
    training = build_training_set(load_rows(data), guard=read_sample_guard(sample))
    folds = assign_folds(training.rows, fold_count=FOLD_COUNT, seed=seed)
    held_out = np.full((len(training.rows), len(BANDS)), np.nan, np.float32)
    with tempfile.TemporaryDirectory() as work:
        for fold in range(FOLD_COUNT):
            chosen = [row for row, number in zip(training.rows, folds, strict=True) if number != fold]
            train_encoder(weigh_rows(chosen), base, Path(work) / "fold", settings=settings, seed=seed)
            places = np.flatnonzero(folds == fold)
            texts = [normalize(training.rows[place].text).text for place in places]
            held_out[places] = grade_texts(Path(work) / "fold", texts, window_tokens=settings.window_tokens)
        train_encoder(weigh_rows(training.rows), base, Path(work) / "final", settings=settings, seed=seed)
        export_encoder(Path(work) / "final", out, window_tokens=settings.window_tokens)
    return describe_encoder(out, training, folds, held_out, seed=seed, settings=settings)


def weigh_rows(rows: Sequence[TrainingRow]) -> list[EncoderRow]:
    """Rows as the encoder trains on them: normalised, with the copies of an epoch."""
    weighed = []
    for row in rows:
        is_k5_web = row.band == "K5" and row.source in WEB_SOURCES
        copies = _K5_WEB_COPIES if is_k5_web else _ENCODER_COPIES.get(row.source, 1)
        if row.band == "K8":
            copies *= _K8_FACTOR
        weighed.append(EncoderRow(normalize(row.text).text, BANDS.index(row.band), copies))
    return weighed


def describe_encoder(
    out: Path,
    training: TrainingSet,
    folds: npt.NDArray[np.int64],
    held_out: npt.NDArray[np.float32],
    *,
    seed: int,
    settings: EncoderSettings,
) -> Path:
    """Write the card, the out-of-fold predictions and the row hashes beside an exported model; returns the model's path.

    `held_out`: probabilities of the hardest window, float32 (n, 4), of a model that saw no row of the fold.
    """
    table = pa.table(
        {
            "text_hash": [hash_text(row.text) for row in training.rows],
            "source": [row.source for row in training.rows],
            "group": [row.group for row in training.rows],
            "band": [row.band for row in training.rows],
            **{f"p_{band.lower()}": held_out[:, i] for i, band in enumerate(BANDS)},
            "hardest_p_k5": held_out[:, 0],
            "fold": folds,
        }
    )
    sections = [
        (
            "What it is",
            "A fine-tuned MiniLM (6 layers, 384 wide; base all-MiniLM-L6-v2, Apache-2.0) that grades windows of a text; the "
            "hardest window stands for the text. Weights are stored in int8 and computed in fp32. It reads normalised text.",
        ),
        ("Held out: top label", f"{report.HELD_OUT}\n\n{report.describe_top_label(table)}"),
        (
            "Held out: thresholds",
            "Thresholds that keep a stated part of the web pages beyond K-5, and what they do elsewhere.\n\n"
            + report.describe_thresholds(table),
        ),
        ("Held out: graded families", report.describe_groups(table)),
        ("Limits", report.LIMITS),
    ]
    model = out / ENCODER_MODEL
    _write_beside(model, "Primer encoder", "encoder", training, table, seed, settings, sections)
    return model


def _write_beside(
    artifact: Path,
    title: str,
    kind: str,
    training: TrainingSet,
    held_out: pa.Table,
    seed: int,
    settings: FastTextSettings | VocabularySettings | EncoderSettings,
    sections: Sequence[tuple[str, str]],
) -> None:
    folder = artifact.parent / TRAINING_FOLDER
    write_row_hashes(folder / ROWS_NAME, training.hashes)
    pq.write_table(held_out, folder / OUT_OF_FOLD_NAME, compression="zstd", compression_level=19)
    counts = count_rows(training.rows)
    front: dict[str, Any] = {
        "title": title,
        "file": artifact.name,
        "sha256": hashlib.sha256(artifact.read_bytes()).hexdigest(),
        "bytes": artifact.stat().st_size,
        "licence": "Apache-2.0",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": f"primer train {kind} --data DIR {'--base DIR ' if kind == 'encoder' else ''}--out DIR --seed {seed}",
        "seed": seed,
        "settings": dataclasses.asdict(settings),
        "sources": {
            name: {"origin": _ORIGINS.get(name, "as the file of rows says"), "rows": bands}
            for name, bands in counts.items()
        },
        "rows": len(training.rows),
        "left_out": training.dropped,
        "training_rows": f"{TRAINING_FOLDER}/{ROWS_NAME}",
        "out_of_fold": f"{TRAINING_FOLDER}/{OUT_OF_FOLD_NAME}",
    }
    write_card(artifact.parent / CARD_NAME, front, sections)

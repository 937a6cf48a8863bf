"""Makes an artefact to ship: rows in, out-of-fold scores, the model or table trained on all rows, its card and hashes.

The steps are in the other files of this room; here is their order. Invariant: every score of a card is of documents
whose group the scoring model has not seen.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from curation.signals.fasttext_grade import FastTextGrade
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
from curation.training.data import SAMPLE_FOLDER, TrainingSet, build_training_set, read_sample_guard
from curation.training.fasttext import FastTextSettings, grade_rows, predict_out_of_fold, train_fasttext
from curation.training.folds import assign_folds
from curation.training.sources import GRADED, LABELLED_WEB, PAIRED, PAIRED_WEB, load_rows, select_vocabulary_rows
from curation.training.vocabulary import VocabularySettings, train_vocabulary, write_vocabulary
from curation.training.vocabulary_scores import score_out_of_fold

FOLD_COUNT: Final = 5
MODEL_NAME: Final = "model.ftz"
TABLE_NAME: Final = "vocabulary.parquet"

# Where the known sources come from, and under what licence their texts stand.
_ORIGINS: Final = {
    PAIRED: "documents written for this project, by topic; the project's licence",
    PAIRED_WEB: "documents written for this project in the manner of scraped pages; the project's licence",
    LABELLED_WEB: "web pages of FineWeb, FineWeb-Edu, C4 and DCLM, ODC-By 1.0 and Common Crawl terms; bands from the rubric",
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


def _write_beside(
    artifact: Path,
    title: str,
    kind: str,
    training: TrainingSet,
    held_out: pa.Table,
    seed: int,
    settings: FastTextSettings | VocabularySettings,
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
        "command": f"primer train {kind} --data DIR --out DIR --seed {seed}",
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

"""Invented artefacts whose held-out readings of labelled rows are known, and whole cascades decided over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import typer
from measuring import train_model
from tiny_encoder import write_encoder

from curation.artifacts.artifact_set import ArtifactSet, resolve_artifacts
from curation.profile import Profile
from curation.signals.fasttext_grade import BANDS
from curation.training.card import write_row_hashes
from curation.training.data import TrainingRow, hash_text
from curation.training.evaluation import Evaluation, evaluate_profile
from primer.cli.evaluate import evaluate

PLAIN = "the dog ran to the tree and sat in the sun with the cat number "
STAGES: dict[str, Any] = {
    "lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05},
    "fasttext": {"min_k5_document": 0.5, "min_k5_window": 0.4},
    "encoder": {"min_k5_window": 0.7},
    "notation": {"rules": "recommended"},
    "vocabulary": {"mode": "block", "min_score": 4.0, "max_terms": 1},
}


@dataclass(frozen=True)
class Case:
    """A labelled row and what models without it are said to have read; None: not held out by that model."""

    name: str
    band: str = "K5"
    source: str = "labelled_web"
    text: str = PLAIN
    fasttext: tuple[float, float] | None = (0.9, 0.9)
    encoder: float | None = 0.93
    terms: int | None = 0
    trained: frozenset[str] = field(default_factory=frozenset)

    @property
    def row(self) -> TrainingRow:
        return TrainingRow(self.text + self.name, self.band, self.source, self.name, "own")


def make_profile(**changes: Any) -> Profile:
    stages = {name: stage for name, stage in (STAGES | changes).items() if stage is not None}
    return Profile.model_validate({"name": "test", "version": 3, "form": "normalized", **stages})


def write_record(
    folder: Path, hashes: Sequence[str], trained: set[str], columns: Mapping[str, Sequence[float]]
) -> None:
    write_row_hashes(folder / "training" / "training_rows.txt.zst", {*hashes, *trained})
    pq.write_table(pa.table({"text_hash": hashes, **columns}), folder / "training" / "out_of_fold.parquet")


def spread(p_k5: Sequence[float]) -> dict[str, list[float]]:
    return {"p_k5": list(p_k5), **{f"p_{band.lower()}": [(1 - p) / 3 for p in p_k5] for band in BANDS[1:]}}


def write_artifacts(root: Path, cases: Sequence[Case]) -> ArtifactSet:
    hashes = {case.name: hash_text(case.row.text) for case in cases}
    for kind in ("vocabulary", "fasttext", "encoder"):
        (root / kind).mkdir(parents=True)
        held = [case for case in cases if getattr(case, "terms" if kind == "vocabulary" else kind) is not None]
        if kind == "vocabulary":
            pq.write_table(
                pa.table({"word": ["number", "sun"], "score": [1.0, 9.0]}), root / kind / "vocabulary.parquet"
            )
            columns: dict[str, Any] = {f"distinct_{level}": [case.terms for case in held] for level in (3, 4, 5)}
            columns["distinct_3"] = [10 + int(case.terms or 0) for case in held]
            columns["distinct_5"] = [0 for _ in held]
        elif kind == "fasttext":
            train_model(root / kind)
            readings = [case.fasttext or (0.0, 0.0) for case in held]
            columns = spread([whole for whole, _ in readings]) | {"hardest_p_k5": [hard for _, hard in readings]}
        else:
            write_encoder(root / kind)
            columns = spread([case.encoder or 0.0 for case in held])
        trained = {hashes[case.name] for case in cases if kind in case.trained}
        write_record(root / kind, [hashes[case.name] for case in held], trained, columns)
    (root / "fasttext" / "lines.txt").unlink()
    return resolve_artifacts(str(root))


def write_rows(path: Path, cases: Sequence[Case]) -> Path:
    path.write_bytes(b"\n".join(orjson.dumps(case.row._asdict()) for case in cases))
    return path


def run(tmp_path: Path, cases: Sequence[Case], profile: Profile | None = None, **options: Any) -> Evaluation:
    artifacts = write_artifacts(tmp_path / "artifacts", cases)
    data = write_rows(tmp_path / "rows.jsonl", cases)
    return evaluate_profile(data, profile or make_profile(), artifacts, **options)


def make_app() -> typer.Typer:
    app = typer.Typer()
    app.command()(evaluate)
    return app

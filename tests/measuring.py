"""What tests of measuring share: the bundled ages, a small vocabulary, and a tiny fastText model, loaded once a process."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import fasttext
import pyarrow as pa
import pyarrow.parquet as pq

from curation.artifacts.artifact_set import Artifact, ArtifactSet, bundled_folder
from curation.cascade import Meters
from curation.lexicon.ages import build_age_table, read_norms, read_zipf_frequencies
from curation.recipe import build_recipe
from curation.shards.prepare import hash_file
from curation.signals.tokens import KnownWords

AOA = bundled_folder() / "aoa" / "aoa.parquet"

# Around the thresholds: below the floor, between floor and 4.0, on 4.0, above, never seen in K5 texts, a rare word.
SCORES = {
    "garden": 1.0,
    "number": 2.999,
    "teacher": 3.0,
    "quadratic": 3.5,
    "coefficient": 4.0,
    "photosynthesis": 5.25,
    "mitochondria": float("inf"),
    "zzyzx": 6.0,
}

BAND_WORDS = {
    "K5": "cat dog sun tree milk ball",
    "K8": "ratio cell density molecule percent region",
    "K12": "ideology derivative inflation mitosis congress metaphor",
    "OOS": "lagrangian eigenvalue sheaf cohort ablation manifold",
}


@cache
def load_known_words() -> KnownWords:
    return KnownWords(build_age_table(read_norms(AOA), read_zipf_frequencies()))


def write_scores(path: Path) -> Path:
    pq.write_table(pa.table({"word": list(SCORES), "score": list(SCORES.values())}), path)
    return path


def train_model(folder: Path) -> Path:
    lines = [f"__label__{band} {words}" for band, words in BAND_WORDS.items()] * 60
    (folder / "lines.txt").write_text("\n".join(lines) + "\n")
    model = fasttext.train_supervised(
        str(folder / "lines.txt"), epoch=30, lr=0.5, dim=8, thread=1, seed=1, minCount=1, verbose=0
    )
    model.save_model(str(folder / "grade.bin"))
    return folder / "grade.bin"


def find_artifacts(folder: Path, *, has_model: bool) -> ArtifactSet:
    """The bundled ages with a vocabulary, and where wanted a model, written into `folder`."""
    files = {"aoa": AOA, "vocabulary": write_scores(folder / "vocabulary.parquet")}
    if has_model:
        files["fasttext"] = train_model(folder)
    return ArtifactSet({kind: Artifact(kind, path, hash_file(path), "custom") for kind, path in files.items()})  # type: ignore[arg-type, misc]


@cache
def load_meters(*, has_model: bool = True) -> Meters:
    with tempfile.TemporaryDirectory() as folder:
        artifacts = find_artifacts(Path(folder), has_model=has_model)
        return Meters(artifacts, build_recipe(artifacts))

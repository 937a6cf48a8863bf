"""Small sources and measured runs for tests: shards shaped like FineWeb-Edu's, written from texts, and a run over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.artifacts.artifact_set import ArtifactSet, resolve_artifacts
from curation.cascade import Meters, measure_slice
from curation.ledger.store import Plan, PlannedShard
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion, read_vocabulary_table
from curation.profile import BoundProfile, bind_profile, load_profile
from curation.recipe import build_recipe
from curation.run_folder import RunFolder
from curation.shards.prepare import prepare_shard
from curation.shards.source import SourceShard

SIMPLE = "The cat sat on the mat and the dog ran to the park to play with a red ball."
HARD = "The photosynthesis of the molecule is a quantum phenomenon that the electron governs."

SCORES = {"quantum": 6.0, "photosynthesis": 5.0, "molecule": 4.5, "percent": 3.2}

_METERS: dict[tuple[tuple[str, str], ...], Meters] = {}

SHARD_SCHEMA = pa.schema(
    [
        pa.field("text", pa.string()),
        pa.field("id", pa.string()),
        pa.field("dump", pa.string()),
        pa.field("url", pa.string()),
        pa.field("file_path", pa.string()),
        pa.field("language", pa.string()),
        pa.field("language_score", pa.float64()),
        pa.field("token_count", pa.int64()),
        pa.field("score", pa.float64()),
        pa.field("int_score", pa.int64()),
    ]
)


def make_row(index: int, text: str, **columns: Any) -> dict[str, Any]:
    """One document of FineWeb-Edu's shape; `columns` replace or add."""
    row: dict[str, Any] = {
        "text": text,
        "id": f"<urn:uuid:{index:08d}>",
        "dump": "CC-MAIN-2024-10",
        "url": f"https://www.host{index % 3}.example/page/{index}",
        "file_path": "s3://crawl/segment.warc.gz",
        "language": "en",
        "language_score": 0.97,
        "token_count": max(len(text) // 5, 1),
        "score": 3.25,
        "int_score": 3,
    }
    return {**row, **columns}


def write_shard(
    path: Path,
    rows: Sequence[str | Mapping[str, Any]],
    *,
    schema: pa.Schema | None = None,
    row_group_size: int = 100,
) -> Path:
    """A Parquet shard. A row is a text or a whole document (`make_row`); `schema` None is FineWeb-Edu's, with columns added."""
    documents = [make_row(i, row) if isinstance(row, str) else dict(row) for i, row in enumerate(rows)]
    if schema is None:
        extra = {key: None for row in documents for key in row if key not in SHARD_SCHEMA.names}
        columns = {name: pa.array([row.get(name) for row in documents]) for name in extra}
        table = pa.Table.from_pylist(documents, SHARD_SCHEMA)
        for name, column in columns.items():
            table = table.append_column(name, column)
    else:
        table = pa.Table.from_pylist(documents, schema)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=row_group_size)
    return path


def write_vocabulary(folder: Path, scores: Mapping[str, float] = SCORES) -> Path:
    """A folder of artefacts that holds a vocabulary table alone; everything else comes from the bundle."""
    path = folder / "vocabulary" / "vocabulary.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"word": list(scores), "score": list(scores.values())}), path)
    return folder


def find_artifacts(tmp: Path) -> ArtifactSet:
    """The artefacts that `measure` uses in `tmp`: no fastText model, so that what tests assert outlives its training."""
    folder = tmp / "artifacts"
    found = resolve_artifacts(str(folder if folder.exists() else write_vocabulary(folder)))
    return ArtifactSet({kind: artifact for kind, artifact in found.artifacts.items() if kind in ("aoa", "vocabulary")})


def _load_meters(artifacts: ArtifactSet) -> Meters:
    """Word tables by the content of their files: loading takes seconds, and every test's table is the same."""
    key = tuple(sorted(artifacts.hashes.items()))
    if key not in _METERS:
        _METERS[key] = Meters(artifacts, build_recipe(artifacts))
    return _METERS[key]


def measure(
    tmp: Path, shards: Sequence[Path], *, slice_bytes: int = 4096, name: str = "run", text_field: str = "text"
) -> RunFolder:
    """Measure shards, in this order, into `tmp/name`: what `measure_run` does, with word tables loaded once for all tests."""
    artifacts = find_artifacts(tmp)
    recipe = build_recipe(artifacts, slice_bytes=slice_bytes, text_field=text_field)
    run = RunFolder(tmp / name)
    run.claim()
    listed = [SourceShard(path.name, str(path), path.stat().st_size) for path in shards]
    planned = tuple(PlannedShard(name=shard.name, size_bytes=shard.size_bytes) for shard in listed)
    plan = Plan(recipe=recipe, shards=planned, row_limit=None)
    run.ledger.create(plan)
    run.write_locations(listed)
    meters = copy(_load_meters(artifacts))
    meters.recipe = recipe
    for index, shard in enumerate(listed):
        manifest = prepare_shard(
            Path(shard.location),
            shard.name,
            index,
            staging_root=run.staging,
            text_field=recipe.text_field,
            slice_bytes=slice_bytes,
            row_limit=None,
        )
        run.ledger.add_shard(manifest)
        for piece in manifest.slices:
            with run.slice_file(manifest, piece) as path:
                layers = measure_slice(meters, path, shard.name, piece)
            run.ledger.commit("postings", manifest.slice_id(piece), layers.postings)
            run.ledger.commit("core", manifest.slice_id(piece), layers.core)
    return run


def bind(run: RunFolder, profile: str = "published") -> BoundProfile:
    return bind_profile(load_profile(profile), run.ledger.read_plan().recipe)


def score_words(tmp: Path, bound: BoundProfile, vocabulary: VocabularyVersion = PLAIN_VOCABULARY) -> dict[str, float]:
    """The blocked words under the profile, from the table that `measure` used."""
    stage = bound.profile.vocabulary
    table = read_vocabulary_table(find_artifacts(tmp).require("vocabulary").path)
    return {} if stage is None else vocabulary.score_words(table, stage.min_score)

"""Requests over small runs, and reading back what they wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from factories import bind, score_words

from curation.export.request import ExportRequest, ExportResult
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.run_folder import RunFolder


@dataclass(frozen=True)
class Measured:
    """`kept`: (shard, row, tokens) of the rows that the published profile keeps, in order."""

    tmp: Path
    run: RunFolder
    kept: list[tuple[str, int, int]]
    rows: int
    source_tokens: list[int]


def make_request(tmp: Path, run: RunFolder, out: Path, **options: Any) -> ExportRequest:
    bound = bind(run)
    given: dict[str, Any] = {
        "run": run,
        "bound": bound,
        "vocabulary": PLAIN_VOCABULARY,
        "word_scores": score_words(tmp, bound),
        "overrides": None,
        "out": out,
    }
    return ExportRequest(**{**given, **options})


def read_split(result: ExportResult, config: str, split: str = "train") -> pa.Table:
    paths = [file.path for file in result.files if (file.config, file.split) == (config, split)]
    return pa.concat_tables([pq.read_table(result.folder / path) for path in paths])


def read_bytes(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its relative path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

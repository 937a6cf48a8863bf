"""What the training texts counted of each word of a run's table. It is shown and decides nothing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from curation.artifacts.artifact_set import resolve_artifacts
from curation.errors import ArtifactError
from curation.request import read_request
from curation.run_folder import RunFolder
from curation.vocabulary_audit import WordCounts, read_word_counts


@lru_cache(maxsize=4)
def read_counts_of_run(run: Path) -> dict[str, WordCounts]:
    """By word; empty where the table that the run measured with is not here any more, or counts nothing."""
    request = read_request(run)
    measured = RunFolder(run).ledger.read_plan().recipe.artifacts["vocabulary"]
    try:
        artifacts = resolve_artifacts(request.artifacts, aoa=Path(request.aoa) if request.aoa else None)
    except ArtifactError:
        return {}
    found = artifacts.require("vocabulary")
    return read_word_counts(found.path) if found.sha256 == measured else {}

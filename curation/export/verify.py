"""Verifying an export: its files against the manifest, its rows against their source, and that a trainer can load it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from curation.artifacts.artifact_set import ArtifactSet, resolve_artifacts
from curation.errors import ExportError
from curation.export.card import list_loadable_splits
from curation.export.check_files import check_files
from curation.export.load_back import load_back
from curation.export.manifest import MANIFEST, read_manifest
from curation.export.problem import Problem, VerifyReport
from curation.export.recheck import recheck_rows
from curation.overrides import Overrides
from curation.run_folder import RunFolder


def verify_export(
    folder: Path,
    run: RunFolder | None,
    sample: int,
    seed: int,
    *,
    artifacts: ArtifactSet | None = None,
    overrides: Overrides | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> VerifyReport:
    """Every problem found. With `run`, `sample` rows of the curriculum are read, measured and decided again: `artifacts`
    must be those of the run (None: the bundled ones); without `overrides` a ruling that a row names is believed. `checkpoint` is
    called before every file and every phase; what it raises ends the work.

    Never raises for what is wrong with the export. Loading and rechecking need files that are whole, so they wait until
    those are.
    """
    try:
        manifest = read_manifest(folder)
    except ExportError as error:
        return VerifyReport((Problem(MANIFEST, None, str(error)),), 0, 0)
    problems = check_files(folder, manifest, checkpoint)
    checkpoint()
    rechecked = 0
    if not problems:
        problems.extend(_check_loading(folder, manifest))
    checkpoint()
    if not problems and run is not None:
        found, rechecked = recheck_rows(
            folder,
            manifest,
            run,
            sample=sample,
            seed=seed,
            artifacts=artifacts or resolve_artifacts(),
            overrides=overrides,
        )
        problems.extend(found)
    return VerifyReport(tuple(problems), len(manifest["files"]), rechecked)


def _check_loading(folder: Path, manifest: dict[str, Any]) -> list[Problem]:
    try:
        loaded = load_back(folder, manifest["totals"])
    except ExportError as error:
        return [Problem(MANIFEST, None, str(error))]
    expected = {
        config: {split: splits[split]["rows"] for split in list_loadable_splits(manifest, config)}
        for config, splits in manifest["totals"].items()
    }
    return [
        Problem(MANIFEST, None, f"config {config} loads with rows {loaded.get(config)}, the manifest says {splits}")
        for config, splits in expected.items()
        if loaded.get(config) != splits
    ]

"""A run that was made elsewhere, read for its import: is it whole, and what does its ledger say of itself?"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from curation.curate import open_decision_set, read_report
from curation.errors import LedgerError
from curation.finish import summarize_run
from curation.funnel import Funnel
from curation.ledger.store import Plan
from curation.publish import TEMPORARY_PREFIX
from curation.request import RunRequest, read_request
from curation.run_folder import RunFolder
from curation.shards.manifest import ShardManifest
from curation.shards.remote_shard import mask_url

IMPORTING_PREFIX = ".importing-"


@dataclass(frozen=True)
class ImportedRun:
    """A finished run, every part of which is there. `locations`: where its source lies, secrets left out."""

    folder: Path
    plan: Plan
    request: RunRequest
    report: dict[str, Any]
    manifests: list[ShardManifest]
    locations: list[str]
    stages: tuple[str, ...]
    left_out: tuple[str, ...]
    funnel: Funnel
    slice_count: int
    text_bytes: int


def read_imported_run(folder: Path) -> ImportedRun:
    """Raises LedgerError when the folder holds no finished run, a part is missing or damaged, or was measured with other
    artefacts than there are here."""
    run = RunFolder(folder)
    plan = run.ledger.read_plan()
    report = read_report(run)
    if report.get("state") != "finished":
        raise LedgerError(f"The run in {folder} is not finished.", hint=f"Finish it first: primer finish {folder}")
    refs = list(run.ledger.slices())
    layers = ("core", "postings", *(("encoder",) if "encoder" in plan.recipe.artifacts else ()))
    for ref in refs:
        for layer in layers:
            run.ledger.part_path(layer, ref.id)
    decisions = open_decision_set(run)
    summary = summarize_run(run, decisions.bound, decisions.word_scores, source_rules=decisions.source_rules)
    sizes = (pc.sum(run.ledger.read_part("core", ref.id, ["n_bytes"])["n_bytes"]).as_py() or 0 for ref in refs)
    request = read_request(folder)
    return ImportedRun(
        folder=folder,
        plan=plan,
        request=request,
        report=report,
        manifests=run.ledger.read_shards(),
        locations=_find_locations(run, request),
        stages=decisions.bound.stages,
        left_out=decisions.bound.left_out,
        funnel=summary.funnel,
        slice_count=len(refs),
        text_bytes=sum(sizes),
    )


def place_run(folder: Path, target: Path, *, is_copied: bool) -> None:
    """Bring a run's files to `target`, whole or not at all: as links to the same files where the disk allows, or as copies."""
    work = target.with_name(f"{IMPORTING_PREFIX}{uuid.uuid4().hex}")
    try:
        for relative in _list_files(folder):
            place = work / relative
            place.parent.mkdir(parents=True, exist_ok=True)
            _bring(folder / relative, place, is_copied=is_copied)
        os.rename(work, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _list_files(folder: Path) -> Iterator[Path]:
    """Regular files, links left out, and what a dying process left half-written."""
    for path, names, files in os.walk(folder):
        names[:] = [name for name in names if not name.startswith(".") and not (Path(path) / name).is_symlink()]
        for name in files:
            file = Path(path) / name
            if not name.startswith(TEMPORARY_PREFIX) and file.is_file() and not file.is_symlink():
                yield file.relative_to(folder)


def _bring(file: Path, place: Path, *, is_copied: bool) -> None:
    if not is_copied:
        try:
            os.link(file, place)
        except OSError:  # another disk, or one without links
            pass
        else:
            return
    shutil.copyfile(file, place)


def _find_locations(run: RunFolder, request: RunRequest) -> list[str]:
    """Local shards one by one, for nobody knows in which folder the request was made; addresses as they were given."""
    shards = [run.locate(shard.name) for shard in run.ledger.read_plan().shards]
    local = [shard.location for shard in shards if shard.remote is None and Path(shard.location).is_absolute()]
    remote = [source for source in request.sources if "://" in source and mask_url(source) == source]
    return [*remote, *local]

"""The files of an export against its manifest: all there, none besides, each as it was written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.export.bands import BAND_SCHEMA, KEPT_BAND
from curation.export.manifest import CARD, MANIFEST, count_totals, list_files
from curation.export.problem import Problem
from curation.export.request import CURRICULUM, ExportedFile
from curation.shards.prepare import hash_file


def check_files(folder: Path, manifest: dict[str, Any], checkpoint: Callable[[], None] = lambda: None) -> list[Problem]:
    """Missing, extra and changed files, row counts, schemas, totals, and rows that stand twice in a config. `checkpoint` is
    called before every file."""
    files = list_files(manifest)
    problems = [*_check_names(folder, files), *_check_card(folder, manifest), *_check_totals(manifest, files)]
    whole = []
    for file in files:
        checkpoint()
        found = list(_check_file(folder, file))
        problems.extend(found)
        if not found and (folder / file.path).is_file():
            whole.append(file)
    problems.extend(_check_schemas(folder, whole))
    if not problems:
        problems.extend(_check_rows(folder, manifest, whole))
    return problems


def _check_names(folder: Path, files: list[ExportedFile]) -> Iterator[Problem]:
    expected = {MANIFEST, CARD, *(file.path for file in files)}
    found = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    }
    for path in sorted(expected - found):
        yield Problem(path, None, "missing")
    for path in sorted(found - expected):
        yield Problem(path, None, "not part of the export")


def _check_card(folder: Path, manifest: dict[str, Any]) -> Iterator[Problem]:
    path = folder / CARD
    if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() != manifest["card"]["sha256"]:
        yield Problem(CARD, None, "has been changed")


def _check_totals(manifest: dict[str, Any], files: list[ExportedFile]) -> Iterator[Problem]:
    if count_totals(files) != manifest["totals"]:
        yield Problem(MANIFEST, None, "totals are not the sums of the files")
    if not manifest["options"]["has_curriculum"]:
        return
    kept = manifest["funnel"]["documents"]["kept"]
    rows = sum(file.rows for file in files if file.config == CURRICULUM)
    if rows > kept or (manifest["options"]["token_budget"] is None and rows != kept):
        yield Problem(MANIFEST, None, f"the curriculum has {rows} rows, the funnel kept {kept}")


def _check_file(folder: Path, file: ExportedFile) -> Iterator[Problem]:
    path = folder / file.path
    if not path.is_file():
        return  # named as missing
    if (size := path.stat().st_size) != file.size_bytes:
        yield Problem(file.path, None, f"{size} bytes, written with {file.size_bytes}")
    elif hash_file(path) != file.sha256:
        yield Problem(file.path, None, "its bytes have changed (sha256 differs)")
    else:
        try:
            rows = pq.read_metadata(path).num_rows
        except (pa.ArrowException, OSError) as error:
            yield Problem(file.path, None, f"not a readable Parquet file ({error})")
            return
        if rows != file.rows:
            yield Problem(file.path, None, f"{rows} rows, the manifest says {file.rows}")


def _check_schemas(folder: Path, files: list[ExportedFile]) -> Iterator[Problem]:
    """All files have one schema that ends in the grade-band columns."""
    first: pa.Schema | None = None
    for file in files:
        schema = pq.read_schema(folder / file.path)
        first = schema if first is None else first
        if not schema.equals(first):
            yield Problem(file.path, None, f"another schema than {files[0].path}")
        elif not pa.schema(list(schema)[-len(BAND_SCHEMA) :]).equals(BAND_SCHEMA):
            yield Problem(file.path, None, "lacks the columns of the grade band")


def _check_rows(folder: Path, manifest: dict[str, Any], files: list[ExportedFile]) -> Iterator[Problem]:
    """No row twice in a config, so that splits are disjoint; every row of the curriculum is kept. 16 bytes a row."""
    numbers = {shard["name"]: index for index, shard in enumerate(manifest["inputs"])}
    for config in dict.fromkeys(file.config for file in files):
        own = [file for file in files if file.config == config]
        addresses = []
        for file in own:
            address, problem = _read_addresses(folder, file, numbers)
            addresses.append(address)
            if problem is not None:
                yield problem
        yield from _find_repeated(addresses, own)


def _read_addresses(
    folder: Path, file: ExportedFile, numbers: dict[str, int]
) -> tuple[npt.NDArray[np.int64], Problem | None]:
    """(rows, 2): the shard's number and the row in it; the first row that is wrong in itself."""
    parts: list[npt.NDArray[np.int64]] = [np.zeros((0, 2), np.int64)]
    problem = None
    start = 0
    with pq.ParquetFile(folder / file.path) as parquet:
        for batch in parquet.iter_batches(columns=["primer_shard", "primer_row", "primer_band"], use_threads=False):
            shards = np.array([numbers.get(name, -1) for name in batch.column("primer_shard").to_pylist()], np.int64)
            rows = batch.column("primer_row").fill_null(-1).to_numpy()
            is_kept = pc.equal(batch.column("primer_band"), KEPT_BAND).fill_null(False).to_numpy(zero_copy_only=False)
            wrong = np.flatnonzero((shards < 0) | (rows < 0) | (~is_kept & (file.config == CURRICULUM)))
            if len(wrong) and problem is None:
                what = "no row of an input, or not of the band that the curriculum keeps"
                problem = Problem(file.path, start + int(wrong[0]), what)
            parts.append(np.column_stack([shards, rows]))
            start += batch.num_rows
    return np.concatenate(parts), problem


def _find_repeated(addresses: list[npt.NDArray[np.int64]], files: list[ExportedFile]) -> Iterator[Problem]:
    together = np.concatenate(addresses)
    order = np.lexsort((together[:, 1], together[:, 0]))
    is_repeated = (together[order][1:] == together[order][:-1]).all(axis=1)
    starts = np.cumsum([0, *(len(part) for part in addresses)])
    for place in np.flatnonzero(is_repeated).tolist():
        position = max(int(order[place]), int(order[place + 1]))
        index = int(np.searchsorted(starts, position, side="right")) - 1
        yield Problem(files[index].path, position - int(starts[index]), "the same row of the source stands twice")

"""Building an index: the ledger read once, a slice at a time; the folder appears whole under its name or not at all.

Memory holds a few slices and the distinct hosts. The name says what it was built from: the run, and the parts that were
committed then, so an index of a ledger that grew since is simply not found.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curation.artifacts.artifact_set import resolve_artifacts
from curation.errors import LedgerError, QuotaError
from curation.index.array_file import ArrayFile
from curation.index.hosts import NO_HOST, order_key, write_hosts
from curation.index.layout import (
    COLUMN_TYPES,
    DESCRIPTION,
    INDEX_SCHEMA,
    RULE_SETS,
    Description,
    IndexedShard,
    IndexedSlice,
    column_path,
    is_number,
    map_array,
    read_description,
)
from curation.index.names import NamesWriter
from curation.index.slice_columns import SliceColumns, read_slice_columns
from curation.index.threads import count_cores
from curation.index.word_places import PlacesWriter
from curation.ledger.encoder import list_encoder_layers
from curation.ledger.licences import LICENCES
from curation.ledger.store import Ledger, SliceRef
from curation.lexicon.vocabulary import VocabularyTable, read_vocabulary_table
from curation.notation.published.rules import PUBLISHED_RULES
from curation.notation.recommended.rules import RECOMMENDED_RULES
from curation.publish import TEMPORARY_PREFIX, publish_bytes
from curation.request import read_request
from curation.run_folder import RunFolder

_REMAP_ROWS = 1 << 20


@dataclass(frozen=True)
class BuildProgress:
    slices_done: int
    slice_count: int
    rows_done: int


OnProgress = Callable[[BuildProgress], None]


def name_index(ledger: Ledger) -> str:
    """The name of the index of a run as it is committed now. Raises LedgerError when slices are missing."""
    digest = hashlib.sha256(f"index {INDEX_SCHEMA}".encode())
    for ref in ledger.slices():
        layers = ["core", "postings", *list_encoder_layers(ledger, ref.id)]
        layers += [LICENCES] if ledger.is_committed(LICENCES, ref.id) else []
        for layer in layers:
            digest.update(f"{layer}/{ledger.part_path(layer, ref.id).name}\n".encode())
    return f"{ledger.read_plan().run_id}-{digest.hexdigest()[:16]}"


def find_index(folder: RunFolder, indexes: Path) -> Path | None:
    """The index of the run as it is committed now, if it was built in `indexes`; None where it must be built (again)."""
    return find_named_index(name_index(folder.ledger), indexes)


def find_named_index(name: str, indexes: Path) -> Path | None:
    """The index of this name, where it is whole."""
    path = indexes / name
    return path if (path / DESCRIPTION).is_file() else None


def build_index(
    folder: RunFolder,
    indexes: Path,
    on_progress: OnProgress = lambda _: None,
    *,
    table: VocabularyTable | None = None,
    workers: int | None = None,
) -> Path:
    """Build the index of a measured run in the folder `indexes`, or find it there. What `on_progress` raises ends the build.

    `table`: the vocabulary table of the run; None: the run's own artefact. `workers`: threads; None: one a core.
    Raises LedgerError when slices are missing, QuotaError when the disk is full; then nothing is left.
    """
    name = name_index(folder.ledger)
    path = indexes / name
    if (path / DESCRIPTION).is_file():
        return path
    work = indexes / f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}"
    try:
        work.mkdir(parents=True)
        _write_index(folder.ledger, work, name, table or _read_table(folder), workers or count_cores(), on_progress)
        # Taken when two build the same: equal content, so either may stay.
        os.rename(work, path)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY) and (path / DESCRIPTION).is_file():
            return path
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise QuotaError(
                "The disk is full: the index was not built.", hint="Free space, then build it again."
            ) from error
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return path


def sweep_indexes(folder: RunFolder, indexes: Path) -> int:
    """Delete the run's outdated indexes; how many. Only when nobody builds one; one that is open stays usable until it is closed."""
    run_id, current = folder.ledger.read_plan().run_id, name_index(folder.ledger)
    outdated = [path for path in indexes.glob(f"{run_id}-*") if path.name != current]
    for path in outdated:
        shutil.rmtree(path, ignore_errors=True)
    return len(outdated)


def _read_table(folder: RunFolder) -> VocabularyTable:
    request = read_request(folder.folder)
    wanted = folder.ledger.read_plan().recipe.artifacts.get("vocabulary")
    found = resolve_artifacts(request.artifacts, aoa=Path(request.aoa) if request.aoa else None).require("vocabulary")
    table = read_vocabulary_table(found.path)
    if wanted is not None and found.sha256 != wanted:
        raise LedgerError(
            f"{folder.folder} was measured with another vocabulary than {request.artifacts or 'the bundled'} one is now.",
            hint="Put the same file back (its hash is in ledger/plan.json) or measure again.",
        )
    return table


def _write_index(
    ledger: Ledger, work: Path, name: str, table: VocabularyTable, workers: int, on_progress: OnProgress
) -> None:
    refs = list(ledger.slices())
    ranked = rank_words(table)
    writer = _IndexWriter(work)
    words = pa.array([word for word, _ in ranked], pa.string())
    for done, columns in enumerate(_read_ahead(ledger, refs, words, workers), 1):
        writer.append(columns)
        on_progress(BuildProgress(done, len(refs), writer.row_count))
    pq.write_table(pa.table({"word": words, "score": [score for _, score in ranked]}), work / "table.parquet")
    description = writer.finish(ledger.read_plan().run_id, name)
    publish_bytes(work / DESCRIPTION, description.model_dump_json().encode())
    read_description(work)


def rank_words(table: VocabularyTable) -> list[tuple[str, float]]:
    """Words and scores, highest score first, then by word: the words of a score or more are the first ones."""
    return sorted(table.scores.items(), key=lambda entry: (-entry[1], entry[0]))


def _read_ahead(ledger: Ledger, refs: Iterable[SliceRef], words: pa.Array, workers: int) -> Iterator[SliceColumns]:
    """Slices in order, read by threads, at most one more than threads in memory."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[SliceColumns]] = deque()
        try:
            for ref in refs:
                waiting.append(pool.submit(read_slice_columns, ledger, ref, words))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class _IndexWriter:
    def __init__(self, work: Path) -> None:
        self._work = work
        self._columns = {name: ArrayFile(column_path(work, name), dtype) for name, dtype in COLUMN_TYPES.items()}
        self._places = PlacesWriter(work / "words")
        self._names = NamesWriter(work / "names")
        self._rules = {rules: _RuleCodes(rules) for rules in RULE_SETS}
        self._hosts: dict[str, int] = {}
        self._licences: dict[str, int] = {}
        self._has_licences = False
        self._shards: dict[int, IndexedShard] = {}
        self._slices: list[IndexedSlice] = []
        self.row_count = 0

    def append(self, piece: SliceColumns) -> None:
        ref, row_count = piece.ref, piece.ref.piece.row_count
        for name, values in piece.columns.items():
            self._append(name, values, ref)
        for (rules, form), names in piece.rules.items():
            self._append(f"rules_{rules}_{form}", self._rules[rules].encode(names), ref)
        self._append("domain", _renumber(self._hosts, piece.hosts.values, piece.hosts.codes), ref)
        licences = np.full(row_count, -1, np.int32)
        if piece.licences is not None:
            self._has_licences = True
            licences = _renumber(self._licences, piece.licences.values, piece.licences.codes)
        self._append("licence", licences, ref)
        position = self.row_count
        for block in piece.blocks:
            self._places.append(position, block)
            position += block.row_count
        self._names.append(piece.names)
        shard = ref.shard
        self._shards[shard.index] = IndexedShard(
            index=shard.index, name=shard.name, sha256=shard.sha256, row_count=shard.row_count
        )
        self._slices.append(
            IndexedSlice(
                shard=shard.index,
                piece=ref.piece.index,
                first_row=ref.piece.first_row,
                row_count=row_count,
                has_fasttext=piece.has_fasttext,
            )
        )
        self.row_count += row_count

    def _append(self, name: str, values: npt.NDArray[np.generic], ref: SliceRef) -> None:
        try:
            self._columns[name].append(values)
        except OverflowError as error:
            raise LedgerError(f"{ref.shard.name}: slice {ref.id}: {error}.", hint="Measure the shard again.") from error

    def finish(self, run_id: str, name: str) -> Description:
        for file in self._columns.values():
            file.close()
        self._places.close()
        self._names.close()
        self._order_hosts()
        extents = {column: file.extent for column, file in self._columns.items()}
        files = [path for path in self._work.rglob("*") if path.is_file()]
        return Description(
            schema_number=INDEX_SCHEMA,
            run_id=run_id,
            name=name,
            row_count=self.row_count,
            has_licences=self._has_licences,
            licences=list(self._licences),
            rule_names={rules: codes.names for rules, codes in self._rules.items()},
            rule_masks={rules: codes.masks for rules, codes in self._rules.items()},
            extents={column: extent for column, extent in extents.items() if extent is not None and is_number(column)},
            shards=[self._shards[index] for index in sorted(self._shards)],
            slices=self._slices,
            file_bytes={path.relative_to(self._work).as_posix(): path.stat().st_size for path in sorted(files)},
        )

    def _order_hosts(self) -> None:
        """Hosts were numbered as they came; put them in order and write the column again."""
        ordered = sorted(self._hosts, key=order_key)
        write_hosts(self._work / "hosts.arrow", ordered)
        numbers = np.empty(len(ordered) + 1, np.int32)
        numbers[[self._hosts[host] for host in ordered]] = np.arange(len(ordered))
        numbers[NO_HOST] = NO_HOST
        path = column_path(self._work, "domain")
        codes = map_array(path)
        ordered_path = path.with_suffix(".ordered")
        with ArrayFile(ordered_path, COLUMN_TYPES["domain"]) as file:
            for start in range(0, len(codes), _REMAP_ROWS):
                file.append(numbers[codes[start : start + _REMAP_ROWS]])
        os.replace(ordered_path, path)


def _renumber(numbers: dict[str, int], values: list[str], codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Codes into `values` as codes into `numbers`, which grows; -1 stays."""
    found = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array([*found, -1], np.int32)[codes]


class _RuleCodes:
    """A number for every set of rules that hit a row together; 0 where nothing was measured. Bit i of a mask is `names[i]`."""

    def __init__(self, rules: str) -> None:
        known = PUBLISHED_RULES if rules == "published" else RECOMMENDED_RULES
        self.names = [rule.name for rule in known]
        self._bits = {name: bit for bit, name in enumerate(self.names)}
        self._codes: dict[int, int] = {}
        self.masks: list[int | None] = [None]

    def encode(self, hits: pa.ListArray) -> npt.NDArray[np.uint32]:
        is_measured = hits.is_valid().to_numpy(zero_copy_only=False)
        masks = np.zeros(len(hits), np.uint64)
        encoded = hits.values.dictionary_encode()
        for name in encoded.dictionary.to_pylist():
            if name not in self._bits:
                # A ledger of another version of the rules: its hits count all the same.
                self._bits[name] = len(self.names)
                self.names.append(name)
        bits = np.array([1 << self._bits[name] for name in encoded.dictionary.to_pylist()], np.uint64)
        if len(hits.values):
            np.bitwise_or.at(masks, hits.value_parent_indices().to_numpy(), bits[encoded.indices.to_numpy()])
        distinct, places = np.unique(masks, return_inverse=True)
        codes = np.array([self._number(mask) for mask in distinct.tolist()], np.uint32)
        return np.where(is_measured, codes[places], 0)

    def _number(self, mask: int) -> int:
        if mask not in self._codes:
            self._codes[mask] = len(self.masks)
            self.masks.append(mask)
        return self._codes[mask]

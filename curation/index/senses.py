"""Words told apart by sense, in an index: what a measured layer says of every row, and what may be where nobody looked.

The layer is copied beside the index's columns once every slice has it; before that rows that turn on a sense are undecided.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.errors import LedgerError
from curation.index.request import DecisionRequest
from curation.ledger import schema
from curation.ledger.senses import bound_unmeasured, name_senses_layer, read_senses, score_measured
from curation.lexicon.senses import SenseRule
from curation.publish import TEMPORARY_PREFIX
from curation.run_folder import RunFolder

if TYPE_CHECKING:
    from curation.index.signal_index import SignalIndex


@dataclass(frozen=True)
class SensedRows:
    """The rows that hold a word with a sense rule: `positions` ascending, the `least` and the `most` that the word scores in each;
    minus infinity: it is no hit."""

    term: str
    positions: npt.NDArray[np.int64]
    least: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]


def add_senses(folder: RunFolder, index: SignalIndex, senses: Sequence[SenseRule]) -> bool:
    """Copy the layer of these rules into the index; False where a slice was not measured yet. Call it before deciding by them:
    what is there already is found."""
    if not senses or has_senses(index, senses):
        return True
    parts = []
    for start, ref in zip(index.slice_starts.tolist(), folder.ledger.slices(), strict=False):
        table = read_senses(folder.ledger, ref.id, senses)
        if table is None:
            return False
        parts.append(table.set_column(1, "row", pc.add(table["row"], start - ref.piece.first_row)))
    path = _path(index, senses)
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}")
    try:
        pq.write_table(
            pa.concat_tables(parts).rename_columns({"row": "position"}) if parts else pa.table({}), temporary
        )
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return True


def has_senses(index: SignalIndex, senses: Sequence[SenseRule]) -> bool:
    """Whether the index knows in which sense these words stand."""
    return _path(index, senses).is_file()


def _path(index: SignalIndex, senses: Sequence[SenseRule]) -> Path:
    return index.folder / "senses" / f"{name_senses_layer(senses)}.parquet"


def find_sensed_rows(index: SignalIndex, request: DecisionRequest) -> list[SensedRows]:
    """Of every word with a sense rule the rows that hold it, in the form that the profile reads."""
    stage, vocabulary = request.bound.profile.vocabulary, request.vocabulary
    if stage is None or not vocabulary.senses:
        return []
    key = ("sensed rows", request.bound.profile.form, stage.min_score, request.words_key)
    return index.cache.get(key, lambda: _find_sensed_rows(index, request), lambda found: 24 * sum(map(_size, found)))


def _size(rows: SensedRows) -> int:
    return len(rows.positions)


def _find_sensed_rows(index: SignalIndex, request: DecisionRequest) -> list[SensedRows]:
    profile, vocabulary = request.bound.profile, request.vocabulary
    assert profile.vocabulary is not None
    measured = _read(index, vocabulary.senses, profile.form) if request.has_senses else None
    found = []
    for rule in vocabulary.senses:
        elsewhere = vocabulary.score_elsewhere(rule.term, index.find_score, profile.vocabulary.min_score)
        if measured is None:
            positions = index.find_term(rule.term, profile.form)
            least, most = (np.full(len(positions), bound) for bound in bound_unmeasured(rule, elsewhere))
        else:
            positions, counted, other = measured[rule.term]
            least = most = score_measured(elsewhere, counted, other)
        found.append(SensedRows(rule.term, positions, least, most))
    return found


_Measured = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]


def _read(index: SignalIndex, senses: Sequence[SenseRule], form: str) -> dict[str, _Measured]:
    """Of every word: positions ascending, occurrences that count, and ones of which no context holds."""
    path = _path(index, senses)
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise LedgerError(
            f"{path} is damaged ({error}).", hint="Delete it; it is copied from the ledger again."
        ) from error
    nothing = np.zeros(0, np.int32)
    if not table.num_columns:
        return {rule.term: (np.zeros(0, np.int64), nothing, nothing) for rule in senses}
    unwanted = schema.FORM_NORMALIZED if form == "raw" else schema.FORM_RAW
    table = table.filter(pc.not_equal(table["form"], unwanted))
    found = {}
    for rule in senses:
        rows = table.filter(pc.equal(table["term"].cast(pa.string()), rule.term))
        positions = rows["position"].to_numpy()
        order = np.argsort(positions, kind="stable")
        found[rule.term] = (positions[order], rows["counted"].to_numpy()[order], rows["other"].to_numpy()[order])
    return found


def add_counts(
    counts: npt.NDArray[np.int32], sensed: Sequence[SensedRows], *, is_possible: bool
) -> npt.NDArray[np.int32]:
    """Counts of words with those that are told apart: the least that there are, or the most that may be."""
    total = counts.copy()
    for rows in sensed:
        scores = rows.most if is_possible else rows.least
        total[rows.positions] += ~np.isneginf(scores)
    return total


def add_scores(
    tops: npt.NDArray[np.float64], sensed: Sequence[SensedRows], *, is_possible: bool
) -> npt.NDArray[np.float64]:
    """Highest scores, likewise."""
    highest = tops.copy()
    for rows in sensed:
        scores = rows.most if is_possible else rows.least
        highest[rows.positions] = np.maximum(highest[rows.positions], scores)
    return highest

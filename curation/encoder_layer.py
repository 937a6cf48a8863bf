"""The encoder's layer of a slice: which rows are still to be scored, their texts, their grades, the commit.

Invariant: a generation that is committed stays; equal rows give equal bytes, whoever scores them and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.cascade import Meters
from curation.decide import REASONS, UNDECIDED, Decisions
from curation.encoder_selection import select_rows
from curation.errors import ArtifactError
from curation.ledger import schema
from curation.ledger.encoder import list_encoder_layers, name_encoder_layer, read_encoder
from curation.ledger.store import SliceRef
from curation.normalize import normalize
from curation.run_folder import RunFolder
from curation.shards.rows import RowBatch, read_slice
from curation.stages import EncoderReading

Flags = npt.NDArray[np.bool_]

# A long slice takes minutes on a CPU: a person who pauses or cancels waits for so many texts at most. A score depends on
# its window alone, so this changes no byte.
_TEXTS_BETWEEN_CHECKS = 256


def commit_selected(
    folder: RunFolder,
    meters: Meters,
    ref: SliceRef,
    core: pa.Table,
    postings: pa.Table,
    *,
    checkpoint: Callable[[], None] = lambda: None,
) -> None:
    """Score the rows that the recipe selects and commit them as the slice's first generation.

    `checkpoint` is called after every so many texts; what it raises ends the scoring with nothing committed.
    """
    selection = meters.recipe.encoder_selection
    is_wanted = np.zeros(core.num_rows, bool)
    reading: EncoderReading = "window"
    if selection is not None:
        is_wanted = select_rows(selection, ref, core, postings, meters.selection_scores)
        reading = selection.reading
    table = _measure_rows(folder, meters, ref, core, is_wanted, reading, checkpoint)
    folder.ledger.commit(name_encoder_layer(1), ref.id, table)


def commit_rows(
    folder: RunFolder,
    meters: Meters,
    ref: SliceRef,
    core: pa.Table,
    is_wanted: Flags,
    reading: EncoderReading,
    *,
    checkpoint: Callable[[], None] = lambda: None,
) -> int:
    """Score those wanted rows whose reading no generation has, and commit them as the next one; how many there were."""
    ledger = folder.ledger
    while True:
        generations = list_encoder_layers(ledger, ref.id)
        known = read_encoder(ledger, ref.id)
        if known is not None:
            is_wanted = is_wanted & pc.is_null(known[reading]).to_numpy()
        if not is_wanted.any():
            return 0
        table = _measure_rows(folder, meters, ref, core, is_wanted, reading, checkpoint)
        # Another command may have committed that generation meanwhile: look again at what is left.
        if ledger.commit(name_encoder_layer(len(generations) + 1), ref.id, table):
            return int(is_wanted.sum())


def find_undecided(decisions: Decisions) -> Flags:
    """The rows that wait for the encoder."""
    bit = np.uint16(1 << REASONS.index("encoder"))
    return (decisions.kept == UNDECIDED) & (decisions.unknown & bit != 0)  # type: ignore[no-any-return]


def measure_texts(meters: Meters, texts: Sequence[str], reading: EncoderReading) -> pa.Table:
    """ENCODER_SCHEMA, one row a raw text, with one reading. Raises ArtifactError where there is no encoder."""
    return _build_layer(meters, np.arange(len(texts)), np.ones(len(texts), bool), texts, reading, lambda: None)


def _measure_rows(
    folder: RunFolder,
    meters: Meters,
    ref: SliceRef,
    core: pa.Table,
    is_wanted: Flags,
    reading: EncoderReading,
    checkpoint: Callable[[], None],
) -> pa.Table:
    rows = core["row"].to_numpy()
    texts: list[str] = []
    if is_wanted.any():
        with folder.slice_file(ref.shard, ref.piece) as path:
            batches = read_slice(path, ref.shard.name, ref.piece, meters.recipe.text_field)
            texts = list(_pick_texts(batches, set(rows[is_wanted].tolist())))
    return _build_layer(meters, rows, is_wanted, texts, reading, checkpoint)


def _pick_texts(batches: Iterable[RowBatch], wanted: set[int]) -> Iterable[str]:
    for batch in batches:
        for row, text in enumerate(batch.texts, batch.first_row):
            if row in wanted and text is not None:
                yield text


def _build_layer(
    meters: Meters,
    rows: npt.NDArray[np.int64],
    is_wanted: Flags,
    texts: Sequence[str],
    reading: EncoderReading,
    checkpoint: Callable[[], None],
) -> pa.Table:
    """`texts` are the raw texts of the wanted rows, in order."""
    columns: dict[str, pa.Array] = {"row": pa.array(rows, pa.int64())}
    if texts:
        pieces = []
        for start in range(0, len(texts), _TEXTS_BETWEEN_CHECKS):
            pieces.append(_grade_texts(meters, texts[start : start + _TEXTS_BETWEEN_CHECKS], reading))
            checkpoint()
        measured = {name: pa.concat_arrays([piece[name] for piece in pieces]) for name in pieces[0]}
        places = np.full(len(rows), -1, np.int64)
        places[is_wanted] = np.arange(len(texts))
        indices = pa.array(places, mask=places < 0)
        columns |= {name: values.take(indices) for name, values in measured.items()}
    missing = {field.name: pa.nulls(len(rows), field.type) for field in schema.ENCODER_SCHEMA}
    return pa.table(missing | columns, schema=schema.ENCODER_SCHEMA)


def _grade_texts(meters: Meters, texts: Sequence[str], reading: EncoderReading) -> dict[str, pa.Array]:
    model = meters.encoder
    if model is None:
        raise ArtifactError("There is no encoder artefact.", hint="See `primer artifacts list`.")
    if reading == "published":
        return {"published": _to_grades(model.grade_published(texts))}
    recipe = meters.recipe
    found = model.grade_windows(
        [normalize(text).text for text in texts], max_windows=recipe.max_windows, seed=recipe.window_seed
    )
    return {
        "window": _to_grades(found.grades),
        "window_start": pa.array(found.start, mask=found.start < 0),
        "window_end": pa.array(found.end, mask=found.end < 0),
        "is_sampled": pa.array(found.is_sampled),
    }


def _to_grades(values: npt.NDArray[np.float32]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 4).cast(schema.GRADES_TYPE)

"""One slice of a shard -> its ledger layers: every signal for every row, in batches of bounded memory.

Nothing is skipped because another stage would exclude the row. The bytes of the layers depend on the shard, the
recipe and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.artifacts.artifact_set import ArtifactSet
from curation.ledger import schema
from curation.ledger.licences import LICENCE_COLUMNS, LICENCES_SCHEMA
from curation.lexicon.ages import build_age_table, read_norms, read_zipf_frequencies
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, read_vocabulary_table
from curation.normalize import CHANGES, Normalized, normalize
from curation.notation.hit import Hit
from curation.recipe import Recipe
from curation.shards.manifest import Slice
from curation.shards.rows import RowBatch, Unreadable, decode_strings, read_slice
from curation.signals.encoder_grade import EncoderGrade
from curation.signals.fasttext_grade import FastTextGrade, flatten_line, measure_windows
from curation.signals.lexical import measure_lexical
from curation.signals.notation import find_clues, find_published, find_recommended
from curation.signals.tokens import KnownWords, TokenCounter, to_token_stream
from curation.signals.vocabulary import ScoreIndex, measure_vocabulary
from curation.signals.windows import split_windows


class Meters:
    """Everything that measuring needs, loaded once a process: word tables, the fastText model and, when it is first asked
    for, the encoder (None where there is none)."""

    def __init__(self, artifacts: ArtifactSet, recipe: Recipe) -> None:
        self.recipe = recipe
        self.words = KnownWords(build_age_table(read_norms(artifacts.require("aoa").path), read_zipf_frequencies()))
        self.vocabulary = read_vocabulary_table(artifacts.require("vocabulary").path)
        self.scores = ScoreIndex(self.vocabulary, self.words.table.words)
        model = artifacts.get("fasttext")
        self.fasttext = FastTextGrade(model.path) if model else None
        self._encoder_artifact = artifacts.get("encoder")

    @cached_property
    def encoder(self) -> EncoderGrade | None:
        return EncoderGrade(self._encoder_artifact.path) if self._encoder_artifact else None

    @cached_property
    def selection_scores(self) -> dict[str, float]:
        """The words that the plain vocabulary blocks for the recipe's encoder selection."""
        selection = self.recipe.encoder_selection
        if selection is None or selection.vocabulary is None:
            return {}
        return PLAIN_VOCABULARY.score_words(self.vocabulary, selection.vocabulary.min_score)


@dataclass(frozen=True)
class SliceLayers:
    """The measured rows of one slice: `core` has CORE_SCHEMA and one row an input row, `postings` POSTINGS_SCHEMA by (word, row),
    `licences` LICENCES_SCHEMA and one row an input row, or is None where the source has no such column."""

    core: pa.Table
    postings: pa.Table
    licences: pa.Table | None = None


def measure_slice(
    meters: Meters, path: Path, name: str, piece: Slice, *, checkpoint: Callable[[], None] = lambda: None
) -> SliceLayers:
    """Measure every row of a slice. Rows that cannot be read have an `error` and null signals.

    `checkpoint` is called after every batch; what it raises ends the measuring.
    """
    measured: list[MeasuredBatch] = []
    for batch in measure_batches(meters, read_slice(path, name, piece, meters.recipe.text_field)):
        measured.append(batch)
        checkpoint()
    core = pa.Table.from_batches([batch.core for batch in measured], schema.CORE_SCHEMA)
    return SliceLayers(core, sort_postings(measured), _join_licences(core, measured))


def _join_licences(core: pa.Table, measured: Sequence[MeasuredBatch]) -> pa.Table | None:
    if all(batch.licences is None for batch in measured):
        return None
    pieces = [
        pa.nulls(batch.core.num_rows, pa.string()) if batch.licences is None else batch.licences for batch in measured
    ]
    return pa.table([core["row"], pa.chunked_array(pieces, pa.string())], schema=LICENCES_SCHEMA)


def measure_text(meters: Meters, text: str) -> tuple[pa.Table, pa.Table]:
    """One text as a slice of one row: its `core` row and its postings."""
    measured = list(measure_batches(meters, iter([RowBatch(0, [text], [None], None)])))
    return pa.Table.from_batches([batch.core for batch in measured], schema.CORE_SCHEMA), sort_postings(measured)


@dataclass(frozen=True)
class MeasuredBatch:
    """`core` rows, and postings as parallel arrays: `words[ids[i]]` stands `counts[i]` times in the `forms[i]` text of `rows[i]`.
    `licences`: one string a row; None where the source says nothing of licences."""

    core: pa.RecordBatch
    words: Sequence[str]
    ids: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int32]
    forms: npt.NDArray[np.int8]
    licences: pa.Array | None = None


def measure_batches(meters: Meters, batches: Iterator[RowBatch]) -> Iterator[MeasuredBatch]:
    """The rows of one slice, batch by batch; unknown words are numbered over the whole slice."""
    counter = TokenCounter(meters.words)
    for batch in batches:
        yield _measure_batch(meters, counter, batch)


class _Forms:
    """What a signal measures of a batch: each raw value, then each normalised value that differs from its raw one.

    A signal's array over `distinct` becomes two columns aligned with the batch's rows.
    """

    def __init__(self, raw: Sequence[Any], normalized: Sequence[Any], places: Sequence[int], row_count: int) -> None:
        differs = [i for i in range(len(raw)) if raw[i] != normalized[i]]
        self.distinct = [*raw, *(normalized[i] for i in differs)]
        self._raw_places = np.full(row_count, -1, np.int64)
        self._raw_places[places] = np.arange(len(raw))
        self._normalized_places = np.full(row_count, -1, np.int64)
        self._normalized_places[[places[i] for i in differs]] = np.arange(len(raw), len(self.distinct))
        # For postings: the batch row and the form of each distinct value.
        self.rows = np.array([*places, *(places[i] for i in differs)], np.int64)
        self.forms = np.full(len(self.distinct), schema.FORM_BOTH, np.int8)
        self.forms[differs] = schema.FORM_RAW
        self.forms[len(raw) :] = schema.FORM_NORMALIZED

    def spread_raw(self, values: pa.Array) -> pa.Array:
        return _take(values, self._raw_places)

    def spread_normalized(self, values: pa.Array) -> pa.Array:
        return _take(values, self._normalized_places)


def _take(values: pa.Array, places: npt.NDArray[np.int64]) -> pa.Array:
    return values.take(pa.array(places, mask=places < 0))


def _measure_batch(meters: Meters, counter: TokenCounter, batch: RowBatch) -> MeasuredBatch:
    places = [i for i, text in enumerate(batch.texts) if text is not None]
    raw = [text for text in batch.texts if text is not None]
    normalized = [normalize(text) for text in raw]
    texts = _Forms(raw, [form.text for form in normalized], places, len(batch))
    raw_streams = [to_token_stream(text) for text in raw]
    normalized_streams = [
        to_token_stream(form.text) if form.is_changed else stream
        for form, stream in zip(normalized, raw_streams, strict=True)
    ]
    streams = _Forms(raw_streams, normalized_streams, places, len(batch))
    tokens = counter.count(streams.distinct)
    stream_texts = [*raw, *(normalized[i].text for i in range(len(raw)) if raw_streams[i] != normalized_streams[i])]

    lexical = measure_lexical(tokens, meters.words.table.ages)
    notation = measure_notation(texts.distinct)
    vocabulary = measure_vocabulary(tokens, meters.scores, stream_texts)
    columns = {
        **_describe_rows(batch),
        "changes": _spread_changes(normalized, places, len(batch)),
        "lexical_raw": streams.spread_raw(lexical),
        "lexical_normalized": streams.spread_normalized(lexical),
        "notation_raw": texts.spread_raw(notation),
        "notation_normalized": texts.spread_normalized(notation),
        "vocabulary_raw": streams.spread_raw(vocabulary),
        "vocabulary_normalized": streams.spread_normalized(vocabulary),
        "fasttext": _measure_fasttext(meters, raw, normalized, places, len(batch)),
    }
    return MeasuredBatch(
        core=pa.RecordBatch.from_arrays(
            [columns[name] for name in schema.CORE_SCHEMA.names], schema=schema.CORE_SCHEMA
        ),
        words=tokens.words,
        ids=tokens.ids.astype(np.int32),
        rows=batch.first_row + streams.rows[tokens.texts],
        counts=tokens.counts.astype(np.int32),
        forms=streams.forms[tokens.texts],
        licences=_read_licences(batch),
    )


def _describe_rows(batch: RowBatch) -> dict[str, pa.Array]:
    texts = batch.texts
    return {
        "row": pa.array(np.arange(batch.first_row, batch.first_row + len(batch)), pa.int64()),
        "doc_id": _read_strings(batch, "id"),
        "url": _read_strings(batch, "url"),
        "token_count": _read_counts(batch, "token_count"),
        "n_bytes": pa.array([None if text is None else len(text.encode()) for text in texts], pa.int64()),
        "n_chars": pa.array([None if text is None else len(text) for text in texts], pa.int64()),
        "n_words": pa.array([None if text is None else len(text.split()) for text in texts], pa.int64()),
        "error": pa.array(batch.errors, pa.string()),
    }


def _read_strings(batch: RowBatch, name: str) -> pa.Array:
    """A column of the source as strings; null where it is missing, null or not UTF-8. Numbers are written out."""
    if batch.table is None or name not in batch.table.schema.names:
        return pa.nulls(len(batch), pa.string())
    column = batch.table.column(name)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.cast(pa.string())
    return pa.array([None if isinstance(value, Unreadable) else value for value in decode_strings(column)], pa.string())


def _read_licences(batch: RowBatch) -> pa.Array | None:
    names = batch.table.schema.names if batch.table is not None else []
    column = next((name for name in LICENCE_COLUMNS if name in names), None)
    return _read_strings(batch, column) if column is not None else None


def _read_counts(batch: RowBatch, name: str) -> pa.Array:
    """A column of counts; null where it is missing, negative or no whole number."""
    if batch.table is None or name not in batch.table.schema.names:
        return pa.nulls(len(batch), pa.int64())
    column = batch.table.column(name)
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return pa.nulls(len(batch), pa.int64())
    values = column.to_pylist()
    return pa.array(
        [
            int(v) if isinstance(v, int | float) and v == v and 0 <= v < 1 << 62 and v == int(v) else None
            for v in values
        ],
        pa.int64(),
    )


def _spread_changes(normalized: Sequence[Normalized], places: Sequence[int], row_count: int) -> pa.Array:
    rows: list[dict[str, int] | None] = [None] * row_count
    for place, form in zip(places, normalized, strict=True):
        if form.is_changed:
            rows[place] = dict(zip(CHANGES, form.counts, strict=True))
    return pa.array(rows, schema.CHANGES_TYPE)


def measure_notation(texts: Sequence[str]) -> pa.Array:
    """One row a text, NOTATION_TYPE: the first hit of each rule that hits, in rule order."""
    rows = [
        {
            "published": [_describe_hit(hit) for hit in find_published(text, clues)],
            "recommended": [_describe_hit(hit) for hit in find_recommended(text, clues)],
        }
        for text, clues in zip(texts, map(find_clues, texts), strict=True)
    ]
    return pa.array(rows, schema.NOTATION_TYPE)


def _describe_hit(hit: Hit) -> dict[str, str | int]:
    return {"rule": hit.rule, "start": hit.start, "end": hit.end}


def _measure_fasttext(
    meters: Meters, raw: Sequence[str], normalized: Sequence[Normalized], places: Sequence[int], row_count: int
) -> pa.Array:
    if meters.fasttext is None:
        return pa.nulls(row_count, schema.FASTTEXT_TYPE)
    recipe = meters.recipe
    texts = [form.text for form in normalized]
    splits = [
        split_windows(
            text, words_per_window=recipe.words_per_window, max_windows=recipe.max_windows, seed=recipe.window_seed
        )
        for text in texts
    ]
    grades = measure_windows(meters.fasttext, texts, [split.windows for split in splits])
    published = _grade_published(meters.fasttext, raw, texts, grades.whole)
    measured = pa.StructArray.from_arrays(
        [
            _to_grades(published),
            _to_grades(grades.whole),
            _to_grades(grades.hardest),
            pa.array(grades.start, mask=grades.start < 0),
            pa.array(grades.end, mask=grades.end < 0),
            pa.array([split.is_sampled for split in splits], pa.bool_()),
        ],
        fields=list(schema.FASTTEXT_TYPE),
    )
    spread = np.full(row_count, -1, np.int64)
    spread[places] = np.arange(len(raw))
    return _take(measured, spread)


def _grade_published(
    model: FastTextGrade, raw: Sequence[str], normalized: Sequence[str], whole: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """What the model says of each raw text sent as the published filter sends it; taken from `whole` where the model
    would read the same line twice."""
    published = whole.copy()
    differing = [
        i
        for i, (text, form) in enumerate(zip(raw, normalized, strict=True))
        if np.isnan(whole[i, 0]) or text.replace("\n", " ") != flatten_line(form)
    ]
    published[differing] = model.predict([raw[i] for i in differing], published=True)
    return published


def _to_grades(values: npt.NDArray[np.float32]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 4).cast(schema.GRADES_TYPE)


def sort_postings(measured: Sequence[MeasuredBatch]) -> pa.Table:
    """All postings of a slice ordered by (word, row, form)."""
    if not measured:
        return schema.POSTINGS_SCHEMA.empty_table()
    words = measured[-1].words  # grows over the slice, so the last batch's covers all
    ids = np.concatenate([batch.ids for batch in measured])
    rows = np.concatenate([batch.rows for batch in measured])
    counts = np.concatenate([batch.counts for batch in measured])
    forms = np.concatenate([batch.forms for batch in measured])
    used = sorted(np.flatnonzero(np.bincount(ids, minlength=1)).tolist(), key=words.__getitem__)
    ranks = np.empty(len(words), np.int32)
    ranks[used] = np.arange(len(used), dtype=np.int32)
    word_ranks = ranks[ids]
    order = np.lexsort((forms, rows, word_ranks))
    dictionary = pa.array([words[i] for i in used], pa.string())
    return pa.table(
        [
            pa.DictionaryArray.from_arrays(pa.array(word_ranks[order]), dictionary),
            pa.array(rows[order]),
            pa.array(counts[order]),
            pa.array(forms[order]),
        ],
        schema=schema.POSTINGS_SCHEMA,
    )

"""From layers to signals: the form a profile reads, blocked words from postings, rule hits, grades, rows with errors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import measuring
import numpy as np
import oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import make_row, write_shard
from fuzz import ENGLISH, fuzz_texts

from curation.cascade import Meters, measure_slice
from curation.ledger import schema
from curation.ledger.signals import SliceSignals, decide_slice, read_notation_rules, read_signals
from curation.ledger.store import SliceRef, encode_part
from curation.normalize import normalize
from curation.profile import BoundProfile, Profile, bind_profile
from curation.shards.prepare import prepare_shard
from curation.signals.notation import find_published, find_recommended

STAGES: dict[str, Any] = {
    "lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05},
    "fasttext": {"top_band": "document"},
    "notation": {"rules": "published"},
    "vocabulary": {"mode": "block", "min_score": 4.0},
}


def bind(meters: Meters, form: str, **stages: Any) -> BoundProfile:
    chosen = stages or STAGES
    return bind_profile(Profile.model_validate({"name": "test", "version": 1, "form": form, **chosen}), meters.recipe)


class Measured:
    """One shard of one slice with its layers, as they are read back from the bytes of their parts."""

    def __init__(self, meters: Meters, folder: Path, texts: list[str | None], row_group_size: int = 40) -> None:
        rows = [{**make_row(i, ""), "text": text} for i, text in enumerate(texts)]
        path = write_shard(folder / "a.parquet", rows, row_group_size=row_group_size)
        manifest = prepare_shard(
            path, "a.parquet", 0, staging_root=folder, text_field="text", slice_bytes=1 << 25, row_limit=None
        )
        [piece] = manifest.slices
        layers = measure_slice(meters, path, "a.parquet", piece)
        self.ref = SliceRef(manifest, piece)
        self.core = pq.read_table(pa.BufferReader(encode_part(layers.core, "core")))
        self.postings = pq.read_table(pa.BufferReader(encode_part(layers.postings, "postings")))

    def read(self, bound: BoundProfile, scores: dict[str, float]) -> SliceSignals:
        return read_signals(self.ref, self.core, self.postings, None, bound, scores)


@pytest.fixture(scope="module")
def meters() -> Meters:
    return measuring.load_meters()


TEXTS: list[str | None] = ["", None, *fuzz_texts(seed=51, count=400), "the photo\u00adsynthesis", None, ""]


@pytest.fixture(scope="module")
def fuzzed(meters: Meters, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    return Measured(meters, tmp_path_factory.mktemp("fuzzed"), TEXTS)


def read_form(text: str, form: str) -> str:
    return text if form == "raw" else normalize(text).text


@pytest.mark.parametrize("form", ["raw", "normalized"])
def test_lexical_figures_are_those_of_the_form(meters: Meters, fuzzed: Measured, form: str) -> None:
    norms, zipf = oracle.load_norms(measuring.AOA), oracle.load_zipf()
    signals = fuzzed.read(bind(meters, form), {}).signals
    for i, text in enumerate(TEXTS):
        expected = (None, None) if text is None else oracle.p95_and_oov(read_form(text, form), norms, zipf)
        found = (float(signals.p95_aoa[i]), float(signals.oov_ratio[i]))
        assert tuple(None if math.isnan(value) else value for value in found) == expected
        assert signals.token_counts[i] == (0 if text is None else len(oracle.tokens(read_form(text, form))))


@pytest.mark.parametrize("form", ["raw", "normalized"])
@pytest.mark.parametrize(
    "scores",
    [
        {word: score for word, score in measuring.SCORES.items() if score >= 4.0},
        # Words that the recipe's table does not score, words of no text, words that no text can hold.
        {**dict.fromkeys(ENGLISH, 4.5), "the": 9.0, "nowhere": 8.0, "café": 7.0},
        {},
    ],
    ids=["the table", "any words", "none"],
)
def test_blocked_words_are_the_oracles(meters: Meters, fuzzed: Measured, form: str, scores: dict[str, float]) -> None:
    read = fuzzed.read(bind(meters, form), scores)
    terms = read.blocked_terms.to_pylist()
    hit_count = 0
    for i, text in enumerate(TEXTS):
        expected = [] if text is None else oracle.blocked_words(read_form(text, form), scores)
        assert terms[i] == expected
        assert read.signals.vocabulary.term_counts[i] == len(expected)
        assert read.signals.vocabulary.max_scores[i] == max((scores[word] for word in expected), default=-math.inf)
        hit_count += len(expected)
    assert (hit_count > 20) == bool(scores)


def test_blocked_words_from_postings_in_several_pieces(meters: Meters, fuzzed: Measured) -> None:
    bound, scores = bind(meters, "raw"), dict.fromkeys(ENGLISH, 5.0)
    sink = pa.BufferOutputStream()
    pq.write_table(fuzzed.postings, sink, row_group_size=100)
    pieces = pa.concat_tables(
        pq.ParquetFile(pa.BufferReader(sink.getvalue())).read_row_group(group)
        for group in range(pq.ParquetFile(pa.BufferReader(sink.getvalue())).num_row_groups)
    )
    assert pieces["word"].num_chunks > 5
    whole, found = fuzzed.read(bound, scores), read_signals(fuzzed.ref, fuzzed.core, pieces, None, bound, scores)
    assert found.blocked_terms.equals(whole.blocked_terms)
    assert np.array_equal(found.signals.vocabulary.max_scores, whole.signals.vocabulary.max_scores)


@pytest.mark.parametrize("form", ["raw", "normalized"])
@pytest.mark.parametrize("rules", ["published", "recommended"])
def test_rule_hits_are_those_of_the_form(meters: Meters, fuzzed: Measured, form: str, rules: str) -> None:
    find = find_published if rules == "published" else find_recommended
    expected = [None if text is None else [hit.rule for hit in find(read_form(text, form))] for text in TEXTS]
    assert read_notation_rules(fuzzed.core, form, rules).to_pylist() == expected
    bound = bind(meters, form, notation={"rules": rules})
    assert fuzzed.read(bound, {}).signals.rule_hits.tolist() == [len(names or []) for names in expected]


def test_ignored_rules_do_not_count(meters: Meters, fuzzed: Measured) -> None:
    bound = bind(meters, "raw", notation={"rules": "published", "ignore": ["17", "28"]})
    expected = [
        0 if text is None else len([rule for rule in oracle.published_rules(text) if rule not in (17, 28)])
        for text in TEXTS
    ]
    assert fuzzed.read(bound, {}).signals.rule_hits.tolist() == expected
    assert fuzzed.read(bind(meters, "raw", notation={"rules": "published"}), {}).signals.rule_hits.sum() > sum(expected)


def test_grades_of_every_reading(meters: Meters, fuzzed: Measured) -> None:
    assert meters.fasttext is not None
    grades = fuzzed.read(bind(meters, "raw"), {}).signals.grades
    assert set(grades) == {"published", "document", "window"}
    texts = [text for text in TEXTS if text is not None]
    has_text = np.array([text is not None for text in TEXTS])
    assert np.array_equal(grades["published"][has_text], meters.fasttext.predict(texts, published=True))
    normal = meters.fasttext.predict([normalize(text).text for text in texts])
    assert np.array_equal(grades["document"][has_text], normal, equal_nan=True)
    for reading in grades.values():
        assert reading.dtype == np.float32
        assert np.isnan(reading[~has_text]).all()
    assert np.isnan(grades["document"][0]).all()  # blank
    assert not np.isnan(grades["published"][0]).any()


def test_without_a_model_no_reading_is_there(tmp_path: Path) -> None:
    meters = measuring.load_meters(has_model=False)
    measured = Measured(meters, tmp_path, ["the cat", None, ""])
    signals = measured.read(bind(meters, "raw", lexical=STAGES["lexical"]), {}).signals
    assert signals.grades == {}
    assert signals.has_error.tolist() == [False, True, False]
    bound = bind(meters, "raw", lexical=STAGES["lexical"], fasttext={"top_band": "document"})
    decided = decide_slice(measured.ref, measured.core, measured.postings, None, bound, {}, None)
    assert decided.decisions.kept.tolist() == [-1, 0, 0]


def test_an_encoder_layer_is_read_by_row(meters: Meters, tmp_path: Path) -> None:
    measured = Measured(meters, tmp_path, ["the cat", None, "the dog"])
    bound = bind(meters, "raw", encoder={"min_k5_window": 0.5})
    scored = {"window": [0.75, 0.25, 0.0, 0.0], "window_start": 0, "window_end": 7, "published": [0.25, 0.75, 0.0, 0.0]}
    encoder = pa.Table.from_pylist([{"row": 0, **scored}, {"row": 1}, {"row": 2}], schema.ENCODER_SCHEMA)
    signals = read_signals(measured.ref, measured.core, None, encoder, bound, {}).signals
    assert signals.is_encoded.tolist() == [True, False, False]
    assert signals.encoder[0].tolist() == [0.75, 0.25, 0.0, 0.0]
    assert np.isnan(signals.encoder[1:]).all()
    decided = decide_slice(measured.ref, measured.core, None, encoder, bound, {}, None)
    assert decided.decisions.kept.tolist() == [1, 0, -1]
    published = bind(meters, "raw", encoder={"top_band": "published"})
    decided = decide_slice(measured.ref, measured.core, None, encoder, published, {}, None)
    assert decided.decisions.kept.tolist() == [0, 0, -1]
    assert decided.signals.signals.encoder[0].tolist() == [0.25, 0.75, 0.0, 0.0]


@pytest.mark.parametrize("form", ["raw", "normalized"])
def test_nothing_but_errors_and_nothing_at_all(meters: Meters, tmp_path: Path, form: str) -> None:
    measured = Measured(meters, tmp_path, [None, None])
    scores = {"cat": 5.0}
    read = measured.read(bind(meters, form), scores)
    assert read.signals.has_error.tolist() == [True, True]
    assert np.isnan(read.signals.p95_aoa).all()
    assert read.blocked_terms.to_pylist() == [[], []]
    decided = decide_slice(measured.ref, measured.core, measured.postings, None, bind(meters, form), scores, None)
    assert decided.decisions.kept.tolist() == [0, 0]

    empty = read_signals(
        measured.ref,
        schema.CORE_SCHEMA.empty_table(),
        schema.POSTINGS_SCHEMA.empty_table(),
        None,
        bind(meters, form),
        scores,
    )
    assert len(empty.signals.rows) == len(empty.blocked_terms) == len(empty.signals.rule_hits) == 0


def test_rows_that_do_not_begin_at_zero(meters: Meters, tmp_path: Path) -> None:
    texts = ["filler text"] * 5 + ["a cat zzyzx", "photosynthesis zzyzx", ""]
    path = write_shard(tmp_path / "a.parquet", texts, row_group_size=5)
    manifest = prepare_shard(
        path, "a.parquet", 0, staging_root=tmp_path, text_field="text", slice_bytes=1024, row_limit=None
    )
    piece = manifest.slices[-1]
    assert (piece.first_row, piece.row_count) == (5, 3)
    layers = measure_slice(meters, path, "a.parquet", piece)
    read = read_signals(
        SliceRef(manifest, piece), layers.core, layers.postings, None, bind(meters, "raw"), {"zzyzx": 6.0, "cat": 4.0}
    )
    assert read.signals.rows.tolist() == [5, 6, 7]
    assert read.blocked_terms.to_pylist() == [["cat", "zzyzx"], ["zzyzx"], []]
    assert read.signals.vocabulary.max_scores.tolist() == [6.0, 6.0, -math.inf]

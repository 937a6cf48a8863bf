"""One document: its text from the shard, the explanation that the same text would have, and its distances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from factories import HARD, SIMPLE, find_artifacts, measure, write_shard
from measuring import load_known_words
from signal_rows import make_bound, make_signals

from curation.cascade import Meters
from curation.errors import SourceError
from curation.explain import explain_text
from curation.index import DecisionRequest, Distance, DocumentReader, SignalIndex, build_index, open_index
from curation.index.documents import measure_distances
from curation.lexicon.vocabulary import VocabularyVersion, read_vocabulary_table
from curation.overrides import Overrides, Ruling
from curation.recipe import build_recipe
from curation.run_folder import RunFolder

TEXTS: list[Any] = [SIMPLE, HARD, "x² + 3 = 12 and “quoted” molecules of percent.", "", SIMPLE.upper()]
STAGES: dict[str, Any] = {
    "lexical": {"max_p95_aoa": 9.0, "max_oov_ratio": 0.05},
    "notation": {"rules": "recommended"},
    "vocabulary": {"mode": "block", "min_score": 4.0},
}


@pytest.fixture(scope="module")
def meters(tmp_path_factory: pytest.TempPathFactory) -> Meters:
    """The word tables that `measure` uses, loaded once."""
    artifacts = find_artifacts(tmp_path_factory.mktemp("meters"))
    return Meters(artifacts, build_recipe(artifacts))


def open_run(tmp_path: Path, texts: list[Any] = TEXTS) -> tuple[RunFolder, SignalIndex, DocumentReader]:
    shards = [write_shard(tmp_path / f"{name}.parquet", texts, row_group_size=2) for name in ("a", "b")]
    run = measure(tmp_path, shards, slice_bytes=1024)
    table = read_vocabulary_table(find_artifacts(tmp_path).require("vocabulary").path)
    index = open_index(build_index(run, tmp_path / "indexes", table=table))
    return run, index, DocumentReader(run, index, words=load_known_words())


@pytest.mark.parametrize("form", ["raw", "normalized"])
def test_a_document_is_explained_as_its_text_would_be(tmp_path: Path, form: str, meters: Meters) -> None:
    _, index, reader = open_run(tmp_path)
    vocabulary = VocabularyVersion(name="v", version=1, allow=("molecule",), block=("park", "molecules"))
    bound = make_bound(**STAGES)
    bound = type(bound)(bound.profile.model_copy(update={"form": form}), {}, ())
    decided = index.decide(DecisionRequest(bound, vocabulary))
    for position in range(len(index)):
        document = reader.read(decided, position)
        expected = TEXTS[position % len(TEXTS)]
        assert (document.text, document.error) == (expected, None)
        assert document.explanation == explain_text(expected, meters, bound, vocabulary)
        assert document.address.position == position


def test_a_row_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    _, index, reader = open_run(tmp_path, [SIMPLE, {"text": None, "id": "broken"}])
    decided = index.decide(DecisionRequest(make_bound(**STAGES)))
    document = reader.read(decided, 1)
    assert (document.text, document.explanation, document.distances) == (None, None, [])
    assert document.error == "a.parquet: row group 0, row 1: the text is null."
    assert (document.sole_cause, document.address.doc_id, document.tokens) == ("error", "broken", 0)


def test_the_sole_cause_and_a_ruling(tmp_path: Path) -> None:
    _, index, reader = open_run(tmp_path)
    bound = make_bound(vocabulary={"mode": "block", "min_score": 4.0})
    plain = reader.read(index.decide(DecisionRequest(bound)), 1)
    assert (plain.sole_cause, plain.is_sole_certain) == ("vocabulary", True)
    rulings = Overrides((Ruling(shard="a.parquet", row=1, action="keep"),), "1" * 64)
    ruled = reader.read(index.decide(DecisionRequest(bound, overrides=rulings)), 1)
    assert (ruled.sole_cause, ruled.is_sole_certain) == (None, False)
    assert ruled.explanation is not None
    assert (ruled.explanation.kept, ruled.explanation.decided_by) == (True, "override")
    assert ruled.explanation.excluded_by == ["vocabulary"]
    with_encoder = make_bound(vocabulary={"mode": "block", "min_score": 4.0}, encoder={"min_k5_window": 0.5})
    waiting = reader.read(index.decide(DecisionRequest(with_encoder)), 1)
    assert (waiting.sole_cause, waiting.is_sole_certain) == ("vocabulary", False)


def test_signals_are_those_stored(tmp_path: Path) -> None:
    run, index, reader = open_run(tmp_path)
    decided = index.decide(DecisionRequest(make_bound(**STAGES)))
    [ref] = [ref for ref in run.ledger.slices() if ref.shard.name == "b.parquet"][:1]
    document = reader.read(decided, len(TEXTS))
    stored = run.ledger.read_part("core", ref.id).to_pylist()[0]
    assert document.signals == {**stored, "encoder": None}
    assert document.address.shard_sha256 == ref.shard.sha256


def test_a_shard_that_changed_is_refused(tmp_path: Path) -> None:
    _, index, reader = open_run(tmp_path)
    decided = index.decide(DecisionRequest(make_bound(**STAGES)))
    pq.write_table(pq.read_table(tmp_path / "a.parquet").slice(1), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="changed since it was measured"):
        reader.read(decided, 0)


def test_texts_read_once_are_remembered(tmp_path: Path) -> None:
    _, index, reader = open_run(tmp_path)
    decided = index.decide(DecisionRequest(make_bound(**STAGES)))
    reader.read(decided, 0)
    (tmp_path / "a.parquet").unlink()
    assert reader.read(decided, 1).text == HARD  # the same row group
    with pytest.raises(SourceError, match="there is no file"):
        reader.read(decided, 2)


def test_distances_are_signed_by_what_passes() -> None:
    bound = make_bound(
        lexical={"max_p95_aoa": 12.0, "max_oov_ratio": 0.25},
        fasttext={"top_band": "document", "min_k5_window": 0.5},
        encoder={"min_k5_window": 0.25},
        notation={"rules": "published"},
        vocabulary={"mode": "block", "min_score": 4.0, "max_terms": 2, "max_terms_per_1000": 10.0},
    )
    row = {
        "p95_aoa": 13.5,
        "oov_ratio": 0.125,
        "grades": {"document": [0.25, 0.5, 0.125, 0.125], "window": [0.75, 0.25, 0.0, 0.0]},
        "rule_hits": 3,
        "term_count": 4,
        "token_count": 500,
    }
    assert measure_distances(make_signals([row], ["document", "window"]), bound) == [
        Distance("lexical", "p95_aoa", 13.5, 12.0, -1.5),
        Distance("lexical", "oov_ratio", 0.125, 0.25, 0.125),
        Distance("fasttext", "window_k5", 0.75, 0.5, 0.25),
        Distance("fasttext", "document_lead", -0.25, 0.0, -0.25),
        Distance("encoder", "window_k5", None, 0.25, None),
        Distance("notation", "rule_count", 3.0, 0.0, -3.0),
        Distance("vocabulary", "term_count", 4.0, 2.0, -2.0),
        Distance("vocabulary", "terms_per_1000", 8.0, 10.0, 2.0),
    ]
    nothing = measure_distances(make_signals([{"p95_aoa": np.nan, "oov_ratio": np.nan, "token_count": 0}]), bound)
    assert [distance.margin for distance in nothing] == [None, None, None, None, None, 0.0, 2.0, None]

"""What may be trained on: licences, duplicates, the bundled sample, enough rows."""

from __future__ import annotations

from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from unit.training.rows import make_rows

from curation.errors import TrainingError
from curation.training.data import (
    SampleGuard,
    TrainingRow,
    build_training_set,
    hash_text,
    read_sample_guard,
    read_training_rows,
)

NOTHING = SampleGuard(frozenset(), frozenset())


def test_closed_licences_are_dropped_and_kept_for_evaluation() -> None:
    open_rows = make_rows(20)
    closed = [TrainingRow("a closed text", "K5", "graded", "optima", "non-commercial")]
    training = build_training_set(open_rows + closed, guard=NOTHING)
    assert training.rows == tuple(open_rows)
    assert training.closed == tuple(closed)
    assert training.dropped == {"licence": 1}


def test_a_copy_is_dropped_whatever_its_layout_and_the_higher_band_stays() -> None:
    rows = make_rows(21)
    copy = rows[0]._replace(text=rows[0].text.upper().replace(" ", "\n\u200b "), band="K8")
    closed_copy = rows[1]._replace(licence="non-commercial")
    training = build_training_set([*rows, copy, closed_copy], guard=NOTHING)
    assert len(training.rows) == len(rows)
    assert training.rows[0] == rows[0]._replace(band="K8")
    assert training.closed == ()
    assert training.dropped == {"duplicate": 1, "licence": 1}


def test_what_the_sample_holds_is_dropped_by_topic_page_type_and_text() -> None:
    rows = make_rows(21)
    guard = SampleGuard(frozenset({"volcanoes", "joke page"}), frozenset({hash_text(rows[0].text)}))
    held = [
        TrainingRow("lava", "K5", "paired", "Volcanoes", "own"),
        TrainingRow("knock knock", "K5", "paired_web", "joke page", "own", "an owl"),
        TrainingRow("ash", "K5", "paired_web", "news page", "own", "VOLCANOES"),
    ]
    training = build_training_set(rows + held, guard=guard)
    assert training.dropped == {"sample": 4}
    assert training.rows == tuple(rows[1:])


def test_too_few_rows_are_named_by_band() -> None:
    rows = [row for row in make_rows(20) if row.band != "K12"]
    with pytest.raises(TrainingError, match="K12 has 0; 20 of each band are needed"):
        build_training_set(rows, guard=NOTHING)
    with pytest.raises(TrainingError, match="K5 has 0, K8 has 0, K12 has 0, OOS has 0"):
        build_training_set([], guard=NOTHING)


def test_the_same_text_in_another_dress_has_the_same_hash() -> None:
    assert hash_text("The  cat\nsat.") == hash_text("the cat sat.")
    assert hash_text("the cat sat") != hash_text("the cat sat.")
    assert len(hash_text("\ud800")) == 64


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl"])
def test_rows_are_read_from_parquet_and_json_lines(tmp_path: Path, name: str) -> None:
    rows = make_rows(2)
    records = [{k: v for k, v in row._asdict().items() if k != "topic"} | {"more": 1} for row in rows]
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(records), path)
    else:
        path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    assert read_training_rows(path) == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": "a", "band": "K5", "source": "s", "group": "g"}', "row 0: not a training row"),
        (b'{"text": "a", "band": "K6", "source": "s", "group": "g", "licence": "own"}', "band is one of K5, K8"),
        (b"{nonsense", "cannot be read as training rows"),
        (b"[]", "row 0: not a training row"),
    ],
)
def test_rows_that_are_none_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(TrainingError, match=message):
        read_training_rows(path)


def test_a_missing_file_of_rows_is_a_training_error(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"absent\.parquet cannot be read"):
        read_training_rows(tmp_path / "absent.parquet")


def test_the_bundled_sample_guards_its_topics_and_texts(tmp_path: Path) -> None:
    (tmp_path / "topics.yaml").write_text("topics: [Clouds]\npage_types: [joke page]\n")
    (tmp_path / "documents.jsonl").write_bytes(orjson.dumps({"text": "A text of the sample."}) + b"\n")
    guard = read_sample_guard(tmp_path)
    assert guard == SampleGuard(frozenset({"clouds", "joke page"}), frozenset({hash_text("A text of the sample.")}))
    assert {"volcanoes", "phonics page"} <= read_sample_guard().topics

"""The flat view: its columns and types, what is null and what is empty, and that a broken dump leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ledger_rows import write_run
from signal_rows import make_bound

from curation.ledger.signals import DecidedSlice, decide_ledger
from curation.ledger.view import FLAT_SCHEMA, dump_flat_view, flat_schema
from curation.overrides import Overrides, Ruling

BOUND = make_bound(
    fasttext={"min_k5_document": 0.5},
    notation={"rules": "recommended", "ignore": ["roots"]},
    vocabulary={"mode": "block", "min_score": 4},
)
K5 = [0.75, 0.25, 0.0, 0.0]
ROWS = [
    {"id": "plain", "url": "https://example.org", "tokens": 3, "grades": K5, "rules": ["roots"]},
    {"id": "hard", "grades": K5, "rules": ["powers", "roots"], "words": ["river", "atom", "the"]},
    {"id": "broken", "error": "no text", "tokens": 5},
    {"id": "ruled", "grades": [0.25, 0.75, 0.0, 0.0]},
]
SCORES = {"atom": 5.0, "river": 6.0, "unused": 9.0}
RULINGS = Overrides((Ruling(shard="a.parquet", row=3, action="keep"),), "0" * 64)


def test_every_row_of_a_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [ROWS[:2], ROWS[2:]]})
    out = tmp_path / "flat.parquet"
    assert dump_flat_view(decide_ledger(run.ledger, BOUND, SCORES, RULINGS), BOUND, out) == 4
    table = pq.read_table(out)
    assert table.schema.equals(FLAT_SCHEMA)
    wanted = {
        "shard": ["a.parquet"] * 4,
        "row": [0, 1, 2, 3],
        "doc_id": ["plain", "hard", "broken", "ruled"],
        "url": ["https://example.org", None, None, None],
        "kept": [True, False, False, True],
        "decided_by": [None, "notation", "error", "override"],
        "excluded_by": [[], ["notation", "vocabulary"], ["error"], ["fasttext"]],
        "undecided_for": [[], [], [], []],
        "p95_aoa": [8.0, 8.0, None, 8.0],
        "oov_ratio": [0.0, 0.0, None, 0.0],
        "notation_rules": [["roots"], ["powers", "roots"], None, []],
        "blocked_terms": [[], ["atom", "river"], None, []],
        "fasttext_k5": [0.75, 0.75, None, 0.25],
        "fasttext_k8": [0.25, 0.25, None, 0.75],
        "fasttext_k12": [0.0, 0.0, None, 0.0],
        "fasttext_oos": [0.0, 0.0, None, 0.0],
        **{f"encoder_{band}": [None] * 4 for band in ("k5", "k8", "k12", "oos")},
        "n_chars": [46, 46, None, 46],
        "n_words": [9, 9, None, 9],
        "token_count": [3, None, 5, None],
        "error": [None, None, "no text", None],
    }
    assert table.to_pydict() == wanted


def test_what_was_not_measured_is_null_and_undecided(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}, {"rules": ["powers"]}]]})
    out = tmp_path / "flat.parquet"
    dump_flat_view(decide_ledger(run.ledger, BOUND, {}), BOUND, out)
    table = pq.read_table(out).to_pydict()
    assert table["kept"] == [None, False]
    assert table["undecided_for"] == [["fasttext"], []]
    assert table["excluded_by"] == [[], ["notation"]]
    assert table["decided_by"] == [None, "notation"]
    assert table["fasttext_k5"] == [None, None]


def test_published_rules_are_numbers() -> None:
    published = flat_schema(make_bound(notation={"rules": "published"}))
    assert published.field("notation_rules").type == pa.list_(pa.int64())
    assert published.names == FLAT_SCHEMA.names


def test_a_run_without_rows_is_a_table_without_rows(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {})
    out = tmp_path / "flat.parquet"
    assert dump_flat_view(decide_ledger(run.ledger, BOUND, {}), BOUND, out) == 0
    assert pq.read_table(out).schema.equals(FLAT_SCHEMA)


def test_a_dump_that_breaks_off_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{}], [{}]]})
    out = tmp_path / "out" / "flat.parquet"
    out.parent.mkdir()
    out.write_bytes(b"the old one")

    def break_off() -> Iterator[DecidedSlice]:
        yield next(decide_ledger(run.ledger, BOUND, {}))
        raise RuntimeError("the disk went away")

    with pytest.raises(RuntimeError, match="the disk went away"):
        dump_flat_view(break_off(), BOUND, out)
    assert [path.name for path in out.parent.iterdir()] == ["flat.parquet"]
    assert out.read_bytes() == b"the old one"

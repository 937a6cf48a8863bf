"""Artefacts made end to end on toy rows: files, cards, repeatable bytes, and the command that makes them."""

from __future__ import annotations

from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner
from unit.training.rows import make_rows

from curation.artifacts.artifact_set import resolve_artifacts
from curation.errors import TrainingError
from curation.training.card import read_card_front, read_row_hashes
from curation.training.data import TrainingRow, hash_text
from curation.training.encoder import EncoderRow
from curation.training.fasttext import FastTextSettings
from curation.training.make import make_fasttext, make_vocabulary, weigh_rows
from primer.cli.train import app

SMALL = FastTextSettings(epochs=5, bucket_count=2_000, kept_rows=500, line_count=400, min_word_count=1)


def write_rows(path: Path, per_band: int = 20) -> Path:
    rows = make_rows(per_band) + make_rows(per_band, source="labelled_web", licence="odc-by")
    rows += make_rows(2, source="graded", licence="non-commercial")
    path.write_bytes(b"\n".join(orjson.dumps(row._asdict()) for row in rows))
    return path


def test_both_artefacts_lie_where_a_run_finds_them(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl")
    for folder in ("one", "two"):
        make_fasttext(data, tmp_path / folder / "fasttext", seed=5, settings=SMALL)
        make_vocabulary(data, tmp_path / folder / "vocabulary", seed=5)
    files = sorted(str(p.relative_to(tmp_path / "one")) for p in (tmp_path / "one").rglob("*") if p.is_file())
    assert files == [
        "fasttext/CARD.md",
        "fasttext/model.ftz",
        "fasttext/training/out_of_fold.parquet",
        "fasttext/training/training_rows.txt.zst",
        "vocabulary/CARD.md",
        "vocabulary/training/out_of_fold.parquet",
        "vocabulary/training/training_rows.txt.zst",
        "vocabulary/vocabulary.parquet",
    ]
    for file in files:
        if not file.endswith("CARD.md"):
            assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file
    found = resolve_artifacts(str(tmp_path / "one"))
    written = make_rows(20) + make_rows(20, source="labelled_web")
    words = [row for row in written if row.source == "paired" or row.band != "OOS"]
    for kind, rows in (("fasttext", written), ("vocabulary", words)):
        front = read_card_front(tmp_path / "one" / kind / "CARD.md")
        assert front["sha256"] == found.hashes[kind]
        assert front["rows"] == len(rows)
        assert front["left_out"] == {"licence": 8}
        assert front["seed"] == 5
        hashes = read_row_hashes(tmp_path / "one" / kind / "training" / "training_rows.txt.zst")
        assert hashes == {hash_text(row.text) for row in rows}
        assert pq.read_metadata(tmp_path / "one" / kind / "training" / "out_of_fold.parquet").num_rows == len(rows)


def test_every_artefact_holds_a_host_out_whole(tmp_path: Path) -> None:
    rows = [row for source in ("paired", "labelled_web", "web_read") for row in make_rows(20, source=source)]
    data = tmp_path / "rows.jsonl"
    data.write_bytes(b"\n".join(orjson.dumps(row._asdict()) for row in rows))
    make_fasttext(data, tmp_path / "fasttext", seed=5, settings=SMALL)
    make_vocabulary(data, tmp_path / "vocabulary", seed=5)
    for kind in ("fasttext", "vocabulary"):
        scored = pq.read_table(tmp_path / kind / "training" / "out_of_fold.parquet").to_pylist()
        places = {(row["group"], row["source"], row["fold"]) for row in scored if row["source"] != "paired"}
        assert len(places) == 20
        assert len({(group, fold) for group, _, fold in places}) == 10


def test_an_epoch_shows_a_document_as_often_as_its_source_says() -> None:
    sources = ("graded", "labelled_web", "web_read", "paired", "paired_web", "written_web", "mine")
    rows = [TrainingRow("A\u200b cat", band, source, "g", "own") for source in sources for band in ("K5", "K8")]
    weighed = weigh_rows(rows)
    assert [row.copies for row in weighed] == [1, 2, 10, 4, 10, 4, 4, 8, 4, 8, 4, 8, 1, 2]
    assert {row.band for row in weighed[::2]} == {0}
    assert weighed[1] == EncoderRow("A cat", 1, 2)


def test_a_card_shows_scores_with_their_counts(tmp_path: Path) -> None:
    make_fasttext(write_rows(tmp_path / "rows.jsonl"), tmp_path, seed=5, settings=SMALL)
    card = (tmp_path / "CARD.md").read_text()
    assert "| labelled_web | " in card
    assert "/20 |" in card
    assert "nan" not in card
    assert str(tmp_path) not in card


def test_too_few_rows_make_no_file(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl", per_band=9)
    for make in (make_fasttext, make_vocabulary):
        with pytest.raises(TrainingError, match="K5 has 18"):
            make(data, tmp_path / "out", seed=1)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_rows_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="No training rows in"):
        make_fasttext(tmp_path, tmp_path / "out", seed=1)


def test_the_command_makes_the_table(tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.jsonl")
    result = CliRunner().invoke(app, ["vocabulary", "--data", str(data), "--out", str(tmp_path / "out"), "--seed", "2"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "vocabulary.parquet").is_file()
    assert "--seed 2" in (tmp_path / "out" / "CARD.md").read_text()

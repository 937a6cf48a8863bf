"""The data folder's adaptors: bands, groups and licences as the folder's own page says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.errors import TrainingError
from curation.training.data import ALLOWED_LICENCES, build_training_set, read_sample_guard
from curation.training.sources import WRITTEN, load_rows, select_vocabulary_rows


def test_every_source_of_the_data_folder_is_read(shared: Path) -> None:
    rows = load_rows(shared / "data")
    written_count = pq.read_metadata(WRITTEN).num_rows
    assert Counter(row.source for row in rows) == {
        "paired": 464,
        "paired_web": 286,
        "labelled_web": 1647 - 21,
        "graded": 16177,
        "web_read": 2248,
        "written_web": written_count,
    }
    assert Counter(row.licence for row in rows if row.licence in ALLOWED_LICENCES) == {
        "own": 750 + written_count,
        "odc-by": 1626 + 2248,
        "open": 4977,
    }
    assert {row.band for row in rows} == {"K5", "K8", "K12", "OOS"}
    assert all(row.group for row in rows)


def test_no_topic_or_page_type_of_the_sample_is_trained_on(shared: Path) -> None:
    guard = read_sample_guard()
    training = build_training_set(load_rows(shared / "data"), guard=guard)
    assert not guard.topics & {name.casefold() for row in training.rows for name in (row.topic, row.group)}
    assert not guard.hashes & set(training.hashes)
    assert {row.licence for row in training.rows} <= ALLOWED_LICENCES
    assert {row.licence for row in training.closed}.isdisjoint(ALLOWED_LICENCES)


def test_the_vocabulary_leaves_out_what_is_no_text(shared: Path) -> None:
    rows = select_vocabulary_rows(load_rows(shared / "data"))
    assert "oos_ill_formed" not in {row.group for row in rows}
    assert Counter(row.band for row in rows if row.source == "labelled_web")["OOS"] == 0
    assert Counter(row.band for row in rows if row.source == "paired")["OOS"] == 40


def test_a_host_has_one_name_in_both_sources_of_web_pages(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "labelled").mkdir()
    urls = ["https://WWW.Example.org:8080/a", "http://example.org/b", "//www2.example.org", "no address", "", None]
    columns = {
        "text": [f"page {number}" for number in range(6)],
        "band": ["K5"] * 6,
        "gid": [f"page-{number}" for number in range(6)],
        "url": urls,
        "disputed_k5": [False] * 6,
    }
    pq.write_table(pa.table(columns), tmp_path / "labelled" / "web.parquet")
    groups = [row.group for row in load_rows(tmp_path) if row.source == "labelled_web"]
    assert groups == ["example.org", "example.org", "www2.example.org", "page-3", "page-4", "page-5"]
    read = {row.group for row in load_rows(shared / "data") if row.source == "web_read"}
    assert not [group for group in read if group.startswith("www.") or group != group.casefold()]


def test_a_judged_document_whose_shard_changed_is_refused(shared: Path, tmp_path: Path) -> None:
    """A label belongs to a text; the row alone does not name it."""
    folder = tmp_path / "shards"
    folder.mkdir()
    table = pq.read_table(shared / "data" / "shards" / "web-00004.parquet")
    swapped = table.set_column(0, "text", pa.array(reversed(table["text"].to_pylist())))
    pq.write_table(swapped, folder / "web-00004.parquet")
    with pytest.raises(TrainingError, match=r"web-00004\.parquet: row \d+ is not the text that was judged"):
        load_rows(tmp_path)

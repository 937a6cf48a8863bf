"""Pages written for the project: what is refused and named, the same bytes for the same pages, and the shipped file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from curation.errors import TrainingError
from curation.training.data import SampleGuard, hash_text, read_sample_guard
from curation.training.sources import WRITTEN, load_rows
from curation.training.written import SCHEMA, check_pages, main, read_pages, write_pages

NOTHING = SampleGuard(frozenset(), frozenset())


def make_page(number: int = 1, **changes: Any) -> dict[str, Any]:
    page = {"page_type": "Pet Diary", "topic": "a cat", "subject": "life", "band": "K8", "decisive": ["a cell"]}
    return page | {"text": f"Page {number} of the cat\nand a cell."} | changes


def write_lines(path: Path, *pages: object) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, pages)) + b"\n\n")
    return path


def test_pages_come_back_as_written_and_in_one_order(tmp_path: Path) -> None:
    pages = [make_page(3), make_page(1, band="K5", decisive=[]), make_page(2, page_type="A blog")]
    first = write_lines(tmp_path / "1.jsonl", *pages[:2])
    second = write_lines(tmp_path / "2.jsonl", pages[2])
    for name, paths in (("a", [first, second]), ("b", [second, first])):
        main([*map(str, paths), "--out", str(tmp_path / "new" / f"{name}.parquet")])
    assert (tmp_path / "new" / "a.parquet").read_bytes() == (tmp_path / "new" / "b.parquet").read_bytes()
    table = pq.read_table(tmp_path / "new" / "a.parquet")
    assert table.schema == SCHEMA
    assert table.to_pylist() == [pages[2], pages[1], pages[0]]
    assert pq.read_metadata(tmp_path / "new" / "a.parquet").row_group(0).column(5).compression == "ZSTD"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (make_page(more=1), "line 2: not the keys of a page"),
        ({"text": "a"}, "line 2: not the keys of a page"),
        ([], "line 2: not the keys of a page"),
        (make_page(band="K6"), "line 2: band is none of K5, K8, K12, OOS"),
        (make_page(text=" \n"), "line 2: text is blank or no text"),
        (make_page(topic=""), "line 2: topic is blank or no text"),
        (make_page(subject=None), "line 2: subject is blank or no text"),
        (make_page(decisive="a cell"), "line 2: decisive is not a list"),
        (make_page(decisive=["a cell", " "]), "line 2: decisive is blank or no text"),
        (make_page(band="K5"), "line 2: phrases are decisive beyond K5 and there alone"),
        (make_page(decisive=[]), "line 2: phrases are decisive beyond K5 and there alone"),
        (make_page(0), "line 2: the same text as .*line 1"),
        (make_page(text="PAGE 0 of the  cat and a cell."), "line 2: the same text as .*line 1"),
        (make_page(page_type="JOKE page"), "line 2: the topic, page type or text is the bundled sample's"),
        (make_page(topic="Volcanoes"), "line 2: the topic, page type or text is the bundled sample's"),
        (make_page(text="lava"), "line 2: the topic, page type or text is the bundled sample's"),
    ],
)
def test_a_page_that_must_not_be_trained_on_is_named(tmp_path: Path, page: object, message: str) -> None:
    guard = SampleGuard(frozenset({"joke page", "volcanoes"}), frozenset({hash_text("lava")}))
    path = write_lines(tmp_path / "pages.jsonl", make_page(0), page)
    with pytest.raises(TrainingError, match=message):
        read_pages([path], guard)


def test_what_is_no_json_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "pages.jsonl", make_page())
    path.write_bytes(path.read_bytes() + b'{"text": "secr')
    command = [sys.executable, "-m", "curation.training.written", str(path), "--out", str(tmp_path / "out.parquet")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{path}, line 3: not JSON" in done.stderr
    assert "secr" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.parquet").exists()
    with pytest.raises(TrainingError, match=r"absent\.jsonl cannot be read"):
        read_pages([tmp_path / "absent.jsonl"], NOTHING)


def test_the_shipped_pages_are_sound_and_packed_by_this_module(tmp_path: Path) -> None:
    shipped = pq.read_table(WRITTEN).to_pylist()
    pages = check_pages(((f"row {number}", page) for number, page in enumerate(shipped)), read_sample_guard())
    assert pages == shipped
    assert {page["band"] for page in pages} == {"K5", "K8", "K12", "OOS"}
    write_pages(reversed(pages), tmp_path / "again.parquet")
    assert pq.read_table(tmp_path / "again.parquet").equals(pq.read_table(WRITTEN), check_metadata=True)


def test_every_folder_of_data_comes_with_the_shipped_pages(shared: Path) -> None:
    rows = [row for row in load_rows(shared / "data") if row.source == "written_web"]
    assert [(row.text, row.band, row.group, row.licence, row.topic) for row in rows] == [
        (page["text"], page["band"], page["page_type"].casefold(), "own", page["topic"])
        for page in pq.read_table(WRITTEN).to_pylist()
    ]
    assert rows


def test_a_file_of_rows_and_a_folder_without_rows_come_without_them(tmp_path: Path) -> None:
    row = {"text": "a", "band": "K5", "source": "mine", "group": "g", "licence": "own"}
    (tmp_path / "rows.jsonl").write_bytes(orjson.dumps(row))
    assert [found.source for found in load_rows(tmp_path / "rows.jsonl")] == ["mine"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(TrainingError, match="No training rows in"):
        load_rows(tmp_path / "empty")

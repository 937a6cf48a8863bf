"""Where training rows come from: a file of rows, or a data folder laid out as docs/training.md says and what ships in labels/.

Adaptors only rename and filter; licences and duplicates are judged in `data`. Invariant: a row's group is what an
honest score holds out together: a topic, a page type, a web host, a family of graded passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq

from curation.errors import TrainingError
from curation.training.data import TrainingRow, hash_text, read_training_rows

PAIRED = "paired"
PAIRED_WEB = "paired_web"
LABELLED_WEB = "labelled_web"
GRADED = "graded"
WEB_READ = "web_read"
WRITTEN_WEB = "written_web"

# Pages of the web itself; a host may be in both.
WEB_SOURCES = (LABELLED_WEB, WEB_READ)

# Judgements made for this project, without the texts.
LABELS = Path(__file__).parent / "labels" / "web.parquet"
# Pages written for this project, with their texts.
WRITTEN = Path(__file__).parent / "labels" / "written.parquet"

# Licence classes of graded.parquet as `data` knows them; anything else keeps its name and is dropped there.
_GRADED_LICENCE = {"open": "open"}
_ILL_FORMED_FAMILY = "oos_ill_formed"


def load_rows(data: Path) -> list[TrainingRow]:
    """All rows of a file of training rows, or of those of the four known files that a folder holds, with the project's
    judgements of its shards and the pages that the project wrote.

    Raises TrainingError when there is nothing there.
    """
    if data.is_file():
        return read_training_rows(data)
    readers = {
        data / "paired" / "paired.parquet": _read_paired,
        data / "paired" / "paired_web.parquet": _read_paired_web,
        data / "labelled" / "web.parquet": _read_labelled_web,
        data / "graded" / "graded.parquet": _read_graded,
    }
    rows = [row for path, read in readers.items() if path.is_file() for row in read(path)]
    rows += _read_web_labels(data / "shards")
    if not rows:
        raise TrainingError(
            f"No training rows in {data}.",
            hint="Name a file of rows, or a folder with " + ", ".join(str(p.relative_to(data)) for p in readers) + ".",
        )
    return [*rows, *_read_written(WRITTEN)]


def build_written_row(page: Mapping[str, Any]) -> TrainingRow:
    """The training row of a page that the project wrote: held out by its page type."""
    return TrainingRow(
        page["text"], page["band"], WRITTEN_WEB, page["page_type"].casefold(), licence="own", topic=page["topic"]
    )


def _read_web_labels(shards: Path) -> Iterator[TrainingRow]:
    """The project's own judgements of web documents whose shards are at hand. Raises TrainingError for another text there.

    School passages are left out: their licence is not known.
    """
    labels = pq.read_table(LABELS).to_pylist()
    for name in sorted({label["shard"] for label in labels if label["shard"].startswith(("web-", "fineweb_edu-"))}):
        path = shards / name
        if not path.is_file():
            continue
        documents = pq.read_table(path, columns=["text", "url"]).to_pylist()
        for label in labels:
            if label["shard"] != name:
                continue
            document = documents[label["row"]]
            if hash_text(document["text"]) != label["text_hash"]:
                raise TrainingError(
                    f"{path}: row {label['row']} is not the text that was judged.", hint="Restore the shard."
                )
            host = _find_host(document["url"]) or f"{name}:{label['row']}"
            yield TrainingRow(text=document["text"], band=label["band"], source=WEB_READ, group=host, licence="odc-by")


def select_vocabulary_rows(rows: list[TrainingRow]) -> list[TrainingRow]:
    """Rows whose words say something of grade: without ill-formed passages, and without OOS web pages, most of which
    are menus, lists and spam rather than text beyond school."""
    return [
        row for row in rows if row.group != _ILL_FORMED_FAMILY and not (row.source in WEB_SOURCES and row.band == "OOS")
    ]


def _records(path: Path, columns: list[str]) -> Iterator[dict[str, Any]]:
    yield from pq.read_table(path, columns=columns).to_pylist()


def _read_paired(path: Path) -> Iterator[TrainingRow]:
    for r in _records(path, ["text", "band", "topic"]):
        yield TrainingRow(r["text"], r["band"], PAIRED, r["topic"].casefold(), "own", r["topic"])


def _read_paired_web(path: Path) -> Iterator[TrainingRow]:
    for r in _records(path, ["text", "band", "topic", "page_type"]):
        yield TrainingRow(r["text"], r["band"], PAIRED_WEB, r["page_type"].casefold(), "own", r["topic"])


def _read_written(path: Path) -> Iterator[TrainingRow]:
    yield from map(build_written_row, _records(path, ["text", "band", "topic", "page_type"]))


def _read_labelled_web(path: Path) -> Iterator[TrainingRow]:
    """Without pages that two annotators put on both sides of grade 5. Pages of one host form a group."""
    for r in _records(path, ["text", "band", "gid", "url", "disputed_k5"]):
        if not r["disputed_k5"]:
            group = _find_host(r["url"]) or r["gid"]
            yield TrainingRow(r["text"], r["band"], LABELLED_WEB, group, "odc-by")


def _read_graded(path: Path) -> Iterator[TrainingRow]:
    for r in _records(path, ["text", "band", "family", "licence_class"]):
        licence = _GRADED_LICENCE.get(r["licence_class"], r["licence_class"])
        yield TrainingRow(r["text"], r["band"], GRADED, r["family"], licence)


def _find_host(url: str | None) -> str:
    """The host in lower case, without port and `www.`: a site is one group. Empty where there is none."""
    return (urlsplit(url or "").hostname or "").removeprefix("www.")

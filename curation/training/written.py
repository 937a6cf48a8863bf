"""Pages that the project wrote itself as training documents: checked, then packed into labels/written.parquet.

`python -m curation.training.written FILE.jsonl...` packs them. Invariant: no page is blank, stands twice or has a topic,
page type or text of the bundled sample, and the same pages give the same bytes, whatever files they come in.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import TrainingError
from curation.signals.fasttext_grade import BANDS
from curation.training.data import SampleGuard, hash_text, read_sample_guard
from curation.training.sources import WRITTEN, build_written_row

SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("page_type", "topic", "subject", "band")),
        ("decisive", pa.list_(pa.string())),
        ("text", pa.string()),
    ]
)


def read_pages(paths: Sequence[Path], guard: SampleGuard) -> list[dict[str, Any]]:
    """The pages of JSON Lines files, in the order read; blank lines are skipped.

    Raises TrainingError that names the file and line of the first page that must not be trained on.
    """
    return check_pages(_read_lines(paths), guard)


def check_pages(places: Iterable[tuple[str, object]], guard: SampleGuard) -> list[dict[str, Any]]:
    """The pages of (place, page), all of them sound. Raises TrainingError that names the place of the first that is not."""
    pages: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for place, page in places:
        if (defect := _find_defect(page)) is not None:
            raise TrainingError(f"{place}: {defect}.", hint=f"A page has exactly the keys {', '.join(SCHEMA.names)}.")
        assert isinstance(page, dict)
        row = build_written_row(page)
        text_hash = hash_text(row.text)
        if guard.holds(row, text_hash):
            raise TrainingError(
                f"{place}: the topic, page type or text is the bundled sample's.",
                hint="Leave the page out; the sample stays unseen by every model.",
            )
        if text_hash in seen:
            raise TrainingError(f"{place}: the same text as {seen[text_hash]}.", hint="Leave one of them out.")
        seen[text_hash] = place
        pages.append(page)
    return pages


def write_pages(pages: Iterable[dict[str, Any]], out: Path) -> None:
    """Columns as SCHEMA, in an order that follows from the pages alone."""
    ordered = sorted(pages, key=lambda page: (page["page_type"], BANDS.index(page["band"]), hash_text(page["text"])))
    out.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(ordered, SCHEMA), out, compression="zstd", compression_level=19)


def _read_lines(paths: Sequence[Path]) -> Iterator[tuple[str, object]]:
    for path in paths:
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise TrainingError(f"{path} cannot be read: {error}.") from error
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield f"{path}, line {number}", _parse_line(path, number, line)


def _parse_line(path: Path, number: int, line: bytes) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise TrainingError(f"{path}, line {number}: not JSON: {error}.") from error


def _find_defect(page: object) -> str | None:
    """What is wrong with the form of a page; None where nothing is."""
    if not isinstance(page, dict) or page.keys() != set(SCHEMA.names):
        return "not the keys of a page"
    decisive = page["decisive"]
    if not isinstance(decisive, list):
        return "decisive is not a list"
    values = {name: [page[name]] for name in SCHEMA.names} | {"decisive": decisive}
    for name, texts in values.items():
        if not all(isinstance(text, str) and text.strip() for text in texts):
            return f"{name} is blank or no text"
    if page["band"] not in BANDS:
        return f"band is none of {', '.join(BANDS)}"
    return None if bool(decisive) == (page["band"] != "K5") else "phrases are decisive beyond K5 and there alone"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m curation.training.written", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="JSON Lines files of pages")
    parser.add_argument("--out", type=Path, default=WRITTEN, help="the Parquet file; default: the shipped one")
    options = parser.parse_args(arguments)
    try:
        pages = read_pages(options.files, read_sample_guard())
    except TrainingError as error:
        raise SystemExit(str(error)) from error
    write_pages(pages, options.out)
    sys.stdout.write(f"Wrote {len(pages)} pages to {options.out}.\n")


if __name__ == "__main__":
    main()

"""Records of line-delimited JSON, plain, gzip or zstd, with an error for every line that is no record with a text.

One line is one row; blank lines are no rows and are counted. Memory holds one line.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import orjson
import zstandard

from curation.errors import SourceError
from curation.shards.rows import describe_error

MAX_LINE_BYTES = 256 << 20  # a line beyond this is an error row: five times the largest document that must be measured

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Line:
    """One row: its record, or the error that stands for it. `size_bytes` is the line's length."""

    record: dict[str, object] | None
    error: str | None
    size_bytes: int


@dataclass
class LineCounts:
    """Filled while lines are read: blank lines passed over, and why the file broke off (None when it was read to its end)."""

    blank: int = 0
    error: str | None = None


def open_lines(path: Path) -> IO[bytes]:
    """Decompressed bytes of a file; the compression is known by its first bytes, not by its name."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic.startswith(_GZIP_MAGIC):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if magic == _ZSTD_MAGIC:
        stream = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)
        return io.BufferedReader(stream, 1 << 20)  # type: ignore[type-var, return-value]
    return path.open("rb", buffering=1 << 20)


def read_lines(path: Path, name: str, text_field: str, counts: LineCounts) -> Iterator[Line]:
    """Every non-blank line as a row. A file that breaks off gives the lines before the break and sets `counts.error`."""
    number = 0
    try:
        with open_lines(path) as stream:
            while raw := stream.readline(MAX_LINE_BYTES):
                number += 1
                size = len(raw)
                if size == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                    while (rest := stream.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                        size += len(rest)
                    yield Line(
                        None,
                        f"{name}: line {number}: longer than {MAX_LINE_BYTES >> 20} MiB. Split the document.",
                        size,
                    )
                    continue
                if number == 1:
                    raw = raw.removeprefix(_BYTE_ORDER_MARK)
                if not raw.strip():
                    counts.blank += 1
                    continue
                yield _parse_line(raw, size, f"{name}: line {number}", text_field)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        counts.error = f"{name}: breaks off after line {number} ({describe_error(error, path)}). Fetch the file again."


def _parse_line(raw: bytes, size: int, place: str, text_field: str) -> Line:
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return Line(None, f"{place}: not JSON ({error.msg} at character {error.pos}).", size)
    if not isinstance(record, dict):
        return Line(
            None, f"{place}: a JSON {type(record).__name__}, expected an object with a field {text_field!r}.", size
        )
    if text_field not in record:
        fields = ", ".join(sorted(record)[:20])
        return Line(
            None, f"{place}: no field {text_field!r} (fields: {fields}). Name the text field with --text-field.", size
        )
    text = record[text_field]
    if not isinstance(text, str):
        problem = "the text is null" if text is None else f"the text is a JSON {type(text).__name__}"
        return Line(None, f"{place}: {problem}.", size)
    return Line(record, None, size)


def require_lines(path: Path, name: str) -> None:
    """Raises SourceError when a file without the magic of Parquet is not text at all."""
    with open_lines(path) as stream:
        try:
            head = stream.read(4096)
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            raise SourceError(
                f"{name}: cannot be decompressed ({describe_error(error, path)}).", hint="Fetch the file again."
            ) from error
    if head and not head.isascii() and b"\n" not in head and b"{" not in head:
        raise SourceError(
            f"{name}: neither Parquet nor line-delimited JSON.",
            hint="Give .parquet, .jsonl, .jsonl.gz or .jsonl.zst files.",
        )

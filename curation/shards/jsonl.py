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
from typing import TYPE_CHECKING

import orjson
import zstandard

from curation.errors import SourceError
from curation.shards.rows import describe_error

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAX_LINE_BYTES = 256 << 20  # a line beyond this is an error row: five times the largest document that must be measured

_NAMED_FIELDS_CHARS = 400
_MAX_DEPTH = 254  # orjson's, for writing
_ZSTD_READ_BYTES = 4096  # a frame unpacks to at most 32,768 times this at once, however hostile
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_COMPRESSED_SUFFIXES = (".gz", ".zst")
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


class _ZstdFrames(io.RawIOBase):
    """The content of every frame of a file. Raises EOFError where the last one is cut: zstandard's own reader does not."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._packed = b""
        self._content = memoryview(b"")
        self._is_inside = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Buffer) -> int:
        target = memoryview(buffer)
        while not self._content:
            self._packed = self._packed or self._file.read(_ZSTD_READ_BYTES)
            if not self._packed:
                if self._is_inside:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
                return 0
            self._content = memoryview(self._frame.decompress(self._packed))
            self._is_inside = not self._frame.eof
            self._packed = self._frame.unused_data
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
        size = min(len(target), len(self._content))
        target[:size] = self._content[:size]
        self._content = self._content[size:]
        return size


def open_lines(path: Path) -> io.BufferedIOBase:
    """Decompressed bytes of a file; the compression is known by its first bytes, not by its name."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic.startswith(_GZIP_MAGIC):
        return gzip.GzipFile(path, "rb")
    if magic == _ZSTD_MAGIC:
        return io.BufferedReader(_ZstdFrames(path), 1 << 20)
    return io.BufferedReader(path.open("rb", buffering=0), 1 << 20)


def read_lines(path: Path, name: str, text_field: str, counts: LineCounts) -> Iterator[Line]:
    """Every non-blank line as a row. A file that breaks off gives the lines before the break and sets `counts.error`."""
    number = 0
    try:
        with open_lines(path) as stream:
            while raw := stream.readline(MAX_LINE_BYTES + 1):
                number += 1
                size = len(raw)
                if size > MAX_LINE_BYTES and not raw.endswith(b"\n"):
                    rest = raw
                    while not rest.endswith(b"\n") and (rest := stream.readline(MAX_LINE_BYTES)):
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
    if raw.count(b"{") + raw.count(b"[") > _MAX_DEPTH and _is_too_deep(record):
        return Line(None, f"{place}: nested deeper than {_MAX_DEPTH}.", size)
    if not isinstance(record, dict):
        return Line(
            None, f"{place}: a JSON {type(record).__name__}, expected an object with a field {text_field!r}.", size
        )
    if text_field not in record:
        fields = ", ".join(sorted(record)[:20])[:_NAMED_FIELDS_CHARS]
        return Line(
            None, f"{place}: no field {text_field!r} (fields: {fields}). Name the text field with --text-field.", size
        )
    text = record[text_field]
    if not isinstance(text, str):
        problem = "the text is null" if text is None else f"the text is a JSON {type(text).__name__}"
        return Line(None, f"{place}: {problem}.", size)
    return Line(record, None, size)


def _is_too_deep(record: object) -> bool:
    """Whether orjson, which reads deeper than it writes, could not write the record again."""
    try:
        orjson.dumps(record)
    except orjson.JSONEncodeError:
        return True
    return False


def require_lines(path: Path, name: str) -> None:
    """Raises SourceError when a file without the magic of Parquet is not text at all."""
    if name.endswith(_COMPRESSED_SUFFIXES) and path.stat().st_size == 0:
        raise SourceError(f"{name}: is empty, not even a compressed file of no rows.", hint="Fetch the file again.")
    with open_lines(path) as stream:
        try:
            head = stream.read1(4096)  # no more than is needed: rows before an early break count
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            raise SourceError(
                f"{name}: cannot be decompressed ({describe_error(error, path)}).", hint="Fetch the file again."
            ) from error
    if head and not head.isascii() and b"\n" not in head and b"{" not in head:
        raise SourceError(
            f"{name}: neither Parquet nor line-delimited JSON.",
            hint="Give .parquet, .jsonl, .jsonl.gz or .jsonl.zst files.",
        )

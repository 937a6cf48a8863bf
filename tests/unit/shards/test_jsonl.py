"""Lines of JSON: one row a line, one exact message a broken one, and files that break off."""

from __future__ import annotations

import bz2
import gzip
import itertools
import json
from pathlib import Path

import pytest
import zstandard

from curation.errors import SourceError
from curation.shards import jsonl
from curation.shards.jsonl import Line, LineCounts, read_lines, require_lines

NAME = "a.jsonl"


def read(path: Path) -> tuple[list[Line], LineCounts]:
    counts = LineCounts()
    return list(read_lines(path, NAME, "text", counts)), counts


def read_content(tmp_path: Path, content: bytes) -> tuple[list[Line], LineCounts]:
    path = tmp_path / "file"
    path.write_bytes(content)
    return read(path)


GOOD = b'{"text":"good"}'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"text":"x"', "not JSON (unexpected end of data at character 12)."),
        (b'["x"]', "a JSON list, expected an object with a field 'text'."),
        (b"null", "a JSON NoneType, expected an object with a field 'text'."),
        (b'"x"', "a JSON str, expected an object with a field 'text'."),
        (b"{}", "no field 'text' (fields: ). Name the text field with --text-field."),
        (b'{"b":1,"a":2}', "no field 'text' (fields: a, b). Name the text field with --text-field."),
        (b'{"text":null}', "the text is null."),
        (b'{"text":5}', "the text is a JSON int."),
        (b'{"text":["x"]}', "the text is a JSON list."),
        (b'{"text":{"a":1}}', "the text is a JSON dict."),
        (b'{"text":"\\ud800"}', "not JSON (no low surrogate in string at character 9)."),
        (b'{"text":"x","n":NaN}', "not JSON (unexpected character, expected a JSON value at character 16)."),
        (b'{"text":"x","n":1e999}', "not JSON (number is infinity when parsed as double at character 16)."),
        (b'{"text":"x"} {"text":"y"}', "not JSON (unexpected content after document at character 13)."),
        (b'{"text":"x","n":' + b"[" * 300 + b"]" * 300 + b"}", "nested deeper than 254."),
        (b"[" * 5000, "not JSON (depth limit exceeded at character 1025)."),
    ],
)
def test_a_broken_line_is_one_row_with_its_number_and_reason(tmp_path: Path, line: bytes, problem: str) -> None:
    lines, counts = read_content(tmp_path, GOOD + b"\n" + line + b"\n" + GOOD + b"\n")
    assert [found.error for found in lines] == [None, f"{NAME}: line 2: {problem}", None]
    assert [found.record for found in lines] == [{"text": "good"}, None, {"text": "good"}]
    assert (counts.blank, counts.error) == (0, None)


@pytest.mark.parametrize("bad", [b"\xff", "\ud83c\udf88".encode("utf-8", "surrogatepass")], ids=["byte", "cesu"])
@pytest.mark.parametrize("field", [b"text", b"id", b"url"])
def test_invalid_utf8_anywhere_in_a_line_costs_that_line(tmp_path: Path, bad: bytes, field: bytes) -> None:
    line = b'{"text":"x","' + field + b'":"' + bad + b'"}'
    lines, _ = read_content(tmp_path, GOOD + b"\n" + line + b"\n" + GOOD)
    assert [found.error is None for found in lines] == [True, False, True]
    assert lines[1].error is not None
    assert lines[1].error.startswith(f"{NAME}: line 2: not JSON (str is not valid UTF-8")


def test_what_json_allows_is_no_error(tmp_path: Path) -> None:
    values = [
        (b'{"text":""}', ""),
        (b'{"text":"a\\u0000b"}', "a\x00b"),
        (b'{"text":"one","text":"two"}', "two"),
        (b'{"text":"\\ud83c\\udf88"}', "🎈"),
        (b'{"text":"x","n":123456789012345678901234567890}', "x"),
        (b'  {"text":"padded"}  ', "padded"),
        (b'{"text":"' + b"[{" * 400 + b'"}', "[{" * 400),
    ]
    lines, _ = read_content(tmp_path, b"\n".join(raw for raw, _ in values))
    assert [found.error for found in lines] == [None] * len(values)
    assert [found.record["text"] for found in lines if found.record] == [text for _, text in values]


def test_marks_line_ends_and_blank_lines(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n   \n" + b"oops\r\n" + b"\n" + GOOD
    lines, counts = read_content(tmp_path, content)
    assert [found.error for found in lines] == [
        None,
        f"{NAME}: line 4: not JSON (unexpected character, expected a JSON value at character 0).",
        None,
    ]
    assert (counts.blank, counts.error) == (3, None)


def test_a_file_without_lines_has_no_rows(tmp_path: Path) -> None:
    assert read_content(tmp_path, b"") == ([], LineCounts())
    assert read_content(tmp_path, b"\n\n") == ([], LineCounts(blank=2))
    assert read_content(tmp_path, gzip.compress(b"")) == ([], LineCounts())
    assert read_content(tmp_path, zstandard.compress(b"")) == ([], LineCounts())


@pytest.mark.parametrize("end", [b"\n", b""], ids=["newline", "end of file"])
@pytest.mark.parametrize("extra", [0, 1, 63, 64, 65, 200])
def test_an_over_long_line_is_one_row_of_its_real_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: int, end: bytes
) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 64)
    line = b'{"text":"' + b"x" * (64 - 11 + extra) + b'"}'
    lines, _ = read_content(tmp_path, GOOD + b"\n" + line + end)
    error = None if extra == 0 else f"{NAME}: line 2: longer than 0 MiB. Split the document."
    assert [found.error for found in lines] == [None, error]
    assert lines[1].size_bytes == len(line + end)
    after, _ = read_content(tmp_path, line + b"\n" + GOOD + b"\n")
    assert [found.error is None for found in after] == [extra == 0, True]


def make_lines(count: int) -> bytes:
    # Numbers hashed so that compression cannot fold the whole file into one block.
    return b"".join(json.dumps({"text": f"{i} {hash((i, 7)):x}"}).encode() + b"\n" for i in range(count))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_keeps_the_whole_lines_before_the_break(tmp_path: Path, pack, share: float) -> None:  # type: ignore[no-untyped-def]
    content = make_lines(20_000)
    packed = pack(content)
    lines, counts = read_content(tmp_path, packed[: int(len(packed) * share)])
    kept = [found.record["text"] for found in lines if found.record]
    assert len(kept) == len(lines) < 20_000
    assert kept == [json.loads(line)["text"] for line in content.splitlines()[: len(lines)]]
    assert counts.error == (
        f"{NAME}: breaks off after line {len(lines)} "
        "(Compressed file ended before the end-of-stream marker was reached). Fetch the file again."
    )


def test_a_zstd_frame_that_lacks_only_its_last_byte_is_reported(tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(make_lines(10))
    lines, counts = read_content(tmp_path, packed[:-1])
    assert len(lines) == 10
    assert counts.error is not None
    assert counts.error.startswith(f"{NAME}: breaks off after line 10 (")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_members_and_frames_read_as_one_stream(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    content = make_lines(5000)
    cuts = [0, 1, 10_000, 10_001, len(content)]
    packed = b"".join(pack(content[a:b]) for a, b in itertools.pairwise(cuts)) + pack(b"")
    lines, counts = read_content(tmp_path, packed)
    assert [found.record for found in lines] == [json.loads(line) for line in content.splitlines()]
    assert counts.error is None


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_garbage_after_the_end_is_reported_and_costs_no_row(tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    lines, counts = read_content(tmp_path, pack(make_lines(10)) + b"garbage that is neither")
    assert len(lines) == 10
    assert all(found.error is None for found in lines)
    assert counts.error is not None
    assert counts.error.startswith(f"{NAME}: breaks off after line 10 (")


def test_a_damaged_gzip_checksum_is_reported(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(make_lines(10)))
    packed[-8] ^= 1
    lines, counts = read_content(tmp_path, bytes(packed))
    assert len(lines) == 10
    assert counts.error is not None
    assert "CRC check failed" in counts.error


def test_zstd_reads_large_files_whole(tmp_path: Path) -> None:
    content = b'{"text":"' + b"a" * 50_000_000 + b'"}\n' + make_lines(1000)
    lines, counts = read_content(tmp_path, zstandard.compress(content))
    assert len(lines) == 1001
    assert lines[0].size_bytes == 50_000_012
    assert counts.error is None


def test_the_compression_is_known_by_bytes_not_by_name(tmp_path: Path) -> None:
    for suffix in (".jsonl", ".gz", ".zst", ".txt"):
        for content in (GOOD, gzip.compress(GOOD), zstandard.compress(GOOD)):
            path = tmp_path / f"file{suffix}"
            path.write_bytes(content)
            assert [found.record for found in read(path)[0]] == [{"text": "good"}]


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(bz2.compress(b"").replace(b"\n", b"") + b"\x80" * 100)
    with pytest.raises(SourceError) as raised:
        require_lines(path, NAME)
    assert str(raised.value) == (
        f"{NAME}: neither Parquet nor line-delimited JSON. Give .parquet, .jsonl, .jsonl.gz or .jsonl.zst files."
    )


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_an_empty_compressed_file_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(b"")
    with pytest.raises(SourceError) as raised:
        require_lines(path, path.name)
    assert str(raised.value) == (
        f"a.jsonl{suffix}: is empty, not even a compressed file of no rows. Fetch the file again."
    )


@pytest.mark.parametrize("head", [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"], ids=["gzip", "zstd"])
def test_a_head_that_cannot_be_unpacked_is_refused(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(head + b"\xff" * 100)
    with pytest.raises(SourceError) as raised:
        require_lines(path, NAME)
    assert str(raised.value).startswith(f"{NAME}: cannot be decompressed (")

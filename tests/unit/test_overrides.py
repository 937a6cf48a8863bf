"""Overrides: the latest ruling of a row wins, undo is an entry, and a bad line is named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from curation.errors import ProfileError
from curation.overrides import read_overrides

SHA, OTHER_SHA = "a" * 64, "b" * 64


def write(tmp_path: Path, *lines: str, end: str = "\n") -> Path:
    path = tmp_path / "overrides.jsonl"
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


def ruling(row: int, action: str, shard: str = f'"shard_sha256": "{SHA}"') -> str:
    return f'{{{shard}, "row": {row}, "action": "{action}", "author": "é", "reason": "r", "time": "t"}}'


def test_the_latest_ruling_of_a_row_wins(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ruling(1, "keep"),
        ruling(2, "exclude"),
        ruling(1, "exclude"),
        ruling(3, "keep"),
        ruling(3, "undo"),
        ruling(4, "undo"),
        ruling(5, "undo"),
        ruling(5, "keep"),
    )
    overrides = read_overrides(path)
    assert overrides.of_shard(SHA, "a.parquet") == {1: False, 2: False, 5: True}
    assert overrides.of_shard(OTHER_SHA, "a.parquet") == {}
    assert overrides.revision == 8
    assert overrides.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_shard_may_be_named_and_both_ways_are_one_history(tmp_path: Path) -> None:
    named = '"shard": "a.parquet"'
    path = write(tmp_path, ruling(1, "keep"), ruling(1, "undo", named), ruling(2, "keep", named))
    overrides = read_overrides(path)
    assert overrides.of_shard(SHA, "a.parquet") == {2: True}
    assert overrides.of_shard(SHA, "b.parquet") == {1: True}
    assert overrides.of_shard(OTHER_SHA, "a.parquet") == {2: True}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_line_ends_blank_lines_and_a_mark_are_no_rulings(tmp_path: Path, end: str) -> None:
    path = write(tmp_path, ruling(1, "keep"), "   ", ruling(2, "keep"), end=end)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_overrides(path).of_shard(SHA, "") == {1: True, 2: True}


def test_an_empty_file_rules_nothing(tmp_path: Path) -> None:
    overrides = read_overrides(write(tmp_path))
    assert (overrides.rulings, overrides.revision) == ((), 0)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"row": 1, "action": "keep"}', "Value error, needs either shard_sha256 or shard."),
        (
            f'{{"shard": "a", "shard_sha256": "{SHA}", "row": 1, "action": "keep"}}',
            "Value error, needs either shard_sha256 or shard.",
        ),
        (
            '{"shard_sha256": "abc", "row": 1, "action": "keep"}',
            "shard_sha256: String should match pattern '^[0-9a-f]{64}$'.",
        ),
        ('{"shard": "a", "row": -1, "action": "keep"}', "row: Input should be greater than or equal to 0."),
        (
            '{"shard": "a", "row": 9223372036854775808, "action": "keep"}',
            "row: Input should be less than 9223372036854775808.",
        ),
        (
            '{"shard": "a", "row": 1.5, "action": "keep"}',
            "row: Input should be a valid integer, got a number with a fractional part.",
        ),
        ('{"shard": "a", "action": "keep"}', "row: Field required."),
        ('{"shard": "a", "row": 1, "action": "drop"}', "action: Input should be 'keep', 'exclude' or 'undo'."),
        ('{"shard": "a", "row": 1, "action": "keep", "x": 1}', "x: Extra inputs are not permitted."),
        ("[]", "Input should be an object."),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path, ruling(1, "keep"), "", line, ruling(2, "keep"))
    with pytest.raises(ProfileError) as raised:
        read_overrides(path)
    assert str(raised.value) == f"{path}: line 3: {problem}"


@pytest.mark.parametrize("line", [b"{", b'{"shard": "\xff", "row": 1, "action": "keep"}', b'{"shard": "\\ud800"}'])
def test_a_line_that_is_no_json_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "overrides.jsonl"
    path.write_bytes(ruling(1, "keep").encode() + b"\n" + line)
    with pytest.raises(ProfileError) as raised:
        read_overrides(path)
    assert str(raised.value).startswith(f"{path}: line 2: Invalid JSON: ")


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ProfileError) as raised:
        read_overrides(tmp_path / "missing")
    assert str(raised.value) == f"{tmp_path / 'missing'}: cannot be read (No such file or directory)."
    with pytest.raises(ProfileError) as raised:
        read_overrides(tmp_path)
    assert str(raised.value) == f"{tmp_path}: cannot be read (Is a directory)."

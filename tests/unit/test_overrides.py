"""Overrides: the latest ruling of a row wins, undo is an entry, and a bad line is named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from curation.errors import ProfileError
from curation.overrides import BulkRuling, Overrides, Ruling, encode_entry, read_overrides

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


def bulk(action: str, rows: str) -> str:
    return f'{{"action": "{action}", "rows": {rows}, "author": "b", "reason": "r"}}'


def test_a_bulk_ruling_is_one_entry_among_the_others(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ruling(1, "keep"),
        ruling(9, "keep"),
        bulk("exclude", f'{{"{SHA}": [3, 1, 2, 3], "{OTHER_SHA}": [7]}}'),
        ruling(2, "keep"),
        bulk("undo", f'{{"{SHA}": [3]}}'),
    )
    overrides = read_overrides(path)
    assert overrides.revision == 5
    assert overrides.of_shard(SHA, "a") == {1: False, 2: True, 9: True}
    assert overrides.of_shard(OTHER_SHA, "b") == {7: False}
    rows, entries = overrides.find_in_force(SHA, "a")
    assert (rows.tolist(), entries.tolist()) == ([1, 2, 9], [2, 3, 1])


def test_rulings_of_a_run_of_rows_are_those_of_the_shard_there(tmp_path: Path) -> None:
    overrides = read_overrides(write(tmp_path, *(ruling(row, "keep") for row in (0, 9, 10, 19, 20))))
    assert overrides.of_rows(SHA, "a", 10, 10) == {10: True, 19: True}
    assert overrides.of_rows(SHA, "a", 11, 8) == {}
    assert overrides.of_rows(OTHER_SHA, "a", 0, 100) == {}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ('{"abc": [1]}', "rows.abc.[key]: String should match pattern '^[0-9a-f]{64}$'."),
        (f'{{"{SHA}": [-1]}}', f"rows.{SHA}.0: Input should be greater than or equal to 0."),
        ("[1]", "rows: Input should be an object."),
    ],
)
def test_a_bad_bulk_line_is_named(tmp_path: Path, rows: str, problem: str) -> None:
    path = write(tmp_path, bulk("keep", rows))
    with pytest.raises(ProfileError) as raised:
        read_overrides(path)
    assert str(raised.value) == f"{path}: line 1: {problem}"


def test_entries_are_read_as_they_were_written(tmp_path: Path) -> None:
    entries = (
        Ruling(shard_sha256=SHA, row=4, action="keep", author="a", reason='says "rows": 1', time="t"),
        BulkRuling({SHA: np.array([4, 5]), OTHER_SHA: np.array([1])}, "exclude", "b", "q", "t"),
        Ruling(shard="a.parquet", row=5, action="undo"),
    )
    path = tmp_path / "overrides.jsonl"
    path.write_bytes(b"".join(map(encode_entry, entries)))
    found = read_overrides(path)
    assert [encode_entry(entry) for entry in found.rulings] == path.read_bytes().splitlines(keepends=True)
    assert found.of_shard(SHA, "a.parquet") == {4: False}
    assert found.of_shard(OTHER_SHA, "b") == {1: False}


def test_rulings_on_rows_that_are_not_there_are_counted(tmp_path: Path) -> None:
    named = '"shard": "a.parquet"'
    path = write(
        tmp_path,
        ruling(9, "keep"),
        ruling(10, "keep"),
        ruling(10, "undo", named),
        ruling(0, "keep", '"shard": "b.parquet"'),
        bulk("keep", f'{{"{SHA}": [9, 11, 12], "{OTHER_SHA}": [0]}}'),
    )
    strays = read_overrides(path).find_strays([(SHA, "a.parquet", 10)])
    assert strays.count == 6
    assert strays.examples == [
        {"shard": SHA, "row": 10},
        {"shard": "a.parquet", "row": 10},
        {"shard": "b.parquet", "row": 0},
        {"shard": SHA, "row": 11},
        {"shard": SHA, "row": 12},
        {"shard": OTHER_SHA, "row": 0},
    ]
    assert read_overrides(path).find_strays([]).count == 8


@pytest.mark.parametrize("seed", range(20))
def test_any_history_is_what_a_plain_recount_says(seed: int) -> None:
    chance = np.random.default_rng(seed)
    entries: list[Ruling | BulkRuling] = []
    expected: dict[int, bool] = {}
    for _ in range(60):
        action = str(chance.choice(["keep", "exclude", "undo"]))
        rows = np.unique(chance.integers(0, 30, chance.integers(1, 12)))
        if chance.random() < 0.4:
            entries.append(BulkRuling({SHA: rows}, action))  # type: ignore[arg-type]
        else:
            rows = rows[:1]
            place = {"shard_sha256": SHA} if chance.random() < 0.5 else {"shard": "a"}
            entries.append(Ruling(row=int(rows[0]), action=action, **place))  # type: ignore[arg-type]
        for row in rows.tolist():
            expected.pop(row, None)
            if action != "undo":
                expected[row] = action == "keep"
    overrides = Overrides(tuple(entries), "")
    assert overrides.of_shard(SHA, "a") == expected
    assert overrides.of_rows(SHA, "a", 5, 7) == {row: keep for row, keep in expected.items() if 5 <= row < 12}

"""Fields that rooms share: names, times, cells of CSV."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from primer.app.auth.names import is_user_name
from primer.app.core.csv_cells import write_csv
from primer.app.core.fields import Label
from primer.app.core.times import Instant


class _Thing(BaseModel):
    name: Label
    at: Instant


def test_an_instant_is_shown_in_utc_and_never_taken_for_milliseconds() -> None:
    assert _Thing(name="a", at=0.25).model_dump(mode="json")["at"] == "1970-01-01T00:00:00.250000Z"  # type: ignore[arg-type]
    assert _Thing(name="a", at=30_000_000_000).model_dump(mode="json")["at"] == "2920-08-30T05:20:00Z"  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["nightly export", "Größe", "école", "数据", "a" * 100])
def test_a_label_is_one_line_of_any_script(name: str) -> None:
    assert _Thing(name=name, at=0).name == name  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "a" * 101, "a\nb", "a\x00", "a\u202eb", "a\u2028b", " a", "a ", "\u200bx"])
def test_a_label_has_no_controls_and_no_invisible_marks(name: str) -> None:
    with pytest.raises(ValidationError):
        _Thing(name=name, at=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "is_good"),
    [
        ("anna.berg", True),
        ("anna@example.org", True),
        ("7", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("", False),
        ("Anna", False),
        (".anna", False),
        ("anna\n", False),
        ("an\x00na", False),
        ("аnna", False),
        ("anna\u202e", False),
        ("x" * 10_000, False),
    ],
)
def test_user_names_are_plain(name: str, is_good: bool) -> None:
    assert is_user_name(name) is is_good


def test_no_cell_of_csv_begins_a_formula() -> None:
    cells = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "plain", "a=1", 'say "hi", twice', "two\nlines", None, 7, -7]
    assert write_csv([cells]) == (
        '\'=1+1,\'+1,\'-1,\'@SUM(A1),\'\tx,"\'\rx",plain,a=1,"say ""hi"", twice","two\nlines",,7,\'-7\r\n'
    )

"""CSV that a spreadsheet may open: no cell is taken for a formula, whoever wrote its text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def defang(cell: object) -> str:
    """The cell as text, None as nothing; what would begin a formula is preceded by an apostrophe."""
    text = "" if cell is None else str(cell)
    return f"'{text}" if text.startswith(_BEGINS_FORMULA) else text


def write_csv(rows: Iterable[Sequence[object]]) -> str:
    """Lines of CSV (RFC 4180)."""
    lines = io.StringIO()
    csv.writer(lines).writerows([defang(cell) for cell in row] for row in rows)
    return lines.getvalue()

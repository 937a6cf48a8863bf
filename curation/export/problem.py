"""What a verification found: problems are listed, never raised one at a time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """`file` is relative to the export; `row` is 0-based in that file, None where the file itself is meant."""

    file: str
    row: int | None
    what: str

    def __str__(self) -> str:
        place = self.file if self.row is None else f"{self.file}, row {self.row}"
        return f"{place}: {self.what}"


@dataclass(frozen=True)
class VerifyReport:
    """`rows_rechecked`: sampled rows that were read, measured and decided again."""

    problems: tuple[Problem, ...]
    files_checked: int
    rows_rechecked: int

    @property
    def is_sound(self) -> bool:
        return not self.problems

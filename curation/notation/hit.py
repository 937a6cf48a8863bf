"""What a notation rule found: which rule, and where in the text it was given. Holds no pattern and no decision."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """One match of one rule; `start` and `end` are character offsets into the scanned text, `end` exclusive."""

    rule: str
    start: int
    end: int

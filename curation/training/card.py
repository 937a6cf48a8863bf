"""Writes what a trained artefact must carry: its card and the hashes of the rows it was trained on.

Formats only; numbers come from `evaluate` and `vocabulary_scores`. Invariant: a card names the sha256 of the very file
it lies beside, and every row of its training set can be found by hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml
import zstandard

from curation.errors import TrainingError
from curation.training.data import TrainingRow
from curation.training.evaluate import KeepScore

CARD_NAME: Final = "CARD.md"
# In a folder of their own: a Parquet file beside a table would be taken for the table.
TRAINING_FOLDER: Final = "training"
ROWS_NAME: Final = "training_rows.txt.zst"
OUT_OF_FOLD_NAME: Final = "out_of_fold.parquet"


def write_card(path: Path, front: Mapping[str, object], sections: Sequence[tuple[str, str]]) -> None:
    """Markdown with `front` as YAML front matter, then each (heading, body)."""
    matter = yaml.safe_dump(dict(front), sort_keys=False, allow_unicode=True, width=110)
    body = "\n\n".join(f"## {heading}\n\n{text.strip()}" for heading, text in sections)
    path.write_text(f"---\n{matter}---\n\n# {front['title']}\n\n{body}\n", encoding="utf-8")


def read_card_front(path: Path) -> dict[str, object]:
    """The front matter of a card. Raises TrainingError where there is none."""
    parts = path.read_text(encoding="utf-8").split("---\n", 2)
    front = yaml.safe_load(parts[1]) if len(parts) == 3 else None
    if not isinstance(front, dict):
        raise TrainingError(f"{path} has no front matter.", hint="A card starts with YAML between two lines of ---.")
    return front


def write_row_hashes(path: Path, hashes: Iterable[str]) -> None:
    """One SHA-256 a line, sorted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress("\n".join(sorted(hashes)).encode() + b"\n"))


def read_row_hashes(path: Path) -> frozenset[str]:
    return frozenset(zstandard.ZstdDecompressor().decompress(path.read_bytes()).decode().split())


def format_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def format_scores(scores: Mapping[str, KeepScore]) -> str:
    """One line a source: K5 kept, beyond K-5 kept, purity, each with its interval and counts."""
    rows = [(name, s.k5_kept, s.beyond_kept, s.purity) for name, s in scores.items()]
    return format_table(("source", "K5 kept", "beyond K-5 kept", "purity"), rows)


def count_rows(rows: Iterable[TrainingRow]) -> dict[str, dict[str, int]]:
    """Rows by source, then by band."""
    counts = Counter((row.source, row.band) for row in rows)
    table: dict[str, dict[str, int]] = {}
    for (source, band), count in sorted(counts.items()):
        table.setdefault(source, {})[band] = count
    return table

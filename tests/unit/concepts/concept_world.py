"""A measured run whose kept and excluded documents mention concepts of a small catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from factories import HARD, SIMPLE, bind, find_artifacts, make_row, measure, score_words, write_shard

from curation.curate import DecisionSet
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.run_folder import RunFolder

LEAKY = "The cat ran. A compound and a compound sat by the noble gas. The rate of change was a ball for the dog."
TEXTS = [
    SIMPLE,
    LEAKY,
    f"{HARD} A compound.",
    None,
    f"{HARD} Solve for x.",
    "The cell has a nucleus and a phone. The cat sat.",
    SIMPLE,
    "é compound",
]


@dataclass(frozen=True)
class World:
    """`texts[shard][row]`: the raw texts of the run, None where there is none."""

    tmp: Path
    run: RunFolder
    decisions: DecisionSet
    texts: dict[str, list[str | None]]


def measure_world(tmp: Path) -> World:
    """Two shards in several slices; kept and excluded documents mention concepts, and one row has no text."""
    texts = {"shard-0.parquet": TEXTS * 6, "shard-1.parquet": TEXTS[::-1] * 3}
    shards = [
        write_shard(
            tmp / "source" / name,
            [{**make_row(number * 100 + row, text or ""), "text": text} for row, text in enumerate(rows)],
            row_group_size=10,
        )
        for number, (name, rows) in enumerate(texts.items())
    ]
    run = measure(tmp, shards, slice_bytes=2048)
    bound = bind(run)
    decisions = DecisionSet(run, find_artifacts(tmp), bound, PLAIN_VOCABULARY, None, score_words(tmp, bound))
    return World(tmp, run, decisions, texts)

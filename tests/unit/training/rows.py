"""Small training rows for the tests of this folder: four bands, each with words of its own."""

from __future__ import annotations

import random

from curation.training.data import TrainingRow

WORDS = {
    "K5": "cat dog sun tree milk ball bird rain story friend",
    "K8": "ratio cell density molecule percent region climate integer fraction culture",
    "K12": "ideology derivative inflation mitosis congress metaphor mortgage voltage treaty clause",
    "OOS": "lagrangian eigenvalue sheaf cohort ablation manifold tensor kernel stochastic prior",
}
SHARED_WORDS = "the a of and is in to it was for with on as by at from this that then when"


def make_rows(per_band: int, *, source: str = "paired", licence: str = "own", seed: int = 0) -> list[TrainingRow]:
    """`per_band` documents a band in groups of two; every text is different."""
    rng = random.Random(f"{source}/{seed}")
    rows = []
    for band, words in WORDS.items():
        for number in range(per_band):
            text = " ".join(rng.choices(f"{words} {SHARED_WORDS}".split(), k=60))
            rows.append(TrainingRow(f"{text} {source}{number}", band, source, f"group {number // 2}", licence))
    return rows

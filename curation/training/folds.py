"""Grouped folds: which fold holds out which row, the same for every artefact.

Invariant: the rows of a group of a source are in one fold, and so are all web pages of a host.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from curation.signals.fasttext_grade import BANDS
from curation.training.data import TrainingRow
from curation.training.sources import WEB_SOURCES


def fold_source(source: str) -> str:
    """The source whose groups a row's group is one of: both sources of web pages are one here, as a host may be in both."""
    return "web" if source in WEB_SOURCES else source


def assign_folds(rows: Sequence[TrainingRow], *, fold_count: int, seed: int) -> npt.NDArray[np.int64]:
    """A fold 0 to fold_count - 1 for each row: groups go, largest first and band by band, to the fold that holds the
    fewest rows of their `fold_source`; the seed breaks ties between equal groups."""
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        members[fold_source(row.source), row.group].append(number)

    def order(key: tuple[str, str]) -> tuple[int, int, str]:
        lowest = min(BANDS.index(rows[number].band) for number in members[key])
        return -len(members[key]), lowest, hashlib.sha256(f"{seed}/{key}".encode()).hexdigest()

    folds = np.zeros(len(rows), dtype=np.int64)
    loads: dict[str, Counter[int]] = defaultdict(Counter)
    for source, group in sorted(members, key=order):
        fold = min(range(fold_count), key=lambda f: (loads[source][f], f))
        loads[source][fold] += len(members[source, group])
        folds[members[source, group]] = fold
    return folds

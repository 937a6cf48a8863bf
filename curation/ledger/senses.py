"""The layer of a set of sense rules, `senses-HASH`: in which sense every word with a rule stands in every row that holds it.

Invariant: its rows are the postings of those words, in the order and of the forms that the postings have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.ledger.schema import Layer
from curation.ledger.store import Ledger
from curation.lexicon.senses import SenseRule, hash_senses
from curation.signals.senses import SENSES_VERSION

SENSES_SCHEMA = pa.schema(
    [
        pa.field("term", pa.dictionary(pa.int32(), pa.string()), nullable=False),
        pa.field("row", pa.int64(), nullable=False),
        pa.field("form", pa.int8(), nullable=False),
        pa.field("counted", pa.int32(), nullable=False),  # occurrences that a context counts
        pa.field("innocent", pa.int32(), nullable=False),  # that one excuses
        pa.field("other", pa.int32(), nullable=False),  # of which no context holds
    ]
)

Floats = npt.NDArray[np.float64]


def name_senses_layer(senses: Sequence[SenseRule]) -> Layer:
    """Named by what the rules tell apart and by the way it is measured."""
    return f"senses-{hashlib.sha256(f'{SENSES_VERSION} {hash_senses(senses)}'.encode()).hexdigest()[:16]}"


def read_senses(ledger: Ledger, slice_id: str, senses: Sequence[SenseRule]) -> pa.Table | None:
    """SENSES_SCHEMA; None where these rules were not measured in the slice, or there are none."""
    if not senses or not ledger.is_committed(name_senses_layer(senses), slice_id):
        return None
    return ledger.read_part(name_senses_layer(senses), slice_id)


def select_postings(postings: pa.Table, senses: Sequence[SenseRule]) -> pa.Table:
    """The postings of the words with a rule, in their order."""
    words = postings["word"].combine_chunks()
    wanted = pa.array(sorted(rule.term for rule in senses), pa.string())
    has_rule = pc.is_in(words.dictionary.cast(pa.string()), value_set=wanted).to_numpy(zero_copy_only=False)
    return postings.filter(pa.array(has_rule[words.indices.to_numpy()]) if len(words) else pa.array([], pa.bool_()))


def bound_unmeasured(rule: SenseRule, elsewhere: float | None) -> tuple[float, float]:
    """The least and the most that the word may score in a row that holds it, before anybody looked; minus infinity: no hit.

    `elsewhere`: its score where no context holds; None: it is not blocked there.
    """
    other = -np.inf if elsewhere is None else elsewhere
    return (-np.inf if rule.innocent_if else other), (np.inf if rule.counts_if else other)


def score_measured(elsewhere: float | None, counted: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> Floats:
    """What the word scores in rows with so many occurrences that count, and of which no context holds."""
    remaining = np.where((other > 0) & (elsewhere is not None), -np.inf if elsewhere is None else elsewhere, -np.inf)
    return np.where(counted > 0, np.inf, remaining)

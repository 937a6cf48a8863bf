"""What a change of vocabulary does before it is saved: documents and tokens in and out, what is not known yet, some to read.

Certain moves hold whatever senses that were not measured turn out to be; a re-run moves these and some of the undecided ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from curation.chance import draw_row_keys
from curation.compare import MOVES
from curation.decide import REASONS
from curation.index.decided import Decided
from curation.index.signal_index import RowAddress, SignalIndex
from curation.lexicon.vocabulary import VocabularyVersion
from curation.vocabulary_audit.version_diff import VocabularyDiff, diff_versions

DEFAULT_EXAMPLES = 20


@dataclass(frozen=True)
class Example:
    """One document that moves, and the words with another ruling that its text holds."""

    address: RowAddress
    move: str
    words: list[str]


@dataclass(frozen=True)
class Impact:
    """`moves`: documents and tokens by the names of `curation.compare.MOVES`. `uncertain`: those that wait for senses to be
    measured; `undecided`: all without a decision afterwards. `needs_senses`: the new version tells words apart that nobody measured
    in this run. `examples` are a sample of all that move, drawn with `seed`."""

    diff: VocabularyDiff
    moves: dict[str, tuple[int, int]]
    uncertain: tuple[int, int]
    undecided: tuple[int, int]
    needs_senses: bool
    seed: int
    examples: list[Example]


def decide_vocabulary(decided: Decided, version: VocabularyVersion) -> Decided:
    """The same decision set under another vocabulary."""
    return decided.index.decide(replace(decided.request, vocabulary=version))


def preview_impact(
    decided: Decided, version: VocabularyVersion, *, seed: int = 0, examples: int = DEFAULT_EXAMPLES
) -> Impact:
    """The decisions of `decided` beside those that the new version would give; nothing is saved and no text is read."""
    after = decide_vocabulary(decided, version)
    diff = diff_versions(decided.request.vocabulary, version)
    flips = decided.find_flips(after)
    waiting = 1 << REASONS.index("vocabulary")
    return Impact(
        diff=diff,
        moves=decided.count_flips(after),
        uncertain=_total(after, [outcome.unknown & waiting != 0 for outcome in after.table.list_outcomes()]),
        undecided=_total(after, [outcome.kept == -1 for outcome in after.table.list_outcomes()]),
        needs_senses=bool(version.senses) and not after.request.has_senses,
        seed=seed,
        examples=_draw_examples(decided, flips, diff, seed, examples),
    )


def _total(decided: Decided, is_wanted: list[bool]) -> tuple[int, int]:
    flags = np.array(is_wanted, bool)
    return int(decided.documents_by_code[flags].sum()), int(decided.tokens_by_code[flags].sum())


def _draw_examples(
    decided: Decided, flips: dict[str, npt.NDArray[np.int64]], diff: VocabularyDiff, seed: int, count: int
) -> list[Example]:
    index, form = decided.index, decided.request.bound.profile.form
    positions = np.concatenate([flips[move] for move in MOVES])
    moves = np.repeat(np.arange(len(MOVES)), [len(flips[move]) for move in MOVES])
    chosen = np.argsort(draw_position_keys(index, positions, seed, "impact"), kind="stable")[:count]
    chosen = chosen[np.argsort(positions[chosen], kind="stable")]
    changed = {word: index.find_term(word, form) for word in diff.words}
    names = list(MOVES)
    return [
        Example(address, names[move], [word for word, rows in changed.items() if holds(rows, address.position)])
        for address, move in zip(index.describe_rows(positions[chosen]), moves[chosen].tolist(), strict=True)
    ]


def holds(ascending: npt.NDArray[np.int64], position: int) -> bool:
    """Whether a position is among ascending ones."""
    place = int(np.searchsorted(ascending, position))
    return place < len(ascending) and int(ascending[place]) == position


def draw_position_keys(
    index: SignalIndex, positions: npt.NDArray[np.int64], seed: int, purpose: str
) -> npt.NDArray[np.uint64]:
    """A uniform key for every position: the smallest ones are a sample that is the same for anybody who draws it."""
    shards, rows = index.locate(positions)
    keys = np.zeros(len(positions), np.uint64)
    for shard in index.description.shards:
        is_here = shards == shard.index
        keys[is_here] = draw_row_keys(shard.sha256, rows[is_here], seed, purpose)
    return keys

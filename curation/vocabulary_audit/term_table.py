"""What every word of a vocabulary costs a decision set: documents that hold it, that it alone loses, that it helps to lose.

Exact over all rows of an index. "Alone" is asked of the decision itself: would the vocabulary stage pass without that word?
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from curation.decide import EXCLUDE, KEEP, PASS, REASONS, UNKNOWN, VocabularyHits, judge_stage
from curation.errors import ProfileError
from curation.index.decided import Decided
from curation.index.senses import find_sensed_rows
from curation.index.signal_index import Chunk, SignalIndex
from curation.index.threads import map_threads

_BIT = 1 << REASONS.index("vocabulary")

# Above the threshold by less than this a word is at most twice as telling as one that is let through.
HARMLESS_MARGIN = 1.0

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Losses:
    """Documents and tokens that the vocabulary stage excludes, by what would bring them back.

    `with_others`: other stages or rulings exclude them as well. The rest only vocabulary excludes: `one_word`: allowing one word
    keeps them; `maybe_one_word`: it would leave them undecided, because a signal was not measured; `several_words`: no one word is
    enough. `excluded` is the sum of the four.
    """

    excluded: tuple[int, int]
    with_others: tuple[int, int]
    one_word: tuple[int, int]
    maybe_one_word: tuple[int, int]
    several_words: tuple[int, int]


@dataclass(frozen=True)
class TermColumns:
    """One number a word of `TermTable.words`. `documents` hold the word; in `hit_documents` it counts. `sole_documents` (and their
    tokens): allowing this word alone would keep them; `maybe_sole_documents`: would leave them undecided; `several_documents`: only
    vocabulary excludes them, it counts there, and no one word is enough. `kept_documents` are kept and hold it."""

    documents: Counts
    hit_documents: Counts
    sole_documents: Counts
    sole_tokens: Counts
    maybe_sole_documents: Counts
    several_documents: Counts
    several_tokens: Counts
    kept_documents: Counts
    kept_tokens: Counts


@dataclass(frozen=True)
class TermTable:
    """`words` with their `scores` in the run's table (NaN for a word that it does not have), the `rulings` of the version ("" for
    none, else allow, block or sense) and `columns`; whole decision set: `losses`, kept documents and tokens."""

    words: list[str]
    scores: npt.NDArray[np.float64]
    rulings: list[str]
    columns: TermColumns
    losses: Losses
    kept_documents: int
    kept_tokens: int
    min_score: float

    def find_harmless(self) -> npt.NDArray[np.bool_]:
        """Words that look harmless: barely over the threshold, not ruled on, and alone to blame for documents."""
        is_low = self.scores < self.min_score + HARMLESS_MARGIN
        is_free = np.array([not ruling for ruling in self.rulings], bool)
        return np.asarray(is_low & is_free & (self.columns.sole_documents > 0), np.bool_)


def audit_terms(decided: Decided) -> TermTable:
    """The table of a decision set; remembered by its index. Raises ProfileError where the profile has no vocabulary stage."""
    if "vocabulary" not in decided.request.bound.stages:
        raise ProfileError(
            f"Profile {decided.request.bound.profile.name} has no vocabulary stage, so no word excludes anything.",
            hint="Choose a profile with one.",
        )
    return decided.index.cache.get(
        ("term table", decided.request.key), lambda: _Audit(decided).run(), lambda table: 300 * len(table.words)
    )


@dataclass(frozen=True)
class _Pairs:
    """A word in a row: `ids` into the table's words; the least and most that it scores there (minus infinity: no hit)."""

    positions: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    least: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]

    def select(self, flags: npt.NDArray[np.bool_]) -> _Pairs:
        return _Pairs(self.positions[flags], self.ids[flags], self.least[flags], self.most[flags])

    def cut(self, start: int, stop: int) -> _Pairs:
        first, end = np.searchsorted(self.positions, [start, stop])
        return _Pairs(*(getattr(self, field.name)[first:end] for field in fields(self)))


def _join(parts: list[_Pairs]) -> _Pairs:
    return _Pairs(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(_Pairs)))


class _Audit:
    def __init__(self, decided: Decided) -> None:
        self._decided, self._index = decided, decided.index
        request = decided.request
        stage = request.bound.profile.vocabulary
        assert stage is not None
        self._request, self._form, self._min_score = request, request.bound.profile.form, stage.min_score
        self._samples = stage.sampling is not None
        self._stage_alone = request.bound.isolate("vocabulary")
        vocabulary, index = request.vocabulary, self._index
        self._ruled = sorted(vocabulary.ruled_words)
        rank_count = int(np.searchsorted(-index.scores, -stage.min_score, side="right"))
        ruled_ranks = {index.places.rank(word) for word in self._ruled if index.places.has_rank(word)}
        free = [rank for rank in range(rank_count) if rank not in ruled_ranks]
        self._rank_count = rank_count
        self._words = [*self._ruled, *(index.words[rank] for rank in free)]
        self._id_of_rank = np.full(rank_count, -1, np.int64)
        self._id_of_rank[free] = np.arange(len(self._ruled), len(self._words))
        self._ruled_pairs = self._pair_ruled()
        is_unmeasured = bool(vocabulary.senses) and not request.has_senses
        self._counts = index.count_terms(request)
        self._possible = index.count_terms(request, is_possible=True) if is_unmeasured else None
        outcomes = decided.table.list_outcomes()
        self._is_alone = np.array([o.kept == EXCLUDE and o.failed == _BIT for o in outcomes], bool)
        self._is_complete = np.array([o.missing == 0 for o in outcomes], bool)
        self._is_kept = np.array([o.kept == KEEP for o in outcomes], bool)

    def run(self) -> TermTable:
        blocks = map_threads(self._count_block, range(self._index.places.block_count))
        size = len(self._words)
        columns = TermColumns(
            *(
                sum((counted[field.name] for counted, _ in blocks), np.zeros(size, np.int64))
                for field in fields(TermColumns)
            )
        )
        groups = sum((grouped for _, grouped in blocks), np.zeros((3, 2), np.int64))
        is_excluded = [o.kept == EXCLUDE and o.failed & _BIT != 0 for o in self._decided.table.list_outcomes()]
        excluded = self._total(np.array(is_excluded, bool))
        alone = self._total(self._is_alone)
        kept = self._total(self._is_kept)
        vocabulary = self._request.vocabulary
        rules = {rule.term for rule in vocabulary.senses}
        rulings = [
            "sense" if word in rules else "allow" if word in vocabulary.allow else "block" for word in self._ruled
        ]
        return TermTable(
            self._words,
            np.array([_find_score(self._index, word) for word in self._words], np.float64),
            [*rulings, *[""] * (size - len(rulings))],
            columns,
            Losses(
                excluded,
                (excluded[0] - alone[0], excluded[1] - alone[1]),
                *((int(documents), int(tokens)) for documents, tokens in groups),
            ),
            *kept,
            self._min_score,
        )

    def _total(self, is_wanted: npt.NDArray[np.bool_]) -> tuple[int, int]:
        return (
            int(self._decided.documents_by_code[is_wanted].sum()),
            int(self._decided.tokens_by_code[is_wanted].sum()),
        )

    def _pair_ruled(self) -> _Pairs:
        """Words with a ruling, by position: they are known by name and not by rank."""
        vocabulary, index = self._request.vocabulary, self._index
        sensed = {rows.term: rows for rows in find_sensed_rows(index, self._request)}
        nothing = np.zeros(0, np.int64)
        parts = [_Pairs(nothing, nothing, np.zeros(0), np.zeros(0))]
        for number, word in enumerate(self._ruled):
            if word in sensed:
                rows = sensed[word]
                positions, least, most = rows.positions, rows.least, rows.most
            else:
                positions = index.find_term(word, self._form)
                least = most = np.full(len(positions), math.inf if word in vocabulary.block else -math.inf)
            parts.append(_Pairs(positions, np.full(len(positions), number), least, most))
        joined = _join(parts)
        order = np.argsort(joined.positions, kind="stable")
        return _Pairs(*(getattr(joined, field.name)[order] for field in fields(joined)))

    def _count_block(self, number: int) -> tuple[dict[str, Counts], Counts]:
        index, size = self._index, len(self._words)
        start = index.places.first_position(number)
        stop = start + index.places.read_block(number).row_count
        rows, ranks = index.places.pair_words(number, self._rank_count, self._form)
        ids = self._id_of_rank[ranks]
        scores = index.scores[ranks]
        plain = _Pairs(rows.astype(np.int64) + start, ids, scores, scores).select(ids >= 0)
        pairs = _join([plain, self._ruled_pairs.cut(start, stop)])
        codes = self._decided.codes[pairs.positions]
        tokens = index.columns["tokens"][pairs.positions].astype(np.float64)
        is_kept, is_hit = self._is_kept[codes], ~np.isneginf(pairs.least)
        counted: dict[str, Counts] = {
            "documents": np.bincount(pairs.ids, minlength=size),
            "hit_documents": np.bincount(pairs.ids[is_hit], minlength=size),
            "kept_documents": np.bincount(pairs.ids[is_kept], minlength=size),
            "kept_tokens": np.bincount(pairs.ids[is_kept], weights=tokens[is_kept], minlength=size).astype(np.int64),
        }
        is_lost = is_hit & self._is_alone[codes]
        lost, weights = pairs.select(is_lost), tokens[is_lost]
        verdicts = self._judge_without(lost, pairs.select(~np.isneginf(pairs.most)), start, stop)
        is_complete = self._is_complete[codes[is_lost]]
        is_sole = (verdicts == PASS) & is_complete
        is_maybe = ((verdicts == PASS) & ~is_complete) | (verdicts == UNKNOWN)
        # A row is known by the best that any of its words can do.
        best = np.zeros(stop - start, np.int8)
        np.maximum.at(best, lost.positions - start, np.where(is_sole, 3, np.where(is_maybe, 2, 1)).astype(np.int8))
        is_several = best[lost.positions - start] == 1
        for name, flags in (("sole", is_sole), ("several", is_several)):
            chosen = lost.ids[flags]
            counted[f"{name}_documents"] = np.bincount(chosen, minlength=size)
            counted[f"{name}_tokens"] = np.bincount(chosen, weights=weights[flags], minlength=size).astype(np.int64)
        counted["maybe_sole_documents"] = np.bincount(lost.ids[is_maybe], minlength=size)
        row_tokens = index.columns["tokens"][start:stop]
        groups = [(int((best == kind).sum()), int(row_tokens[best == kind].sum())) for kind in (3, 2, 1)]
        return counted, np.array(groups, np.int64)

    def _judge_without(self, lost: _Pairs, hits: _Pairs, start: int, stop: int) -> npt.NDArray[np.int8]:
        """The stage's verdict on the row of every pair, were its word not there. `hits`: all that count, or may, in these rows."""
        if not len(lost.ids):
            return np.zeros(0, np.int8)
        order = np.argsort(lost.positions, kind="stable")
        positions = lost.positions[order]
        tops = np.full(len(positions), -math.inf)
        possible_tops = tops
        if self._samples:
            tops = _find_top_without(lost.least, lost.positions, hits.least, hits.positions)[order]
            possible_tops = _find_top_without(lost.most, lost.positions, hits.most, hits.positions)[order]
        counts = self._counts[positions].astype(np.int64) - 1
        found = VocabularyHits(counts, tops)
        if self._possible is not None:
            found = replace(
                found,
                possible_counts=self._possible[positions].astype(np.int64) - 1,
                possible_scores=possible_tops,
            )
        [shard], [first_row] = self._index.locate(np.array([start]))
        chunk = Chunk(start, stop, int(shard), int(first_row), has_fasttext=False)
        signals = self._index.read_signals(chunk, positions, self._stage_alone, found)
        verdicts = np.empty(len(order), np.int8)
        verdicts[order] = judge_stage("vocabulary", signals, self._stage_alone)
        return verdicts


def _find_top_without(
    scores: npt.NDArray[np.float64],
    positions: npt.NDArray[np.int64],
    all_scores: npt.NDArray[np.float64],
    all_positions: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """For every pair the highest score of its row without one word of that pair's score: all but it, or an equal one."""
    order = np.lexsort((-all_scores, all_positions))
    sorted_positions, sorted_scores = all_positions[order], all_scores[order]
    firsts = np.searchsorted(sorted_positions, positions)
    highest = sorted_scores[firsts]
    seconds = np.minimum(firsts + 1, len(sorted_positions) - 1)
    has_second = (firsts + 1 < len(sorted_positions)) & (sorted_positions[seconds] == positions)
    second = np.where(has_second, sorted_scores[seconds], -math.inf)
    return np.where(scores == highest, second, highest)


def _find_score(index: SignalIndex, word: str) -> float:
    return index.score_word(word) if index.places.has_rank(word) else math.nan

"""One document of a decision set: its text, everything that was measured, why it was decided so, and how far from otherwise.

Signals come from the ledger, as stored; nothing is measured again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curation.artifacts.artifact_set import resolve_artifacts
from curation.decide import EXCLUDE, REASONS, Decisions, Signals
from curation.errors import LedgerError
from curation.explain import Explanation, explain_measured
from curation.index.cache import BoundedCache
from curation.index.decided import Decided
from curation.index.signal_index import RowAddress, SignalIndex
from curation.index.texts import TextReader
from curation.ledger import schema
from curation.ledger.encoder import read_encoder
from curation.ledger.signals import read_signals
from curation.ledger.store import SliceRef
from curation.lexicon.ages import build_age_table, read_norms, read_zipf_frequencies
from curation.lexicon.vocabulary import WordScores
from curation.normalize import normalize
from curation.profile import BoundProfile
from curation.request import read_request
from curation.run_folder import RunFolder
from curation.sense_layer import measure_text_senses
from curation.signals.bands import BANDS
from curation.signals.tokens import KnownWords

_LAYER_CACHE_BYTES = 100_000_000


@dataclass(frozen=True)
class Distance:
    """How far a value is from its threshold: `margin` >= 0 passes, below 0 fails. Of a stage that is excused by another of its
    thresholds one may fail and the stage pass. `value` and `margin` are None where there is none."""

    stage: str
    name: str
    value: float | None
    threshold: float
    margin: float | None


@dataclass(frozen=True)
class Document:
    """`text` and `explanation` are None exactly where `error` says why the row could not be read. `signals`: the row of `core`, and
    of `encoder` where there is one, as docs/ledger.md names their columns. `sole_cause`: the only reason that is known to exclude
    it; `is_sole_certain`: every stage was measured. `tokens`, of which `is_estimated` says whether the source gave them."""

    address: RowAddress
    text: str | None
    error: str | None
    tokens: int
    is_estimated: bool
    explanation: Explanation | None
    distances: list[Distance]
    sole_cause: str | None
    is_sole_certain: bool
    signals: dict[str, Any]


class DocumentReader:
    """Reads documents of one run through its index. `words` are the ages of acquisition that the run measured with; None: they
    are loaded when first needed. Threads may share it."""

    def __init__(self, folder: RunFolder, index: SignalIndex, *, words: KnownWords | None = None) -> None:
        self._folder = folder
        self._index = index
        self._texts = TextReader(folder)
        self._layers = BoundedCache(_LAYER_CACHE_BYTES)
        self._given_words = words

    @cached_property
    def words(self) -> KnownWords:
        return self._given_words or load_known_words(self._folder)

    def read(self, decided: Decided, position: int) -> Document:
        """Raises SourceError when the shard is gone or has changed, LedgerError when the ledger has."""
        [address] = self._index.describe_rows([position])
        ref = self._find_slice(position)
        core, encoder = self._read_layers(ref, address.row)
        text, error = self._texts.read(ref, address.row)
        decisions = decided.decisions_at(np.array([position]))
        signals: dict[str, Any] = {
            **core.to_pylist()[0],
            "encoder": encoder.drop_columns(["row"]).to_pylist()[0] if encoder is not None else None,
        }
        explanation, distances = None, []
        if text is not None:
            bound = decided.request.bound
            scores = self._score_words(decided, position)
            postings = _make_postings({*scores, *(rule.term for rule in scores.senses)}, address.row)
            senses = None
            if decided.request.has_senses:
                form = text if bound.profile.form == "raw" else normalize(text).text
                senses = measure_text_senses(postings, form, address.row, scores.senses)
            read = read_signals(ref, core, postings, encoder, bound, scores, senses=senses)
            explanation = explain_measured(text, read, encoder, decisions, self.words, bound, scores)
            distances = measure_distances(read.signals, bound)
        cause, is_certain = _find_sole_cause(decisions)
        return Document(
            address,
            text,
            error,
            int(self._index.columns["tokens"][position]),
            self._index.is_estimated(position),
            explanation,
            distances,
            cause,
            is_certain,
            signals,
        )

    def _find_slice(self, position: int) -> SliceRef:
        described = self._index.find_slice(position)
        manifest = self._layers.get(
            ("shard", described.shard), lambda: self._folder.ledger.read_shard(described.shard), lambda _: 10_000
        )
        if manifest is None:
            raise LedgerError(
                f"{self._folder.folder} has lost a shard's record.",
                hint="Run the same command again, then build the index.",
            )
        return SliceRef(manifest, next(piece for piece in manifest.slices if piece.index == described.piece))

    def _read_layers(self, ref: SliceRef, row: int) -> tuple[pa.Table, pa.Table | None]:
        def read() -> tuple[pa.Table, pa.Table | None]:
            return self._folder.ledger.read_part("core", ref.id), read_encoder(self._folder.ledger, ref.id)

        core, encoder = self._layers.get(
            ref.id, read, lambda layers: sum(layer.nbytes for layer in layers if layer is not None)
        )
        place = row - ref.piece.first_row
        return core.slice(place, 1), encoder.slice(place, 1) if encoder is not None else None

    def _score_words(self, decided: Decided, position: int) -> WordScores:
        """The blocked words of one row with their scores, and the sense rules of words that it holds."""
        index, vocabulary, stage = self._index, decided.request.vocabulary, decided.request.bound.profile.vocabulary
        wanted = index.plan_words(decided.request)
        if wanted is None or stage is None:
            return WordScores({})
        added = {word for word, _, _ in wanted.added}
        scores = {
            word: float("inf") if word in added else index.score_word(word)
            for word in index.places.list_words(position, wanted)
        }
        senses = tuple(
            rule
            for rule in vocabulary.senses
            if position in index.find_term(rule.term, decided.request.bound.profile.form)
        )
        for rule in senses:
            elsewhere = vocabulary.score_elsewhere(rule.term, index.find_score, stage.min_score)
            scores |= {} if elsewhere is None else {rule.term: elsewhere}
        return WordScores(scores, senses)


def load_known_words(folder: RunFolder) -> KnownWords:
    """The ages of acquisition that a run measured with; takes seconds. Raises LedgerError when this machine has others."""
    request = read_request(folder.folder)
    artifacts = resolve_artifacts(request.artifacts, aoa=Path(request.aoa) if request.aoa else None)
    found, wanted = artifacts.require("aoa"), folder.ledger.read_plan().recipe.artifacts["aoa"]
    if found.sha256 != wanted:
        raise LedgerError(
            f"{folder.folder} was measured with other ages than this machine has now.",
            hint="Put the same file back (its hash is in ledger/plan.json) or measure again.",
        )
    return KnownWords(build_age_table(read_norms(found.path), read_zipf_frequencies()))


def _make_postings(words: Collection[str], row: int) -> pa.Table:
    """Postings of one row: words that it holds in the form that was asked for."""
    ordered = sorted(words)
    return pa.table(
        [
            pa.array(ordered, pa.string()).dictionary_encode(),
            pa.array([row] * len(ordered), pa.int64()),
            pa.array([1] * len(ordered), pa.int32()),
            pa.array([schema.FORM_BOTH] * len(ordered), pa.int8()),
        ],
        schema=schema.POSTINGS_SCHEMA,
    )


def _find_sole_cause(decisions: Decisions) -> tuple[str | None, bool]:
    failed = int(decisions.failed[0])
    if int(decisions.kept[0]) != EXCLUDE or failed.bit_count() != 1:
        return None, False
    return REASONS[failed.bit_length() - 1], int(decisions.missing[0]) == 0


def measure_distances(signals: Signals, bound: BoundProfile) -> list[Distance]:
    """Every threshold of the profile with the row's value: one row of signals. The margin counts in the value's own unit."""
    profile = bound.profile
    distances: list[Distance] = []
    if "lexical" in bound.stages and profile.lexical is not None:
        for name, value, limit in (
            ("p95_aoa", signals.p95_aoa[0], profile.lexical.max_p95_aoa),
            ("oov_ratio", signals.oov_ratio[0], profile.lexical.max_oov_ratio),
        ):
            distances.append(_measure("lexical", name, float(value), limit, is_maximum=True))
    if "fasttext" in bound.stages and profile.fasttext is not None:
        stage = profile.fasttext
        for reading, minimum in (("document", stage.min_k5_document), ("window", stage.min_k5_window)):
            if minimum is not None:
                grades = signals.grades.get(reading)
                value = float(grades[0, 0]) if grades is not None else float("nan")
                distances.append(_measure("fasttext", f"{reading}_k5", value, float(np.float32(minimum))))
        if stage.top_band is not None:
            distances.append(_measure_lead("fasttext", stage.top_band, signals.grades.get(stage.top_band)))
    if "encoder" in bound.stages and profile.encoder is not None:
        grades = signals.encoder if signals.is_encoded[0] else None
        if profile.encoder.min_k5_window is not None:
            value = float(grades[0, 0]) if grades is not None else float("nan")
            distances.append(_measure("encoder", "window_k5", value, float(np.float32(profile.encoder.min_k5_window))))
        if profile.encoder.top_band is not None:
            distances.append(_measure_lead("encoder", profile.encoder.top_band, grades))
    if "notation" in bound.stages and profile.notation is not None:
        distances.append(_measure("notation", "rule_count", float(signals.rule_hits[0]), 0.0, is_maximum=True))
    if "vocabulary" in bound.stages and profile.vocabulary is not None:
        count, tokens = int(signals.vocabulary.term_counts[0]), int(signals.token_counts[0])
        words = profile.vocabulary
        distances.append(_measure("vocabulary", "term_count", float(count), float(words.max_terms), is_maximum=True))
        if words.max_terms_per_1000 is not None:
            rate = count * 1000 / tokens if tokens else float("nan")
            distances.append(_measure("vocabulary", "terms_per_1000", rate, words.max_terms_per_1000, is_maximum=True))
    return distances


def _measure(stage: str, name: str, value: float, threshold: float, *, is_maximum: bool = False) -> Distance:
    if np.isnan(value):
        return Distance(stage, name, None, threshold, None)
    return Distance(stage, name, value, threshold, threshold - value if is_maximum else value - threshold)


def _measure_lead(stage: str, reading: str, grades: Any) -> Distance:
    """By how much K5 leads the likeliest other band; K5 first among equals."""
    if grades is None or np.isnan(grades[0, 0]):
        return Distance(stage, f"{reading}_lead", None, 0.0, None)
    lead = float(grades[0, 0]) - float(grades[0, 1 : len(BANDS)].max())
    return Distance(stage, f"{reading}_lead", lead, 0.0, lead)

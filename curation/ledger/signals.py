"""From committed layers to what `decide` reads: the columns that a profile names, in the form it names.

Vocabulary is always answered from postings, so that any vocabulary, not only the recipe's, gives exact decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.decide import Decisions, Signals, VocabularyHits, decide
from curation.errors import LedgerError
from curation.ledger import schema
from curation.ledger.encoder import read_encoder
from curation.ledger.licences import find_barred, require_licences
from curation.ledger.senses import bound_unmeasured, read_senses, score_measured, select_postings
from curation.ledger.store import Ledger, SliceRef
from curation.lexicon.vocabulary import read_senses_of
from curation.overrides import Overrides
from curation.profile import BoundProfile
from curation.source_rules import SourceRule


@dataclass(frozen=True)
class SliceSignals:
    """One slice under one profile: `core` as stored, what `decide` reads, and the blocked terms of each row (sorted lists; those
    that are told apart by sense only where they are known to count)."""

    ref: SliceRef
    core: pa.Table
    signals: Signals
    blocked_terms: pa.ListArray


@dataclass(frozen=True)
class DecidedSlice:
    """One slice with its decisions."""

    signals: SliceSignals
    decisions: Decisions

    @property
    def ref(self) -> SliceRef:
        return self.signals.ref


def decide_ledger(
    ledger: Ledger,
    bound: BoundProfile,
    word_scores: dict[str, float],
    overrides: Overrides | None = None,
    source_rules: Sequence[SourceRule] = (),
) -> Iterator[DecidedSlice]:
    """Every slice of a measured run, decided, in order. `word_scores`: the blocked words of the vocabulary version; where its senses
    were not measured, rows that turn on them are undecided.

    Raises LedgerError when a slice has not been measured, or a rule asks for licences that the ledger does not know.
    """
    require_licences(ledger, source_rules)
    for ref in ledger.slices():
        core = ledger.read_part("core", ref.id)
        postings = ledger.read_part("postings", ref.id) if bound.profile.vocabulary is not None else None
        encoder = read_encoder(ledger, ref.id) if "encoder" in bound.stages else None
        is_barred = find_barred(ledger, ref, core, source_rules)
        senses = read_senses(ledger, ref.id, read_senses_of(word_scores)) if postings is not None else None
        yield decide_slice(ref, core, postings, encoder, bound, word_scores, overrides, is_barred, senses=senses)


def decide_slice(
    ref: SliceRef,
    core: pa.Table,
    postings: pa.Table | None,
    encoder: pa.Table | None,
    bound: BoundProfile,
    word_scores: dict[str, float],
    overrides: Overrides | None,
    is_barred: npt.NDArray[np.bool_] | None = None,
    *,
    senses: pa.Table | None = None,
) -> DecidedSlice:
    """Decide one slice from its layers. `postings` may be None only where the profile has no vocabulary stage;
    `is_barred`: the rows that a source rule excludes; `senses`: the layer of the sense rules, None where not measured."""
    signals = read_signals(ref, core, postings, encoder, bound, word_scores, senses=senses)
    rulings = None
    if overrides is not None:
        rulings = overrides.of_rows(ref.shard.sha256, ref.shard.name, ref.piece.first_row, ref.piece.row_count)
    return DecidedSlice(signals, decide(signals.signals, bound, rulings, is_barred))


def read_signals(
    ref: SliceRef,
    core: pa.Table,
    postings: pa.Table | None,
    encoder: pa.Table | None,
    bound: BoundProfile,
    word_scores: dict[str, float],
    *,
    senses: pa.Table | None = None,
) -> SliceSignals:
    """The signals of one slice that the profile reads."""
    profile = bound.profile
    rows = core["row"].to_numpy()
    lexical = _choose_form(core, "lexical", profile.form)
    terms, hits = _find_blocked(rows, postings, profile.form, word_scores, senses)
    grades, has_grades = _read_grades(core)
    n = len(rows)
    reading = encoder[profile.encoder.reads] if encoder is not None and profile.encoder is not None else None
    return SliceSignals(
        ref,
        core,
        Signals(
            shard_sha256=ref.shard.sha256,
            rows=rows,
            has_error=pc.is_valid(core["error"]).to_numpy(),
            p95_aoa=_to_floats(lexical.field("p95_aoa")),
            oov_ratio=_to_floats(lexical.field("oov_ratio")),
            token_counts=lexical.field("token_count").fill_null(0).to_numpy(zero_copy_only=False),
            grades=grades if has_grades else {},
            encoder=_to_grades(reading.combine_chunks())
            if reading is not None
            else np.full((n, 4), np.nan, np.float32),
            is_encoded=pc.is_valid(reading).to_numpy() if reading is not None else np.zeros(n, bool),
            rule_hits=_count_rule_hits(core, bound),
            vocabulary=hits,
        ),
        terms,
    )


def _choose_form(core: pa.Table, signal: str, form: str) -> pa.StructArray:
    """A signal of the raw or the normalised text; the raw one stands for both where they do not differ."""
    raw = core[f"{signal}_raw"].combine_chunks()
    if form == "raw":
        return raw
    normalized = core[f"{signal}_normalized"].combine_chunks()
    return pc.if_else(pc.is_valid(normalized), normalized, raw)


def read_notation_rules(core: pa.Table, form: str, rules: str) -> pa.ListArray:
    """The names of the rules that hit each row; null where the row has an error."""
    hits = _choose_form(core, "notation", form).flatten()[["published", "recommended"].index(rules)]
    names = hits.flatten().field("rule")
    lengths = pc.list_value_length(hits)
    offsets = np.concatenate([[0], np.cumsum(lengths.fill_null(0).to_numpy(zero_copy_only=False))])
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32(), mask=np.append(pc.is_null(lengths).to_numpy(zero_copy_only=False), False)), names
    )


def _count_rule_hits(core: pa.Table, bound: BoundProfile) -> npt.NDArray[np.int64]:
    stage = bound.profile.notation
    if stage is None:
        return np.zeros(core.num_rows, np.int64)
    names = read_notation_rules(core, bound.profile.form, stage.rules)
    counts = np.zeros(core.num_rows, np.int64)
    if len(names.values):
        counted = ~pc.is_in(names.values, pa.array(list(stage.ignore), pa.string())).to_numpy(zero_copy_only=False)
        np.add.at(counts, pc.list_parent_indices(names).to_numpy(), counted)
    return counts


def _read_grades(core: pa.Table) -> tuple[dict[str, npt.NDArray[np.float32]], bool]:
    column = core["fasttext"].combine_chunks()
    has_text = pc.is_null(core["error"]).to_numpy()
    is_measured = pc.is_valid(column).to_numpy(zero_copy_only=False)
    grades = {name: _to_grades(column.field(name)) for name in ("published", "document", "window")}
    return grades, bool((is_measured | ~has_text).all())


def _to_grades(column: pa.FixedSizeListArray) -> npt.NDArray[np.float32]:
    """(n, 4); NaN where null."""
    stored = column.values.to_numpy(zero_copy_only=False).reshape(-1, 4)[column.offset : column.offset + len(column)]
    values: npt.NDArray[np.float32] = stored.astype(np.float32, copy=True)
    values[pc.is_null(column).to_numpy(zero_copy_only=False)] = np.nan
    return values


def _to_floats(column: pa.DoubleArray) -> npt.NDArray[np.float64]:
    return column.fill_null(np.nan).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _find_blocked(
    rows: npt.NDArray[np.int64],
    postings: pa.Table | None,
    form: str,
    word_scores: dict[str, float],
    senses: pa.Table | None,
) -> tuple[pa.ListArray, VocabularyHits]:
    n = len(rows)
    if postings is None or postings.num_rows == 0:
        return pa.ListArray.from_arrays(np.zeros(n + 1, np.int32), pa.array([], pa.string())), VocabularyHits(
            np.zeros(n, np.int64), np.full(n, -np.inf)
        )
    words = postings["word"].combine_chunks()
    dictionary = words.dictionary.to_pylist()
    dictionary_scores = np.array([word_scores.get(word, -np.inf) for word in dictionary])
    word_ids = words.indices.to_numpy()
    least = dictionary_scores[word_ids]
    most = least
    if read_senses_of(word_scores):
        least, most = _bound_senses(postings, dictionary, word_ids, least, word_scores, senses)
    unwanted = schema.FORM_NORMALIZED if form == "raw" else schema.FORM_RAW
    is_read = postings["form"].to_numpy() != unwanted
    posting_rows = postings["row"].to_numpy()
    hit_ids, counts, max_scores = _gather_hits(rows, posting_rows, word_ids, least, is_read)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    terms = pa.ListArray.from_arrays(
        pa.array(offsets), pa.array([dictionary[i] for i in hit_ids.tolist()], pa.string())
    )
    if most is least or np.array_equal(least, most):
        return terms, VocabularyHits(counts, max_scores)
    _, possible_counts, possible_scores = _gather_hits(rows, posting_rows, word_ids, most, is_read)
    return terms, VocabularyHits(counts, max_scores, possible_counts, possible_scores)


def _gather_hits(
    rows: npt.NDArray[np.int64],
    posting_rows: npt.NDArray[np.int64],
    word_ids: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float64],
    is_read: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The word of every hit, by row; then hits and the highest score of every row."""
    is_hit = ~np.isneginf(scores) & is_read
    places, hit_ids = np.searchsorted(rows, posting_rows[is_hit]), word_ids[is_hit]
    order = np.argsort(places, kind="stable")  # postings are ordered by word, so terms stay sorted within a row
    max_scores = np.full(len(rows), -np.inf)
    np.maximum.at(max_scores, places, scores[is_hit])
    return hit_ids[order], np.bincount(places, minlength=len(rows)).astype(np.int64), max_scores


def _bound_senses(
    postings: pa.Table,
    dictionary: list[str],
    word_ids: npt.NDArray[np.int32],
    scores: npt.NDArray[np.float64],
    word_scores: dict[str, float],
    senses: pa.Table | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The least and the most that every posting may score: equal where senses were measured, or a word has no sense rule."""
    least, most = scores.copy(), scores.copy()
    rules = {rule.term: rule for rule in read_senses_of(word_scores)}
    if senses is not None:
        _require_aligned(select_postings(postings, tuple(rules.values())), senses)
        terms = np.array(senses["term"].to_pylist(), object)
        counted, other = senses["counted"].to_numpy(), senses["other"].to_numpy()
    for word_id, word in enumerate(dictionary):
        if (rule := rules.get(word)) is None:
            continue
        is_word, elsewhere = word_ids == word_id, word_scores.get(word)
        if senses is None:
            least[is_word], most[is_word] = bound_unmeasured(rule, elsewhere)
        else:
            is_term = terms == word
            least[is_word] = most[is_word] = score_measured(elsewhere, counted[is_term], other[is_term])
    return least, most


def _require_aligned(chosen: pa.Table, senses: pa.Table) -> None:
    is_same = chosen.num_rows == senses.num_rows and all(
        chosen[name].to_pylist() == senses[column].to_pylist()
        for name, column in (("word", "term"), ("row", "row"), ("form", "form"))
    )
    if not is_same:
        raise LedgerError(
            "A layer of senses holds other rows than the postings of its words.",
            hint="Delete its commits and measure the senses again.",
        )

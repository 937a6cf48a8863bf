"""Answers about the words of a decision set: what each costs, where it stands, what another version would decide."""

from __future__ import annotations

import math
from dataclasses import asdict

from curation.index import Decided
from curation.index.senses import add_senses
from curation.lexicon.vocabulary import VocabularyVersion
from curation.stages import VocabularySampling
from curation.vocabulary_audit import (
    ConcordanceQuery,
    TermQuery,
    TermRow,
    audit_terms,
    decide_vocabulary,
    diff_versions,
    find_related,
    list_terms,
    preview_impact,
    preview_sampling,
)
from curation.vocabulary_audit.term_list import TermKey, describe_term
from curation.vocabulary_audit.version_diff import read_note
from primer.app.core.errors import Unprocessable
from primer.app.core.paging import decode_cursor, encode_cursor
from primer.app.documents.decisions import OpenDecisions
from primer.app.documents.schemas import MoveView
from primer.app.vocabularies.audit_schemas import (
    ConcordanceRequest,
    ConcordanceView,
    ExampleView,
    ImpactRequest,
    ImpactView,
    LineView,
    LossesView,
    RelatedView,
    SamplingRequest,
    SamplingView,
    ScoreBandView,
    TermDetail,
    TermsPage,
    TermsRequest,
    TotalView,
    WordCountsView,
    WordView,
)
from primer.app.vocabularies.schemas import describe_change
from primer.app.vocabularies.subjects import list_words, map_subjects
from primer.app.vocabularies.word_counts import read_counts_of_run

_QUERY_FIELDS = {
    "search", "ruling", "min_score", "max_score", "looks_harmless", "has_sole", "has_absent", "sort", "is_descending",
    "limit",
}  # fmt: skip


def list_words_of(found: OpenDecisions, body: TermsRequest) -> TermsPage:
    """A page of words with what they cost. Raises ProfileError where the profile has no vocabulary stage."""
    decided = found.opened.index.decide(found.request)
    table = audit_terms(decided)
    page = list_terms(
        table,
        TermQuery(**body.model_dump(include=_QUERY_FIELDS)),
        read_counts_of_run(found.opened.folder.folder),
        among=None if body.subject is None else list_words(body.subject),
        after=_read_key(body.cursor),
    )
    key = page.next_key
    losses = {name: _total(value) for name, value in asdict(table.losses).items()}
    return TermsPage(
        items=[_describe_term(row) for row in page.rows],
        # As text: JSON has no infinity.
        next=None if key is None else encode_cursor(repr(key.place), key.word),
        total=page.total,
        losses=LossesView(**losses),
        kept=TotalView(documents=table.kept_documents, tokens=table.kept_tokens),
        min_score=table.min_score,
        needs_senses=_needs_senses(decided),
    )


def read_term(found: OpenDecisions, word: str) -> TermDetail:
    """One word. Raises ProfileError where the profile has no vocabulary stage."""
    decided = found.opened.index.decide(found.request)
    # The decisions may have been made for an equal version with other notes.
    vocabulary, table = found.request.vocabulary, audit_terms(decided)
    figures = None
    if word in table.words:
        place = table.words.index(word)
        counts = read_counts_of_run(found.opened.folder.folder)
        figures = _describe_term(describe_term(table, place, counts, bool(table.find_harmless()[place])))
    return TermDetail(
        word=word,
        documents=len(decided.index.find_term(word, found.request.bound.profile.form)),
        subjects=list(map_subjects().get(word, ())),
        figures=figures,
        note=read_note(vocabulary, word),
        rule=next((rule for rule in vocabulary.senses if rule.term == word), None),
        related=[
            RelatedView(**{**asdict(form), **_describe_score(form.score)}) for form in find_related(decided, word)
        ],
    )


def read_concordance(found: OpenDecisions, word: str, body: ConcordanceRequest) -> ConcordanceView:
    """Lines in the order asked for. Raises SourceError where a shard is gone or has changed."""
    query = ConcordanceQuery(
        word,
        excluded_by="vocabulary" if body.is_sole else None,
        **body.model_dump(exclude={"decisions"}),
    )
    read = found.opened.concordances.read(found.opened.index.decide(found.request), query)
    lines = []
    for line in read.lines:
        facts = asdict(line)
        lines.append(LineView(**facts.pop("address"), **facts))
    return ConcordanceView(**{**asdict(read), "lines": lines})


def preview_version(found: OpenDecisions, version: VocabularyVersion, body: ImpactRequest) -> ImpactView:
    """What a version would decide otherwise; nothing is saved."""
    add_senses(found.opened.folder, found.opened.index, version.senses)
    before = found.opened.index.decide(found.request)
    impact = preview_impact(before, version, seed=body.seed, examples=body.examples)
    return ImpactView(
        moves={
            move: MoveView(documents=documents, tokens=tokens) for move, (documents, tokens) in impact.moves.items()
        },
        uncertain=_total(impact.uncertain),
        undecided=_total(impact.undecided),
        kept_before=_count_kept(before),
        kept_after=_count_kept(decide_vocabulary(before, version)),
        needs_senses=impact.needs_senses,
        seed=impact.seed,
        changes=[describe_change(change) for change in diff_versions(found.request.vocabulary, version).changes],
        examples=[
            ExampleView.model_validate({**asdict(example.address), "move": example.move, "words": example.words})
            for example in impact.examples
        ],
    )


def preview_draw(found: OpenDecisions, body: SamplingRequest) -> SamplingView:
    """What sampling by score would keep. Raises ProfileError where neither profile nor request samples."""
    sampling = None
    if body.halving is not None:
        sampling = VocabularySampling(halving=body.halving, seed=body.sampling_seed)
    preview = preview_sampling(found.opened.index.decide(found.request), sampling)
    bands = [
        ScoreBandView(**{**asdict(band), "low": _finite(band.low), "high": _finite(band.high)})
        for band in preview.bands
    ]
    return SamplingView(
        halving=preview.sampling.halving,
        seed=preview.sampling.seed,
        min_score=preview.min_score,
        passing=preview.passing,
        kept=_total(preview.kept),
        kept_when_blocking=_total(preview.kept_when_blocking),
        bands=bands,
    )


def _describe_term(row: TermRow) -> WordView:
    counts = None if row.counts is None else WordCountsView.model_validate(row.counts)
    subjects = list(map_subjects().get(row.word, ()))
    return WordView(**{**asdict(row), **_describe_score(row.score), "counts": counts, "subjects": subjects})


def _describe_score(score: float | None) -> dict[str, object]:
    return {"score": _finite(score), "is_never_in_k5": score == math.inf}


def _finite(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else number


def _total(pair: tuple[int, int]) -> TotalView:
    documents, tokens = pair
    return TotalView(documents=documents, tokens=tokens)


def _count_kept(decided: Decided) -> TotalView:
    return TotalView(documents=decided.funnel.documents["kept"], tokens=decided.funnel.tokens["kept"])


def _needs_senses(decided: Decided) -> bool:
    return bool(decided.request.vocabulary.senses) and not decided.request.has_senses


def _read_key(cursor: str | None) -> TermKey | None:
    key = decode_cursor(cursor)
    if key is None:
        return None
    try:
        place, word = key
        if not isinstance(place, str) or not isinstance(word, str):
            raise ValueError
        return TermKey(float(place), word)
    except ValueError:
        raise Unprocessable(
            "The cursor is not one of ours.", hint="Give `next` of the page before, unchanged."
        ) from None

"""The forms of a word that a ruling on it does not reach: its inflections, as far as documents of the run hold them."""

from __future__ import annotations

from dataclasses import dataclass

from curation.index.decided import Decided
from curation.vocabulary_audit.version_diff import name_ruling


@dataclass(frozen=True)
class RelatedForm:
    """`score`: in the run's table, None for a word that it does not have; `is_blocked`: it counts under this decision set where no
    sense rule says otherwise; `documents` hold it."""

    word: str
    score: float | None
    ruling: str | None
    is_blocked: bool
    documents: int


def list_forms(word: str) -> list[str]:
    """Every inflection of the words that `word` may be a form of, itself among them, in alphabetical order."""
    # Imported here: its tables take a third of a second to load.
    import lemminflect

    lemmas = {lemma for found in lemminflect.getAllLemmas(word).values() for lemma in found} | {word}
    forms = {form for lemma in lemmas for found in lemminflect.getAllInflections(lemma).values() for form in found}
    tokens = {form.lower() for form in forms | lemmas | {word}}
    return sorted(form for form in tokens if len(form) >= 2 and form.isascii() and form.isalpha())


def find_related(decided: Decided, word: str) -> list[RelatedForm]:
    """The other forms of a word that any document of the run holds, the most frequent first."""
    request, index = decided.request, decided.index
    stage, form = request.bound.profile.vocabulary, request.bound.profile.form
    found = []
    for other in list_forms(word):
        documents = len(index.find_term(other, form))
        if other == word or not documents:
            continue
        has_score = index.places.has_rank(other)
        elsewhere = None
        if stage is not None:
            elsewhere = request.vocabulary.score_elsewhere(other, index.find_score, stage.min_score)
        score = index.score_word(other) if has_score else None
        found.append(
            RelatedForm(other, score, name_ruling(request.vocabulary, other), elsewhere is not None, documents)
        )
    return sorted(found, key=lambda related: (-related.documents, related.word))

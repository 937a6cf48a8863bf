"""School subjects of words: those of the concepts in whose terms a word stands, by the newest bundled catalogue."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from curation.concepts.catalogue import open_catalogue
from curation.signals.tokens import list_tokens, to_token_stream


@lru_cache(maxsize=1)
def map_subjects() -> dict[str, tuple[str, ...]]:
    """By word, in alphabetical order. Most words of a vocabulary are in no term, and have no subject."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for concept in open_catalogue().concepts:
        phrases = (
            *concept.terms,
            *concept.verbs,
            *concept.exact,
            *(term for sense in concept.senses for term in sense.terms),
        )
        for phrase in phrases:
            for word in list_tokens(to_token_stream(phrase)):
                found[word.decode()].add(concept.subject)
    return {word: tuple(sorted(subjects)) for word, subjects in found.items()}


def list_words(subject: str) -> frozenset[str]:
    """The words of a subject."""
    return frozenset(word for word, subjects in map_subjects().items() if subject in subjects)

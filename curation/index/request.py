"""What a decision set is made of, and the key that equal ones share."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from curation.curate import DecisionSet
from curation.lexicon.senses import hash_senses
from curation.lexicon.vocabulary import PLAIN_VOCABULARY, VocabularyVersion
from curation.overrides import Overrides
from curation.profile import BoundProfile
from curation.source_rules import SourceRule


@dataclass(frozen=True)
class DecisionRequest:
    """A profile bound to the run's models, a vocabulary version over the run's table, rulings and source rules.

    Two requests whose overrides have one `sha256` and revision are taken for the same. `has_senses`: the index holds the senses
    that the vocabulary tells apart; the index itself says so when it decides.
    """

    bound: BoundProfile
    vocabulary: VocabularyVersion = PLAIN_VOCABULARY
    overrides: Overrides | None = None
    source_rules: tuple[SourceRule, ...] = ()
    has_senses: bool = False

    @classmethod
    def of(cls, decisions: DecisionSet) -> DecisionRequest:
        return cls(decisions.bound, decisions.vocabulary, decisions.overrides, decisions.source_rules)

    @property
    def measured_key(self) -> Hashable:
        """Of what the signals alone decide, before people's rulings and rules."""
        has_vocabulary = self.bound.profile.vocabulary is not None
        return self.bound.sha256, self.words_key if has_vocabulary else None

    @property
    def words_key(self) -> Hashable:
        """Of what the vocabulary decides."""
        vocabulary = self.vocabulary
        senses = (hash_senses(vocabulary.senses), self.has_senses) if vocabulary.senses else None
        return vocabulary.allow, vocabulary.block, senses

    @property
    def key(self) -> Hashable:
        rulings = (self.overrides.sha256, self.overrides.revision) if self.overrides else None
        return self.measured_key, rulings, tuple(sorted({(rule.kind, rule.value) for rule in self.source_rules}))

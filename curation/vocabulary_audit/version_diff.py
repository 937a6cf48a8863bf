"""Versions of a vocabulary in a row: what one says differently from another, the next one, and the way back.

Versions are never changed; going back is a new version with an old content.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from curation.errors import ProfileError
from curation.lexicon.senses import SenseRule
from curation.lexicon.vocabulary import VocabularyVersion


@dataclass(frozen=True)
class WordChange:
    """One word's ruling before and after: allow, block, sense, "allow, sense" or "block, sense"; None: none. `rule_before` and
    `rule_after` are its sense rules. `is_note_only`: nothing that decides differs."""

    word: str
    before: str | None
    after: str | None
    rule_before: SenseRule | None
    rule_after: SenseRule | None
    note_before: str
    note_after: str

    @property
    def is_note_only(self) -> bool:
        same_rule = _describe(self.rule_before) == _describe(self.rule_after)
        return self.before == self.after and same_rule


@dataclass(frozen=True)
class VocabularyDiff:
    """Words whose ruling, sense rule or note differs, in alphabetical order."""

    changes: list[WordChange]

    @property
    def words(self) -> list[str]:
        """Words about which something that decides differs."""
        return [change.word for change in self.changes if not change.is_note_only]


def diff_versions(before: VocabularyVersion, after: VocabularyVersion) -> VocabularyDiff:
    rules_before, rules_after = _index_rules(before), _index_rules(after)
    changes = [
        WordChange(
            word,
            name_ruling(before, word),
            name_ruling(after, word),
            rules_before.get(word),
            rules_after.get(word),
            read_note(before, word),
            read_note(after, word),
        )
        for word in sorted(before.ruled_words | after.ruled_words)
    ]
    return VocabularyDiff(
        [change for change in changes if not change.is_note_only or change.note_before != change.note_after]
    )


def name_ruling(version: VocabularyVersion, word: str) -> str | None:
    """What a version says of a word; None where it leaves it to the table."""
    rulings = ["allow"] if word in version.allow else ["block"] if word in version.block else []
    rulings += ["sense"] if word in _index_rules(version) else []
    return ", ".join(rulings) or None


def read_note(version: VocabularyVersion, word: str) -> str:
    """Why a version rules so: the word's note, and the sense rule's."""
    rule = _index_rules(version).get(word)
    return version.notes.get(word, "") or (rule.note if rule is not None else "")


def _index_rules(version: VocabularyVersion) -> dict[str, SenseRule]:
    return {rule.term: rule for rule in version.senses}


def _describe(rule: SenseRule | None) -> object:
    return rule.describe() if rule is not None else None


def make_next_version(
    parent: VocabularyVersion,
    content: VocabularyVersion,
    *,
    author: str | None,
    note: str,
    created: datetime | None,
) -> VocabularyVersion:
    """The rulings of `content` as the version that follows `parent`: its name, the next number, and its hash as parent."""
    return VocabularyVersion(
        name=parent.name,
        version=parent.version + 1,
        allow=content.allow,
        block=content.block,
        senses=content.senses,
        notes=content.notes,
        author=author,
        note=note,
        created=created,
        parent=parent.sha256,
    )


def revert_version(
    current: VocabularyVersion,
    wanted: VocabularyVersion,
    *,
    author: str | None,
    created: datetime | None,
    note: str = "",
) -> VocabularyVersion:
    """A version after `current` that rules as an earlier one did. Raises ProfileError for one of another vocabulary or of none before."""
    if wanted.name != current.name or wanted.version >= current.version:
        raise ProfileError(
            f"{wanted.name} version {wanted.version} is none that came before {current.name} version {current.version}.",
            hint="Choose an earlier version of the same vocabulary.",
        )
    note = note or f"Back to version {wanted.version}."
    return make_next_version(current, wanted, author=author, note=note, created=created)

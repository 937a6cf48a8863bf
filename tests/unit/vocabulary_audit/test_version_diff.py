"""Versions in a row: what differs, the next one, the way back; and that nothing but what decides is in a hash."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from curation.errors import ProfileError
from curation.lexicon.senses import SenseContext, SenseRule
from curation.lexicon.vocabulary import VocabularyVersion, read_vocabulary_version
from curation.vocabulary_audit import diff_versions, make_next_version, revert_version

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CELL = SenseRule(term="cell", note="biology", counts_if=(SenseContext(words=("nucleus",)),))
FIRST = VocabularyVersion(name="ours", version=1, allow=("atom", "tan"), block=("the",), notes={"tan": "a colour"})


def test_old_versions_keep_their_hash_and_bytes() -> None:
    content = {"name": "ours", "version": 1, "allow": ["atom", "tan"], "block": ["the"]}
    expected = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    plain = VocabularyVersion.model_validate(content)
    assert plain.sha256 == expected
    assert plain.model_dump(mode="json") == content
    assert FIRST.sha256 == expected
    described = FIRST.model_copy(update={"author": "ada", "note": "n", "created": NOW, "parent": "0" * 64})
    assert described.sha256 == expected
    assert FIRST.model_copy(update={"senses": (CELL,)}).sha256 != expected


def test_what_decides_makes_a_version_again() -> None:
    version = make_next_version(FIRST, FIRST.model_copy(update={"senses": (CELL,)}), author="ada", note="", created=NOW)
    again = VocabularyVersion.model_validate(version.describe())
    assert again.sha256 == version.sha256
    assert "created" not in version.describe()


def test_the_next_version_names_its_parent(tmp_path: Path) -> None:
    content = FIRST.model_copy(update={"allow": ("atom",), "notes": {}, "senses": (CELL,)})
    second = make_next_version(FIRST, content, author="ada", note="cells", created=NOW)
    assert (second.name, second.version, second.parent) == ("ours", 2, FIRST.sha256)
    assert (second.author, second.note, second.created) == ("ada", "cells", NOW)
    path = tmp_path / "second.yaml"
    path.write_text(yaml.safe_dump(second.model_dump(mode="json")))
    assert read_vocabulary_version(path) == second


def test_a_diff_names_every_word_that_differs() -> None:
    other = SenseRule(term="cell", note="biology", counts_if=(SenseContext(words=("nucleus",), left=2),))
    noted = CELL.model_copy(update={"note": "of bodies"})
    second = VocabularyVersion(name="ours", version=2, allow=("atom",), block=("tan", "log"), senses=(CELL,))
    found = {change.word: change for change in diff_versions(FIRST, second).changes}
    assert {word: (change.before, change.after) for word, change in found.items()} == {
        "cell": (None, "sense"),
        "log": (None, "block"),
        "tan": ("allow", "block"),
        "the": ("block", None),
    }
    assert (found["tan"].note_before, found["tan"].note_after) == ("a colour", "")
    assert diff_versions(second, second).changes == []
    narrower = diff_versions(second, second.model_copy(update={"senses": (other,)}))
    assert narrower.words == ["cell"]
    assert (narrower.changes[0].rule_before, narrower.changes[0].rule_after) == (CELL, other)
    reworded = diff_versions(second, second.model_copy(update={"senses": (noted,)}))
    assert reworded.words == []
    assert [change.word for change in reworded.changes] == ["cell"]
    both = second.model_copy(update={"block": ("cell", "log"), "senses": (CELL,)})
    assert {change.word: change.after for change in diff_versions(second, both).changes}["cell"] == "block, sense"


def test_going_back_is_a_new_version_with_the_old_rulings() -> None:
    second = VocabularyVersion(name="ours", version=2, block=("log",), parent=FIRST.sha256)
    third = revert_version(second, FIRST, author="bob", created=NOW)
    assert (third.version, third.parent, third.author, third.note) == (3, second.sha256, "bob", "Back to version 1.")
    assert diff_versions(FIRST, third).changes == []
    for wrong in (third, VocabularyVersion(name="theirs", version=1)):
        with pytest.raises(ProfileError, match="is none that came before ours version 3"):
            revert_version(third, wrong, author=None, created=None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"senses": [{"term": "cell"}]}, "cell: needs innocent_if or counts_if"),
        ({"senses": [{"term": "Cell", "counts_if": [{"words": ["ab"]}]}]}, "not tokens"),
        ({"senses": [{"term": "cell", "counts_if": [{"words": ["a b"]}]}]}, "not tokens"),
        ({"senses": [{"term": "cell", "counts_if": [{"words": []}]}]}, "at least 1 item"),
        ({"senses": [{"term": "cell", "counts_if": [{"words": ["ab"], "left": 0, "right": 0}]}]}, "no window"),
        ({"senses": [{"term": "cell", "counts_if": [{"words": ["ab"], "left": 51}]}]}, "less than or equal to 50"),
        ({"senses": [CELL.model_dump(), CELL.model_dump()]}, "two rules for one word: cell"),
        ({"block": ["cell"], "senses": [CELL.model_dump()]}, "blocked everywhere, so counts_if alone changes nothing"),
        (
            {"allow": ["cell"], "senses": [{"term": "cell", "innocent_if": [{"words": ["ab"]}]}]},
            "allowed everywhere, so innocent_if alone changes nothing",
        ),
        ({"notes": {"cell": "x"}}, "notes on words neither allowed nor blocked: cell"),
        ({"parent": "abc"}, "String should match pattern"),
        ({"created": "2026-01-01T00:00:00"}, "timezone"),
    ],
)
def test_what_says_nothing_or_twice_is_refused(content: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        VocabularyVersion.model_validate({"name": "v", "version": 1, **content})

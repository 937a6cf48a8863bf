"""CSV of a version: a round trip changes nothing, no cell is a formula, and mistakes are named by line."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.errors import ProfileError
from curation.lexicon.senses import SenseContext, SenseRule
from curation.lexicon.vocabulary import VocabularyVersion
from curation.vocabulary_audit import export_csv, import_csv
from curation.vocabulary_audit.csv_file import COLUMNS, defang, undo_defang

HEADER = ",".join(COLUMNS)

words = st.sampled_from(["cell", "log", "tan", "mean", "root", "table", "volume", "product"])
notes = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20) | st.sampled_from(
    ["=1+1", "'=1+1", "''", "'", "@x", "\t=2", '"quoted", twice', "a\r\nb", "＝1", "-2", "+3"]
)
contexts = st.lists(
    st.builds(
        SenseContext,
        words=st.lists(words, min_size=1, max_size=4).map(tuple),
        left=st.integers(0, 50),
        right=st.integers(1, 50),
    ),
    min_size=1,
    max_size=3,
).map(tuple)


@st.composite
def versions(draw: st.DrawFn) -> VocabularyVersion:
    rulings = draw(st.dictionaries(words, st.sampled_from(["allow", "block", "table"])))
    senses = []
    for word in draw(st.sets(words)):
        counts, innocent = draw(contexts), draw(contexts)
        where = rulings.get(word, "table")
        counts = () if where != "allow" and draw(st.booleans()) else counts
        innocent = () if where != "block" and counts and draw(st.booleans()) else innocent
        senses.append(SenseRule(term=word, note=draw(notes), counts_if=counts, innocent_if=innocent))
    ruled = {word for word, where in rulings.items() if where != "table"}
    return VocabularyVersion(
        name="v",
        version=3,
        allow=tuple(word for word, where in rulings.items() if where == "allow"),
        block=tuple(word for word, where in rulings.items() if where == "block"),
        senses=tuple(senses),
        notes={word: draw(notes) for word in ruled if draw(st.booleans())},
    )


@given(versions())
def test_a_round_trip_changes_nothing(version: VocabularyVersion) -> None:
    content = export_csv(version)
    assert import_csv(content.encode(), name="v", version=3) == version
    assert import_csv(b"\xef\xbb\xbf" + content.encode(), name="v", version=3) == version
    for line in csv.reader(io.StringIO(content, newline="")):
        for cell in line:
            assert cell[:1] not in tuple("=+-@\t\r\n＝＋－＠")


@given(notes)
def test_defanging_can_be_undone(cell: str) -> None:
    assert undo_defang(defang(cell)) == cell
    assert defang(cell)[:1] not in tuple("=+-@\t\r\n＝＋－＠")


def test_what_a_version_looks_like() -> None:
    rule = SenseRule(
        term="cell",
        note="=biology",
        counts_if=(SenseContext(words=("nucleus", "membrane")),),
        innocent_if=(SenseContext(words=("prison",), left=3, right=0),),
    )
    version = VocabularyVersion(name="v", version=1, allow=("tan",), senses=(rule,), notes={"tan": "a colour"})
    assert export_csv(version) == (
        '"term","ruling","context","words","left","right","note"\r\n'
        '"cell","sense","counts","membrane nucleus","8","8","\'=biology"\r\n'
        '"cell","sense","innocent","prison","3","0","\'=biology"\r\n'
        '"tan","allow","","","","","a colour"\r\n'
    )


def test_what_people_type_is_read() -> None:
    content = f'{HEADER}\nCell , Sense, counts,"nucleus, membrane",,,\n,,,,,,\nyeast,allow,,,,,baking\n'
    version = import_csv(content.encode(), name="ours")
    assert version.allow == ("yeast",)
    assert version.notes == {"yeast": "baking"}
    [rule] = version.senses
    assert rule.counts_if == (SenseContext(words=("membrane", "nucleus"), left=8, right=8),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The first line does not name the columns."),
        (b"term,ruling\n", "The first line does not name the columns."),
        (b"\xff\xfe", "This is no CSV file in UTF-8 ("),
        (f'{HEADER}\n"open'.encode(), "This is no CSV file in UTF-8 ("),
        (f"{HEADER}\ncell,allow\n".encode(), "Line 2 has 2 cells."),
        (f"{HEADER}\ncell,forbid,,,,,\n".encode(), "Line 2: ruling 'forbid' with context '' is none."),
        (f"{HEADER}\n\ncell,sense,maybe,ab,,,\n".encode(), "Line 3: ruling 'sense' with context 'maybe' is none."),
        (f"{HEADER}\ncell,sense,counts,,,,\n".encode(), "Line 2: words: Value should have at least 1 item"),
        (f"{HEADER}\ncell,sense,counts,ab,far,,\n".encode(), "Line 2: left: Input should be a valid integer"),
        (f"{HEADER}\ncell,sense,counts,ab,51,,\n".encode(), "Line 2: left: Input should be less than or equal to 50"),
        (f"{HEADER}\ncell,allow,,,,,\ncell,block,,,,,\n".encode(), "Line 3: cell is allowed and blocked at once."),
        (
            f"{HEADER}\nan atom,allow,,,,,\n".encode(),
            "Line 2: not tokens (two or more lower-case letters a-z): an atom.",
        ),
        (f"{HEADER}\ncell,allow,,,,,\ncell,sense,innocent,ab,,,\n".encode(), "The rulings do not fit together:"),
        (b"x" * (16 << 20) + b"x", "The file has 16,777,217 bytes."),
    ],
)
def test_a_mistake_is_named(content: bytes, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        import_csv(content, name="v")
    assert str(caught.value).startswith(message)

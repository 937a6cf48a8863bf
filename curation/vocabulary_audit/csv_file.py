"""A vocabulary version as CSV for a spreadsheet, and back. One line a ruling, one line a context of a sense rule.

What a spreadsheet would run as a formula is written with an apostrophe before it, which reading takes away again: a round trip
changes nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from curation.errors import ProfileError
from curation.lexicon.senses import SenseContext, SenseRule, require_tokens
from curation.lexicon.vocabulary import VocabularyVersion

COLUMNS = ("term", "ruling", "context", "words", "left", "right", "note")
CONTEXTS = {"counts": "counts_if", "innocent": "innocent_if"}

# A hundred times the largest list that anybody would keep by hand.
MAX_BYTES = 16 << 20
MAX_LINES = 200_000

# What Excel, LibreOffice and Google Sheets take for the begin of a formula, in ASCII and full width, or skip before one.
_FORMULA_BEGINS = "=+-@\t\r\n＝＋－＠"


def export_csv(version: VocabularyVersion) -> str:
    """COLUMNS with a header, lines by word; every cell in quotes. Author, dates and numbers of the version are not in it."""
    rules = {rule.term: rule for rule in version.senses}
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for word in sorted(version.ruled_words):
        note = version.notes.get(word, "")
        if word in version.allow or word in version.block:
            writer.writerow(map(defang, (word, "allow" if word in version.allow else "block", "", "", "", "", note)))
        for kind, context in _list_contexts(rules.get(word)):
            cells = (
                word,
                "sense",
                kind,
                " ".join(context.words),
                str(context.left),
                str(context.right),
                rules[word].note,
            )
            writer.writerow(map(defang, cells))
    return out.getvalue()


def _list_contexts(rule: SenseRule | None) -> Iterator[tuple[str, SenseContext]]:
    for kind, field in CONTEXTS.items():
        for context in getattr(rule, field, ()):
            yield kind, context


def import_csv(content: bytes, *, name: str, version: int = 1) -> VocabularyVersion:
    """The rulings of a CSV file as a version. Raises ProfileError that names the line and what is wrong with it."""
    if len(content) > MAX_BYTES:
        raise ProfileError(f"The file has {len(content):,} bytes.", hint=f"A vocabulary has at most {MAX_BYTES:,}.")
    try:
        text = content.decode("utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ProfileError(f"This is no CSV file in UTF-8 ({error}).", hint="Save it as CSV, UTF-8.") from error
    if not lines or tuple(cell.strip().lower() for cell in lines[0]) != COLUMNS:
        raise ProfileError("The first line does not name the columns.", hint=f"It should read: {','.join(COLUMNS)}.")
    if len(lines) > MAX_LINES:
        raise ProfileError(f"The file has {len(lines):,} lines.", hint=f"A vocabulary has at most {MAX_LINES:,}.")
    rulings: dict[str, set[str]] = {"allow": set(), "block": set()}
    senses: dict[str, dict[str, Any]] = {}
    notes: dict[str, str] = {}
    for number, cells in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in cells):
            continue
        _read_line(number, [undo_defang(cell) for cell in cells], rulings, senses, notes)
    try:
        return VocabularyVersion(
            name=name,
            version=version,
            allow=tuple(rulings["allow"]),
            block=tuple(rulings["block"]),
            senses=tuple(SenseRule.model_validate(rule) for rule in senses.values()),
            notes=notes,
        )
    except ValidationError as error:
        raise ProfileError(f"The rulings do not fit together: {error.errors()[0]['msg']}.") from error


def _read_line(
    number: int,
    cells: Sequence[str],
    rulings: dict[str, set[str]],
    senses: dict[str, dict[str, Any]],
    notes: dict[str, str],
) -> None:
    if len(cells) != len(COLUMNS):
        raise ProfileError(f"Line {number} has {len(cells)} cells.", hint=f"Every line has {len(COLUMNS)}.")
    term, ruling, kind, words, left, right = (cell.strip().lower() for cell in cells[:-1])
    note = cells[-1]
    try:
        require_tokens((term,))
    except ValueError as error:
        raise ProfileError(f"Line {number}: {error}.", hint="A term is one word of two or more letters a-z.") from error
    if ruling in rulings:
        if any(term in words for other, words in rulings.items() if other != ruling):
            raise ProfileError(
                f"Line {number}: {term} is allowed and blocked at once.", hint="Leave one of the two lines."
            )
        rulings[ruling].add(term)
        if note:
            notes[term] = note
        return
    if ruling != "sense" or kind not in CONTEXTS:
        raise ProfileError(
            f"Line {number}: ruling {ruling!r} with context {kind!r} is none.",
            hint="A ruling is allow, block or sense; the context of a sense is counts or innocent.",
        )
    window = {side: value for side, value in (("left", left), ("right", right)) if value}
    try:
        context = SenseContext.model_validate({"words": tuple(words.replace(",", " ").split()), **window})
    except ValidationError as error:
        first = error.errors()[0]
        raise ProfileError(f"Line {number}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    rule = senses.setdefault(term, {"term": term, "note": note, "counts_if": [], "innocent_if": []})
    rule["note"] = rule["note"] or note
    rule[CONTEXTS[kind]].append(context)


def defang(cell: str) -> str:
    """A cell that no spreadsheet runs."""
    begins = cell[:1] and cell[0] in _FORMULA_BEGINS
    is_quoted = cell[:1] == "'" and cell[1:2] and cell[1] in "'" + _FORMULA_BEGINS
    return f"'{cell}" if begins or is_quoted else cell


def undo_defang(cell: str) -> str:
    """The cell that `defang` was given."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] and cell[1] in "'" + _FORMULA_BEGINS else cell

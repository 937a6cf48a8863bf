"""A catalogue as CSV for a spreadsheet, and back: one line a concept, and one more for each sense after its first.

Several words share a cell, separated by semicolons. What a spreadsheet would run as a formula is written with an apostrophe
before it, which reading takes away again: a round trip changes nothing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from curation.concepts.catalogue import Catalogue, Concept, Sense
from curation.vocabulary_audit.csv_file import defang, undo_defang
from primer.app.concepts.content import MAX_CONCEPTS
from primer.app.core.errors import Unprocessable

_PLAIN = ("id", "name", "subject", "band", "standard", "basis", "within", "k5_neighbour")
_LISTS = ("terms", "verbs", "exact", "innocent", "not_near")
_SENSE = ("sense_terms", "sense_near", "sense_within")
COLUMNS = (*_PLAIN, *_LISTS, *_SENSE)

MAX_LINES = 4 * MAX_CONCEPTS
_NAMED_LINES = 5
_SEPARATOR = re.compile(r"(?<!\\);")


def export_csv(catalogue: Catalogue) -> str:
    """COLUMNS with a header, concepts in the catalogue's order; every cell in quotes."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for concept in catalogue.concepts:
        writer.writerows([defang(cell) for cell in line] for line in _list_lines(concept))
    return out.getvalue()


def _list_lines(concept: Concept) -> Iterator[list[str]]:
    plain = [str(value) if (value := getattr(concept, name)) is not None else "" for name in _PLAIN]
    lists = [_join(getattr(concept, name)) for name in _LISTS]
    for number, sense in enumerate(concept.senses or (None,)):
        if number:
            plain, lists = [concept.id] + [""] * (len(_PLAIN) - 1), [""] * len(_LISTS)
        yield [*plain, *lists, *(_list_sense(sense) if sense is not None else [""] * len(_SENSE))]


def _list_sense(sense: Sense) -> list[str]:
    return [_join(sense.terms), _join(sense.near), str(sense.within)]


def import_csv(text: str) -> list[Concept]:
    """The concepts of a file. Raises Unprocessable that names the first lines that are wrong, and what is wrong with each."""
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    except csv.Error as error:
        raise Unprocessable(f"This is no CSV file ({error}).", hint="Save it as CSV, UTF-8.") from error
    if not lines or tuple(cell.strip().lower() for cell in lines[0]) != COLUMNS:
        raise Unprocessable("Line 1 does not name the columns.", hint=f"It should read: {','.join(COLUMNS)}.")
    if len(lines) > MAX_LINES:
        raise Unprocessable(f"The file has {len(lines):,} lines.", hint=f"A catalogue has at most {MAX_LINES:,}.")
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    problems: list[str] = []
    for number, cells in enumerate(lines[1:], 2):
        if any(cell.strip() for cell in cells):
            try:
                _read_line(number, [undo_defang(cell).strip() for cell in cells], found)
            except Unprocessable as error:
                problems.append(f"line {number}: {error.message}")
    concepts = []
    for number, fields in found.values():
        try:
            concepts.append(Concept.model_validate(fields))
        except ValidationError as error:
            problems.append(f"line {number}: {_say_first(error)}")
    if problems:
        more = f" And {len(problems) - _NAMED_LINES} more." if len(problems) > _NAMED_LINES else ""
        raise Unprocessable("; ".join(problems[:_NAMED_LINES]) + more, hint="Correct these lines; nothing was saved.")
    return concepts


def _read_line(number: int, cells: Sequence[str], found: dict[str, tuple[int, dict[str, Any]]]) -> None:
    if len(cells) != len(COLUMNS):
        raise Unprocessable(f"{len(cells)} cells instead of {len(COLUMNS)}.")
    line = dict(zip(COLUMNS, cells, strict=True))
    concept_id = line["id"]
    is_further = not any(line[name] for name in (*_PLAIN[1:], *_LISTS))
    if concept_id in found and not is_further:
        raise Unprocessable(f"concept {concept_id!a} is on line {found[concept_id][0]} already.")
    if concept_id not in found:
        plain = {name: line[name] for name in _PLAIN if line[name]}
        lists = {name: tuple(_split(line[name])) for name in _LISTS if line[name]}
        found[concept_id] = number, {**plain, **lists, "senses": []}
    if any(line[name] for name in _SENSE):
        terms, near, within = (line[name] for name in _SENSE)
        sense = {"terms": tuple(_split(terms)), "near": tuple(_split(near)), **({"within": within} if within else {})}
        found[concept_id][1]["senses"].append(sense)
    elif is_further and found[concept_id][0] != number:
        raise Unprocessable(f"it holds nothing but the id {concept_id!a}.")


def _say_first(error: ValidationError) -> str:
    first = error.errors(include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}." if place else f"{first['msg']}."


def _join(words: Sequence[str]) -> str:
    return "; ".join(word.replace(";", "\\;") for word in words)


def _split(cell: str) -> list[str]:
    return [word for part in _SEPARATOR.split(cell) if (word := part.strip().replace("\\;", ";"))]

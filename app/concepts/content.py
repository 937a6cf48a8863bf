"""What a version of the catalogue holds: read from its row, changed by an edit, described beside another."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from curation.concepts.catalogue import Catalogue, CatalogueDiff, Concept
from primer.app.core.errors import Unprocessable
from primer.app.models import CatalogueRecord

# Ten times the bundled catalogue; and a concept needs no more words than a person can check.
MAX_CONCEPTS = 4_000
MAX_WORDS = 400

_NOT_TEXT = frozenset({"Cc", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True)
class Edit:
    """What a curator changes: concepts to put in the place of those of their ids, or at the end, and ids to remove. `concepts` not
    None: the whole catalogue instead."""

    put: Sequence[Concept] = ()
    remove: Sequence[str] = ()
    concepts: Sequence[Concept] | None = None


def read_catalogue(record: CatalogueRecord) -> Catalogue:
    return _parse(record.content)


@lru_cache(maxsize=16)
def _parse(content: str) -> Catalogue:
    return Catalogue.model_validate_json(content)


def dump_content(catalogue: Catalogue) -> str:
    return catalogue.model_dump_json(exclude_defaults=True)


def apply_edit(base: Catalogue, edit: Edit, version: int) -> Catalogue:
    """The catalogue after the edit. Raises Unprocessable that names the concept that is wrong or missing."""
    known = base.by_id
    if missing := [concept_id for concept_id in edit.remove if concept_id not in known]:
        raise Unprocessable(
            f"Version {base.version} has no concept {missing[0]!a} to remove.", hint="Look at its concepts."
        )
    if both := {concept.id for concept in edit.put} & set(edit.remove):
        raise Unprocessable(f"{min(both)} is both put and removed.", hint="Name it once.")
    if edit.concepts is not None:
        concepts = list(edit.concepts)
    else:
        placed = {concept.id: concept for concept in edit.put}
        if len(placed) < len(edit.put):
            raise Unprocessable("The edit puts two concepts of one id.", hint="Give each an id of its own.")
        removed = set(edit.remove)
        concepts = [placed.get(concept.id, concept) for concept in base.concepts if concept.id not in removed]
        concepts += [concept for concept in edit.put if concept.id not in known]
    _require_sane(concepts)
    try:
        return Catalogue(name=base.name, version=version, concepts=tuple(concepts))
    except ValidationError as error:
        raise Unprocessable(f"{error.errors()[0]['msg']}.", hint="See docs/concepts.md.") from error


def describe_changes(diff: CatalogueDiff) -> dict[str, Any]:
    """The ids of concepts by what happened to them, as a version keeps it."""
    return {
        "added": list(diff.added),
        "removed": list(diff.removed),
        "changed": list(diff.changed),
        "reworded": list(diff.reworded),
    }


def _require_sane(concepts: Sequence[Concept]) -> None:
    if len(concepts) > MAX_CONCEPTS:
        raise Unprocessable(
            f"{len(concepts):,} concepts are too many.", hint=f"A catalogue has at most {MAX_CONCEPTS:,}."
        )
    for concept in concepts:
        texts = list(_list_texts(concept.model_dump(mode="json")))
        if len(texts) > MAX_WORDS:
            raise Unprocessable(
                f"Concept {concept.id} has {len(texts):,} words and phrases.",
                hint=f"At most {MAX_WORDS} can be checked.",
            )
        if any(unicodedata.category(character) in _NOT_TEXT for text in texts for character in text):
            raise Unprocessable(
                f"Concept {concept.id} holds control characters.", hint="Write its words without line breaks and tabs."
            )


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _list_texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _list_texts(entry)

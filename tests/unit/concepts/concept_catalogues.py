"""Small catalogues for tests, and the hits of texts as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curation.concepts.catalogue import Catalogue, Concept
from curation.concepts.compile import compile_concepts
from curation.concepts.match import find_concepts


def make_concept(concept_id: str = "idea", **fields: Any) -> Concept:
    given = {"id": concept_id, "name": concept_id, "subject": "math", "band": "K8", "basis": "state grade 6"}
    return Concept.model_validate({**given, **fields})


def make_catalogue(*concepts: Concept, version: int = 1) -> Catalogue:
    return Catalogue(name="test", version=version, concepts=concepts)


def find_words(concept: Concept, text: str) -> list[str]:
    """What a concept finds in a text, as written there."""
    hits = find_concepts(compile_concepts([concept]), [text])
    return [text[start:end] for start, end in zip(hits.starts.tolist(), hits.ends.tolist(), strict=True)]


def find_all(catalogue: Catalogue, texts: Sequence[str | None]) -> dict[tuple[int, str], list[tuple[int, int]]]:
    hits = find_concepts(compile_concepts(catalogue.concepts), texts)
    found: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for text, concept, start, end in zip(
        hits.texts.tolist(), hits.concepts.tolist(), hits.starts.tolist(), hits.ends.tolist(), strict=True
    ):
        found.setdefault((text, catalogue.concepts[concept].id), []).append((start, end))
    return found


GAS = make_concept(
    "gas", terms=["compound", "noble gas"], exact=["CO2"], subject="physical science", innocent=["compound man"]
)
CELL = make_concept(
    "cell",
    senses=[{"terms": ["cell"], "near": ["nucleus", "living thing"], "within": 4}],
    not_near=["phone", "prison"],
    within=3,
    subject="life science",
    band="K8",
    standard="MS-LS1-1",
)
SLOPE = make_concept("slope", terms=["rate of change", "slope of the line"], verbs=["solve for x", "intersect"])
SMALL = make_catalogue(GAS, CELL, SLOPE)

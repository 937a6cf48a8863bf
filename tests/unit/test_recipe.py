"""The recipe: its hash changes with everything that changes a measured value, and with nothing else."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import measuring
import pytest
from pydantic import ValidationError
from tiny_encoder import write_encoder

from curation.artifacts.artifact_set import resolve_artifacts
from curation.recipe import DEFAULT_SLICE_BYTES, LEDGER_SCHEMA, EncoderSelection, Recipe, build_recipe, hash_json
from curation.signals.encoder_grade import ENCODER_VERSION

PLAIN = Recipe(artifacts={"aoa": "a" * 64, "vocabulary": "b" * 64}, frequencies="wordfreq 1 en best")


def test_hash_json_is_of_canonical_json() -> None:
    expected = hashlib.sha256(b'{"a":[1,null],"b":"\\u00e9"}').hexdigest()
    assert hash_json({"b": "é", "a": [1, None]}) == expected
    assert hash_json({"a": [1, None], "b": "é"}) == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ledger_schema", LEDGER_SCHEMA + 1),
        ("text_field", "content"),
        ("slice_bytes", DEFAULT_SLICE_BYTES + 1),
        ("words_per_window", 299),
        ("max_windows", 63),
        ("window_seed", 1),
        ("signals", {**PLAIN.signals, "lexical": "2"}),
        ("artifacts", {"aoa": "a" * 64}),
        ("artifacts", {"aoa": "c" * 64, "vocabulary": "b" * 64}),
        ("encoder_selection", EncoderSelection(form="raw")),
        ("frequencies", "wordfreq 2 en best"),
    ],
)
def test_every_field_changes_the_hash(field: str, value: Any) -> None:
    assert PLAIN.model_copy(update={field: value}).sha256 != PLAIN.sha256


def test_order_of_fields_and_a_round_trip_change_nothing() -> None:
    reordered = Recipe(
        frequencies=PLAIN.frequencies,
        artifacts={"vocabulary": "b" * 64, "aoa": "a" * 64},
        signals=dict(reversed(PLAIN.signals.items())),
    )
    assert reordered.sha256 == PLAIN.sha256
    assert Recipe.model_validate_json(PLAIN.model_dump_json()) == PLAIN


def test_every_signal_has_a_version() -> None:
    assert set(PLAIN.signals) == {"normalization", "tokens", "lexical", "notation", "vocabulary", "fasttext"}
    assert all(PLAIN.signals.values())


@pytest.mark.parametrize(
    "field", [{"slice_bytes": 1023}, {"words_per_window": 1}, {"max_windows": 1}, {"threshold": 12.0}]
)
def test_what_cannot_be_measured_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Recipe.model_validate({**PLAIN.model_dump(), **field})


def test_built_over_artefacts_by_their_hashes(tmp_path: Path) -> None:
    artifacts = measuring.find_artifacts(tmp_path, has_model=False)
    recipe = build_recipe(artifacts, text_field="body", slice_bytes=2048)
    assert set(recipe.artifacts) == {"aoa", "vocabulary"}
    assert recipe.artifacts["aoa"] == hashlib.sha256(measuring.AOA.read_bytes()).hexdigest()
    assert (recipe.text_field, recipe.slice_bytes) == ("body", 2048)
    assert recipe.frequencies == f"wordfreq {version('wordfreq')} en best"
    assert build_recipe(artifacts).sha256 != recipe.sha256
    assert str(tmp_path) not in recipe.model_dump_json()


def test_an_encoder_brings_its_version_and_the_selection(tmp_path: Path) -> None:
    selection = EncoderSelection(form="raw")
    plain = measuring.find_artifacts(tmp_path, has_model=False)
    assert build_recipe(plain, selection=selection) == build_recipe(plain)
    found = resolve_artifacts(str(write_encoder(tmp_path / "encoder").parent))
    recipe = build_recipe(found, selection=selection)
    assert recipe.signals == PLAIN.signals | {"encoder": ENCODER_VERSION}
    assert recipe.encoder_selection == selection
    assert recipe.artifacts["encoder"] == found.require("encoder").sha256

"""The meters of this process for texts that people post: loaded once, when first asked for, with the bundled artefacts."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from curation.artifacts.artifact_set import resolve_artifacts
from curation.cascade import Meters
from curation.encoder_selection import derive_selection
from curation.profile import DEFAULT_PROFILE, load_profile
from curation.recipe import Recipe, build_recipe

_lock = threading.Lock()
_loaded: LoadedMeters | None = None


@dataclass(frozen=True)
class LoadedMeters:
    recipe: Recipe
    meters: Meters


def load_meters() -> LoadedMeters:
    """The word tables and models, as a job would measure with them."""
    global _loaded
    with _lock:
        if _loaded is None:
            artifacts = resolve_artifacts(None)
            recipe = build_recipe(artifacts, selection=derive_selection(load_profile(DEFAULT_PROFILE)))
            _loaded = LoadedMeters(recipe, Meters(artifacts, recipe))
        return _loaded

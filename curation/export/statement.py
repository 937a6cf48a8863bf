"""One sentence that says what really decided: which rules, with which models from where, and what did not run.

A pure function; it must never let an export under other models pass as the published filter.
"""

from __future__ import annotations

from collections.abc import Mapping

from curation.artifacts.artifact_set import BUNDLED, KINDS, PUBLISHED
from curation.profile import BoundProfile
from curation.stages import STAGES

_NAMES = {"aoa": "ages of acquisition", "vocabulary": "vocabulary scores", "fasttext": "fastText", "encoder": "encoder"}
_PLACES = {BUNDLED: "bundled with Primer", PUBLISHED: "as published"}
_HASH_CHARS = 12


def make_statement(bound: BoundProfile, origins: Mapping[str, str]) -> str:
    """`origins`: `bundled`, `published` or `custom` by kind of artefact; a kind that is missing there is `custom`."""
    profile = bound.profile
    models = [
        f"{_NAMES[kind]} {_PLACES.get(origins.get(kind, ''), 'of the user')} (sha256 {bound.models[kind][:_HASH_CHARS]})"
        for kind in KINDS
        if kind in bound.models
    ]
    missing = [
        f"stage {stage} left out, the run has no model for it" if stage in bound.left_out else f"stage {stage} not run"
        for stage in STAGES
        if stage not in bound.stages
    ]
    parts = [
        f"Rules of the profile `{profile.name}` (version {profile.version})",
        f"models: {', '.join(models) or 'none'}",
    ]
    return "; ".join([*parts, *missing]) + "."

"""Profiles: versioned thresholds over signals, and their binding to the models of a run.

A profile reads columns and names the models its thresholds belong to; deciding over other models is an error. A stage
that is null does not take part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from curation.errors import ProfileError
from curation.notation.published.rules import PUBLISHED_RULES
from curation.notation.recommended.rules import RECOMMENDED_RULES
from curation.recipe import Recipe, hash_json
from curation.stages import (
    STAGES,
    EncoderStage,
    FastTextStage,
    LexicalStage,
    NotationStage,
    Stage,
    Thresholds,
    VocabularyStage,
)

DEFAULT_PROFILE = "recommended"

# The artefacts whose figures a stage's thresholds belong to.
STAGE_ARTIFACTS: dict[str, tuple[str, ...]] = {
    "lexical": ("aoa",),
    "fasttext": ("fasttext",),
    "encoder": ("encoder",),
    "notation": (),
    "vocabulary": ("vocabulary",),
}


class Profile(Thresholds):
    """Thresholds of one boundary. `form` says which text the rule signals are read from; `models` binds artefacts by sha256
    (a kind left out is bound to whatever the run measured with); `optional` stages are left out where the run lacks their model."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")
    version: int = Field(ge=1)
    description: str = ""
    form: Literal["raw", "normalized"]
    lexical: LexicalStage | None = None
    fasttext: FastTextStage | None = None
    encoder: EncoderStage | None = None
    notation: NotationStage | None = None
    vocabulary: VocabularyStage | None = None
    models: dict[Literal["aoa", "vocabulary", "fasttext", "encoder"], str] = Field(default_factory=dict)
    optional: tuple[Stage, ...] = ()

    @model_validator(mode="after")
    def _decides_something(self) -> Profile:
        if not self.stages:
            raise ValueError("a profile needs at least one stage")
        return self

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that take part, in published order."""
        return tuple(stage for stage in STAGES if getattr(self, stage) is not None)


@dataclass(frozen=True)
class BoundProfile:
    """A profile tied to the models of one recipe. `left_out`: optional stages that the recipe cannot measure."""

    profile: Profile
    models: dict[str, str]
    left_out: tuple[str, ...]

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(stage for stage in self.profile.stages if stage not in self.left_out)

    @property
    def sha256(self) -> str:
        return hash_json(
            {"profile": self.profile.model_dump(mode="json"), "models": self.models, "left_out": self.left_out}
        )

    def isolate(self, stage: str) -> BoundProfile:
        """The profile with one of its stages alone."""
        others = dict.fromkeys([other for other in STAGES if other != stage])
        return replace(self, profile=self.profile.model_copy(update=others), left_out=())


def bind_profile(profile: Profile, recipe: Recipe) -> BoundProfile:
    """Tie the profile to what the recipe measured with. Raises ProfileError for another model than the profile binds."""
    left_out: list[str] = []
    models: dict[str, str] = {}
    for stage in profile.stages:
        for kind in STAGE_ARTIFACTS[stage]:
            wanted = profile.models.get(kind)  # type: ignore[call-overload]
            found = recipe.artifacts.get(kind)
            if found is None and stage in profile.optional:
                left_out.append(stage)
            elif wanted is not None and found is not None and wanted != found:
                raise ProfileError(
                    f"Profile {profile.name} v{profile.version} binds {kind} {wanted[:12]}, but the run measured with {found[:12]}.",
                    hint="Its thresholds belong to that artefact: choose a profile for this one, or write one.",
                )
            elif found is not None or wanted is not None:
                models[kind] = wanted or found  # type: ignore[assignment]
    _require_known_rules(profile)
    if len(left_out) == len(profile.stages):
        raise ProfileError(
            f"Profile {profile.name}: the run has none of the models it needs.", hint="See `primer artifacts list`."
        )
    return BoundProfile(profile, models, tuple(left_out))


def _require_known_rules(profile: Profile) -> None:
    stage = profile.notation
    if stage is None:
        return
    rules = PUBLISHED_RULES if stage.rules == "published" else RECOMMENDED_RULES
    if unknown := set(stage.ignore) - {rule.name for rule in rules}:
        raise ProfileError(
            f"Profile {profile.name} ignores notation rules that do not exist: {', '.join(sorted(unknown))}.",
            hint=f"Rules: {', '.join(rule.name for rule in rules)}.",
        )


def profiles_folder() -> Path:
    return Path(__file__).parent / "profiles"


def list_profiles() -> list[Profile]:
    """The profiles that come with the library, by name."""
    return [read_profile(path) for path in sorted(profiles_folder().glob("*.yaml"))]


def load_profile(name_or_file: str) -> Profile:
    """A bundled profile by its name, or any YAML file. Raises ProfileError that names what is wrong."""
    bundled = profiles_folder() / f"{name_or_file}.yaml"
    if "/" not in name_or_file and bundled.is_file():
        return read_profile(bundled)
    path = Path(name_or_file)
    if not path.is_file():
        names = ", ".join(profile.name for profile in list_profiles())
        raise ProfileError(f"There is no profile {name_or_file!r}.", hint=f"Bundled: {names}. Or give a YAML file.")
    return read_profile(path)


def read_profile(path: Path) -> Profile:
    """Raises ProfileError that says which field is wrong and why."""
    try:
        return Profile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        raise ProfileError(f"{path}: {'.'.join(map(str, first['loc'])) or 'the profile'}: {first['msg']}.") from error
    # ValueError: no UTF-8, or what looks like a date and is none.
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ProfileError(f"{path}: cannot be read as YAML ({error}).") from error

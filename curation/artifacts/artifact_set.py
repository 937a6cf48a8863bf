"""The models and tables of one run: which files, from where, with which hash.

A set is complete for the rule signals (ages, vocabulary) always; the models may be missing, and what is missing is said.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from curation.artifacts.encoder_folder import find_encoder_folders, list_encoder_files
from curation.errors import ArtifactError
from curation.shards.prepare import hash_file

Kind = Literal["aoa", "vocabulary", "fasttext", "encoder"]
KINDS: tuple[Kind, ...] = ("aoa", "vocabulary", "fasttext", "encoder")

BUNDLED = "bundled"
PUBLISHED = "published"

# How a file of a folder is recognised: names and suffixes as the project and the published release use them.
_PATTERNS: dict[Kind, tuple[str, ...]] = {
    "aoa": ("aoa/*.parquet", "*aoa*.parquet"),
    "vocabulary": ("vocabulary/*.parquet", "*vocabulary*.parquet", "*log_odds*.parquet", "*logodds*.parquet"),
    "fasttext": ("fasttext/*.ftz", "fasttext/*.bin", "*.ftz", "*fasttext*.bin", "*.bin"),
}
_ENCODER_PATTERN = "config.json with model.onnx or model.safetensors, there or one folder below"


@dataclass(frozen=True)
class Artifact:
    """One file, or the encoder's folder. `origin` is `bundled`, `published`, or `custom`; `sha256` is of the file as read,
    an encoder's of the hashes and names of its files."""

    kind: Kind
    path: Path
    sha256: str
    origin: str

    @property
    def size_bytes(self) -> int:
        files = list_encoder_files(self.path) if self.kind == "encoder" else [self.path]
        return sum(file.stat().st_size for file in files)


@dataclass(frozen=True)
class ArtifactSet:
    """At most one artefact of each kind."""

    artifacts: dict[Kind, Artifact]

    def get(self, kind: Kind) -> Artifact | None:
        return self.artifacts.get(kind)

    def require(self, kind: Kind) -> Artifact:
        """Raises ArtifactError where there is none."""
        found = self.artifacts.get(kind)
        if found is None:
            raise ArtifactError(f"There is no {kind} artefact.", hint="See `primer artifacts list`.")
        return found

    def restrict_to(self, kinds: Container[str]) -> ArtifactSet:
        """The artefacts of the given kinds: those that a recipe measured with, say."""
        return ArtifactSet({kind: found for kind, found in self.artifacts.items() if kind in kinds})

    @property
    def hashes(self) -> dict[str, str]:
        return {kind: self.artifacts[kind].sha256 for kind in KINDS if kind in self.artifacts}

    @property
    def origins(self) -> dict[str, str]:
        return {kind: self.artifacts[kind].origin for kind in KINDS if kind in self.artifacts}


def bundled_folder() -> Path:
    return Path(__file__).parent / "bundled"


def published_folder() -> Path:
    """Where `primer artifacts pull` puts the published files: PRIMER_ARTIFACTS_DIR, or a folder of the user's cache."""
    root = os.environ.get("PRIMER_ARTIFACTS_DIR")
    return (Path(root) if root else Path.home() / ".cache" / "primer" / "artifacts") / PUBLISHED


def resolve_artifacts(where: str | None = None, *, aoa: Path | None = None) -> ArtifactSet:
    """The artefacts of a run. `where`: None or "bundled", "published", or a folder; kinds it lacks come from the bundle.

    `aoa` replaces the norms alone. Raises ArtifactError when the place is missing or holds nothing known.
    """
    found = _scan(bundled_folder(), BUNDLED)
    if where not in (None, BUNDLED):
        origin = PUBLISHED if where == PUBLISHED else "custom"
        folder = published_folder() if where == PUBLISHED else Path(str(where))
        if not folder.is_dir():
            hint = (
                "Pull them first: primer artifacts pull."
                if where == PUBLISHED
                else "Give a folder, or `bundled` or `published`."
            )
            raise ArtifactError(f"There are no artefacts at {folder}.", hint=hint)
        chosen = _scan(folder, origin)
        if not chosen:
            known = "; ".join(f"{kind}: {', '.join(patterns)}" for kind, patterns in _PATTERNS.items())
            known += f"; encoder: {_ENCODER_PATTERN}"
            raise ArtifactError(f"{folder} holds no artefact.", hint=f"Looked for {known}.")
        found.update(chosen)
    if aoa is not None:
        if not aoa.is_file():
            raise ArtifactError(
                f"There is no file {aoa}.", hint="--aoa takes a Parquet file with columns word and aoa."
            )
        found["aoa"] = Artifact("aoa", aoa, hash_file(aoa), "custom")
    return ArtifactSet(found)


def _scan(folder: Path, origin: str) -> dict[Kind, Artifact]:
    found: dict[Kind, Artifact] = {}
    for kind, patterns in _PATTERNS.items():
        for pattern in patterns:
            files = sorted(folder.glob(pattern))
            if len(files) > 1:
                names = ", ".join(file.name for file in files)
                raise ArtifactError(
                    f"{folder} holds several {kind} files: {names}.",
                    hint="Leave one, or name the folder that holds one.",
                )
            if files:
                found[kind] = Artifact(kind, files[0], hash_file(files[0]), origin)
                break
    encoders = find_encoder_folders(folder)
    if len(encoders) > 1:
        raise ArtifactError(
            f"{folder} holds several encoders: {', '.join(path.name for path in encoders)}.",
            hint="Leave one, or name the folder that holds one.",
        )
    if encoders:
        found["encoder"] = Artifact("encoder", encoders[0], _hash_encoder(encoders[0]), origin)
    return found


def _hash_encoder(folder: Path) -> str:
    lines = [f"{hash_file(file)}  {file.name}\n" for file in list_encoder_files(folder)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()

"""Fetching published artefacts from a model repository of the Hub."""

from __future__ import annotations

from pathlib import Path

import httpx2 as httpx
from huggingface_hub import snapshot_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError

from curation.errors import ArtifactError

# What the project can load: fastText models, tables, and an encoder directory.
_PATTERNS = ["*.bin", "*.ftz", "*.parquet", "*.json", "*.safetensors", "*.onnx"]


def pull_artifacts(repository: str, revision: str | None, folder: Path) -> list[str]:
    """Download what can be loaded into `folder`; the names of the files there. Interrupted downloads carry on.

    Raises ArtifactError that says what to do when the repository is not there, gated, or cannot be reached.
    """
    try:
        snapshot_download(repository, revision=revision, local_dir=folder, allow_patterns=_PATTERNS)
    except GatedRepoError as error:
        raise ArtifactError(f"{repository} is gated.", hint="Accept its terms on the Hub and set HF_TOKEN.") from error
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        place = f"{repository}@{revision}" if revision else repository
        raise ArtifactError(
            f"The Hub has no model repository {place}.", hint="Check the name; a private one needs HF_TOKEN."
        ) from error
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        raise ArtifactError(
            f"{repository} could not be fetched ({type(error).__name__}).",
            hint="Run the same command again; it carries on.",
        ) from error
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and ".cache" not in path.parts
    )

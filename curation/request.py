"""What a person asked of `primer run`, kept beside the ledger so that `primer finish` and a repeated command know it.

The profile and vocabulary are kept whole: a file that is edited later does not change a run that has begun.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from curation.errors import LedgerError
from curation.export.request import ControlMatch
from curation.lexicon.vocabulary import VocabularyVersion
from curation.profile import Profile
from curation.publish import publish_bytes
from curation.source_rules import SourceRule

REQUEST = "request.json"


class ExportOptions(BaseModel):
    """How a run's documents are laid out for a trainer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shard_bytes: int
    shuffle_seed: int | None
    token_budget: int | None
    validation_share: float
    control_match: ControlMatch
    control_seed: int
    has_curriculum: bool = True
    max_leak_share: float | None = None


class RunRequest(BaseModel):
    """One run as asked for; `artifacts` and `aoa` as given on the command line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: tuple[str, ...]
    config: str | None
    split: str | None
    artifacts: str | None
    aoa: str | None
    profile: Profile
    vocabulary: VocabularyVersion
    export: ExportOptions
    source_rules: tuple[SourceRule, ...] = ()


def record_request(folder: Path, request: RunRequest) -> None:
    """Keep the request, or find the same one there. Raises LedgerError that names what differs."""
    content = json.dumps(request.model_dump(mode="json"), sort_keys=True, indent=1).encode() + b"\n"
    if publish_bytes(folder / REQUEST, content):
        return
    found = read_request(folder).model_dump()
    differs = [key for key, value in request.model_dump().items() if found[key] != value]
    if differs:
        raise LedgerError(
            f"{folder} holds a run that was asked for otherwise ({', '.join(differs)} differ).",
            hint="Choose another --out; to decide or export it anew use `primer decide` or `primer export`.",
        )


def has_request(folder: Path) -> bool:
    """Whether the folder's run was asked for already."""
    return (folder / REQUEST).exists()


def read_request(folder: Path) -> RunRequest:
    """Raises LedgerError when there is none."""
    path = folder / REQUEST
    try:
        return RunRequest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise LedgerError(
            f"There is no run in {folder}.", hint="Give the folder that `primer run --out` wrote."
        ) from None
    except ValidationError as error:
        raise LedgerError(
            f"{path} cannot be read ({error.errors()[0]['msg']}).", hint="Run the same command into a new folder."
        ) from error

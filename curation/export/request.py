"""What an export is asked for, and what it answers. No file is read or written here but the plan of the run.

Everything that the bytes of an export depend on is in `describe_request`, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from curation.artifacts.artifact_set import BUNDLED, resolve_artifacts
from curation.concepts.catalogue import Catalogue, open_catalogue
from curation.errors import ExportError
from curation.lexicon.vocabulary import VocabularyVersion
from curation.overrides import Overrides
from curation.profile import BoundProfile
from curation.recipe import hash_json
from curation.run_folder import RunFolder
from curation.source_rules import SourceRule, describe_rules

EXPORT_SCHEMA = 1

CURRICULUM, CONTROL = "curriculum", "control"
TRAIN, VALIDATION = "train", "validation"

# Half of the 500 MB that the Hub advises for a file: one is fetched again in seconds when a connection breaks, yet a
# corpus of a terabyte has only some 4,000 of them, enough to feed every reader of a cluster.
DEFAULT_SHARD_BYTES = 256 << 20


class ControlMatch(StrEnum):
    """What the control has in common with the curriculum: tokens in all; also by octave of length; also by host."""

    TOKENS = "tokens"
    TOKENS_LENGTH = "tokens_length"
    TOKENS_LENGTH_DOMAIN = "tokens_length_domain"


@dataclass(frozen=True)
class ExportProgress:
    """What has been written so far, curriculum and control together. All zero while decisions are still being read."""

    documents: int
    tokens: int
    bytes: int


OnProgress = Callable[[ExportProgress], None]


@dataclass(frozen=True)
class ExportRequest:
    """`word_scores`: the blocked words of `vocabulary`. `shard_bytes`: compressed size at which a file ends.

    `shuffle_seed` None keeps the order of shard and row. `token_budget`: documents are taken in the export's order (after
    the shuffle, train and validation together) and the first one that would exceed the budget ends the export: shorter
    ones after it are not tried. `validation_share`: the share of the curriculum's documents in split validation.
    `has_curriculum` False writes the control alone, matched to the curriculum that is not written.
    `origins`: where the artefacts came from, by kind; only the statement reads it. `source_rules`: documents that they
    match are in neither the curriculum nor the control. `max_leak_share`: the export fails when a larger share of the curriculum's
    documents mentions a concept of `leak_catalogue` (None: the newest bundled one); None: nobody looks.
    """

    run: RunFolder
    bound: BoundProfile
    vocabulary: VocabularyVersion
    word_scores: dict[str, float]
    overrides: Overrides | None
    out: Path
    shard_bytes: int = DEFAULT_SHARD_BYTES
    shuffle_seed: int | None = None
    token_budget: int | None = None
    validation_share: float = 0.0
    validation_seed: int = 0
    control: ControlMatch = ControlMatch.TOKENS
    control_seed: int = 0
    license_name: str = "see sources"
    has_curriculum: bool = True
    origins: dict[str, str] | None = None
    source_rules: tuple[SourceRule, ...] = ()
    max_leak_share: float | None = None
    leak_catalogue: Catalogue | None = None
    on_progress: OnProgress = field(default=lambda _: None, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.validation_share < 1:
            raise ExportError(f"A validation share of {self.validation_share} is no share.", hint="Give 0 to below 1.")
        if self.token_budget is not None and self.token_budget < 0:
            raise ExportError(f"A budget of {self.token_budget} tokens is below zero.", hint="Leave it out for none.")
        if self.shard_bytes < 1:
            raise ExportError(f"A file size of {self.shard_bytes} bytes is none.", hint="Give a positive size.")
        if self.max_leak_share is not None and not 0 <= self.max_leak_share < 1:
            raise ExportError(f"A share of leaks of {self.max_leak_share} is none.", hint="Give 0 to below 1.")
        if self.max_leak_share is not None and not self.has_curriculum:
            raise ExportError("A control alone has no leaks to count.", hint="Leave out the share of leaks.")

    @property
    def splits(self) -> tuple[str, ...]:
        """The curriculum's splits; the control has train alone."""
        return (TRAIN, VALIDATION) if self.validation_share > 0 else (TRAIN,)

    @property
    def options(self) -> dict[str, object]:
        return {
            "shard_bytes": self.shard_bytes,
            "shuffle_seed": self.shuffle_seed,
            "token_budget": self.token_budget,
            "validation_share": self.validation_share,
            "validation_seed": self.validation_seed,
            "control_match": self.control.value,
            "control_seed": self.control_seed,
            "license_name": self.license_name,
            "has_curriculum": self.has_curriculum,
            **self._describe_gate(),
        }

    def _describe_gate(self) -> dict[str, object]:
        # Nothing where there is no gate: exports without one keep the bytes that they had before there were gates.
        if self.max_leak_share is None:
            return {}
        catalogue = self.leak_catalogue or open_catalogue()
        return {"max_leak_share": self.max_leak_share, "leak_catalogue": catalogue.sha256}

    def name_origins(self) -> dict[str, str]:
        """By kind: as given, else `bundled` for the library's own artefact and `custom` for any other."""
        if self.origins is not None:
            return dict(self.origins)
        bundled: dict[str, str] = dict(resolve_artifacts().hashes)
        return {
            kind: BUNDLED if bundled.get(kind) == sha256 else "custom" for kind, sha256 in self.bound.models.items()
        }


@dataclass(frozen=True)
class ExportedFile:
    """One Parquet file. `path` is relative to the export, with slashes."""

    path: str
    config: str
    split: str
    sha256: str
    size_bytes: int
    rows: int
    tokens: int


@dataclass(frozen=True)
class ExportResult:
    """`is_new` is False where the finished export was already there. Rows and tokens are sums over files."""

    folder: Path
    is_new: bool
    files: tuple[ExportedFile, ...]
    statement: str

    def count_rows(self, config: str) -> int:
        return sum(file.rows for file in self.files if file.config == config)

    def count_tokens(self, config: str) -> int:
        return sum(file.tokens for file in self.files if file.config == config)


def hash_request(request: ExportRequest) -> str:
    """The sha256 that equal exports share: inputs, recipe, profile, vocabulary, overrides, source rules and options."""
    shards = request.run.ledger.read_shards()
    return hash_json(
        {
            "schema": EXPORT_SCHEMA,
            "plan": request.run.ledger.read_plan().run_id,
            "shards": [(shard.name, shard.sha256, shard.row_count) for shard in shards],
            "profile": request.bound.sha256,
            "vocabulary": request.vocabulary.sha256,
            "words": hash_json(request.word_scores),
            "overrides": request.overrides.sha256 if request.overrides else None,
            "source_rules": describe_rules(request.source_rules),
            "origins": request.name_origins(),
            "options": request.options,
        }
    )

"""What the API says of exports and takes of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from primer.app.core.fields import RowId
from primer.app.core.times import Instant
from primer.app.exports.options import ExportChoices
from primer.app.jobs.schemas import Named, NamedProfile
from primer.app.jobs.states import JobState

Repository = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,94}/[A-Za-z0-9][A-Za-z0-9._-]{0,94}$",
        description="OWNER/NAME on the Hub.",
    ),
]
Branch = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="A branch; made if missing.")]


class ExportRequest(ExportChoices):
    """What to export: a finished job's run, under which profile and which rulings, laid out how."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra={"examples": [{"base_job_id": 1, "validation_share": 0.01}]}
    )

    base_job_id: RowId
    profile_id: RowId | None = Field(default=None, description="Default: the job's own.")
    overrides_revision: Annotated[int, Field(ge=0, lt=1 << 63)] | None = Field(
        default=None, description="Decide by the rulings up to this one; 0: by none. Default: the newest of now."
    )


class PushRequest(BaseModel):
    """Where to push an export. The token is HF_TOKEN of the workers' environment."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"repo_id": "anna/curriculum"}]})

    repo_id: Repository
    private: bool = True
    revision: Branch = "main"


class ExportView(BaseModel):
    """An export. `state` is its job's; `_written`: so far, curriculum and control together. `deleted_at`: its files are gone."""

    id: int
    kind: Literal["first", "made"]
    state: JobState
    source: Named
    profile: NamedProfile
    base_job_id: int
    job_id: int
    options: ExportChoices | None
    overrides_revision: int | None
    documents_written: int
    tokens_written: int
    bytes_written: int
    created_by: str
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    error: str | None
    hint: str | None
    deleted_by: str | None
    deleted_at: Instant | None


class FileView(BaseModel):
    """A file. `config` and what follows are null for the card and the manifest."""

    model_config = ConfigDict(from_attributes=True)

    path: str
    size_bytes: int
    sha256: str
    config: str | None
    split: str | None
    rows: int | None
    tokens: int | None


class CheckView(BaseModel):
    """A verification; what it found is null until it is done. `problems` holds the first ones."""

    job_id: int
    state: JobState
    is_sound: bool | None
    files_checked: int | None
    rows_rechecked: int | None
    problem_count: int | None
    problems: list[dict[str, Any]] | None
    checked_at: Instant | None


class PushView(BaseModel):
    """A push; `commit` and `url` are null until it is done, `load` is Python that loads it from there."""

    job_id: int
    state: JobState
    repo_id: str
    revision: str
    private: bool
    commit: str | None
    url: str | None
    pushed_at: Instant | None
    error: str | None
    load: list[str] | None


class ExportDetail(ExportView):
    """An export with what it holds, null while there are no files. `load`: Python that loads it on the service's machine.
    `manifest` is a summary; the whole is the file manifest.json."""

    statement: str | None
    manifest: dict[str, Any] | None
    files: list[FileView] | None
    load: list[str] | None
    card: str | None = Field(description="The data set card, Markdown.")
    checks: list[CheckView]
    pushes: list[PushView]


class TermView(BaseModel):
    term: str
    documents: int


class DifferenceView(BaseModel):
    """What one export has alone, and the words that say most about it: of many of its documents, and rare in English."""

    documents: int
    tokens: int
    terms: list[TermView]


class ComparisonView(BaseModel):
    """`gained`: what this export has and the other has not; `lost`: the reverse; `common`: documents of both."""

    export_id: int
    other_id: int
    common: int
    gained: DifferenceView
    lost: DifferenceView

"""Options that several commands share, so that one name means one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.export.request import ControlMatch

RunArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `primer run --out` wrote.")]
TokensOption = Annotated[
    int | None, typer.Option("--tokens", min=0, help="Token budget: stop before the document that would exceed it.")
]
ValidationOption = Annotated[
    float, typer.Option("--validation-share", min=0.0, max=0.99, help="Share of documents for a validation split.")
]
ShuffleOption = Annotated[
    int | None, typer.Option("--shuffle-seed", help="Shuffle by this seed; default: source order.")
]
MatchOption = Annotated[ControlMatch, typer.Option("--match", help="What the control shares with the curriculum.")]
ControlSeedOption = Annotated[int, typer.Option("--control-seed", help="Seed of the control sample.")]
VocabularyOption = Annotated[
    Path | None, typer.Option("--vocabulary", help="A vocabulary version (YAML: allow, block); default: the run's.")
]
OverridesOption = Annotated[
    Path | None,
    typer.Option("--overrides", help="Rulings, one JSON object a line: shard or shard_sha256, row, action."),
]
SourceRulesOption = Annotated[
    Path | None,
    typer.Option(
        "--source-rules", help="Documents to exclude (YAML: kind and value of each rule); default: the run's, if any."
    ),
]
ConceptsOption = Annotated[
    str | None,
    typer.Option(
        "--concepts", help="A catalogue of concepts (YAML), or a bundled version's number; default: the newest."
    ),
]
ProfileOption = Annotated[
    str | None, typer.Option("--profile", "-p", help="A bundled profile's name or a YAML file; default: the run's.")
]

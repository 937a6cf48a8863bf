"""manifest.json: everything an export depends on and everything it holds, so that it can be repeated and verified.

No time, host or path of a machine is in it: equal exports have equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from curation.errors import ExportError
from curation.export.control import ControlSample
from curation.export.request import EXPORT_SCHEMA, ExportedFile, ExportRequest, hash_request
from curation.export.source_columns import SourceColumns
from curation.export.statement import make_statement
from curation.export.survey import Survey
from curation.recipe import hash_json
from curation.source_rules import describe_rules

MANIFEST = "manifest.json"
CARD = "README.md"


def build_manifest(
    request: ExportRequest,
    survey: Survey,
    columns: SourceColumns,
    sample: ControlSample,
    files: Sequence[ExportedFile],
    leak_gate: dict[str, object] | None = None,
) -> dict[str, Any]:
    """Everything but the card's own entry, from which the card is made. `leak_gate`: what the gate found, where there is one."""
    plan = request.run.ledger.read_plan()
    bound = request.bound
    return {
        "schema": EXPORT_SCHEMA,
        "request_sha256": hash_request(request),
        "code_version": version("primer-curation"),
        "statement": make_statement(bound, request.name_origins()),
        "run": {
            "id": plan.run_id,
            "row_limit": plan.row_limit,
            **({"sample": plan.sample.model_dump()} if plan.sample is not None else {}),
        },
        "inputs": [
            {
                "name": shard.name,
                "sha256": shard.sha256,
                "size_bytes": shard.size_bytes,
                "rows": shard.row_count,
                "error": shard.error,
            }
            for shard in request.run.ledger.read_shards()
        ],
        "recipe": {"content": plan.recipe.model_dump(mode="json"), "sha256": plan.recipe.sha256},
        "profile": {
            "content": bound.profile.model_dump(mode="json"),
            "models": bound.models,
            "left_out": list(bound.left_out),
            "sha256": bound.sha256,
        },
        "artifacts": {
            kind: {"sha256": sha256, "origin": request.name_origins().get(kind, "not read by the profile")}
            for kind, sha256 in plan.recipe.artifacts.items()
        },
        "vocabulary": {
            "content": request.vocabulary.describe(),
            "sha256": request.vocabulary.sha256,
            "blocked_words": len(request.word_scores),
            "words_sha256": hash_json(request.word_scores),
        },
        "overrides": None
        if request.overrides is None
        else {"revision": request.overrides.revision, "sha256": request.overrides.sha256},
        "source_rules": describe_rules(request.source_rules),
        "options": request.options,
        "json_columns": sorted(columns.json_columns),
        "files": [asdict(file) for file in files],
        "totals": count_totals(files),
        "control": {
            "match": request.control.value,
            "seed": request.control_seed,
            "tokens_by_round": sample.matched_tokens,
        },
        "token_note": {
            "counted_by_source": len(survey.tokens) - survey.estimated_count - survey.funnel.documents["error"],
            "estimated_from_bytes": survey.estimated_count,
        },
        "funnel": survey.funnel.report(),
        **({"leak_gate": leak_gate} if leak_gate is not None else {}),
    }


def count_totals(files: Sequence[ExportedFile]) -> dict[str, dict[str, dict[str, int]]]:
    """Files, rows, tokens and bytes by config and split."""
    totals: dict[str, dict[str, dict[str, int]]] = {}
    for file in files:
        entry = totals.setdefault(file.config, {}).setdefault(
            file.split, {"files": 0, "rows": 0, "tokens": 0, "size_bytes": 0}
        )
        entry["files"] += 1
        entry["rows"] += file.rows
        entry["tokens"] += file.tokens
        entry["size_bytes"] += file.size_bytes
    return totals


def encode_manifest(manifest: dict[str, Any]) -> bytes:
    """Canonical JSON with the hash of its own content, so that an edit by hand shows."""
    content = {**manifest, "content_sha256": hash_json(manifest)}
    return json.dumps(content, sort_keys=True, indent=1, ensure_ascii=True).encode() + b"\n"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a finished export. Raises ExportError when there is none, or it was changed or is of another version."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ExportError(
            f"{folder} holds no finished export.", hint="Give a folder that `primer export` wrote."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{path} is damaged ({error}).", hint="Export again into a new folder.") from error
    if not isinstance(manifest, dict) or manifest.get("schema") != EXPORT_SCHEMA:
        raise ExportError(f"{path} is of another version.", hint="Read it with the version of Primer that wrote it.")
    content = {key: value for key, value in manifest.items() if key != "content_sha256"}
    if manifest.get("content_sha256") != hash_json(content):
        raise ExportError(f"{path} has been changed.", hint="Export again, or restore the file.")
    return content


def list_files(manifest: dict[str, Any]) -> list[ExportedFile]:
    return [ExportedFile(**entry) for entry in manifest["files"]]

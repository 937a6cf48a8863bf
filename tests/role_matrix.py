"""Which role each route needs at least. A room adds its routes to MATRIX; a route that is missing here fails the tests.

Every parameter of the path is 1, the body is one that the route understands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from accounts import open_program
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from primer.app.auth.roles import Role

# What answers without knowing who asks. Nothing else may.
OPEN = {("GET", "/healthz"), ("GET", "/readyz"), ("POST", "/api/v1/session")}


@dataclass(frozen=True)
class Call:
    """One route, called so that only the role can be in the way. `least` None: refused to programs of every role.

    A stream without end is called with headers that it refuses, after asking who it is.
    """

    least: Role | None
    body: dict[str, Any] | None = None
    headers: dict[str, str] | None = None


_PASSWORD = "four words nobody expects"

MATRIX: dict[tuple[str, str], Call] = {
    ("GET", "/metrics"): Call(Role.VIEWER),
    ("GET", "/api/v1/work"): Call(Role.OPERATOR),
    ("GET", "/api/v1/artifacts"): Call(Role.VIEWER),
    ("GET", "/api/v1/artifacts/{kind}/card"): Call(Role.VIEWER),
    ("GET", "/api/v1/artifacts/reports/{name}"): Call(Role.VIEWER),
    ("GET", "/api/v1/openapi.json"): Call(Role.VIEWER),
    ("GET", "/api/v1/session"): Call(Role.VIEWER),
    ("DELETE", "/api/v1/session"): Call(Role.VIEWER),
    ("PUT", "/api/v1/session/password"): Call(None, {"old_password": _PASSWORD, "new_password": _PASSWORD}),
    ("GET", "/api/v1/tokens"): Call(Role.VIEWER),
    ("POST", "/api/v1/tokens"): Call(None, {"name": "mine", "role": "viewer"}),
    ("DELETE", "/api/v1/tokens/{token_id}"): Call(None),
    ("GET", "/api/v1/users"): Call(Role.ADMIN),
    ("POST", "/api/v1/users"): Call(Role.ADMIN, {"name": "ben", "role": "viewer", "password": _PASSWORD}),
    ("GET", "/api/v1/users/{user_id}"): Call(Role.ADMIN),
    ("PATCH", "/api/v1/users/{user_id}"): Call(Role.ADMIN, {}),
    ("PUT", "/api/v1/users/{user_id}/password"): Call(Role.ADMIN, {"password": _PASSWORD}),
    ("GET", "/api/v1/users/{user_id}/tokens"): Call(Role.ADMIN),
    ("DELETE", "/api/v1/users/{user_id}/tokens/{token_id}"): Call(Role.ADMIN),
    ("GET", "/api/v1/sources"): Call(Role.VIEWER),
    ("POST", "/api/v1/sources"): Call(Role.OPERATOR, {"name": "new", "locations": ["relative"]}),
    ("GET", "/api/v1/sources/{source_id}"): Call(Role.VIEWER),
    ("DELETE", "/api/v1/sources/{source_id}"): Call(Role.OPERATOR),
    ("POST", "/api/v1/sources/{source_id}/scan"): Call(Role.OPERATOR),
    ("GET", "/api/v1/sources/{source_id}/shards"): Call(Role.VIEWER),
    ("GET", "/api/v1/sources/{source_id}/shards/{position}"): Call(Role.VIEWER),
    ("GET", "/api/v1/sources/{source_id}/preview"): Call(Role.VIEWER),
    ("GET", "/api/v1/sources/{source_id}/rulings"): Call(Role.VIEWER),
    ("POST", "/api/v1/sources/{source_id}/rulings"): Call(
        Role.CURATOR, {"shard_sha256": "0" * 64, "row": 1, "action": "keep", "reason": "asked"}
    ),
    ("POST", "/api/v1/sources/{source_id}/rulings/bulk"): Call(
        Role.CURATOR, {"rows": {"0" * 64: [1]}, "action": "keep", "reason": "asked"}
    ),
    ("POST", "/api/v1/sources/{source_id}/rulings/undo"): Call(Role.CURATOR, {"revision": 1, "reason": "asked"}),
    ("GET", "/api/v1/sources/{source_id}/rulings/revision"): Call(Role.VIEWER),
    ("GET", "/api/v1/sources/{source_id}/rulings.jsonl"): Call(Role.VIEWER),
    ("GET", "/api/v1/allowed-prefixes"): Call(Role.ADMIN),
    ("POST", "/api/v1/allowed-prefixes"): Call(Role.ADMIN, {"prefix": "/srv/corpora"}),
    ("DELETE", "/api/v1/allowed-prefixes/{prefix_id}"): Call(Role.ADMIN),
    ("GET", "/api/v1/source-rules"): Call(Role.VIEWER),
    ("POST", "/api/v1/source-rules"): Call(Role.OPERATOR, {"kind": "domain", "value": "a.example", "reason": "asked"}),
    ("POST", "/api/v1/source-rules/{rule_id}/retire"): Call(Role.OPERATOR),
    ("GET", "/api/v1/profiles"): Call(Role.VIEWER),
    ("POST", "/api/v1/profiles"): Call(Role.OPERATOR, {"name": "mine", "bundled": "published"}),
    ("GET", "/api/v1/profiles/diff"): Call(Role.VIEWER),
    ("GET", "/api/v1/profiles/{name}/versions"): Call(Role.VIEWER),
    ("GET", "/api/v1/profiles/{name}/versions/{version}"): Call(Role.VIEWER),
    ("PUT", "/api/v1/profiles/{name}/versions/{version}"): Call(Role.OPERATOR, {"bundled": "published"}),
    ("DELETE", "/api/v1/profiles/{name}/versions/{version}"): Call(Role.OPERATOR),
    ("POST", "/api/v1/profiles/{name}/versions/{version}/publish"): Call(Role.OPERATOR),
    ("GET", "/api/v1/profiles/{name}/versions/{version}/yaml"): Call(Role.VIEWER),
    ("POST", "/api/v1/jobs/{job_id}/documents/search"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/documents/facets"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/documents/histogram"): Call(Role.VIEWER, {"column": "tokens"}),
    ("GET", "/api/v1/jobs/{job_id}/documents/find"): Call(Role.VIEWER),
    ("GET", "/api/v1/jobs/{job_id}/documents/{position}"): Call(Role.VIEWER),
    ("POST", "/api/v1/jobs/{job_id}/documents/{position}/read"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/documents/rulings"): Call(
        Role.CURATOR, {"query": {}, "action": "keep", "reason": "read"}
    ),
    ("POST", "/api/v1/jobs/{job_id}/what-if"): Call(Role.VIEWER, {"other": {}}),
    ("POST", "/api/v1/jobs/{job_id}/what-if/flips"): Call(Role.VIEWER, {"other": {}, "move": "now_kept"}),
    ("GET", "/api/v1/vocabularies"): Call(Role.VIEWER),
    ("GET", "/api/v1/vocabularies/diff"): Call(Role.VIEWER),
    ("POST", "/api/v1/vocabularies/read-csv"): Call(Role.VIEWER, {"csv": ""}),
    ("GET", "/api/v1/vocabularies/ids/{version_id}"): Call(Role.VIEWER),
    ("GET", "/api/v1/vocabularies/{name}/versions"): Call(Role.VIEWER),
    ("POST", "/api/v1/vocabularies/{name}/versions"): Call(Role.CURATOR, {"content": {"allow": ["volcano"]}}),
    ("GET", "/api/v1/vocabularies/{name}/versions/{version}"): Call(Role.VIEWER),
    ("GET", "/api/v1/vocabularies/{name}/versions/{version}/csv"): Call(Role.VIEWER),
    ("GET", "/api/v1/vocabularies/{name}/versions/{version}/yaml"): Call(Role.VIEWER),
    ("POST", "/api/v1/vocabularies/{name}/revert"): Call(Role.CURATOR, {"based_on": 1, "to_version": 1}),
    ("POST", "/api/v1/jobs/{job_id}/vocabulary/terms"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/vocabulary/terms/{term}"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/vocabulary/terms/{term}/concordance"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/vocabulary/impact"): Call(Role.VIEWER, {"vocabulary": {}}),
    ("POST", "/api/v1/jobs/{job_id}/vocabulary/sampling"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/vocabulary/measure-senses"): Call(Role.OPERATOR, {"vocabulary_id": 1}),
    ("GET", "/api/v1/concepts/versions"): Call(Role.VIEWER),
    ("POST", "/api/v1/concepts/versions"): Call(Role.CURATOR, {"based_on": 1, "remove": ["ratio"]}),
    ("POST", "/api/v1/concepts/versions/revert"): Call(Role.CURATOR, {"based_on": 1, "to": 1}),
    ("GET", "/api/v1/concepts/versions/diff"): Call(Role.VIEWER),
    ("POST", "/api/v1/concepts/versions/impact"): Call(Role.VIEWER, {"based_on": 1, "remove": ["ratio"]}),
    ("GET", "/api/v1/concepts/versions/{version}"): Call(Role.VIEWER),
    ("GET", "/api/v1/concepts/versions/{version}/concepts"): Call(Role.VIEWER),
    ("GET", "/api/v1/concepts/versions/{version}/concepts/{concept_id}"): Call(Role.VIEWER),
    ("GET", "/api/v1/concepts/versions/{version}/csv"): Call(Role.VIEWER),
    ("GET", "/api/v1/concepts/versions/{version}/yaml"): Call(Role.VIEWER),
    ("GET", "/api/v1/jobs/{job_id}/concepts"): Call(Role.VIEWER),
    ("GET", "/api/v1/jobs/{job_id}/concepts/plan"): Call(Role.VIEWER),
    ("POST", "/api/v1/jobs/{job_id}/concepts/measure"): Call(Role.OPERATOR, {}),
    ("POST", "/api/v1/jobs/{job_id}/concepts/report"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/concepts/{concept_id}/concordance"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/jobs/{job_id}/concepts/{concept_id}/documents"): Call(Role.VIEWER, {}),
    ("POST", "/api/v1/probes"): Call(Role.OPERATOR, {"base_job_id": 1}),
    ("GET", "/api/v1/probes"): Call(Role.VIEWER),
    ("GET", "/api/v1/probes/{probe_id}"): Call(Role.VIEWER),
    ("POST", "/api/v1/texts/try"): Call(Role.VIEWER, {"text": "The sun is a star."}),
    ("GET", "/api/v1/jobs"): Call(Role.VIEWER),
    ("POST", "/api/v1/jobs"): Call(Role.OPERATOR, {"source_id": 1, "profile_id": 1}),
    ("POST", "/api/v1/jobs/estimate"): Call(Role.OPERATOR, {"source_id": 1, "profile_id": 1}),
    ("GET", "/api/v1/jobs/{job_id}"): Call(Role.VIEWER),
    ("GET", "/api/v1/jobs/{job_id}/tasks"): Call(Role.VIEWER),
    ("POST", "/api/v1/jobs/{job_id}/pause"): Call(Role.OPERATOR),
    ("POST", "/api/v1/jobs/{job_id}/resume"): Call(Role.OPERATOR),
    ("POST", "/api/v1/jobs/{job_id}/cancel"): Call(Role.OPERATOR),
    ("POST", "/api/v1/jobs/{job_id}/retry"): Call(Role.OPERATOR),
    ("POST", "/api/v1/jobs/{job_id}/clone"): Call(Role.OPERATOR),
    ("POST", "/api/v1/jobs/{job_id}/measure-undecided"): Call(Role.OPERATOR, {"profile_id": 1}),
    ("GET", "/api/v1/exports"): Call(Role.VIEWER),
    ("POST", "/api/v1/exports"): Call(Role.OPERATOR, {"base_job_id": 1}),
    ("GET", "/api/v1/exports/{export_id}"): Call(Role.VIEWER),
    ("DELETE", "/api/v1/exports/{export_id}"): Call(Role.OPERATOR),
    ("GET", "/api/v1/exports/{export_id}/files/{path:path}"): Call(Role.VIEWER),
    ("GET", "/api/v1/exports/{export_id}/archive"): Call(Role.VIEWER),
    ("POST", "/api/v1/exports/{export_id}/verify"): Call(Role.OPERATOR),
    ("GET", "/api/v1/exports/{export_id}/diff"): Call(Role.VIEWER),
    ("POST", "/api/v1/exports/{export_id}/push"): Call(Role.OPERATOR, {"repo_id": "anna/corpus"}),
    ("GET", "/api/v1/events"): Call(Role.VIEWER),
    ("GET", "/api/v1/events/stream"): Call(Role.VIEWER, headers={"Last-Event-ID": "none"}),
    ("GET", "/api/v1/audit"): Call(Role.ADMIN),
    ("GET", "/api/v1/audit.csv"): Call(Role.ADMIN),
}


def list_routes(app: FastAPI) -> list[tuple[str, str]]:
    """Method and path of every route of the application, those of included rooms too."""
    found = []
    for route in iter_route_contexts(app.routes):
        assert route.path is not None
        found += [(method, route.path) for method in sorted(route.methods or {"GET"}) if method != "HEAD"]
    return found


def fill(path: str) -> str:
    """The path with 1 for every parameter."""
    return re.sub(r"\{[^}]*\}", "1", path)


def find_wrong_answers(app: FastAPI, role: Role, matrix: dict[tuple[str, str], Call] = MATRIX) -> list[str]:
    """Routes that let this role in though they should not, or shut it out though they should let it in."""
    wrong = []
    for (method, path), call in matrix.items():
        answer = open_program(app, role).request(method, fill(path), json=call.body, headers=call.headers)
        is_refused = answer.status_code in {401, 403}
        is_allowed = call.least is not None and role.rank >= call.least.rank
        if is_refused == is_allowed:
            wrong.append(f"{method} {path} answers {answer.status_code} to {role}")
    return wrong

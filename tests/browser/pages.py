"""Every page of the workbench, and a service with something on each of them."""

from __future__ import annotations

import shutil
import time
import urllib.error
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import SAMPLE, Caller, Service

PASSWORD = "four words nobody expects"

# What the service calls things and no person does.
INTERNAL_NAMES = (
    "p95_aoa", "oov_ratio", "OOS", "decided_by", "fasttext", "min_k5", "top_band", "quarantined", "partly_failed",
    "slice", "shard", "undefined", "NaN", "[object Object]",
)  # fmt: skip


@dataclass(frozen=True)
class Page:
    """`heading` is there once the page has its content; `is_open` for who is not signed in."""

    name: str
    path: str
    heading: str
    is_open: bool = False


PAGES = (
    Page("sign-in", "/", "Primer", is_open=True),
    Page("overview", "/", "What the latest job kept"),
    Page("jobs", "/jobs", "All jobs"),
    Page("new-job", "/jobs/new", "What to expect"),
    Page("job", "/jobs/1", "What each stage takes away"),
    Page("job-failed", "/jobs/3", "What was asked"),
    Page("sources", "/sources", "All sources"),
    Page("new-source", "/sources/new", "What and where"),
    Page("source", "/sources/2", "Files"),
    Page("profiles", "/profiles", "All profiles"),
    Page("profile", "/profiles/recommended/{recommended}", "What it asks"),
    Page("draft", "/profiles/stricter-words/1", "What it asks"),
    Page("compare", "/profiles/compare?before=1&after=2", "Differences"),
    Page("people", "/admin/users", "People"),
    Page("places", "/admin/places", "Allowed places"),
    Page("rules", "/admin/rules", "Source rules"),
    Page("audit", "/admin/audit", "Audit log"),
    Page("workers", "/admin/work", "Workers"),
    Page("models", "/admin/models", "Models and tables"),
    Page("model-card", "/admin/models?card=fasttext", "About: Quick grader"),
    Page("model-report", "/admin/models?report=evaluation", "How well the models grade"),
    Page("service", "/admin/service", "What the service needs"),
    Page("account", "/account", "Tokens for programs"),
    Page("documents", "/documents", "Choose a document"),
    Page(
        "document", "/documents/1?at=3&outcome=kept", "music-composers-and-instruments.example.org/biography/prose-042"
    ),
    Page("thresholds", "/thresholds", "Where the thresholds cut"),
    Page("vocabulary", "/vocabulary", "Choose a word"),
    Page("word", "/vocabulary/1?word=electron&lost=yes&by=right", "Where it stands"),
    Page("word-edits", "/vocabulary/1?version=1&edits=yes", "No edits yet"),
    Page("sampling", "/vocabulary/sampling/1", "By the score of the hardest word"),
    Page("vocabulary-versions", "/vocabulary/versions?name=waves&before=1&after=2", "History of waves"),
    Page("concepts", "/concepts/1", "What leaks into kept text"),
    Page("concept", "/concepts/1?at={concept}&places=all", "Where it stands"),
    Page("concepts-by-subject", "/concepts/1?by=subject", "What leaks into kept text"),
    Page("concepts-not-measured", "/concepts/2", "Concepts are not measured in this job yet"),
    Page("catalogue", "/concepts/catalogue?job=1&before=1&after=2", "Compare two versions"),
    Page("catalogue-edit", "/concepts/edit?job=1", "There is no edit"),
    Page("probes", "/concepts/probes", "All probes"),
    Page("probe", "/concepts/probes/1", "Hits by concept"),
    Page("exports", "/exports", "All exports"),
    Page("new-export", "/exports/new?job=1", "What to expect"),
    Page("export", "/exports/3", "How to verify"),
    Page("compare-exports", "/exports/compare?before=1&after=3", "Words that went out"),
    Page("try", "/try", "Nothing measured yet"),
    Page("nowhere", "/nowhere", "There is no such page"),
)


def furnish(service: Service) -> Caller:
    """Two jobs that succeed and one that fails, a ruling, an export that heeds it, a source that cannot be read, a draft, a
    rule, a curator, a token."""
    admin = Caller(service)
    going = _add_folder(service, "going", {"one.parquet": (SAMPLE / "sample-00000.parquet").read_bytes()})
    admin.call("POST", "/allowed-prefixes", {"prefix": str(going.parent)})
    going_source = _add_source(admin, "readers-2019", going)
    admin.call("POST", "/allowed-prefixes", {"prefix": str(SAMPLE), "note": "the bundled sample"})
    sample = _add_source(admin, "sample", SAMPLE)
    profile = find_profile(admin, "recommended")
    for options in ({"has_encoder": False}, {"has_encoder": False, "limit": 120}):
        job = admin.call("POST", "/jobs", {"source_id": sample, "profile_id": profile, "options": options})
        admin.wait_for(f"/jobs/{job['id']}", "succeeded")
    shutil.rmtree(going)
    job = admin.call("POST", "/jobs", {"source_id": going_source, "profile_id": profile})
    admin.wait_for(f"/jobs/{job['id']}", "failed", "partly_failed")
    reason = "the words are easy, what they tell is not"
    admin.call("POST", f"/sources/{sample}/rulings", {**find_kept(admin, 1), "action": "exclude", "reason": reason})
    export = admin.call("POST", "/exports", {"base_job_id": 1})
    admin.wait_for(f"/exports/{export['id']}", "succeeded")
    _save_words(admin)
    _add_source(admin, "damaged", _add_folder(service, "damaged", {"part-0.parquet": b"no Parquet"}), state="failed")
    draft = {"name": "stricter-words", "version_id": profile, "note": "fewer words beyond grade 5"}
    admin.call("POST", "/profiles", draft)
    rule = {"kind": "domain", "value": "trains.example.org", "reason": "takedown request of 3 March"}
    admin.call("POST", "/source-rules", rule)
    _find_concepts(admin)
    admin.call("POST", "/users", {"name": "anna.berg", "role": "curator", "password": PASSWORD})
    admin.call("POST", "/tokens", {"name": "nightly export", "role": "viewer", "expires_in_days": 90})
    return admin


def find_profile(caller: Caller, name: str) -> int:
    """The id of its newest version."""
    found = caller.call("GET", "/profiles")["items"]
    return next(int(profile["newest"]["id"]) for profile in found if profile["name"] == name)


def find_kept(caller: Caller, job_id: int) -> dict[str, Any]:
    """The place of the last document that the job keeps, once its documents can be asked."""
    asked = {"query": {"outcome": "kept"}, "limit": 500}
    while True:
        try:
            last = caller.call("POST", f"/jobs/{job_id}/documents/search", asked)["items"][-1]
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.2)
        else:
            return {name: last[name] for name in ("shard_sha256", "row")}


def _save_words(admin: Caller) -> None:
    """Two versions of a vocabulary: one that allows a word, one that tells another apart by sense."""
    allowed = {"allow": ["amplitude"], "notes": {"amplitude": "how high a wave is: grade 4"}}
    first = admin.call(
        "POST", "/vocabularies/waves/versions", {"content": allowed, "note": "waves are taught in grade 4"}
    )
    contexts = [{"words": ["mudflow", "river"], "left": 8, "right": 8}]
    senses = [{"term": "electron", "innocent_if": contexts, "note": "a town by a volcano"}]
    body = {"based_on": first["id"], "content": {**allowed, "senses": senses}, "note": "places are no particles"}
    admin.call("POST", "/vocabularies/waves/versions", body)


def find_path(page: Page, caller: Caller) -> str:
    newest = {profile["name"]: profile["newest"]["version"] for profile in caller.call("GET", "/profiles")["items"]}
    if "{concept}" in page.path:
        found = caller.call("POST", "/jobs/1/concepts/report", {})["concepts"]
        return page.path.format(concept=max(found, key=lambda counts: int(counts["documents"]))["concept"])
    return page.path.format(**{name: version for name, version in newest.items() if name.isidentifier()})


def _find_concepts(admin: Caller) -> None:
    """Concepts of the first job, a second version of their catalogue, and a probe of what the job keeps."""
    job = admin.call("POST", "/jobs/1/concepts/measure", {})
    admin.wait_for(f"/jobs/{job['id']}", "succeeded")
    ratio = admin.call("GET", "/concepts/versions/1/concepts/ratio")
    ratio |= {
        "innocent": [*ratio["innocent"], "aspect ratio of a film"],
        "k5_neighbour": "halves and quarters of a thing",
    }
    edit = {"based_on": 1, "put": [ratio], "note": "films have ratios that nobody calculates with"}
    admin.call("POST", "/concepts/versions", edit)
    probe = admin.call("POST", "/probes", {"base_job_id": 1, "max_share": 0.0005})
    admin.wait_for(f"/probes/{probe['id']}", "succeeded")


def _add_source(caller: Caller, name: str, folder: Path, *, state: str = "ready") -> int:
    source = caller.call("POST", "/sources", {"name": name, "locations": [str(folder)]})
    caller.wait_for(f"/sources/{source['id']}", state)
    return int(source["id"])


def _add_folder(service: Service, name: str, files: dict[str, bytes]) -> Path:
    folder = service.folder / "corpora" / name
    folder.mkdir(parents=True)
    for file_name, content in files.items():
        (folder / file_name).write_bytes(content)
    return folder

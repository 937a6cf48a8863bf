"""Mutation run: would the tests notice a small fault in the code that decides? `python -m benchmarks.mutate`.

Each mutant is one fault in a copy of the tree, never in the checkout; it is killed when the tests of its file fail or
hang. Exits with 1 where fewer than MIN_SCORE of those that are not equivalent are killed. The sample is seeded.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import yaml

from benchmarks.corpus import REPO
from benchmarks.fork_server import TestServer
from benchmarks.machine import describe_machine
from benchmarks.mutation_operators import Mutant, apply_mutant, list_mutants

MIN_SCORE = 0.85
SEED = 20260813
MUTANTS_PER_GROUP = 40
RESULT = REPO / "benchmarks" / "results" / "mutation.json"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.yaml")
_COPIED = ("curation", "cli", "app", "workers", "primer", "tests", "migrations", "pyproject.toml")
# A mutant may hang; one that takes this much longer than the sound code is as good as failed.
_NOT_COLLECTED = 2  # pytest's exit status when a test file cannot be imported
_TIMEOUT_FACTOR, _TIMEOUT_SLACK_SECONDS = 5.0, 60.0


@dataclass(frozen=True)
class Group:
    """Files that share tests. `tests`: files or folders, the quickest to fail first."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]


_NOTATION_TESTS = (
    "tests/unit/notation/test_notation_cases.py",
    "tests/unit/notation/test_notation_edges.py",
    "tests/unit/notation/test_notation_oracle.py",
    "tests/unit/notation/test_notation_published_truth.py",
    "tests/unit/notation/test_notation_prefilter.py",
    "tests/unit/notation/test_notation_linear.py",
)
_SIGNAL_TESTS = (
    "tests/unit/signals/test_tokens.py",
    "tests/unit/signals/test_lexical.py",
    "tests/unit/signals/test_evidence_limits.py",
)
_DECIDE_TESTS = (
    "tests/unit/test_decide.py",
    "tests/unit/test_decide_verdicts.py",
    "tests/unit/test_decide_properties.py",
)
GROUPS = (
    Group("decide", ("curation/decide.py",), _DECIDE_TESTS),
    Group("notation/published", ("curation/notation/published/*.py",), _NOTATION_TESTS),
    Group("notation/recommended", ("curation/notation/recommended/*.py",), _NOTATION_TESTS),
    Group("notation/shared", ("curation/notation/*.py", "curation/signals/notation.py"), _NOTATION_TESTS),
    Group("tokens", ("curation/signals/tokens.py",), _SIGNAL_TESTS),
    Group("lexical", ("curation/signals/lexical.py",), _SIGNAL_TESTS[::-1]),
    Group(
        "ledger/store",
        ("curation/ledger/store.py",),
        ("tests/unit/ledger/test_run_id.py", "tests/unit/ledger/test_store.py"),
    ),
    Group("publish", ("curation/publish.py",), ("tests/unit/test_publish.py", "tests/unit/ledger/test_store.py")),
)


@dataclass(frozen=True)
class Planned:
    """A mutant of one file, and the tests that should kill it."""

    group: Group
    file: str
    mutant: Mutant

    @property
    def key(self) -> str:
        """What names a mutant, with its line's text."""
        return f"{self.file}::{self.mutant.scope}: {self.mutant.change}"

    @property
    def place(self) -> tuple[str, str]:
        return self.key, (REPO / self.file).read_text().splitlines()[self.mutant.line - 1].strip()


@dataclass(frozen=True)
class Outcome:
    """`result`: killed, survived, or invalid (the faulty file cannot even be imported: no test is needed to see that)."""

    planned: Planned
    result: str
    seconds: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutate", description=__doc__)
    parser.add_argument(
        "--group",
        choices=[group.name for group in GROUPS],
        action="append",
        help="only this group; the others' last results are kept",
    )
    parser.add_argument("--mutants", type=int, default=MUTANTS_PER_GROUP, help="how many a group")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    groups = [group for group in GROUPS if not options.group or group.name in options.group]
    with tempfile.TemporaryDirectory() as folder:
        trees = [copy_tree(Path(folder) / str(number)) for number in range(options.processes)]
        plan = [planned for group in groups for planned in draw_mutants(trees[0], group, options.mutants, options.seed)]
        outcomes = run_mutants(trees, groups, plan)
    found = {group.name: describe_group(group, outcomes, read_equivalent(), options.seed) for group in groups}
    report = describe({**read_groups(options.out), **found})
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(format_table(report))
    sys.exit(0 if report["is_target_met"] else 1)


def draw_mutants(tree: Path, group: Group, count: int, seed: int) -> list[Planned]:
    """A seeded sample of a group's mutants: those of another group do not move it."""
    files = sorted(path for pattern in group.files for path in tree.glob(pattern))
    everything = [
        Planned(group, str(path.relative_to(tree)), mutant)
        for path in files
        for mutant in list_mutants(path.read_text())
    ]
    chosen = random.Random(f"{seed} {group.name}").sample(range(len(everything)), min(count, len(everything)))
    return [everything[i] for i in sorted(chosen)]


def read_equivalent() -> dict[tuple[str, str], str]:
    """Key and line's text of a mutant that changes nothing anyone could see -> why. Listed by hand; one whose line was
    edited counts as a survivor until somebody has looked at it again."""
    return {(entry["mutant"], entry["line"]): entry["reason"] for entry in yaml.safe_load(EQUIVALENT.read_text())}


def run_mutants(trees: Sequence[Path], groups: Sequence[Group], plan: Sequence[Planned]) -> list[Outcome]:
    """Every mutant's outcome, in order; as many at once as there are trees.

    Raises RuntimeError when the tests of a group fail without a mutant.
    """
    servers = {tree: start_server(tree) for tree in trees}
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def time_group(group: Group) -> float:
        tree = free.get()
        try:
            return time_sound(servers[tree], group)
        finally:
            free.put(tree)

    def run(planned: Planned) -> Outcome:
        tree = free.get()
        try:
            outcome = run_mutant(tree, servers[tree], planned, limits[planned.group.name])
        finally:
            free.put(tree)
        sys.stderr.write(f"{outcome.result:9}{outcome.seconds:6.1f} s  {planned.key}\n")
        return outcome

    try:
        with ThreadPoolExecutor(len(trees)) as pool:
            limits = dict(zip([group.name for group in groups], pool.map(time_group, groups), strict=True))
            return list(pool.map(run, plan))
    finally:
        for server in servers.values():
            server.close()


def copy_tree(target: Path) -> Path:
    """A copy of what the tests need, links kept as links."""
    target.mkdir()
    for name in _COPIED:
        source = REPO / name
        if source.is_dir():
            shutil.copytree(source, target / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy2(source, target / name)
    compileall.compile_dir(target, quiet=2)
    return target


def time_sound(server: TestServer, group: Group) -> float:
    """Seconds after which a mutant of the group counts as hanging. Raises RuntimeError when the tests fail without a mutant."""
    began = time.monotonic()
    if _run_tests(server, group.tests, None) != 0:
        raise RuntimeError(f"the tests of {group.name} fail without a mutant:\n{server.output.read_text()}")
    return (time.monotonic() - began) * _TIMEOUT_FACTOR + _TIMEOUT_SLACK_SECONDS


def run_mutant(tree: Path, server: TestServer, planned: Planned, limit_seconds: float) -> Outcome:
    """Put the fault in, run the tests, take it out again."""
    path = tree / planned.file
    sound = path.read_text()
    began = time.monotonic()
    shutil.rmtree(tree / ".hypothesis", ignore_errors=True)  # what killed another mutant is not this one's test
    path.write_text(apply_mutant(sound, planned.mutant))
    try:
        status = _run_tests(server, planned.group.tests, limit_seconds)
    finally:
        path.write_text(sound)
    seconds = time.monotonic() - began
    if status == _NOT_COLLECTED and "re.error" in server.output.read_text(errors="replace"):
        return Outcome(planned, "invalid", seconds)
    return Outcome(planned, "survived" if status == 0 else "killed", seconds)


def start_server(tree: Path) -> TestServer:
    """The tree stands first on its path, before the checkout that is installed."""
    shared = Path(os.environ.get("PRIMER_SHARED", REPO / ".." / "shared")).resolve()
    # Two mutants of one second and size would share a compiled file: the sound tree is compiled, mutants are not.
    environment = {"PYTHONPATH": str(tree), "PRIMER_SHARED": str(shared), "PYTHONDONTWRITEBYTECODE": "1"}
    return TestServer(tree, {**os.environ, **environment})


def _run_tests(server: TestServer, tests: Sequence[str], limit_seconds: float | None) -> int | None:
    arguments = ["-x", "-q", "-m", "not soak", "--tb=no", "--hypothesis-seed=0", *tests]
    return server.run(arguments, limit_seconds)


def read_groups(path: Path) -> dict[str, Any]:
    """What an earlier run found, by group: groups that are not run again are kept."""
    return json.loads(path.read_text())["groups"] if path.is_file() else {}


def describe_group(
    group: Group, everything: Sequence[Outcome], equivalent: dict[tuple[str, str], str], seed: int
) -> dict[str, Any]:
    """One group's part of the report. Equivalent mutants are shown with their reasons and count neither way."""
    outcomes = [outcome for outcome in everything if outcome.planned.group == group]
    survivors = [outcome for outcome in outcomes if outcome.result == "survived"]
    unseen = [outcome for outcome in survivors if outcome.planned.place in equivalent]
    real = [outcome for outcome in survivors if outcome not in unseen]
    return {
        **describe_machine(),
        "seed": seed,
        "killed": sum(outcome.result == "killed" for outcome in outcomes),
        "survived": len(real),
        "equivalent": len(unseen),
        "invalid": sum(outcome.result == "invalid" for outcome in outcomes),
        "files": {
            file: {
                "killed": sum(outcome.result == "killed" for outcome in outcomes if outcome.planned.file == file),
                "survived": sum(outcome.planned.file == file for outcome in real),
            }
            for file in sorted({outcome.planned.file for outcome in outcomes})
        },
        "survivors": [_describe_outcome(outcome) for outcome in real],
        "equivalent_mutants": [
            {**_describe_outcome(outcome), "reason": equivalent[outcome.planned.place]} for outcome in unseen
        ],
    }


def _describe_outcome(outcome: Outcome) -> dict[str, Any]:
    planned = outcome.planned
    return {"mutant": planned.key, "line": planned.mutant.line, "kind": planned.mutant.kind}


def describe(groups: dict[str, Any]) -> dict[str, Any]:
    """The whole report as JSON: the score over all groups, then each."""
    killed, survived, equivalent = (
        sum(g[key] for g in groups.values()) for key in ("killed", "survived", "equivalent")
    )
    score = killed / max(killed + survived, 1)
    return {
        "killed": killed,
        "survived": survived,
        "equivalent": equivalent,
        "score": round(score, 4),
        "min_score": MIN_SCORE,
        "is_target_met": score >= MIN_SCORE,
        "groups": dict(sorted(groups.items())),
    }


def format_table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = ["| file | killed | survived |", "|---|---|---|"]
    for group in report["groups"].values():
        lines += [f"| {file} | {row['killed']} | {row['survived']} |" for file, row in group["files"].items()]
    for group in report["groups"].values():
        lines += [f"survived, line {row['line']}: {row['mutant']}" for row in group["survivors"]]
    verdict = "holds" if report["is_target_met"] else "DOES NOT HOLD"
    return "\n".join([*lines, "", f"Killed {report['score']:.1%}; at least {report['min_score']:.0%} {verdict}.", ""])


if __name__ == "__main__":
    main()

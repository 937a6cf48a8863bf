"""Whatever dies, nothing is lost and nothing doubled: every disturbed job ends with the bytes and counters of one that was not."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest
from fault_scene import Scene
from service_faults import FAULTS, Facts
from service_stack import running_stack

REPO = Path(__file__).resolve().parents[2]
RESULTS = REPO / "benchmarks" / "results" / "service_faults.json"
SEED, SOAK_SEEDS = 20260813, range(20)

# What another database may make of it. PostgreSQL is asked everything, and each time.
SQLITE_FAULTS = ("kill_worker", "deliver_six_times", "outlive_lease", "pause")


CASES = [
    *(("postgresql", name) for name in FAULTS),
    *(("sqlite", name) for name in SQLITE_FAULTS),
]


@pytest.fixture(scope="module")
def open_scene(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Scene]]:
    """The scene on a database, the same one for every fault."""
    scenes: dict[str, Scene] = {}
    with ExitStack() as stacks:

        def open_scene(database: str) -> Scene:
            if database not in scenes:
                folder = tmp_path_factory.mktemp("scene")
                postgres = request.getfixturevalue("postgres") if database == "postgresql" else None
                valkey = request.getfixturevalue("valkey")
                url = (
                    f"sqlite:///{folder / 'primer.sqlite3'}" if postgres is None else postgres.create_database("faults")
                )
                stack = running_stack(
                    folder,
                    database_url=url,
                    broker_url=valkey.choose_database(),
                    environment={"PRIMER_MAX_ATTEMPTS": "2"},
                )
                scenes[database] = Scene(stacks.enter_context(stack), valkey, postgres)
            return scenes[database]

        yield open_scene


@pytest.mark.parametrize(("database", "name"), [case for case in CASES if case[0] == "postgresql"])
def test_nothing_is_lost_and_nothing_doubled(open_scene: Callable[[str], Scene], database: str, name: str) -> None:
    scene = open_scene(database)
    try:
        FAULTS[name](scene, Random(f"{SEED}-{name}"))
    finally:
        scene.switch_off()


@pytest.mark.soak
@pytest.mark.parametrize(("database", "name"), CASES)
def test_nothing_is_lost_and_nothing_doubled_at_twenty_moments(
    open_scene: Callable[[str], Scene], database: str, name: str
) -> None:
    scene = open_scene(database)
    longer = {"seconds": 60.0} if name == "take_broker_away" else {}
    seen: list[Facts] = []
    for seed in SOAK_SEEDS:
        began = time.monotonic()
        try:
            facts = FAULTS[name](scene, Random(f"{seed}-{name}"), **longer)
        finally:
            scene.switch_off()
        seen.append({**facts, "took_seconds": round(time.monotonic() - began, 1)})
    _note(f"{name} on {database}", seen)


def _note(name: str, seen: list[Facts]) -> None:
    """Add to the results, which hold what the last soak saw of every fault: a line a moment at which nothing was lost."""
    with RESULTS.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        content = file.read()
        found = json.loads(content) if content else {}
        found[name] = seen
        file.truncate(0)
        file.write(_dump(found))


def _dump(found: dict[str, list[Facts]]) -> str:
    lines = [
        f' "{name}": [\n  ' + ",\n  ".join(json.dumps(facts, sort_keys=True) for facts in seen) + "\n ]"
        for name, seen in sorted(found.items())
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"

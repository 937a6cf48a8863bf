"""What questions about words cost over a million decisions: the term table, and the impact of a new version.

    python -m benchmarks.vocabulary --rows 1000000

The ledger is synthetic, with the figures of web text. Wall and processor time are both given: on a busy machine only the second one
says what the work costs.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.synthetic_ledger import write_ledger
from curation.artifacts.artifact_set import resolve_artifacts
from curation.index import DecisionRequest, build_index, open_index
from curation.lexicon.vocabulary import VocabularyVersion, read_vocabulary_table
from curation.profile import BoundProfile, load_profile
from curation.vocabulary_audit import TermQuery, audit_terms, list_terms, preview_impact

QUESTIONS = 20
LIMIT_SECONDS = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    table = read_vocabulary_table(resolve_artifacts(None).require("vocabulary").path)
    with tempfile.TemporaryDirectory() as home:
        run = write_ledger(Path(home) / "run", arguments.rows, table)
        index = open_index(build_index(run, Path(home) / "indexes", table=table))
        bound = BoundProfile(load_profile("recommended"), {}, ("encoder",))
        decided = index.decide(DecisionRequest(bound))
        report("term table, first time", [_time(lambda: audit_terms(decided))])
        chance = random.Random(0)
        scored = [word for word, score in table.scores.items() if score >= 4.0]
        sorts = ("sole_documents", "score", "documents", "harmless", "kept_documents")
        lists = [TermQuery(sort=chance.choice(sorts), search=chance.choice("aeio")) for _ in range(QUESTIONS)]
        report("term list", [_time(lambda query=query: list_terms(audit_terms(decided), query, {})) for query in lists])
        versions = [
            VocabularyVersion(name="v", version=2, allow=tuple(chance.sample(scored, 5)), block=(f"w{'x' * n}",))
            for n in range(1, QUESTIONS + 1)
        ]
        report("impact", [_time(lambda version=version: preview_impact(decided, version)) for version in versions])


def _time(work: Callable[[], Any]) -> tuple[float, float]:
    wall, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - busy


def report(name: str, taken: list[tuple[float, float]]) -> None:
    walls, busy = sorted(wall for wall, _ in taken), sorted(spent for _, spent in taken)
    worst = min(len(taken) - 1, int(0.95 * len(taken)))
    print(  # noqa: T201
        f"{name}: wall {statistics.median(walls) * 1e3:.0f} ms median, {walls[worst] * 1e3:.0f} ms p95; "
        f"processor {statistics.median(busy) * 1e3:.0f} ms median, {busy[worst] * 1e3:.0f} ms p95; "
        f"limit {LIMIT_SECONDS * 1e3:.0f} ms"
    )


if __name__ == "__main__":
    main()

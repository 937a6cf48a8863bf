"""The published rules decide as the published filter did, on every shared document it was run on."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from curation.signals.notation import find_published


def test_published_rules_equal_published_decisions(shared: Path) -> None:
    truth = pq.read_table(shared / "data" / "published_decisions.parquet", columns=["shard", "row", "notation_rules"])
    expected: dict[str, dict[int, list[int]]] = defaultdict(dict)
    for decision in truth.to_pylist():
        expected[decision["shard"]][decision["row"]] = decision["notation_rules"]
    compared = 0
    differing = []
    for shard, rows in expected.items():
        texts = pq.read_table(shared / "data" / "shards" / shard, columns=["text"])["text"].to_pylist()
        assert len(texts) == len(rows)
        for row, text in enumerate(texts):
            found = [int(hit.rule) for hit in find_published(text)]
            compared += 1
            if found != sorted(rows[row]):
                differing.append((shard, row, found, rows[row]))
    assert differing == []
    assert compared == 15_572

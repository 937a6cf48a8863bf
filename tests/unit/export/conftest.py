"""One measured run for the tests that only read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from export_requests import Measured
from factories import HARD, SIMPLE, make_row, measure, write_shard


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Two shards of 90 and 40 rows: every third row is beyond K-5, and one has no text."""
    tmp = tmp_path_factory.mktemp("measured")
    shards: list[Path] = []
    kept: list[tuple[str, int, int]] = []
    source_tokens: list[int] = []
    for number, count in enumerate((90, 40)):
        rows = []
        for i in range(count):
            is_hard = i % 3 == 2
            text = HARD if is_hard else f"{SIMPLE} " * (1 + i % 5)
            row = make_row(number * 1000 + i, text)
            if (number, i) == (0, 4):
                row["text"] = None
            else:
                source_tokens.append(row["token_count"])
                if not is_hard:
                    kept.append((f"shard-{number}.parquet", i, row["token_count"]))
            rows.append(row)
        shards.append(write_shard(tmp / "source" / f"shard-{number}.parquet", rows, row_group_size=10))
    return Measured(tmp, measure(tmp, shards), kept, 130, source_tokens)

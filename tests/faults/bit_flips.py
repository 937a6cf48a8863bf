"""A program of test_bad_input: flips bits of a Parquet file by seed, reads it, and says what it found as JSON.

Run as a process of its own, so that a crash of the interpreter is a result too.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import PrimerError
from curation.shards.prepare import prepare_shard
from curation.shards.rows import read_slice

GROUP_ROWS, GROUPS = 40, 4
ROWS = GROUP_ROWS * GROUPS
NAME = "a.parquet"


def write_source(path: Path, *, compression: str, dictionary: bool) -> list[str]:
    """A shard with columns of many kinds; its texts."""
    letters = random.Random(1)
    texts = [f"row {i} " + "".join(letters.choices("abcdef ", k=60)) for i in range(ROWS)]
    table = pa.table(
        {
            "id": [f"d{i}" for i in range(ROWS)],
            "text": texts,
            "n": pa.array(range(ROWS), pa.int64()),
            "tags": [[str(i), "x"] for i in range(ROWS)],
            "meta": [{"a": i, "b": {"c": str(i)}} for i in range(ROWS)],
            "kind": pa.array([f"k{i % 3}" for i in range(ROWS)]).dictionary_encode(),
        }
    )
    pq.write_table(table, path, row_group_size=GROUP_ROWS, compression=compression, use_dictionary=dictionary)
    return texts


def column_range(path: Path, group: int, column: int) -> tuple[int, int]:
    chunk = pq.ParquetFile(path).metadata.row_group(group).column(column)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    return start, start + chunk.total_compressed_size


def read_all(path: Path, staging: Path, slice_bytes: int) -> tuple[str | None, list[str | None]]:
    """The shard's error, and every row's text (None where flagged). Rows must follow each other without a gap."""
    manifest = prepare_shard(
        path, NAME, 0, staging_root=staging, text_field="text", slice_bytes=slice_bytes, row_limit=None
    )
    texts: list[str | None] = []
    for piece in manifest.slices:
        assert piece.first_row == len(texts), "rows shifted"
        file = staging / manifest.staging / piece.file if manifest.staging else path
        for batch in read_slice(file, NAME, piece, "text"):
            assert batch.first_row == len(texts), "rows shifted"
            assert all((t is None) != (e is None) for t, e in zip(batch.texts, batch.errors, strict=True))
            texts += batch.texts
    assert len(texts) == manifest.row_count
    return manifest.error, texts


def main(folder: Path, compression: str, slice_bytes: int, region: str, seeds: int) -> None:
    good = folder / "good.parquet"
    expected = write_source(good, compression=compression, dictionary=slice_bytes < 10_000)
    content = good.read_bytes()
    footer_start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    found: Counter[str] = Counter()
    for seed in range(seeds):
        dice = random.Random(f"{compression} {region} {seed}")
        group = dice.randrange(GROUPS)
        start, end = {
            "text": lambda group=group: column_range(good, group, 1),
            "other": lambda group=group, dice=dice: column_range(good, group, dice.choice([0, 2, 3, 4, 5])),
            "footer": lambda: (footer_start, len(content)),
            "anywhere": lambda: (0, len(content)),
        }[region]()
        damaged = bytearray(content)
        for _ in range(dice.choice([1, 1, 2, 8])):
            damaged[dice.randrange(start, end)] ^= 1 << dice.randrange(8)
        path = folder / "damaged.parquet"
        path.write_bytes(damaged)
        sys.stderr.write(f"seed {seed}\n")  # the last one is the culprit where the process dies
        try:
            error, texts = read_all(path, folder / "staged", slice_bytes)
        except PrimerError:
            found["raised"] += 1
            continue
        if error is not None:
            assert texts == []
            found["shard error"] += 1
            continue
        assert len(texts) == ROWS, "rows lost"
        if region in ("text", "other"):
            others = [i for i in range(ROWS) if i // GROUP_ROWS != group]
            assert [texts[i] for i in others] == [expected[i] for i in others], "a row of another group changed"
        found["flagged" if None in texts else "whole" if texts == expected else "changed"] += 1
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))

"""Builds the bundled sample: two Parquet shards in FineWeb-Edu's columns, and the key that says what each document is.

The texts lie in documents.jsonl (written for the sample) and paired.jsonl (whole topics of the paired corpus, listed in
topics.yaml). Invariant: the shards hold nothing that gives a band away; same JSONL and writer, same bytes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from curation.errors import ArtifactError

SAMPLE_FOLDER = Path(__file__).resolve().parent
KEY_FILES = ("documents.jsonl", "paired.jsonl")
SHARD_COUNT = 2
ROWS_PER_GROUP = 50
# GPT-2 tokens of plain English web text are about 4.6 bytes long on average.
BYTES_PER_TOKEN = 4.6

SHARD_SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("id", pa.string()),
        ("dump", pa.string()),
        ("url", pa.string()),
        ("file_path", pa.string()),
        ("language", pa.string()),
        ("language_score", pa.float64()),
        ("token_count", pa.int64()),
        ("score", pa.float64()),
        ("int_score", pa.int64()),
    ]
)


class KeyEntry(TypedDict):
    """One document of the sample: band and subject after the rubric, the trap it sets (None: none) and why that band.

    `topic` is set for documents of the paired corpus, `page_type` for those of them that imitate scraped pages.
    """

    id: str
    text: str
    band: str
    subject: str
    trap: str | None
    url: str
    note: str
    topic: NotRequired[str]
    page_type: NotRequired[str]


def sample_dir() -> Path:
    """The folder of the committed shards, ready to be measured as a source."""
    return SAMPLE_FOLDER / "shards"


def load_key() -> dict[str, KeyEntry]:
    """Every document of the sample by id, in the order of the two JSONL files.

    Raises ArtifactError when a file is missing, a line is not JSON, or an id occurs twice.
    """
    return {entry["id"]: entry for entry, _ in _read_entries()}


def build_sample(out: Path) -> list[Path]:
    """Write sample-00000.parquet and sample-00001.parquet into `out` (made if absent) and return their paths.

    Columns and types are FineWeb-Edu's. Rows are ordered by the sha256 of their id and cut in the middle, which mixes
    the bands. What FineWeb-Edu would have measured is stood in for: token_count is the UTF-8 length / 4.6, rounded,
    not a count of GPT-2 tokens; language is "en" throughout, as there; language_score (0.80 to 0.99), score (2.5 to
    4.5) and int_score (score, rounded) are invented from the id. Existing files are overwritten.
    """
    rows = [_make_row(entry, key_file) for entry, key_file in _read_entries()]
    rows.sort(key=lambda row: _digest(str(row["id"])))
    rows_per_shard = -(-len(rows) // SHARD_COUNT)
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(SHARD_COUNT):
        path = out / f"sample-{number:05d}.parquet"
        shard = rows[number * rows_per_shard : (number + 1) * rows_per_shard]
        pq.write_table(
            pa.Table.from_pylist(shard, schema=SHARD_SCHEMA),
            path,
            version="2.6",
            data_page_version="1.0",
            compression="zstd",
            compression_level=9,
            use_dictionary=False,
            write_statistics=True,
            store_schema=False,
            row_group_size=ROWS_PER_GROUP,
        )
        paths.append(path)
    return paths


def _read_entries() -> list[tuple[KeyEntry, str]]:
    """Every entry with the name of its JSONL file."""
    entries: list[tuple[KeyEntry, str]] = []
    seen_ids: set[str] = set()
    for name in KEY_FILES:
        path = SAMPLE_FOLDER / name
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError as error:
            raise ArtifactError(f"{path}: the bundled sample lacks this file.", hint="Install Primer again.") from error
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                entry = cast(KeyEntry, orjson.loads(line))
            except orjson.JSONDecodeError as error:
                raise ArtifactError(f"{path}, line {number}: not JSON ({error}).", hint="Restore the file.") from error
            if entry["id"] in seen_ids:
                raise ArtifactError(f"{path}, line {number}: id {entry['id']} occurs twice.", hint="Rename one.")
            seen_ids.add(entry["id"])
            entries.append((entry, name))
    return entries


def _make_row(entry: KeyEntry, key_file: str) -> dict[str, str | float | int]:
    digest = _digest(entry["id"])
    score = round(2.5 + 2.0 * int.from_bytes(digest[:4], "big") / 2**32, 4)
    language_score = round(0.80 + 0.19 * int.from_bytes(digest[4:8], "big") / 2**32, 4)
    return {
        "text": entry["text"],
        "id": entry["id"],
        "dump": "PRIMER-SAMPLE",
        "url": entry["url"],
        "file_path": f"primer-sample/{key_file}",
        "language": "en",
        "language_score": language_score,
        "token_count": round(len(entry["text"].encode()) / BYTES_PER_TOKEN),
        "score": score,
        "int_score": round(score),
    }


def _digest(document_id: str) -> bytes:
    return hashlib.sha256(document_id.encode()).digest()


if __name__ == "__main__":
    build_sample(sample_dir())

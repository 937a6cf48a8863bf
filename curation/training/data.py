"""Training rows and what must never be trained on: closed licences, duplicates, and the bundled sample.

Where rows come from is in `sources`. Invariant: a TrainingSet has no two rows of one hash, none of the sample's topics,
page types or texts, and at least the stated number of rows of every band.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from curation.errors import TrainingError
from curation.normalize import normalize
from curation.signals.fasttext_grade import BANDS

ALLOWED_LICENCES: Final = frozenset({"own", "open", "odc-by"})
COLUMNS: Final = ("text", "band", "source", "group", "licence")
SAMPLE_FOLDER: Final = Path(__file__).resolve().parent.parent / "sample"
# Below this a band's share of a fold is a handful of documents and its score is noise.
MINIMUM_ROWS_PER_BAND: Final = 20


class TrainingRow(NamedTuple):
    """`group`: what must stay in one fold (topic, page type, family, host). `topic` is empty where unknown."""

    text: str
    band: str
    source: str
    group: str
    licence: str
    topic: str = ""


@dataclass(frozen=True)
class TrainingSet:
    """`rows` in the order read; `hashes[i]` is rows[i]'s; `dropped` counts what was left out by reason.

    `closed`: rows whose licence keeps them out of training but not out of evaluation; none is a copy of a row."""

    rows: tuple[TrainingRow, ...]
    hashes: tuple[str, ...]
    dropped: dict[str, int]
    closed: tuple[TrainingRow, ...]


@dataclass(frozen=True)
class SampleGuard:
    """What the bundled sample holds: topics and page types in lower case, hashes of texts."""

    topics: frozenset[str]
    hashes: frozenset[str]

    def holds(self, row: TrainingRow, row_hash: str) -> bool:
        return row_hash in self.hashes or not self.topics.isdisjoint((row.group.casefold(), row.topic.casefold()))


def hash_text(text: str) -> str:
    """The identity of a training text: SHA-256 of its normalised, case-folded words, so that layout does not count."""
    words = " ".join(normalize(text).text.casefold().split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def read_training_rows(path: Path) -> list[TrainingRow]:
    """Rows of a Parquet or JSON Lines file with the columns text, band, source, group, licence.

    Raises TrainingError that names the file and the first row which lacks a column or has no such band.
    """
    try:
        records = _read_records(path)
    except (OSError, pa.ArrowInvalid, orjson.JSONDecodeError) as error:
        raise TrainingError(f"{path} cannot be read as training rows: {error}.") from error
    rows = []
    for number, record in enumerate(records):
        values = [record.get(column) for column in COLUMNS]
        if not all(isinstance(value, str) for value in values) or values[1] not in BANDS:
            raise TrainingError(
                f"{path}, row {number}: not a training row.",
                hint=f"Each row has the text columns {', '.join(COLUMNS)}; band is one of {', '.join(BANDS)}.",
            )
        rows.append(TrainingRow(*(str(value) for value in values)))
    return rows


def read_sample_guard(folder: Path = SAMPLE_FOLDER) -> SampleGuard:
    """The guard of a sample folder: topics.yaml and the `text` of every line of its *.jsonl."""
    named = yaml.safe_load((folder / "topics.yaml").read_text())
    topics = frozenset(str(name).casefold() for key in ("topics", "page_types") for name in named[key])
    texts = (
        record["text"]
        for path in sorted(folder.glob("*.jsonl"))
        for record in map(orjson.loads, path.read_bytes().splitlines())
        if isinstance(record, dict) and isinstance(record.get("text"), str)
    )
    return SampleGuard(topics, frozenset(map(hash_text, texts)))


def build_training_set(
    rows: Iterable[TrainingRow],
    *,
    guard: SampleGuard,
    allowed_licences: Collection[str] = ALLOWED_LICENCES,
    minimum_rows_per_band: int = MINIMUM_ROWS_PER_BAND,
) -> TrainingSet:
    """Drops what must not be trained on and keeps one row a hash, under the highest band that any copy has.

    Raises TrainingError when a band is left with fewer rows than the minimum.
    """
    dropped: Counter[str] = Counter()
    kept: dict[str, TrainingRow] = {}
    closed: dict[str, TrainingRow] = {}
    for row in rows:
        row_hash = hash_text(row.text)
        if not row.text.strip():
            dropped["blank"] += 1
        elif guard.holds(row, row_hash):
            dropped["sample"] += 1
        elif row.licence not in allowed_licences:
            dropped["licence"] += 1
            closed.setdefault(row_hash, row)
        elif (twin := kept.get(row_hash)) is not None:
            dropped["duplicate"] += 1
            kept[row_hash] = twin._replace(band=max(twin.band, row.band, key=BANDS.index))
        else:
            kept[row_hash] = row
    require_rows(list(kept.values()), minimum_rows_per_band)
    unseen = tuple(row for row_hash, row in closed.items() if row_hash not in kept)
    return TrainingSet(tuple(kept.values()), tuple(kept), dict(sorted(dropped.items())), unseen)


def require_rows(rows: Sequence[TrainingRow], minimum_per_band: int) -> None:
    """Raises TrainingError naming every band with fewer rows than the minimum."""
    counts = Counter(row.band for row in rows)
    short = [f"{band} has {counts[band]}" for band in BANDS if counts[band] < minimum_per_band]
    if short:
        raise TrainingError(
            f"Too few rows to train on: {', '.join(short)}; {minimum_per_band} of each band are needed.",
            hint="Add rows, or look at what was dropped: licence, duplicates and the bundled sample's topics.",
        )


def _read_records(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return list(table.select([name for name in COLUMNS if name in table.column_names]).to_pylist())
    records = map(orjson.loads, path.read_bytes().splitlines())
    return [record if isinstance(record, dict) else {} for record in records]

"""A ledger of any number of rows with the figures of web text, in seconds: a few dozen slices are written, and committed many times.

The parts and commits are real, so what reads a ledger does all its work for every slice; only the disk's cache is kinder.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.artifacts.artifact_set import resolve_artifacts
from curation.index.build import rank_words
from curation.ledger import schema
from curation.ledger.store import COMMITS, Plan, PlannedShard
from curation.lexicon.vocabulary import VocabularyTable
from curation.notation.published.rules import PUBLISHED_RULES
from curation.notation.recommended.rules import RECOMMENDED_RULES
from curation.recipe import Recipe
from curation.run_folder import RunFolder
from curation.shards.manifest import ShardManifest, Slice
from curation.signals.lexical import LEXICAL_TYPE
from curation.signals.vocabulary import VOCABULARY_TYPE

SLICE_ROWS = 8192  # what 32 MiB of web text hold
SLICES_A_SHARD = 8
_KINDS = 3  # different slices for each place in a shard
# Measured on 3,816 web pages: 206 distinct words a row, 8 of them in no table, 13 that score 3 or more and 5 that score 4.
_WORDS_A_ROW = 270  # draws, of which fewer are distinct
_SCORED_WORDS_A_ROW = 13
_HIGH_SHARE = 0.35
_HOSTS = 150_000
_LAYERS = ("core", "postings", "encoder")
_CHANGED_SHARE = 0.3
_ENCODED_SHARE = 0.25
_RULES_SHARE = 0.12


@dataclass(frozen=True)
class _Words:
    """Words in alphabetical order with the chance of each."""

    words: list[str]
    cumulated: npt.NDArray[np.float64]
    scored: npt.NDArray[np.int64]  # places of the words that the table scores 3 or more
    high: npt.NDArray[np.int64]  # and 4 or more


def write_ledger(folder: Path, row_count: int, table: VocabularyTable) -> RunFolder:
    """A measured run of at least `row_count` rows, in whole slices."""
    slice_count = -(-row_count // SLICE_ROWS)
    shard_count = -(-slice_count // SLICES_A_SHARD)
    run = RunFolder(folder)
    recipe = Recipe(artifacts={**resolve_artifacts(None).hashes, "vocabulary": table.sha256}, frequencies="none")
    names = [f"synthetic-{number:05d}.parquet" for number in range(shard_count)]
    planned = tuple(PlannedShard(name=name, size_bytes=1) for name in names)
    run.ledger.create(Plan(recipe=recipe, shards=planned, row_limit=None))
    words = _choose_words(table)
    entries: dict[tuple[str, int, int], bytes] = {}
    for number, name in enumerate(names):
        places = range(min(SLICES_A_SHARD, slice_count - number * SLICES_A_SHARD))
        pieces = tuple(
            Slice(index=place, first_row=place * SLICE_ROWS, row_count=SLICE_ROWS, file="", row_groups=(place,))
            for place in places
        )
        manifest = ShardManifest(
            index=number,
            name=name,
            sha256=hashlib.sha256(name.encode()).hexdigest(),
            size_bytes=1,
            row_count=SLICE_ROWS * len(pieces),
            blank_line_count=0,
            staging="",
            slices=pieces,
            error=None,
        )
        run.ledger.add_shard(manifest)
        for piece in pieces:
            _commit_slice(run, manifest.slice_id(piece), piece.index, (number + piece.index) % _KINDS, words, entries)
    return run


def _commit_slice(
    run: RunFolder, slice_id: str, place: int, kind: int, words: _Words, entries: dict[tuple[str, int, int], bytes]
) -> None:
    if ("core", place, kind) not in entries:
        chance = np.random.default_rng(1000 * kind + place)
        first_row = place * SLICE_ROWS
        layers = {
            "core": _make_core(chance, first_row),
            "postings": _make_postings(chance, first_row, words),
            "encoder": _make_encoder(chance, first_row),
        }
        for layer in _LAYERS:
            run.ledger.commit(layer, slice_id, layers[layer])
            path = run.ledger.folder / COMMITS / layer / f"{slice_id}.json"
            entries[layer, place, kind] = path.read_bytes()
            assert json.loads(entries[layer, place, kind])["rows"] == layers[layer].num_rows
    for layer in _LAYERS:
        (run.ledger.folder / COMMITS / layer / f"{slice_id}.json").write_bytes(entries[layer, place, kind])


def _make_core(chance: np.random.Generator, first_row: int) -> pa.Table:
    n = SLICE_ROWS
    n_bytes = np.clip(chance.lognormal(8.0, 0.9, n), 200, 400_000).astype(np.int64)
    has_error = chance.random(n) < 0.001
    fill = {"mask": has_error}
    is_changed = chance.random(n) < _CHANGED_SHARE
    no_change = ~is_changed | has_error
    hosts = np.minimum(chance.zipf(1.3, n), _HOSTS)
    ids = chance.integers(0, 1 << 62, (n, 2))
    urls = [
        f"https://www.site-{host}.example.{'com' if host % 3 else 'org'}/articles/{number:x}/page.html"
        for host, number in zip(hosts.tolist(), ids[:, 0].tolist(), strict=True)
    ]
    counts = pa.array(np.maximum(n_bytes // 300, 1), pa.int32())
    columns = {
        "row": pa.array(np.arange(first_row, first_row + n)),
        "doc_id": pa.array([f"<urn:uuid:{a:016x}{b:016x}>" for a, b in ids.tolist()]),
        "url": pa.array(urls),
        "token_count": pa.array((n_bytes / 4.6).astype(np.int64)),
        "n_bytes": pa.array(n_bytes, **fill),
        "n_chars": pa.array(n_bytes, **fill),
        "n_words": pa.array(n_bytes // 6, **fill),
        "error": pa.array(["the text is null" if wrong else None for wrong in has_error.tolist()], pa.string()),
        "changes": pa.StructArray.from_arrays(
            [counts] * len(schema.CHANGES_TYPE), fields=list(schema.CHANGES_TYPE), mask=pa.array(no_change)
        ),
        "lexical_raw": _make_lexical(chance, n_bytes, has_error),
        "lexical_normalized": _make_lexical(chance, n_bytes, no_change),
        "notation_raw": _make_notation(chance, has_error),
        "notation_normalized": _make_notation(chance, no_change),
        "vocabulary_raw": pa.array([[]] * n, VOCABULARY_TYPE),
        "vocabulary_normalized": pa.nulls(n, VOCABULARY_TYPE),
        "fasttext": _make_fasttext(chance, n_bytes, has_error),
    }
    return pa.table([columns[name] for name in schema.CORE_SCHEMA.names], schema=schema.CORE_SCHEMA)


def _make_lexical(
    chance: np.random.Generator, n_bytes: npt.NDArray[np.int64], is_null: npt.NDArray[np.bool_]
) -> pa.StructArray:
    n = len(n_bytes)
    lists = pa.ListArray.from_arrays(
        pa.array(np.arange(n + 1) * 8, pa.int32()), pa.array([f"word{number}" for number in range(64)] * (n // 8))
    )
    return pa.StructArray.from_arrays(
        [
            pa.array(np.clip(chance.normal(10.8, 1.6, n), 4, 20)),
            pa.array(chance.beta(1.2, 30, n)),
            pa.array(n_bytes // 6),
            lists,
            lists,
        ],
        fields=list(LEXICAL_TYPE),
        mask=pa.array(is_null),
    )


def _make_notation(chance: np.random.Generator, is_null: npt.NDArray[np.bool_]) -> pa.StructArray:
    n = len(is_null)
    sets = []
    for rules in (PUBLISHED_RULES, RECOMMENDED_RULES):
        counts = np.where(chance.random(n) < _RULES_SHARE, np.minimum(chance.geometric(0.5, n), 8), 0)
        starts = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], counts)
        first = np.minimum(chance.geometric(0.12, n), len(rules) - 8)
        names = np.array([rule.name for rule in rules])[np.repeat(first, counts) + within]
        hits = pa.StructArray.from_arrays(
            [pa.array(names.tolist(), pa.string()), pa.array(within * 40), pa.array(within * 40 + 3)],
            fields=list(schema.HIT_TYPE),
        )
        sets.append(pa.ListArray.from_arrays(pa.array(starts, pa.int32()), hits))
    return pa.StructArray.from_arrays(sets, fields=list(schema.NOTATION_TYPE), mask=pa.array(is_null))


def _make_fasttext(
    chance: np.random.Generator, n_bytes: npt.NDArray[np.int64], is_null: npt.NDArray[np.bool_]
) -> pa.StructArray:
    n = len(n_bytes)
    readings = [_make_grades(chance.dirichlet([0.6, 0.7, 0.6, 0.5], n)) for _ in range(3)]
    return pa.StructArray.from_arrays(
        [*readings, pa.array(np.zeros(n, np.int64)), pa.array(n_bytes // 2), pa.array(n_bytes > 100_000)],
        fields=list(schema.FASTTEXT_TYPE),
        mask=pa.array(is_null),
    )


def _make_grades(values: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    flat = pa.array(values.astype(np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(
        flat, type=schema.GRADES_TYPE, mask=None if mask is None else pa.array(mask)
    )


def _make_encoder(chance: np.random.Generator, first_row: int) -> pa.Table:
    n = SLICE_ROWS
    mask = chance.random(n) >= _ENCODED_SHARE
    window = _make_grades(chance.dirichlet([0.8, 0.6, 0.4, 0.3], n), mask)
    places = pa.array(np.zeros(n, np.int64), mask=mask)
    columns = [pa.array(np.arange(first_row, first_row + n)), window, places, places, pa.nulls(n, pa.bool_())]
    return pa.table([*columns, pa.nulls(n, schema.GRADES_TYPE)], schema=schema.ENCODER_SCHEMA)


def _choose_words(table: VocabularyTable) -> _Words:
    """The table's words, the lowest scores the most frequent, and as many that it does not have, which are rare."""
    ranked = [word for word, _ in rank_words(table)][::-1]
    words = [
        *ranked,
        *(f"zq{number:x}".translate(str.maketrans("0123456789", "ghijklmnop")) for number in range(25_000)),
    ]
    chances = 1 / (np.arange(len(words)) + 3.0)
    order = np.array(sorted(range(len(words)), key=words.__getitem__))
    scores = np.array([table.scores.get(words[number], -np.inf) for number in order])
    cumulated = np.cumsum(chances[order] / chances.sum())
    return _Words(
        [words[number] for number in order], cumulated, np.flatnonzero(scores >= 3), np.flatnonzero(scores >= 4)
    )


def _make_postings(chance: np.random.Generator, first_row: int, words: _Words) -> pa.Table:
    n = SLICE_ROWS
    drawn = np.searchsorted(words.cumulated, chance.random(n * _WORDS_A_ROW)).clip(0, len(words.words) - 1)
    rows = np.repeat(np.arange(n), _WORDS_A_ROW)
    extra = np.repeat(np.arange(n), chance.poisson(_SCORED_WORDS_A_ROW, n))
    is_high = chance.random(len(extra)) < _HIGH_SHARE
    scored = np.where(is_high, chance.choice(words.high, len(extra)), chance.choice(words.scored, len(extra)))
    drawn, rows = np.concatenate([drawn, scored]), np.concatenate([rows, extra])
    keys = np.unique(drawn * n + rows)
    used, ids = np.unique(keys // n, return_inverse=True)
    dictionary = pa.array([words.words[word] for word in used.tolist()], pa.string())
    return pa.table(
        [
            pa.DictionaryArray.from_arrays(pa.array(ids.astype(np.int32)), dictionary),
            pa.array(keys % n + first_row),
            pa.array(np.ones(len(keys), np.int32)),
            pa.array(np.full(len(keys), schema.FORM_BOTH, np.int8)),
        ],
        schema=schema.POSTINGS_SCHEMA,
    )

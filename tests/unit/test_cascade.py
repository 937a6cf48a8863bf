"""Measuring slices: equal to measuring each text alone, equal bytes every time, what is stored per form, and errors."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import measuring
import oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import make_row, write_shard
from fuzz import ENGLISH, fuzz_texts

from curation.cascade import Meters, SliceLayers, measure_slice, measure_text
from curation.ledger import schema
from curation.ledger.schema import FORM_BOTH, FORM_NORMALIZED, FORM_RAW
from curation.ledger.store import encode_part
from curation.normalize import CHANGES, normalize
from curation.shards.manifest import ShardManifest, Slice
from curation.shards.prepare import prepare_shard

SIGNALS = ("lexical", "notation", "vocabulary")


@pytest.fixture(scope="module")
def meters() -> Meters:
    return measuring.load_meters()


def open_shard(path: Path, slice_bytes: int = 1 << 25) -> ShardManifest:
    return prepare_shard(
        path,
        path.name,
        0,
        staging_root=path.parent / "staging",
        text_field="text",
        slice_bytes=slice_bytes,
        row_limit=None,
    )


def measure_rows(meters: Meters, path: Path) -> SliceLayers:
    """The only slice of a small shard."""
    [piece] = open_shard(path).slices
    return measure_slice(meters, path, path.name, piece)


def measure_one(meters: Meters, text: str) -> tuple[dict[str, Any], list[tuple[str, int, int]]]:
    core, postings = measure_text(meters, text)
    assert core.num_rows == 1
    assert set(postings["row"].to_pylist()) <= {0}
    return core.to_pylist()[0], read_postings(postings)[0]


def read_postings(postings: pa.Table) -> dict[int, list[tuple[str, int, int]]]:
    """(word, count, form) by row, in the order of the table."""
    rows: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    for entry in postings.to_pylist():
        rows[entry["row"]].append((entry["word"], entry["count"], entry["form"]))
    return rows


def assert_layers_are_whole(layers: SliceLayers) -> None:
    assert layers.core.schema.equals(schema.CORE_SCHEMA, check_metadata=True)
    assert layers.postings.schema.equals(schema.POSTINGS_SCHEMA, check_metadata=True)
    layers.core.validate(full=True)
    layers.postings.validate(full=True)
    keys = [(entry["word"], entry["row"], entry["form"]) for entry in layers.postings.to_pylist()]
    assert keys == sorted(set(keys))


# ---------------------------------------------------------------- rows


def test_a_slice_equals_its_texts_measured_alone(meters: Meters, tmp_path: Path) -> None:
    texts: list[str | None] = ["", None, *fuzz_texts(seed=41, count=120), None, "", "cat\u00ad dog", None]
    layers = measure_rows(
        meters,
        write_shard(
            tmp_path / "a.parquet", [{**make_row(i, ""), "text": t} for i, t in enumerate(texts)], row_group_size=7
        ),
    )
    assert_layers_are_whole(layers)
    postings = read_postings(layers.postings)
    rows = layers.core.to_pylist()
    assert [row["row"] for row in rows] == list(range(len(texts)))
    compared = 0
    for i, (row, text) in enumerate(zip(rows, texts, strict=True)):
        if text is None:
            assert postings[i] == []
            continue
        alone, alone_postings = measure_one(meters, text)
        for column in set(row) - {"row", "doc_id", "url", "token_count"}:
            # NaN is written out: blank text has no grade.
            assert json.dumps(row[column]) == json.dumps(alone[column]), (i, column)
        assert postings[i] == alone_postings
        compared += 1
    assert compared == 123


def test_the_cut_into_slices_changes_no_row(meters: Meters, tmp_path: Path) -> None:
    path = write_shard(tmp_path / "a.parquet", fuzz_texts(seed=42, count=90), row_group_size=10)
    whole = measure_rows(meters, path)
    manifest = open_shard(path, slice_bytes=4096)
    assert len(manifest.slices) > 2
    pieces = [measure_slice(meters, path, path.name, piece) for piece in manifest.slices]
    assert json.dumps(pa.concat_tables(piece.core for piece in pieces).to_pylist()) == json.dumps(
        whole.core.to_pylist()
    )
    rows = read_postings(whole.postings)
    assert {row: entries for piece in pieces for row, entries in read_postings(piece.postings).items()} == rows


def test_columns_of_the_source_are_carried(meters: Meters, tmp_path: Path) -> None:
    rows = [
        make_row(0, "The cat sat."),
        make_row(1, "Ünï  cöde\ncat", id=None, url=None, token_count=None),
        make_row(2, "", token_count=0),
        make_row(3, "cat", token_count=-4),
    ]
    core = measure_rows(meters, write_shard(tmp_path / "a.parquet", rows)).core.to_pylist()
    assert [row["doc_id"] for row in core] == [
        "<urn:uuid:00000000>",
        None,
        "<urn:uuid:00000002>",
        "<urn:uuid:00000003>",
    ]
    assert [row["url"] for row in core][:2] == ["https://www.host0.example/page/0", None]
    assert [row["token_count"] for row in core] == [2, None, 0, None]
    assert [row["n_bytes"] for row in core] == [12, 16, 0, 3]
    assert [row["n_chars"] for row in core] == [12, 13, 0, 3]
    assert [row["n_words"] for row in core] == [3, 3, 0, 1]
    assert [row["error"] for row in core] == [None] * 4


def test_foreign_columns_are_read_where_they_can_be(meters: Meters, tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": ["cat", "dog", "sun"],
            "id": pa.array([7, None, 2**40], pa.int64()),
            "url": pa.array([["a"], [], None], pa.list_(pa.string())),
            "token_count": pa.array([3.0, 2.5, float("nan")]),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    core = measure_rows(meters, tmp_path / "a.parquet").core.to_pylist()
    assert [row["doc_id"] for row in core] == ["7", None, "1099511627776"]
    assert [row["url"] for row in core] == [None] * 3
    assert [row["token_count"] for row in core] == [3, None, None]


# ---------------------------------------------------------------- errors


def test_rows_with_errors_have_no_signal_and_are_counted(meters: Meters, tmp_path: Path) -> None:
    table = pa.table({"text": pa.array([b"cat", None, b"\xff\xfe", b"dog"], pa.binary()), "id": ["a", "b", "c", "d"]})
    pq.write_table(table, tmp_path / "a.parquet")
    layers = measure_rows(meters, tmp_path / "a.parquet")
    assert_layers_are_whole(layers)
    rows = layers.core.to_pylist()
    assert [row["doc_id"] for row in rows] == ["a", "b", "c", "d"]
    assert [row["error"] for row in rows] == [
        None,
        "a.parquet: row group 0, row 1: the text is null.",
        "a.parquet: row group 0, row 2: not UTF-8 (invalid start byte at byte 0).",
        None,
    ]
    for row in (rows[1], rows[2]):
        assert {name for name, value in row.items() if value is not None} == {"row", "doc_id", "error"}
    assert rows[3]["lexical_raw"]["token_count"] == 1
    assert read_postings(layers.postings) == {0: [("cat", 1, FORM_BOTH)], 3: [("dog", 1, FORM_BOTH)]}


@pytest.mark.parametrize("has_model", [True, False])
def test_a_slice_of_nothing_but_errors(tmp_path: Path, has_model: bool) -> None:
    path = write_shard(tmp_path / "a.parquet", [{**make_row(i, ""), "text": None} for i in range(5)], row_group_size=2)
    layers = measure_rows(measuring.load_meters(has_model=has_model), path)
    assert_layers_are_whole(layers)
    assert layers.core.num_rows == 5
    assert layers.core["error"].null_count == 0
    assert layers.core["lexical_raw"].null_count == 5
    assert layers.core["fasttext"].null_count == 5
    assert layers.postings.num_rows == 0


def test_a_slice_without_rows(meters: Meters, tmp_path: Path) -> None:
    path = write_shard(tmp_path / "a.parquet", [])
    assert open_shard(path).slices == ()
    layers = measure_slice(meters, path, "a.parquet", Slice(index=0, first_row=0, row_count=0, file="", row_groups=()))
    assert_layers_are_whole(layers)
    assert (layers.core.num_rows, layers.postings.num_rows) == (0, 0)
    assert pq.read_table(pa.BufferReader(encode_part(layers.core, "core"))).schema.equals(schema.CORE_SCHEMA)


def test_without_a_model_there_is_no_grade(tmp_path: Path) -> None:
    core, _ = measure_text(measuring.load_meters(has_model=False), "The cat sat.")
    assert core["fasttext"].to_pylist() == [None]
    assert core["lexical_raw"].null_count == 0


# ---------------------------------------------------------------- raw and normalised


def forms(row: dict[str, Any]) -> set[str]:
    """The signals that are stored for the normalised text apart."""
    return {signal for signal in SIGNALS if row[f"{signal}_normalized"] is not None}


@pytest.mark.parametrize(
    ("text", "changes", "stored", "postings"),
    [
        ("The cat.", None, set(), [("cat", 1, FORM_BOTH), ("the", 1, FORM_BOTH)]),
        ("café", None, set(), []),
        # Quotes part words in either form: only notation reads another text.
        ("the cat’s “toy”", {"quotes": 3}, {"notation"}, [("cat", 1, 0), ("the", 1, 0), ("toy", 1, 0)]),
        ("wa\u200bter", {"invisible": 1}, set(SIGNALS), [("ter", 1, FORM_RAW), ("wa", 1, FORM_RAW), ("water", 1, FORM_NORMALIZED)]),
        ("co\u00adop op", {"soft_hyphens": 1}, set(SIGNALS), [("co", 1, 1), ("coop", 1, 2), ("op", 2, 1), ("op", 1, 2)]),
        ("ﬁnd it", {"ligatures": 1}, set(SIGNALS), [("find", 1, 2), ("it", 1, 1), ("it", 1, 2)]),
        ("cat</s>dog", {"end_of_text_tags": 1}, set(SIGNALS), [("cat", 1, 1), ("cat", 1, 2), ("dog", 1, 1), ("dog", 1, 2)]),
        ("cafe\u0301", {"composed": 1}, set(SIGNALS), [("cafe", 1, FORM_RAW)]),
        ("x²＋x", {"styled_letters": 1}, {"notation"}, []),
        ("", None, set(), []),
        ("\u200b", {"invisible": 1}, set(SIGNALS), []),
    ],
)  # fmt: skip
def test_what_is_stored_of_each_form(
    meters: Meters,
    text: str,
    changes: dict[str, int] | None,
    stored: set[str],
    postings: list[tuple[str, int, int]],
) -> None:
    row, found = measure_one(meters, text)
    assert row["changes"] == (None if changes is None else {**dict.fromkeys(CHANGES, 0), **changes})
    assert forms(row) == stored
    assert found == postings


def test_figures_of_each_form_are_those_of_the_forms_alone(meters: Meters) -> None:
    for text in fuzz_texts(seed=43, count=120):
        row, _ = measure_one(meters, text)
        normal, _ = measure_one(meters, normalize(text).text)
        assert forms(normal) == set()
        assert normal["changes"] is None
        for signal in SIGNALS:
            stored = row[f"{signal}_normalized"]
            if signal == "vocabulary":  # the places are those of the form that was counted
                stored, expected = (
                    [(term["term"], term["score"], term["count"]) for term in terms or []]
                    for terms in (row["vocabulary_raw"] if stored is None else stored, normal["vocabulary_raw"])
                )
                assert stored == expected
            else:
                assert (row[f"{signal}_raw"] if stored is None else stored) == normal[f"{signal}_raw"]
        for reading in ("document", "window", "window_start", "window_end", "is_sampled"):
            assert json.dumps(row["fasttext"][reading]) == json.dumps(normal["fasttext"][reading])


def test_a_term_hidden_by_a_soft_hyphen_is_found_in_the_normal_form_alone(meters: Meters) -> None:
    row, postings = measure_one(meters, "the photo\u00adsynthesis")
    assert row["vocabulary_raw"] == []
    assert row["vocabulary_normalized"] == [
        {"term": "photosynthesis", "score": 5.25, "count": 1, "start": 4, "end": 18}
    ]
    assert ("photosynthesis", 1, FORM_NORMALIZED) in postings
    assert ("synthesis", 1, FORM_RAW) in postings


def test_postings_of_a_tiny_slice(meters: Meters, tmp_path: Path) -> None:
    texts = ["the cat the", "ca\u00adt the", "", "dog qqq ﬂag dog", "the"]
    layers = measure_rows(meters, write_shard(tmp_path / "a.parquet", texts, row_group_size=2))
    assert [(e["word"], e["row"], e["count"], e["form"]) for e in layers.postings.to_pylist()] == [
        ("ca", 1, 1, FORM_RAW),
        ("cat", 0, 1, FORM_BOTH),
        ("cat", 1, 1, FORM_NORMALIZED),
        ("dog", 3, 2, FORM_RAW),
        ("dog", 3, 2, FORM_NORMALIZED),
        ("flag", 3, 1, FORM_NORMALIZED),
        ("qqq", 3, 1, FORM_RAW),
        ("qqq", 3, 1, FORM_NORMALIZED),
        ("the", 0, 2, FORM_BOTH),
        ("the", 1, 1, FORM_RAW),
        ("the", 1, 1, FORM_NORMALIZED),
        ("the", 4, 1, FORM_BOTH),
    ]
    assert layers.postings["word"].chunk(0).dictionary.to_pylist() == ["ca", "cat", "dog", "flag", "qqq", "the"]


# ---------------------------------------------------------------- equal bytes

_MEASURE = """
import hashlib, sys
from pathlib import Path
from curation.artifacts.artifact_set import Artifact, ArtifactSet
from curation.cascade import Meters, measure_slice
from curation.ledger.store import encode_part
from curation.recipe import build_recipe
from curation.shards.prepare import hash_file, prepare_shard
aoa, folder = Path(sys.argv[1]), Path(sys.argv[2])
files = {"aoa": aoa, "vocabulary": folder / "vocabulary.parquet", "fasttext": folder / "grade.bin"}
artifacts = ArtifactSet({kind: Artifact(kind, path, hash_file(path), "custom") for kind, path in files.items()})
path = folder / "a.parquet"
meters = Meters(artifacts, build_recipe(artifacts))
[piece] = prepare_shard(path, "a.parquet", 0, staging_root=folder, text_field="text", slice_bytes=1 << 25, row_limit=None).slices
layers = measure_slice(meters, path, "a.parquet", piece)
for layer in ("core", "postings"):
    print(hashlib.sha256(encode_part(getattr(layers, layer), layer)).hexdigest())
"""


def test_bytes_do_not_depend_on_the_process(tmp_path: Path) -> None:
    artifacts = measuring.find_artifacts(tmp_path, has_model=True)
    path = write_shard(tmp_path / "a.parquet", [*fuzz_texts(seed=44, count=150), "qq zz yy"], row_group_size=9)
    meters = Meters(artifacts, measuring.load_meters().recipe)
    hashes = []
    for _ in range(2):
        layers = measure_rows(meters, path)
        hashes.append(
            [
                hashlib.sha256(encode_part(table, layer)).hexdigest()  # type: ignore[arg-type]
                for layer, table in (("core", layers.core), ("postings", layers.postings))
            ]
        )
    for hash_seed in ("0", "1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", _MEASURE, str(measuring.AOA), str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        hashes.append(found.stdout.split())
    assert hashes == [hashes[0]] * 5
    assert len(set(hashes[0])) == 2


def test_a_part_is_read_back_as_it_was(meters: Meters, tmp_path: Path) -> None:
    layers = measure_rows(meters, write_shard(tmp_path / "a.parquet", ["the cat", "ﬁnd </s> x^2", ""]))
    for layer, table in (("core", layers.core), ("postings", layers.postings)):
        read = pq.read_table(pa.BufferReader(encode_part(table, layer)))  # type: ignore[arg-type]
        assert read.schema.equals(table.schema)
        assert json.dumps(read.to_pylist()) == json.dumps(table.to_pylist())


# ---------------------------------------------------------------- published truth


def test_equals_the_published_decisions_on_every_document(shared: Path) -> None:
    meters = measuring.load_meters(has_model=False)
    truth: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for decision in pq.read_table(shared / "data" / "published_decisions.parquet").to_pylist():
        truth[decision["shard"]][decision["row"]] = decision
    compared, differing = 0, []
    for shard, decisions in truth.items():
        path = shared / "data" / "shards" / shard
        for piece in open_shard(path).slices:
            core = measure_slice(meters, path, shard, piece).core
            for row in core.select(["row", "lexical_raw", "notation_raw"]).to_pylist():
                expected, lexical = decisions[row["row"]], row["lexical_raw"]
                rules = [int(hit["rule"]) for hit in row["notation_raw"]["published"]]
                is_equal = (
                    abs(lexical["p95_aoa"] - expected["p95_aoa"]) <= 1e-6
                    and abs(lexical["oov_ratio"] - expected["oov_ratio"]) <= 1e-9
                    and oracle.lexical_keeps(lexical["p95_aoa"], lexical["oov_ratio"]) is expected["lexical_keep"]
                    and rules == expected["notation_rules"]
                )
                compared += 1
                if not is_equal:
                    differing.append((shard, row, expected))
    assert differing == []
    assert compared == 15_572


# ---------------------------------------------------------------- hostile sizes


def write_junk(count: int) -> str:
    letters = "bcdfghjklmnpqrstvwxz"
    return " ".join(
        f"zq{letters[i % 20]}{letters[i // 20 % 20]}{letters[i // 400 % 20]}{letters[i // 8000 % 20]}{letters[i // 160_000]}"
        for i in range(count)
    )


@pytest.mark.parametrize(
    ("name", "text", "word_count"),
    [
        ("an unclosed root", "\\sqrt[" + " " * 10_000, 1),
        ("many unclosed roots", "\\sqrt[ " * 20_000, 1),
        ("one long line", "x" * 5_000_000, 1),
        ("one line of carets", "x^{" * 300_000, 0),
        ("spaces", " " * 5_000_000, 0),
        ("only marks", "\u0301\u0323" * 500_000, 0),
        ("only dotted capitals", "\u0130" * 500_000, 0),
        ("only tags", "</s>" * 500_000, 0),
        ("only invisible", "\u200b" * 500_000, 0),
        ("only ligatures", "ﬃ" * 500_000, 1),
        ("stars", "**" * 200_000, 0),
        ("angles", "<b " * 300_000, 0),
    ],
)
def test_hostile_texts_are_measured_in_bounded_time(meters: Meters, name: str, text: str, word_count: int) -> None:
    started = time.process_time()
    row, postings = measure_one(meters, text)
    assert time.process_time() - started < 20
    assert row["n_chars"] == len(text)
    assert len({word for word, _, _ in postings}) == word_count


def test_a_million_distinct_junk_words_are_measured(meters: Meters) -> None:
    text = write_junk(1_000_000)
    started = time.process_time()
    core, postings = measure_text(meters, text)
    assert time.process_time() - started < 60
    lexical = core["lexical_raw"].to_pylist()[0]
    assert (lexical["p95_aoa"], lexical["oov_ratio"], lexical["token_count"]) == (None, 1.0, 1_000_000)
    assert lexical["unknown_words"] == sorted(text.split())[:8]
    assert postings.num_rows == 1_000_000


def long_text(size: int) -> str:
    line = " ".join(word for word in ENGLISH if word.islower()) + ".\n"
    return (line * (size // len(line) + 1))[:size]


def assert_long_document_is_sampled(meters: Meters, texts: Sequence[str], limit_seconds: float) -> None:
    for text in texts:
        started = time.process_time()
        row, _ = measure_one(meters, text)
        assert time.process_time() - started < limit_seconds
        assert row["n_chars"] == len(text)
        assert row["fasttext"]["is_sampled"] is True
        assert 0 <= row["fasttext"]["window_start"] < row["fasttext"]["window_end"] <= len(text)


def test_a_long_document_is_sampled(meters: Meters) -> None:
    assert_long_document_is_sampled(meters, [long_text(2_000_000)], 20)
    row, _ = measure_one(meters, long_text(20_000))
    assert row["fasttext"]["is_sampled"] is False


@pytest.mark.soak
def test_a_document_of_50_mb_is_measured_in_bounded_time(meters: Meters) -> None:
    assert_long_document_is_sampled(meters, [long_text(50_000_000), "x" * 50_000_000], 240)

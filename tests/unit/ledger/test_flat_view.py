"""The flat view: the columns that docs/ledger.md promises, exact rows, and a file that is written whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measuring
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import make_row, write_shard

from curation.cascade import measure_slice
from curation.errors import LedgerError
from curation.ledger.signals import DecidedSlice, decide_slice
from curation.ledger.store import SliceRef
from curation.ledger.view import FLAT_SCHEMA, dump_flat_view, flat_schema, flatten_slice
from curation.profile import BoundProfile, Profile, bind_profile
from curation.shards.prepare import prepare_shard

LEDGER_PAGE = Path(__file__).parents[3] / "docs" / "ledger.md"
BANDS = ("k5", "k8", "k12", "oos")


def bind(form: str, *, has_model: bool = False, **stages: Any) -> BoundProfile:
    profile = Profile.model_validate({"name": "test", "version": 1, "form": form, **stages})
    return bind_profile(profile, measuring.load_meters(has_model=has_model).recipe)


RULES: dict[str, Any] = {
    "lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05},
    "notation": {"rules": "published"},
    "vocabulary": {"mode": "block", "min_score": 4.0},
}


def decide_rows(
    folder: Path,
    rows: list[dict[str, Any]],
    bound: BoundProfile,
    *,
    has_model: bool = False,
    overrides: Any = None,
) -> DecidedSlice:
    path = write_shard(folder / "a.parquet", rows)
    manifest = prepare_shard(
        path, "a.parquet", 3, staging_root=folder, text_field="text", slice_bytes=1 << 25, row_limit=None
    )
    layers = measure_slice(measuring.load_meters(has_model=has_model), path, "a.parquet", manifest.slices[0])
    scores = {word: score for word, score in measuring.SCORES.items() if score >= 4.0}
    ref = SliceRef(manifest, manifest.slices[0])
    return decide_slice(ref, layers.core, layers.postings, None, bound, scores, overrides)


def read_promised_columns() -> list[str]:
    """The names of the table of columns, with the four bands written out."""
    section = LEDGER_PAGE.read_text(encoding="utf-8").split("## Flat view")[1]
    names: list[str] = []
    for cell in re.findall(r"^\| (`[^|]+?) \|", section, re.MULTILINE):
        found = re.findall(r"`(\w+)`", cell)
        names += [f"{found[0].removesuffix('k5')}{band}" for band in BANDS] if "…" in cell else found
    return names


def test_the_columns_are_the_promised_ones_in_order() -> None:
    assert read_promised_columns() == FLAT_SCHEMA.names


def test_rules_are_numbers_under_published_rules_and_names_otherwise() -> None:
    published, recommended = bind("raw", **RULES), bind("raw", notation={"rules": "recommended"})
    assert flat_schema(published).field("notation_rules").type == pa.list_(pa.int64())
    assert flat_schema(recommended).equals(FLAT_SCHEMA)
    assert flat_schema(bind("raw", lexical=RULES["lexical"])).equals(FLAT_SCHEMA)
    assert flat_schema(published).remove(10).equals(FLAT_SCHEMA.remove(10))


def test_rows_are_exact(tmp_path: Path) -> None:
    rows = [
        make_row(0, "The cat sat on the mat."),
        {**make_row(1, ""), "text": None},
        make_row(2, "photosynthesis zzyzx qwxkjv x^2 √2", token_count=None, url=None),
        make_row(3, ""),
        make_row(4, "the photo\u00adsynthesis"),
    ]
    bound = bind("raw", **RULES)
    view = flatten_slice(decide_rows(tmp_path, rows, bound), bound)
    assert view.schema.equals(flat_schema(bound))
    found = view.to_pylist()
    absent = {f"{model}_{band}": None for model in ("fasttext", "encoder") for band in BANDS}
    assert found[1] == {
        **dict.fromkeys(FLAT_SCHEMA.names),
        "shard": "a.parquet",
        "row": 1,
        "doc_id": "<urn:uuid:00000001>",
        "url": "https://www.host1.example/page/1",
        "kept": False,
        "decided_by": "error",
        "excluded_by": ["error"],
        "undecided_for": [],
        "token_count": 1,
        "error": "a.parquet: row group 0, row 1: the text is null.",
    }
    p95 = found[0].pop("p95_aoa")
    assert 2.0 < p95 < 8.0
    assert found[0] == {
        "shard": "a.parquet",
        "row": 0,
        "doc_id": "<urn:uuid:00000000>",
        "url": "https://www.host0.example/page/0",
        "kept": True,
        "decided_by": None,
        "excluded_by": [],
        "undecided_for": [],
        "oov_ratio": 0.0,
        "notation_rules": [],
        "blocked_terms": [],
        **absent,
        "n_chars": 23,
        "n_words": 6,
        "token_count": 4,
        "error": None,
    }
    assert (found[2]["kept"], found[2]["decided_by"]) == (False, "lexical")
    assert found[2]["excluded_by"] == ["lexical", "notation", "vocabulary"]
    assert found[2]["oov_ratio"] == 1 / 3
    assert found[2]["notation_rules"] == [16, 17]
    assert found[2]["blocked_terms"] == ["photosynthesis", "zzyzx"]
    assert (found[2]["url"], found[2]["token_count"]) == (None, None)
    assert (found[3]["p95_aoa"], found[3]["oov_ratio"], found[3]["n_chars"]) == (None, None, 0)
    assert found[3]["excluded_by"] == ["lexical"]
    assert found[4]["blocked_terms"] == []


def test_the_normalised_form_is_shown_where_the_profile_reads_it(tmp_path: Path) -> None:
    bound = bind("normalized", **{**RULES, "notation": {"rules": "recommended"}})
    [row] = flatten_slice(decide_rows(tmp_path, [make_row(0, "the photo\u00adsynthesis")], bound), bound).to_pylist()
    assert row["blocked_terms"] == ["photosynthesis"]
    assert (row["decided_by"], row["n_chars"]) == ("vocabulary", 19)


def test_grades_are_those_that_the_profile_reads(tmp_path: Path) -> None:
    fasttext = measuring.load_meters().fasttext
    assert fasttext is not None
    rows = [make_row(0, "cat dog </s> lagrangian sheaf"), make_row(1, ""), {**make_row(2, ""), "text": None}]
    for reading, text in (("published", "cat dog "), ("document", "cat dog   lagrangian sheaf")):
        bound = bind("raw", has_model=True, fasttext={"top_band": reading})
        found = flatten_slice(decide_rows(tmp_path, rows, bound, has_model=True), bound).to_pylist()
        grades = [found[0][f"fasttext_{band}"] for band in BANDS]
        assert grades == fasttext.predict([text], published=reading == "published")[0].tolist()
        assert [found[2][f"fasttext_{band}"] for band in BANDS] == [None] * 4
        assert (found[1]["fasttext_k5"] is None) is (reading == "document")
        assert {found[0][f"encoder_{band}"] for band in BANDS} == {None}


def test_an_undecided_row_is_neither_kept_nor_excluded(tmp_path: Path) -> None:
    bound = bind("raw", has_model=True, encoder={"min_k5_window": 0.5}, lexical=RULES["lexical"])
    rows = [make_row(0, "The cat sat."), make_row(1, "")]
    found = flatten_slice(decide_rows(tmp_path, rows, bound), bound).to_pylist()
    assert (found[0]["kept"], found[0]["decided_by"], found[0]["undecided_for"]) == (None, None, ["encoder"])
    assert (found[1]["kept"], found[1]["excluded_by"], found[1]["undecided_for"]) == (False, ["lexical"], [])


def test_a_dump_holds_every_slice(tmp_path: Path) -> None:
    bound = bind("raw", **RULES)
    decided = decide_rows(tmp_path, [make_row(0, "The cat sat."), make_row(1, "")], bound)
    out = tmp_path / "flat.parquet"
    assert dump_flat_view(iter([decided, decided]), bound, out) == 4
    read = pq.read_table(out)
    assert read.schema.equals(flat_schema(bound))
    assert read.equals(pa.concat_tables([flatten_slice(decided, bound)] * 2))
    assert dump_flat_view(iter([]), bound, out) == 0
    assert pq.read_table(out).schema.equals(flat_schema(bound))


def test_a_dump_that_fails_leaves_nothing_and_spoils_nothing(tmp_path: Path) -> None:
    bound = bind("raw", **RULES)
    decided = decide_rows(tmp_path, [make_row(0, "The cat sat.")], bound)
    out = tmp_path / "out" / "flat.parquet"
    out.parent.mkdir()
    dump_flat_view(iter([decided]), bound, out)
    before = out.read_bytes()

    def break_off() -> Iterator[DecidedSlice]:
        yield decided
        raise LedgerError("a slice has not been measured.")

    with pytest.raises(LedgerError):
        dump_flat_view(break_off(), bound, out)
    assert out.read_bytes() == before
    assert [path.name for path in out.parent.iterdir()] == ["flat.parquet"]

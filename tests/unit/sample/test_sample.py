"""The bundled sample: its two committed shards, the key they are built from, and the traps it promises."""

from __future__ import annotations

import re
from pathlib import Path

import oracle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from curation.errors import ArtifactError
from curation.sample import build
from curation.sample.build import KEY_FILES, SAMPLE_FOLDER, build_sample, load_key, sample_dir

SHARD_NAMES = ["sample-00000.parquet", "sample-00001.parquet"]
COLUMNS = [
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
BANDS = {"K5", "K8", "K12", "OOS"}
SUBJECTS = {
    "math",
    "physical science",
    "life science",
    "earth & space science",
    "reading-literature",
    "reading-informational",
    "social studies",
    "arts",
    "health",
    "life skills",
    "other",
}
# (trap, band, a string that every document with the trap must hold)
MARKED_TRAPS = [
    ("units_superscript", "K5", "m²"),
    ("units_superscript", "K5", "cm³"),
    ("units_caret", "K5", "cm^3"),
    ("units_caret", "K5", "m^2"),
    ("units_caret", "K5", "ft^2"),
    ("markdown_emphasis", "K5", "**Step 1** ("),
    ("markdown_emphasis", "K5", "**Supplies** - "),
    ("html_leftovers", "K5", "the<b>cat</b>"),
    ("tick_marks", "K5", "√ "),
    ("footnote_marks", "K5", "harbor²"),
    ("footnote_marks", "K5", "^ 5"),
    ("phonics", "K5", "c-a-t = cat"),
    ("phonics", "K5", "J + M = "),
    ("label_codes", "K5", "R2D2"),
    ("label_codes", "K5", "(vitamin B12)"),
    ("label_codes", "K5", "Y2K"),
    ("label_codes", "K5", "A4 paper"),
    ("label_codes", "K5", "WX1A 1AA"),
    ("latex_fractions", "K5", "\\frac{1}{2}"),
    ("powers_of_ten", "K5", "10^3"),
    ("powers_of_ten", "K5", "10³"),
    ("formula_named_plainly", "K5", "H2O"),
    ("formula_named_plainly", "K5", "CO2"),
    ("bracket_log", "K5", "log (full of beetles)"),
    ("bracket_tan", "K5", "tan (light brown)"),
    ("bracket_exp", "K5", "50 exp (experience)"),
    ("hard_names", "K5", "Pachycephalosaurus"),
    ("curly_quotes", "K5", "“"),
    ("emoji", "K5", "🐹"),
    ("ligatures", "K5", "ﬁsh"),
    ("ligatures", "K5", "ﬂag"),
    ("script_tags", "K5", "<script"),
    ("rtl_override", "K5", "\u202e"),
    ("chess_squares", "K5", "Nf3"),
    ("boilerplate_footer", "K5", "Terms of Service"),
    ("easy_worded_beyond_school", "OOS", "group"),
    ("ligatures_and_zero_width", "K12", "\u200b"),
    ("ligatures_and_zero_width", "K12", "ﬁ"),
    ("privacy_policy", "K12", "personal data"),
    ("teacher_facing", "K12", "Formative assessment"),
    ("spam", "OOS", "CLICK"),
    ("keyword_list", "OOS", ", "),
    ("navigation", "OOS", "Skip to content"),
    ("missing_context", "OOS", "hidden"),
    ("word_salad", "OOS", "rabbit"),
    ("placeholder_text", "OOS", "Your Headline Goes Here"),
]
TRAPS_OF_SEVERAL = {
    "genuine_notation": ("2x + 3 = 11", "3x + 4 = 10", "3 < x < 7", "πr²", "2**10", "∫", "Σ", "f(x)", "C6H12O6"),
    "missed_notation": ("y = mx + b", "x + 3 = 7", "|x|", "5!", "sin 30", "∞", "square root of", "10⁻³"),
    "homograph_beyond": ("cell", "table", "root", "product", "mean", "volume", "log"),
    "easy_worded_adult": ("tax", "wine", "kids", "boss", "bank"),
    "looks_childish": ("bear", "kitten", "hotel"),
    "innocent_lookalikes": ("A4", "R2D2", "tan (light brown)"),
    "non_english": ("zapato", "Schlauch"),
    "code": ("#include", "function("),
}
NOTATION_TRAPS_OF_K5 = {
    "units_superscript": {1},
    "units_caret": {16, 19},
    "markdown_emphasis": {2, 5, 6},
    "html_leftovers": {25},
    "tick_marks": {17},
    "footnote_marks": {1, 19},
    "phonics": {18},
    "label_codes": {28},
    "latex_fractions": {24},
    "powers_of_ten": {1, 3},
    "formula_named_plainly": {28},
    "bracket_log": {14},
    "bracket_tan": {15},
    "bracket_exp": {13},
}


def texts_of(trap: str) -> list[str]:
    return [entry["text"] for entry in load_key().values() if entry["trap"] == trap]


def only_text_of(trap: str) -> str:
    (text,) = texts_of(trap)
    return text


def test_committed_shards_hold_what_build_makes(tmp_path: Path) -> None:
    built = build_sample(tmp_path)
    assert [path.name for path in built] == SHARD_NAMES
    assert sorted(path.name for path in sample_dir().iterdir()) == SHARD_NAMES
    for path in built:
        assert pq.read_table(sample_dir() / path.name).equals(pq.read_table(path))


def test_committed_shards_are_what_build_makes_to_the_byte(tmp_path: Path) -> None:
    for path in build_sample(tmp_path):
        committed = sample_dir() / path.name
        if pq.ParquetFile(committed).metadata.created_by != pq.ParquetFile(path).metadata.created_by:
            pytest.skip("the committed shards were written by another version of pyarrow than the one installed")
        assert committed.read_bytes() == path.read_bytes()


def test_building_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = build_sample(tmp_path / "first"), build_sample(tmp_path / "second")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_shards_have_the_columns_types_and_row_groups_of_the_design() -> None:
    row_counts = []
    for name in SHARD_NAMES:
        shard = pq.ParquetFile(sample_dir() / name)
        assert [(field.name, field.type) for field in shard.schema_arrow] == COLUMNS
        groups = [shard.metadata.row_group(i) for i in range(shard.num_row_groups)]
        assert [group.num_rows for group in groups[:-1]] == [50] * (len(groups) - 1)
        assert {group.column(i).compression for group in groups for i in range(len(COLUMNS))} == {"ZSTD"}
        row_counts.append(shard.metadata.num_rows)
    assert sum(row_counts) == len(load_key()) >= 200
    assert row_counts[0] - row_counts[1] in (0, 1)


def test_shards_hold_every_document_of_the_key_once_and_no_other_text() -> None:
    key = load_key()
    rows = [row for name in SHARD_NAMES for row in pq.read_table(sample_dir() / name).to_pylist()]
    assert sorted(row["id"] for row in rows) == sorted(key)
    for row in rows:
        entry = key[row["id"]]
        assert (row["text"], row["url"]) == (entry["text"], entry["url"])
        assert row["token_count"] == round(len(entry["text"].encode()) / 4.6)
        assert row["int_score"] == round(row["score"])
        assert 2.5 <= row["score"] <= 4.5
        assert 0.80 <= row["language_score"] <= 0.99
        assert (row["dump"], row["language"]) == ("PRIMER-SAMPLE", "en")
        assert entry["note"] not in row.values()


def test_each_shard_holds_every_band() -> None:
    key = load_key()
    for name in SHARD_NAMES:
        assert {key[i]["band"] for i in pq.read_table(sample_dir() / name)["id"].to_pylist()} == BANDS


def test_key_names_bands_and_subjects_of_the_rubric_and_invented_addresses() -> None:
    entries = list(load_key().values())
    assert {entry["band"] for entry in entries} == BANDS
    assert {entry["subject"] for entry in entries} == SUBJECTS
    for entry in entries:
        assert re.fullmatch(r"https://[a-z0-9.-]+\.example\.(org|com|net)/\S*", entry["url"]), entry["id"]
        assert entry["note"].strip(), entry["id"]
    assert len({entry["url"] for entry in entries}) == len(entries)


def test_written_documents_cover_every_band_well() -> None:
    bands = [entry["band"] for entry in load_key().values() if "topic" not in entry]
    assert len(bands) >= 110
    assert bands.count("K5") >= 45
    assert bands.count("K8") >= 30
    assert bands.count("K12") >= 20
    assert bands.count("OOS") >= 15


@pytest.mark.parametrize(("trap", "band", "mark"), MARKED_TRAPS)
def test_trap_is_set(trap: str, band: str, mark: str) -> None:
    entries = [entry for entry in load_key().values() if entry["trap"] == trap]
    assert entries
    for entry in entries:
        assert entry["band"] == band
        assert mark in entry["text"]


@pytest.mark.parametrize("trap", sorted(TRAPS_OF_SEVERAL))
def test_trap_of_several_documents_holds_every_mark(trap: str) -> None:
    texts = texts_of(trap)
    assert [mark for mark in TRAPS_OF_SEVERAL[trap] if not any(mark in text for text in texts)] == []


def test_every_trap_of_the_key_is_tested_here() -> None:
    tested = {trap for trap, _, _ in MARKED_TRAPS} | set(TRAPS_OF_SEVERAL)
    tested |= {"empty_text", "whitespace_only", "one_word", "invisible_unicode", "long_single_line", "soft_hyphens"}
    tested |= {"zero_width_split", "spreadsheet_formula", "advanced_second_half", "eos_marker_hides_advanced_half"}
    tested |= {"homograph_k5_sense"}
    assert {entry["trap"] for entry in load_key().values() if entry["trap"]} == tested


@pytest.mark.parametrize("trap", sorted(NOTATION_TRAPS_OF_K5))
def test_published_rules_fall_into_the_notation_trap(trap: str) -> None:
    assert set(oracle.published_rules(only_text_of(trap))) >= NOTATION_TRAPS_OF_K5[trap]


def test_published_rules_miss_the_missed_notation_and_meet_the_genuine() -> None:
    for text in texts_of("missed_notation"):
        assert oracle.published_rules(text) == []
    for text in texts_of("genuine_notation"):
        assert oracle.published_rules(text) != []


def test_texts_without_words() -> None:
    assert only_text_of("empty_text") == ""
    blank = only_text_of("whitespace_only")
    assert blank
    assert blank.isspace()
    assert only_text_of("one_word") == "Elephants"
    invisible = only_text_of("invisible_unicode")
    assert len(invisible) > 15
    assert not any(character.isalnum() or character.isspace() for character in invisible)


def test_long_text_is_one_line_of_20_kb() -> None:
    text = only_text_of("long_single_line")
    assert "\n" not in text
    assert 20_000 <= len(text.encode()) <= 24_000


def test_formula_begins_the_text() -> None:
    assert only_text_of("spreadsheet_formula").startswith("=cmd|")


def test_easy_half_is_longer_than_an_encoder_reads_and_hides_the_advanced_half() -> None:
    easy, advanced = only_text_of("advanced_second_half").split("Part Two")
    assert len(easy.split()) > 1_600
    assert "shear stress" not in easy
    assert "shear stress" in advanced


def test_end_marker_stands_between_easy_and_advanced_half() -> None:
    easy, advanced = only_text_of("eos_marker_hides_advanced_half").split("</s>")
    assert "Bats are not birds" in easy
    assert "mitochondrial" not in easy
    assert "inflammasome" in advanced


@pytest.mark.parametrize(
    ("trap", "hidden", "word"),
    [
        ("zero_width_split", "[\u200b-\u200d\u2060]", "constitutional"),
        ("ligatures_and_zero_width", "[\u200b\u200c\u2060\ufeff]", "nuclease"),
        ("soft_hyphens", "\u00ad", "aggregate"),
    ],
)
def test_hard_word_shows_only_when_invisible_characters_are_gone(trap: str, hidden: str, word: str) -> None:
    text = only_text_of(trap)
    assert word not in text
    assert word in re.sub(hidden, "", text)


def test_everyday_senses_of_words_that_are_terms_elsewhere() -> None:
    text = only_text_of("homograph_k5_sense")
    assert [w for w in ("cell", "table", "root", "product", "mean", "volume", "log") if w not in text] == []


def test_paired_documents_are_the_listed_topics_and_page_types_whole(shared: Path) -> None:
    listed = yaml.safe_load((SAMPLE_FOLDER / "topics.yaml").read_text(encoding="utf-8"))
    expected = {}
    for name, column, names in (("paired", "topic", "topics"), ("paired_web", "page_type", "page_types")):
        rows = pq.read_table(shared / "data" / "paired" / f"{name}.parquet").to_pylist()
        chosen = [row for row in rows if row[column] in listed[names]]
        assert {row[column] for row in chosen} == set(listed[names])
        expected |= {row["id"]: (row["text"], row["band"], row["topic"], row.get("page_type")) for row in chosen}
    found = {
        entry["id"]: (entry["text"], entry["band"], entry["topic"], entry.get("page_type"))
        for entry in load_key().values()
        if "topic" in entry
    }
    assert found == expected


def test_written_documents_share_no_text_with_the_paired_corpus(shared: Path) -> None:
    written = {entry["text"] for entry in load_key().values() if "topic" not in entry}
    for name in ("paired", "paired_web"):
        texts = pq.read_table(shared / "data" / "paired" / f"{name}.parquet", columns=["text"])["text"].to_pylist()
        assert written.isdisjoint(texts)


def test_key_files_show_invisible_characters_as_escapes() -> None:
    for name in KEY_FILES:
        raw = (SAMPLE_FOLDER / name).read_text(encoding="utf-8")
        assert re.findall("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]", raw) == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"id": "a", "text": ""}\n{"id": "a", "text": "b"}\n', "documents.jsonl, line 2: id a occurs twice"),
        ('{"id": "a", "text": ""}\n{"id": \n', "documents.jsonl, line 2: not JSON"),
        ('{"id": "a", "text": ""}\n', "paired.jsonl: the bundled sample lacks this file"),
    ],
)
def test_damaged_key_is_refused(lines: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "documents.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.setattr(build, "SAMPLE_FOLDER", tmp_path)
    with pytest.raises(ArtifactError, match=message):
        load_key()

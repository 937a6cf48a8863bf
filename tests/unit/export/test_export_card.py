"""The statement says what really ran; the card is safe YAML whatever the names in it; both configs load."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from export_requests import Measured, make_request
from factories import HARD, SIMPLE, bind, find_artifacts, make_row, measure, write_shard

from curation.errors import ExportError
from curation.export.build import write_export
from curation.export.card import build_card, escape_markdown
from curation.export.load_back import load_back
from curation.export.statement import make_statement
from curation.export.verify import verify_export
from curation.profile import BoundProfile, Profile


@pytest.fixture(scope="session")
def manifest(measured: Measured, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("card") / "out"
    write_export(make_request(measured.tmp, measured.run, out))
    return json.loads((out / "manifest.json").read_bytes())  # type: ignore[no-any-return]


def read_front_matter(card: str) -> dict[str, Any]:
    assert card.startswith("---\n")
    return yaml.safe_load(card.removeprefix("---\n").split("\n---\n", 1)[0])  # type: ignore[no-any-return]


def test_statement_names_models_and_what_did_not_run(measured: Measured) -> None:
    bound = bind(measured.run)
    with_model = BoundProfile(
        bound.profile, {"aoa": "a" * 64, "vocabulary": "b" * 64, "fasttext": "c" * 64}, ("encoder",)
    )
    origins = {"aoa": "bundled", "vocabulary": "published", "fasttext": "custom"}
    assert make_statement(with_model, origins) == (
        "Rules of the profile `published` (version 2); models: ages of acquisition bundled with Primer (sha256 aaaaaaaaaaaa), "
        "vocabulary scores as published (sha256 bbbbbbbbbbbb), fastText of the user (sha256 cccccccccccc); "
        "stage encoder left out, the run has no model for it."
    )
    left_out = BoundProfile(bound.profile, {"aoa": "a" * 64}, ("fasttext", "encoder"))
    assert make_statement(left_out, {}) == (
        "Rules of the profile `published` (version 2); models: ages of acquisition of the user (sha256 aaaaaaaaaaaa); "
        "stage fasttext left out, the run has no model for it; stage encoder left out, the run has no model for it."
    )


def test_statement_without_models() -> None:
    profile = Profile.model_validate({"name": "n", "version": 2, "form": "raw", "notation": {"rules": "published"}})
    assert make_statement(BoundProfile(profile, {}, ()), {}) == (
        "Rules of the profile `n` (version 2); models: none; stage lexical not run; stage fasttext not run; "
        "stage encoder not run; stage vocabulary not run."
    )


def test_front_matter_declares_configs_and_splits(manifest: dict[str, Any]) -> None:
    matter = read_front_matter(build_card(manifest))
    assert matter["configs"] == [
        {
            "config_name": "curriculum",
            "default": True,
            "data_files": [{"split": "train", "path": "data/curriculum/train-*.parquet"}],
        },
        {"config_name": "control", "data_files": [{"split": "train", "path": "data/control/train-*.parquet"}]},
    ]
    assert (matter["license"], matter["license_name"], matter["language"]) == ("other", "see sources", ["en"])
    assert matter["size_categories"] == ["n<1K"]


def test_card_states_totals_funnel_and_statement(manifest: dict[str, Any]) -> None:
    card = build_card(manifest)
    train = manifest["totals"]["curriculum"]["train"]
    assert manifest["statement"] in card
    assert f"| curriculum | train | 1 | {train['rows']:,} | {train['tokens']:,} |" in card
    assert "Of 130 documents of the source 1 could not be read, 86 (" in card
    assert card.index("| age of acquisition |") < card.index("| advanced notation |") < card.index("| beyond-K-5 voc")


def test_hostile_names_stay_text(manifest: dict[str, Any]) -> None:
    hostile = "x: [1]\n---\nlicense: mit\n# <script>alert(1)</script> | `` [a](http://b) \x00\u202e"
    changed = copy.deepcopy(manifest)
    changed["options"]["license_name"] = hostile
    changed["profile"]["content"]["description"] = hostile
    changed["json_columns"] = [hostile]
    changed["inputs"][0]["error"] = hostile
    card = build_card(changed)
    matter = read_front_matter(card)
    assert matter["license_name"] == hostile
    assert matter["license"] == "other"
    body = card.split("\n---\n", 1)[1]
    assert "<script>" not in body
    assert "\n---\n" not in body
    assert "\u202e" not in body
    assert "\x00" not in card


def test_escaped_text_is_one_line_without_markup() -> None:
    assert escape_markdown("a | b\n# *c* <d> [e](f) `g") == r"a \| b \# \*c\* &lt;d&gt; \[e\](f) \`g"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


@pytest.mark.usefixtures("offline")
def test_both_configs_load_with_the_same_features(tmp_path: Path) -> None:
    texts = [SIMPLE, HARD] * 8
    rows = [make_row(i, text, nothing=None) for i, text in enumerate(texts)]
    run = measure(tmp_path, [write_shard(tmp_path / "a.parquet", rows)])
    out = tmp_path / "an export"
    result = write_export(make_request(tmp_path, run, out, validation_share=0.5))
    default = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    control = datasets.load_dataset(str(out), "control", cache_dir=str(tmp_path / "cache"))
    assert set(default) == {"train", "validation"}
    assert set(control) == {"train"}
    assert default["train"].features == default["validation"].features == control["train"].features
    assert default["train"].features["primer_k5"].dtype == "float32"
    assert default["train"].num_rows + default["validation"].num_rows == result.count_rows("curriculum") == 8
    assert default["train"]["text"][:] + default["validation"]["text"][:] == [SIMPLE] * 8
    loaded = load_back(out, cache=tmp_path / "cache")
    assert sum(loaded["curriculum"].values()) == 8
    assert loaded["control"] == {"train": result.count_rows("control")}


@pytest.mark.usefixtures("offline")
def test_nothing_kept_loads_as_streams_of_nothing(tmp_path: Path) -> None:
    run = measure(tmp_path, [write_shard(tmp_path / "a.parquet", [HARD, HARD])])
    out = tmp_path / "out"
    write_export(make_request(tmp_path, run, out, validation_share=0.5))
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"), streaming=True)
    assert {split: list(rows) for split, rows in loaded.items()} == {"train": [], "validation": []}
    assert load_back(out) == {"curriculum": {"train": 0, "validation": 0}, "control": {"train": 0}}
    assert "only with `streaming=True`" in (out / "README.md").read_text()
    assert verify_export(out, run, 5, 1, artifacts=find_artifacts(tmp_path)).problems == ()


@pytest.mark.usefixtures("offline")
def test_an_empty_split_does_not_stop_the_others(tmp_path: Path) -> None:
    run = measure(tmp_path, [write_shard(tmp_path / "a.parquet", [SIMPLE] * 5)])
    out = tmp_path / "out"
    result = write_export(make_request(tmp_path, run, out, validation_share=1e-9))
    assert [file.rows for file in result.files] == [5, 0, 5]
    assert datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))["train"].num_rows == 5
    assert verify_export(out, run, 5, 1, artifacts=find_artifacts(tmp_path)).problems == ()


def test_every_stored_type_loads(tmp_path: Path) -> None:
    columns: dict[str, tuple[pa.DataType, object]] = {
        "text": (pa.string(), SIMPLE),
        "none": (pa.null(), None),
        "large": (pa.large_string(), "x"),
        "map": (pa.map_(pa.string(), pa.int64()), [("a", 1)]),
        "fixed": (pa.binary(3), b"abc"),
        "uuid": (pa.uuid(), bytes(16)),
        "dictionary": (pa.dictionary(pa.int32(), pa.string()), "d"),
        "nested": (pa.list_(pa.struct([("a", pa.list_(pa.float32()))])), [{"a": [0.5]}]),
        "embedding": (pa.list_(pa.float32(), 2), [1.0, 2.0]),
        "time": (pa.timestamp("us", "UTC"), 1_700_000_000_000_000),
        "decimal": (pa.decimal128(10, 2), "1.50"),
        "half": (pa.float16(), 0.5),
    }
    arrays = []
    for name, (kind, value) in columns.items():
        if name == "decimal":
            arrays.append(pa.array([value]).cast(kind))
        elif name == "uuid":
            arrays.append(pa.ExtensionArray.from_storage(kind, pa.array([value], pa.binary(16))))
        else:
            arrays.append(pa.array([value], kind))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(arrays, names=list(columns)), path)
    out = tmp_path / "out"
    write_export(make_request(tmp_path, measure(tmp_path, [path]), out))
    assert load_back(out, cache=tmp_path / "cache") == {"curriculum": {"train": 1}, "control": {"train": 1}}
    [row] = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))["train"]
    assert (row["map"], row["fixed"], row["dictionary"]) == ([{"key": "a", "value": 1}], b"abc", "d")
    assert (row["nested"], row["embedding"]) == ([{"a": [0.5]}], [1.0, 2.0])


def test_loading_a_broken_export_says_which_config(measured: Measured, tmp_path: Path) -> None:
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))
    for file in result.files:
        if file.config == "control":
            (tmp_path / "out" / file.path).write_bytes(b"PAR1 broken PAR1")
    with pytest.raises(ExportError, match="config control"):
        load_back(tmp_path / "out")

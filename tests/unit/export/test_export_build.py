"""What an export holds, in which order, and that it appears whole, once, and the same every time."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from export_requests import Measured, make_request, read_bytes, read_split
from factories import HARD, SHARD_SCHEMA, SIMPLE, bind, make_row, measure, write_shard

from curation.chance import draw_row_fractions, draw_row_keys
from curation.errors import ExportError, SourceError
from curation.export.bands import BAND_SCHEMA
from curation.export.build import write_export
from curation.export.order import KeyedSpool
from curation.export.request import ControlMatch, ExportProgress
from curation.export.work_folder import build_folder, name_work_folder
from curation.overrides import Overrides, Ruling


def addresses(table: pa.Table) -> list[tuple[str, int]]:
    return list(zip(table["primer_shard"].to_pylist(), table["primer_row"].to_pylist(), strict=True))


def shard_hashes(measured: Measured) -> dict[str, str]:
    return {shard.name: shard.sha256 for shard in measured.run.ledger.read_shards()}


def test_the_curriculum_is_what_is_kept_in_source_order(measured: Measured, tmp_path: Path) -> None:
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))
    table = read_split(result, "curriculum")
    assert addresses(table) == [(shard, row) for shard, row, _ in measured.kept]
    assert table.schema == pa.schema([*SHARD_SCHEMA, *BAND_SCHEMA])
    source = pq.read_table(measured.tmp / "source" / "shard-0.parquet").to_pylist()
    exported = {row["primer_row"]: row for row in table.to_pylist() if row["primer_shard"] == "shard-0.parquet"}
    assert all({name: exported[row][name] for name in SHARD_SCHEMA.names} == source[row] for row in exported)
    assert set(table["primer_band"].to_pylist()) == {"K5"}
    assert set(table["primer_k5"].to_pylist()) == {None}  # the run has no model
    assert all(0 < age < 12 for age in table["primer_p95_aoa"].to_pylist())
    assert set(table["primer_oov_ratio"].to_pylist()) == {0.0}
    assert set(table["primer_decided_by"].to_pylist()) == {None}
    assert result.is_new
    assert result.count_tokens("curriculum") == sum(tokens for *_, tokens in measured.kept)


def test_the_control_matches_and_loads_with_the_same_columns(measured: Measured, tmp_path: Path) -> None:
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))
    curriculum, control = read_split(result, "curriculum"), read_split(result, "control")
    assert control.schema == curriculum.schema
    wanted = sum(tokens for *_, tokens in measured.kept)
    assert abs(sum(control["token_count"].to_pylist()) - wanted) <= max(measured.source_tokens)
    assert ("shard-0.parquet", 4) not in addresses(control)
    kept = {(shard, row) for shard, row, _ in measured.kept}
    bands = dict(zip(addresses(control), control["primer_band"].to_pylist(), strict=True))
    assert all((band == "K5") == (place in kept) for place, band in bands.items())
    assert None in bands.values()
    assert addresses(control) == sorted(addresses(control))


@pytest.mark.parametrize("match", list(ControlMatch))
def test_every_match_gives_as_many_tokens(measured: Measured, tmp_path: Path, match: ControlMatch) -> None:
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out", control=match, control_seed=3))
    difference = result.count_tokens("control") - result.count_tokens("curriculum")
    assert abs(difference) <= max(measured.source_tokens)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert sum(manifest["control"]["tokens_by_round"].values()) == result.count_tokens("control")


def test_the_shuffle_equals_a_sort_in_memory(measured: Measured, tmp_path: Path) -> None:
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out", shuffle_seed=7))
    hashes = shard_hashes(measured)

    def key(place: tuple[str, int]) -> int:
        return int(draw_row_keys(hashes[place[0]], np.array([place[1]]), 7, "shuffle")[0])

    expected = sorted(((shard, row) for shard, row, _ in measured.kept), key=key)
    assert addresses(read_split(result, "curriculum")) == expected
    control = addresses(read_split(result, "control"))
    assert control == sorted(control, key=key)


@pytest.mark.parametrize("buckets", [2, 5])
def test_spilling_does_not_show_in_the_bytes(
    measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, buckets: int
) -> None:
    options = {"shuffle_seed": 7, "validation_share": 0.2}
    write_export(make_request(measured.tmp, measured.run, tmp_path / "in-memory", **options))
    monkeypatch.setattr("curation.export.build.KeyedSpool", partial(KeyedSpool, buckets=buckets, buffer_bytes=3000))
    write_export(make_request(measured.tmp, measured.run, tmp_path / "spilled", **options))
    assert read_bytes(tmp_path / "spilled") == read_bytes(tmp_path / "in-memory")


@pytest.mark.parametrize("shuffle_seed", [None, 7])
def test_the_budget_ends_at_the_first_document_that_does_not_fit(
    measured: Measured, tmp_path: Path, shuffle_seed: int | None
) -> None:
    whole = write_export(make_request(measured.tmp, measured.run, tmp_path / "whole", shuffle_seed=shuffle_seed))
    order = read_split(whole, "curriculum")
    totals = np.cumsum(order["token_count"].to_numpy())
    budget = int(totals[20]) + 1
    assert totals[21] > budget
    options = {"shuffle_seed": shuffle_seed, "token_budget": budget}
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out", **options))
    assert addresses(read_split(result, "curriculum")) == addresses(order)[:21]
    assert result.count_tokens("curriculum") == int(totals[20])
    assert abs(result.count_tokens("control") - int(totals[20])) <= max(measured.source_tokens)
    exactly = write_export(
        make_request(measured.tmp, measured.run, tmp_path / "exactly", **{**options, "token_budget": int(totals[20])})
    )
    assert exactly.count_rows("curriculum") == 21


def test_validation_is_the_drawn_share_and_disjoint(measured: Measured, tmp_path: Path) -> None:
    request = make_request(measured.tmp, measured.run, tmp_path / "out", validation_share=0.3, validation_seed=5)
    result = write_export(request)
    train, validation = (addresses(read_split(result, "curriculum", split)) for split in ("train", "validation"))
    hashes = shard_hashes(measured)
    held_out = [
        (shard, row)
        for shard, row, _ in measured.kept
        if draw_row_fractions(hashes[shard], np.array([row]), 5, "validation")[0] < 0.3
    ]
    assert validation == held_out
    assert 0 < len(validation) < len(train)
    assert sorted(train + validation) == [(shard, row) for shard, row, _ in measured.kept]


@pytest.mark.parametrize("options", [{}, {"shuffle_seed": 1, "validation_share": 0.2, "token_budget": 900}])
def test_equal_requests_give_equal_bytes(measured: Measured, tmp_path: Path, options: dict[str, object]) -> None:
    write_export(make_request(measured.tmp, measured.run, tmp_path / "one", **options))
    write_export(make_request(measured.tmp, measured.run, tmp_path / "elsewhere" / "two", **options))
    one, two = read_bytes(tmp_path / "one"), read_bytes(tmp_path / "elsewhere" / "two")
    assert one == two
    assert not any(str(measured.tmp).encode() in content for content in one.values())


def test_slices_do_not_show(measured: Measured, tmp_path: Path) -> None:
    shards = sorted((measured.tmp / "source").iterdir())
    other = measure(measured.tmp, shards, slice_bytes=1 << 20, name="large-slices")
    assert len(list(other.ledger.slices())) < len(list(measured.run.ledger.slices()))
    one = write_export(make_request(measured.tmp, measured.run, tmp_path / "one", shuffle_seed=2))
    two = write_export(make_request(measured.tmp, other, tmp_path / "two", shuffle_seed=2))
    assert [file.sha256 for file in one.files] == [file.sha256 for file in two.files]


class KilledError(Exception):
    pass


@pytest.mark.parametrize("call", [0, 3, 12, -1])
def test_a_killed_export_leaves_nothing_and_starts_again(measured: Measured, tmp_path: Path, call: int) -> None:
    options = {"shuffle_seed": 1, "validation_share": 0.2}
    seen: list[ExportProgress] = []
    write_export(make_request(measured.tmp, measured.run, tmp_path / "whole", on_progress=seen.append, **options))
    assert (
        seen[-1].documents
        == sum(len(read) for read in [measured.kept])
        + (json.loads((tmp_path / "whole" / "manifest.json").read_bytes())["totals"]["control"]["train"]["rows"])
    )
    last = call % len(seen)
    calls = 0

    def kill(progress: ExportProgress) -> None:
        nonlocal calls
        if calls == last:
            raise KilledError
        calls += 1

    out = tmp_path / "out"
    with pytest.raises(KilledError):
        write_export(make_request(measured.tmp, measured.run, out, on_progress=kill, **options))
    assert not out.exists()
    assert write_export(make_request(measured.tmp, measured.run, out, **options)).is_new
    assert read_bytes(out) == read_bytes(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def test_what_a_dead_process_left_is_swept(measured: Measured, tmp_path: Path) -> None:
    out = tmp_path / "out"
    leftover = name_work_folder(out)
    (leftover / "data" / "curriculum").mkdir(parents=True)
    (leftover / "data" / "curriculum" / "train-00000.parquet").write_bytes(b"half")
    (leftover / "manifest.json").write_bytes(b"{}")
    write_export(make_request(measured.tmp, measured.run, out))
    assert not leftover.exists()
    assert "data/curriculum/train-00000.parquet" not in read_bytes(out)


def test_two_exports_to_one_folder_at_once_are_refused(measured: Measured, tmp_path: Path) -> None:
    with build_folder(tmp_path / "out") as work:
        (work / "kept.txt").write_text("the first goes on")
        with pytest.raises(ExportError, match="Another process"):
            write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))
    assert (tmp_path / "out" / "kept.txt").exists()


def test_a_finished_export_is_not_made_again(measured: Measured, tmp_path: Path) -> None:
    first = write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    calls: list[ExportProgress] = []
    again = write_export(make_request(measured.tmp, measured.run, tmp_path / "out", on_progress=calls.append))
    assert not again.is_new
    assert (again.files, again.statement) == (first.files, first.statement)
    assert calls == []
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before


@pytest.mark.parametrize(
    "options", [{"shuffle_seed": 1}, {"token_budget": 100}, {"control_seed": 9}, {"overrides": Overrides((), "0" * 64)}]
)
def test_another_request_does_not_replace_an_export(
    measured: Measured, tmp_path: Path, options: dict[str, object]
) -> None:
    write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))
    before = read_bytes(tmp_path / "out")
    with pytest.raises(ExportError, match="holds another export"):
        write_export(make_request(measured.tmp, measured.run, tmp_path / "out", **options))
    assert read_bytes(tmp_path / "out") == before


def test_a_folder_of_something_else_is_left_alone(measured: Measured, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(ExportError, match="holds no export"):
        write_export(make_request(measured.tmp, measured.run, out))
    assert read_bytes(out) == {"thesis.txt": b"mine"}
    (out / "thesis.txt").unlink()
    assert write_export(make_request(measured.tmp, measured.run, out)).is_new


def test_a_damaged_export_is_not_called_finished(measured: Measured, tmp_path: Path) -> None:
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))
    (tmp_path / "out" / result.files[0].path).unlink()
    with pytest.raises(ExportError, match="missing or damaged"):
        write_export(make_request(measured.tmp, measured.run, tmp_path / "out"))


def test_undecided_rows_are_refused_with_counts(measured: Measured, tmp_path: Path) -> None:
    bound = bind(measured.run)
    needing = type(bound)(bound.profile, bound.models, ("encoder",))  # fastText takes part, and the run has no grades
    with pytest.raises(ExportError, match=r"^86 of 130 documents are undecided; signals missing: fasttext for 86\."):
        write_export(make_request(measured.tmp, measured.run, tmp_path / "out", bound=needing))
    assert list(tmp_path.iterdir()) == []


def test_overrides_replace_decisions_and_show(measured: Measured, tmp_path: Path) -> None:
    sha256 = shard_hashes(measured)["shard-0.parquet"]
    rulings = (
        Ruling(shard_sha256=sha256, row=2, action="keep"),
        Ruling(shard_sha256=sha256, row=0, action="exclude"),
        Ruling(shard_sha256=sha256, row=4, action="keep"),  # there is no text to keep
    )
    overrides = Overrides(rulings, "a" * 64)
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out", overrides=overrides))
    table = read_split(result, "curriculum")
    decided_by = dict(zip(addresses(table), table["primer_decided_by"].to_pylist(), strict=True))
    assert ("shard-0.parquet", 0) not in decided_by
    assert ("shard-0.parquet", 4) not in decided_by
    assert {place for place, by in decided_by.items() if by is not None} == {("shard-0.parquet", 2)}
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["overrides"] == {"revision": 3, "sha256": "a" * 64}


def test_files_rotate_at_the_size(measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curation.export.writer.ROW_GROUP_BYTES", 4096)
    result = write_export(make_request(measured.tmp, measured.run, tmp_path / "out", shard_bytes=8000))
    paths = [file.path for file in result.files if file.config == "curriculum"]
    assert len(paths) > 1
    assert paths == [f"data/curriculum/train-{i:05d}-of-{len(paths):05d}.parquet" for i in range(len(paths))]
    assert addresses(read_split(result, "curriculum")) == [(shard, row) for shard, row, _ in measured.kept]


def test_nothing_kept_gives_empty_files_and_an_empty_control(tmp_path: Path) -> None:
    run = measure(tmp_path, [write_shard(tmp_path / "hard.parquet", [HARD] * 12)])
    result = write_export(make_request(tmp_path, run, tmp_path / "out", validation_share=0.1, shuffle_seed=1))
    assert [(file.path, file.rows, file.tokens) for file in result.files] == [
        ("data/curriculum/train-00000-of-00001.parquet", 0, 0),
        ("data/curriculum/validation-00000-of-00001.parquet", 0, 0),
        ("data/control/train-00000-of-00001.parquet", 0, 0),
    ]
    assert read_split(result, "control").schema == pa.schema([*SHARD_SCHEMA, *BAND_SCHEMA])


def test_shards_of_other_schemas_become_one(tmp_path: Path) -> None:
    plain = write_shard(tmp_path / "a.parquet", [make_row(i, SIMPLE, extra=None) for i in range(3)])
    schema = pa.schema(
        [
            pa.field("id", pa.int64()),
            pa.field("text", pa.binary()),
            pa.field("dump", pa.dictionary(pa.int8(), pa.string())),
            pa.field("score", pa.int64()),
            pa.field("token_count", pa.int32()),
            pa.field("tags", pa.list_(pa.string())),
            pa.field("extra", pa.float32(), metadata={"kind": "noise"}),
        ],
        metadata={"huggingface": "{}", "pandas": "{}"},
    )
    row = {"id": 7, "text": SIMPLE.encode(), "dump": "d", "score": 4, "token_count": 18, "tags": ["x"], "extra": 0.5}
    other = write_shard(tmp_path / "b.parquet", [row], schema=schema)
    run = measure(tmp_path, [plain, other])
    result = write_export(make_request(tmp_path, run, tmp_path / "out"))
    table = read_split(result, "curriculum")
    assert table.schema.names == [*SHARD_SCHEMA.names, "extra", "tags", *BAND_SCHEMA.names]
    assert {
        name: table.schema.field(name).type for name in ("id", "text", "dump", "score", "token_count", "extra")
    } == {
        "id": pa.string(),  # JSON: no type holds words and numbers
        "text": pa.string(),
        "dump": pa.string(),
        "score": pa.float64(),
        "token_count": pa.int64(),
        "extra": pa.float32(),
    }
    assert table["id"].to_pylist() == ['"<urn:uuid:00000000>"', '"<urn:uuid:00000001>"', '"<urn:uuid:00000002>"', "7"]
    assert table["text"].to_pylist() == [SIMPLE] * 4
    assert table["score"].to_pylist() == [3.25, 3.25, 3.25, 4.0]
    assert table["dump"].to_pylist() == ["CC-MAIN-2024-10"] * 3 + ["d"]
    assert table["url"].to_pylist()[3] is None
    assert table["tags"].to_pylist() == [None, None, None, ["x"]]
    assert set(pq.read_schema(result.folder / result.files[0].path).metadata or {}) == set()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["json_columns"] == ["id"]


def test_integers_beyond_a_float_stay_exact(tmp_path: Path) -> None:
    large = (1 << 53) + 1
    schemas = [pa.schema([("text", pa.string()), ("n", kind)]) for kind in (pa.int64(), pa.float64())]
    shards = [
        write_shard(tmp_path / f"{i}.parquet", [{"text": SIMPLE, "n": value}], schema=schema)
        for i, (value, schema) in enumerate(zip((large, 0.5), schemas, strict=True))
    ]
    result = write_export(make_request(tmp_path, measure(tmp_path, shards), tmp_path / "out"))
    assert read_split(result, "curriculum")["n"].to_pylist() == [str(large), "0.5"]


def test_hostile_names_and_values_pass_unharmed(tmp_path: Path) -> None:
    odd = {"a.b": "1", "": "2", "---\nlicense: mit": "3", "'\"|<script>": "4", "Text": "5", "key": "6", "position": "7"}
    texts = [SIMPLE + " \x00 \u202e </s> | # ```", SIMPLE + "\n---\nlicense: mit\n", SIMPLE]
    shard = write_shard(tmp_path / "a|b<i>.parquet", [make_row(i, text, **odd) for i, text in enumerate(texts)])
    result = write_export(make_request(tmp_path, measure(tmp_path, [shard]), tmp_path / "out", shuffle_seed=1))
    rows = read_split(result, "curriculum").to_pylist()
    assert len(rows) == 3
    assert sorted(row["text"] for row in rows) == sorted(texts)
    assert all({name: row[name] for name in odd} == odd for row in rows)


def test_bytes_that_are_not_text_do_not_stop_a_loader(tmp_path: Path) -> None:
    path = write_shard(tmp_path / "a.parquet", [SIMPLE, SIMPLE])
    table = pq.read_table(path)
    bad = pa.StringArray.from_buffers(2, *pa.array([b"http://\xff/", b"http://ok/"], pa.binary()).buffers()[1:])
    pq.write_table(table.set_column(table.schema.get_field_index("url"), "url", bad), path)
    result = write_export(make_request(tmp_path, measure(tmp_path, [path]), tmp_path / "out"))
    assert read_split(result, "curriculum")["url"].to_pylist() == ["http://\N{REPLACEMENT CHARACTER}/", "http://ok/"]


def test_a_column_with_a_name_of_ours_is_refused(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.parquet", [make_row(0, SIMPLE, primer_band="K12")])
    with pytest.raises(ExportError, match=r"a\.parquet has columns of the export's own already: primer_band"):
        write_export(make_request(tmp_path, measure(tmp_path, [shard]), tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = [pa.array([SIMPLE]), pa.array(["x"]), pa.array(["y"])]
    pq.write_table(pa.Table.from_arrays(columns, names=["text", "twin", "twin"]), path)
    with pytest.raises(ExportError, match="two columns of one name: 'twin'"):
        write_export(make_request(tmp_path, measure(tmp_path, [path]), tmp_path / "out"))


def test_a_shard_that_changed_is_refused(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.parquet", [SIMPLE] * 3)
    run = measure(tmp_path, [shard])
    write_shard(shard, [HARD] * 3)
    with pytest.raises(SourceError, match="has changed"):
        write_export(make_request(tmp_path, type(run)(run.folder), tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_shard_listed_twice_never_straddles_splits(tmp_path: Path) -> None:
    one = write_shard(tmp_path / "a.parquet", [f"{SIMPLE} {'Go. ' * i}" for i in range(30)])
    two = tmp_path / "b.parquet"
    two.write_bytes(one.read_bytes())
    result = write_export(
        make_request(tmp_path, measure(tmp_path, [one, two]), tmp_path / "out", validation_share=0.4, shuffle_seed=3)
    )
    train, validation = (
        set(read_split(result, "curriculum", split)["text"].to_pylist()) for split in ("train", "validation")
    )
    assert validation
    assert not train & validation


@pytest.mark.parametrize("options", [{"validation_share": 1.0}, {"token_budget": -1}, {"shard_bytes": 0}])
def test_senseless_options_are_refused(measured: Measured, tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(ExportError):
        make_request(measured.tmp, measured.run, tmp_path / "out", **options)

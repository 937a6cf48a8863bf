"""Verification finds every way in which an export can differ from what was written, and lists them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from export_requests import Measured, make_request
from factories import SIMPLE, find_artifacts, measure, write_shard

from curation.artifacts.artifact_set import ArtifactSet
from curation.export.build import write_export
from curation.export.manifest import MANIFEST, count_totals, encode_manifest, list_files
from curation.export.problem import VerifyReport
from curation.export.request import ExportResult
from curation.export.verify import verify_export
from curation.overrides import Overrides, Ruling
from curation.run_folder import RunFolder
from curation.shards.prepare import hash_file


@pytest.fixture
def exported(measured: Measured, tmp_path: Path) -> ExportResult:
    return write_export(
        make_request(measured.tmp, measured.run, tmp_path / "out", shuffle_seed=4, validation_share=0.2)
    )


def verify(measured: Measured, folder: Path, *, run: RunFolder | None = None, **options: Any) -> VerifyReport:
    return verify_export(folder, run, 200, 1, artifacts=find_artifacts(measured.tmp), **options)


def describe(report: VerifyReport) -> list[str]:
    return [str(problem) for problem in report.problems]


def change_table(folder: Path, file: str, change: Any) -> None:
    """Rewrite a file and everything in the manifest that describes it: what an able forger would do."""
    path = folder / file
    table = change(pq.read_table(path))
    pq.write_table(table, path)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    del manifest["content_sha256"]
    for entry in manifest["files"]:
        if entry["path"] == file:
            entry.update(sha256=hash_file(path), size_bytes=path.stat().st_size, rows=table.num_rows)
    manifest["totals"] = count_totals(list_files(manifest))
    (folder / MANIFEST).write_bytes(encode_manifest(manifest))


def set_value(table: pa.Table, column: str, row: int, value: object) -> pa.Table:
    values = table[column].to_pylist()
    values[row] = value
    index = table.schema.get_field_index(column)
    return table.set_column(index, table.schema.field(column), pa.array(values, table.schema.field(column).type))


def test_a_sound_export_has_no_problems(measured: Measured, exported: ExportResult) -> None:
    report = verify(measured, exported.folder, run=measured.run)
    assert describe(report) == []
    assert report.is_sound
    assert report.files_checked == 3
    assert report.rows_rechecked == len(measured.kept)


def test_a_sample_is_no_larger_than_asked(measured: Measured, exported: ExportResult) -> None:
    report = verify_export(exported.folder, measured.run, 5, 1, artifacts=find_artifacts(measured.tmp))
    assert (report.problems, report.rows_rechecked) == ((), 5)
    assert verify_export(exported.folder, None, 5, 1).rows_rechecked == 0


def test_a_flipped_byte_is_found(measured: Measured, exported: ExportResult) -> None:
    path = exported.folder / exported.files[0].path
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    assert describe(verify(measured, exported.folder)) == [
        "data/curriculum/train-00000-of-00001.parquet: its bytes have changed (sha256 differs)"
    ]


def test_every_problem_with_files_is_listed_at_once(measured: Measured, exported: ExportResult) -> None:
    folder = exported.folder
    (folder / exported.files[0].path).unlink()
    with (folder / exported.files[1].path).open("ab") as file:
        file.write(b"x")
    (folder / "data" / "control" / "extra.parquet").write_bytes(b"")
    (folder / "README.md").write_text("# Mine\n")
    size = exported.files[1].size_bytes
    assert describe(verify(measured, folder)) == [
        "data/curriculum/train-00000-of-00001.parquet: missing",
        "data/control/extra.parquet: not part of the export",
        "README.md: has been changed",
        f"data/curriculum/validation-00000-of-00001.parquet: {size + 1} bytes, written with {size}",
    ]


@pytest.mark.parametrize("content", [None, b"{", b"[]", b'{"schema": 99}'])
def test_a_manifest_that_is_none_is_a_problem(
    measured: Measured, exported: ExportResult, content: bytes | None
) -> None:
    path = exported.folder / MANIFEST
    path.unlink() if content is None else path.write_bytes(content)
    [problem] = verify(measured, exported.folder).problems
    assert (problem.file, problem.row) == (MANIFEST, None)


def test_an_edited_manifest_is_found(measured: Measured, exported: ExportResult) -> None:
    path = exported.folder / MANIFEST
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2', 1))
    [problem] = verify(measured, exported.folder).problems
    assert "has been changed" in problem.what


def test_a_row_in_two_splits_is_found(measured: Measured, exported: ExportResult) -> None:
    train, validation = (exported.folder / file.path for file in exported.files[:2])
    stolen = pq.read_table(train).slice(0, 1)
    change_table(
        exported.folder,
        exported.files[1].path,
        lambda table: pa.concat_tables([table.slice(0, table.num_rows - 1), stolen]),
    )
    last = pq.read_metadata(validation).num_rows - 1
    assert describe(verify(measured, exported.folder)) == [
        f"data/curriculum/validation-00000-of-00001.parquet, row {last}: the same row of the source stands twice"
    ]


def test_a_row_that_is_not_kept_is_found_by_deciding_again(measured: Measured, exported: ExportResult) -> None:
    file = exported.files[0].path

    def smuggle(table: pa.Table) -> pa.Table:
        control = pq.read_table(exported.folder / exported.files[2].path)
        excluded = control.filter(pa.array([band is None for band in control["primer_band"].to_pylist()])).slice(0, 1)
        return pa.concat_tables([set_value(excluded, "primer_band", 0, "K5"), table.slice(1)])

    change_table(exported.folder, file, smuggle)
    assert verify(measured, exported.folder).is_sound  # the files alone do not show it
    assert describe(verify(measured, exported.folder, run=measured.run)) == [
        f"{file}, row 0: decided again it is not kept (lexical, vocabulary)"
    ]


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("text", "Another text.", "column 'text' is not what is in the source"),
        ("url", None, "column 'url' is not what is in the source"),
        ("primer_p95_aoa", 3.0, "column 'primer_p95_aoa' is not what is measured again"),
        ("primer_k5", 0.9, "column 'primer_k5' is not what is measured again"),
        ("primer_decided_by", "override", "column 'primer_decided_by' is not what is measured again"),
        ("primer_row", 5000, "the run has no row 5000 of shard-0.parquet"),
    ],
)
def test_a_changed_value_is_found(
    measured: Measured, exported: ExportResult, column: str, value: object, problem: str
) -> None:
    file = exported.files[0].path
    shards = pq.read_table(exported.folder / file)["primer_shard"].to_pylist()
    row = shards.index("shard-0.parquet")
    change_table(exported.folder, file, lambda table: set_value(table, column, row, value))
    assert describe(verify(measured, exported.folder, run=measured.run)) == [f"{file}, row {row}: {problem}"]


def test_a_row_of_the_curriculum_without_band_is_found(measured: Measured, exported: ExportResult) -> None:
    file = exported.files[0].path
    change_table(exported.folder, file, lambda table: set_value(table, "primer_band", 3, None))
    assert describe(verify(measured, exported.folder)) == [
        f"{file}, row 3: no row of an input, or not of the band that the curriculum keeps"
    ]


def test_rows_taken_away_are_missed(measured: Measured, exported: ExportResult) -> None:
    file = exported.files[0].path
    change_table(exported.folder, file, lambda table: table.slice(1))
    kept = len(measured.kept)
    assert describe(verify(measured, exported.folder)) == [
        f"{MANIFEST}: the curriculum has {kept - 1} rows, the funnel kept {kept}"
    ]


def test_rulings_are_believed_or_checked(measured: Measured, tmp_path: Path) -> None:
    sha256 = measured.run.ledger.read_shards()[0].sha256
    overrides = Overrides((Ruling(shard_sha256=sha256, row=2, action="keep"),), "a" * 64)
    write_export(make_request(measured.tmp, measured.run, tmp_path / "out", overrides=overrides))
    assert describe(verify(measured, tmp_path / "out", run=measured.run)) == []
    assert describe(verify(measured, tmp_path / "out", run=measured.run, overrides=overrides)) == []
    other = Overrides(overrides.rulings, "b" * 64)
    assert describe(verify(measured, tmp_path / "out", run=measured.run, overrides=other)) == [
        f"{MANIFEST}: was made with other rulings than those given"
    ]


def test_other_artefacts_cannot_recheck(measured: Measured, exported: ExportResult, tmp_path: Path) -> None:
    artifacts = find_artifacts(tmp_path)
    custom = ArtifactSet({kind: artifact for kind, artifact in artifacts.artifacts.items() if kind == "aoa"})
    report = verify_export(exported.folder, measured.run, 5, 1, artifacts=custom)
    assert report.rows_rechecked == 0
    assert "nothing could be measured again: The run measured with artifacts" in report.problems[0].what


def test_another_run_is_not_what_it_was_made_from(measured: Measured, exported: ExportResult, tmp_path: Path) -> None:
    other = measure(tmp_path, [write_shard(tmp_path / "shard-0.parquet", [SIMPLE])])
    [problem] = verify(measured, exported.folder, run=other).problems
    assert problem.what.startswith("was made from another run than")


def test_a_source_that_is_gone_is_a_problem_for_each_sampled_row(tmp_path: Path) -> None:
    shard = write_shard(tmp_path / "a.parquet", [SIMPLE] * 3)
    run = measure(tmp_path, [shard])
    write_export(make_request(tmp_path, run, tmp_path / "out"))
    shard.unlink()
    report = verify_export(tmp_path / "out", RunFolder(run.folder), 2, 1, artifacts=find_artifacts(tmp_path))
    assert report.rows_rechecked == 0
    assert len(report.problems) == 2
    assert all("its source cannot be read: a.parquet" in problem.what for problem in report.problems)

"""Bad input never stops a run: every countable row is there, flagged where it cannot be read, and the rest goes on."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import cli_runs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.errors import QuotaError
from curation.run_folder import RunFolder
from curation.shards.prepare import prepare_shard

REPO = Path(__file__).resolve().parents[2]
DIRECT, STAGED = 1 << 20, 1500


def flip(folder: Path, compression: str, slice_bytes: int, region: str, seeds: int) -> dict[str, int]:
    """What came of `seeds` damaged files; fails where the reader crashed, lost or shifted a row, or raised a stranger."""
    program = Path(__file__).with_name("bit_flips.py")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", program, folder, compression, str(slice_bytes), region, str(seeds)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(REPO)},
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stderr[-3000:]}"
    found: dict[str, int] = json.loads(done.stdout)
    assert sum(found.values()) == seeds
    return found


@pytest.mark.parametrize(
    ("compression", "slice_bytes"),
    [("snappy", DIRECT), ("zstd", DIRECT), ("none", STAGED)],
    ids=["snappy", "zstd", "uncompressed-staged"],
)
@pytest.mark.parametrize("region", ["text", "other", "footer", "anywhere"])
def test_flipped_bits(tmp_path: Path, region: str, compression: str, slice_bytes: int) -> None:
    found = flip(tmp_path, compression, slice_bytes, region, seeds=100)
    assert found.get("raised", 0) == 0
    if region == "text":
        assert set(found) <= {"flagged", "changed", "whole"}
        assert found["flagged"] > 0
    if region == "other":
        assert set(found) <= {"flagged", "whole"}
    if region == "footer":
        assert found["shard error"] > 0


@pytest.mark.soak
def test_many_flipped_bits(tmp_path: Path) -> None:
    for compression in ("snappy", "none", "zstd"):
        for slice_bytes in (DIRECT, STAGED):
            folder = tmp_path / f"{compression}-{slice_bytes}"
            folder.mkdir()
            assert flip(folder, compression, slice_bytes, "anywhere", seeds=5000).get("raised", 0) == 0


def write_bad_folder(folder: Path) -> dict[str, list[str | None]]:
    """Shards of every kind of damage; by name, the error of each countable row (None where it is readable)."""
    folder.mkdir()
    good = pa.table({"id": ["1", "2", "3"], "text": ["The cat sat.", "", "A dog ran."]})
    pq.write_table(good, folder / "good.parquet")
    (folder / "empty.parquet").write_bytes(b"")
    (folder / "cut.parquet").write_bytes((folder / "good.parquet").read_bytes()[:-20])
    pq.write_table(good.drop_columns(["text"]), folder / "no-text.parquet")
    bad_utf8 = pa.array([b"ok", b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"id": bad_utf8, "url": bad_utf8, "text": bad_utf8}), folder / "utf8.parquet")
    pq.write_table(pa.table({"id": [1, 2], "text": [5, 6]}), folder / "numbers.parquet")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "empty.jsonl.gz").write_bytes(b"")
    lines = [
        b'\xef\xbb\xbf{"text":"one","id":"x","m":{}}',
        b"",
        b"[]",
        b'{"text":null}',
        b'{"text":"two","id":"x","m":5}',
        b'{"text":"\\udc00"}',
        b'{"text":"nul \\u0000"}',
    ]
    (folder / "lines.jsonl").write_bytes(b"\r\n".join(lines))
    (folder / "broken-off.jsonl.gz").write_bytes(gzip.compress(b'{"text":"kept"}\n') + b"\x1f\x8b\x08")
    return {
        "broken-off.jsonl.gz": [None],
        "cut.parquet": [],
        "empty.jsonl": [],
        "empty.jsonl.gz": [],
        "empty.parquet": [],
        "good.parquet": [None, None, None],
        "lines.jsonl": [
            None,
            "lines.jsonl: line 3: a JSON list, expected an object with a field 'text'.",
            "lines.jsonl: line 4: the text is null.",
            None,
            "lines.jsonl: line 6: not JSON (invalid high surrogate in string at character 9).",
            None,
        ],
        "no-text.parquet": ["no-text.parquet: no column 'text' (columns: id). Name the text column with --text-field."]
        * 3,
        "numbers.parquet": [
            f"numbers.parquet: row group 0, row {i}: the column has type int64, not text." for i in (0, 1)
        ],
        "utf8.parquet": [None, "utf8.parquet: row group 0, row 1: not UTF-8 (invalid start byte at byte 0)."],
    }


def test_a_run_over_bad_shards_measures_all_that_can_be_read(tmp_path: Path) -> None:
    expected = write_bad_folder(tmp_path / "source")
    ledgers = []
    for workers in ("1", "2"):
        out = tmp_path / f"out-{workers}"
        cli_runs.run_json("run", tmp_path / "source", "--out", out, "--workers", workers, "--quiet")
        ledgers.append(cli_runs.digest_folder(out / "ledger"))
    assert ledgers[0] == ledgers[1]
    ledger = RunFolder(tmp_path / "out-1").ledger
    manifests = ledger.read_shards()
    found: dict[str, list[str | None]] = {manifest.name: [] for manifest in manifests}
    for ref in ledger.slices():
        core = ledger.read_part("core", ref.id)
        assert core["row"].to_pylist() == list(range(ref.piece.first_row, ref.piece.first_row + ref.piece.row_count))
        found[ref.shard.name] += core["error"].to_pylist()
        flagged = [row for row in core.to_pylist() if row["error"] is not None]
        assert all(row["n_chars"] is None and row["lexical_raw"] is None for row in flagged)
    assert found == expected
    errors = {manifest.name for manifest in manifests if manifest.error is not None}
    assert errors == {"broken-off.jsonl.gz", "cut.parquet", "empty.jsonl.gz", "empty.parquet"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with one MiB; skipped where one may not mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if mounted.returncode:
        pytest.skip("mounting a small disk is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("kind", ["lines", "row groups"])
def test_a_disk_that_fills_while_staging(tmp_path: Path, small_disk: Path, kind: str) -> None:
    texts = [os.urandom(500).hex() for _ in range(4000)]
    path = tmp_path / "source"
    if kind == "lines":
        path.write_text("".join(f'{{"text":"{text}"}}\n' for text in texts))
    else:
        pq.write_table(pa.table({"text": texts}), path)
    staging = small_disk / "staged"
    with pytest.raises(QuotaError) as raised:
        prepare_shard(path, "a", 0, staging_root=staging, text_field="text", slice_bytes=200_000, row_limit=None)
    assert str(raised.value) == (
        "The disk is full while staging. Free space or choose another --out, then run the same command again."
    )
    assert list(staging.iterdir()) == []
    manifest = prepare_shard(path, "a", 0, staging_root=staging, text_field="text", slice_bytes=200_000, row_limit=100)
    assert (manifest.row_count, manifest.error) == (100, None)

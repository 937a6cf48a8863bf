"""The ledger's store: a commit counts once and for ever, what a dying machine left is repaired, strangers are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from curation.errors import LedgerError
from curation.ledger.store import Ledger, Plan, PlannedShard, encode_part
from curation.recipe import LEDGER_SCHEMA, Recipe
from curation.shards.manifest import ShardManifest, Slice

RECIPE = Recipe(artifacts={"aoa": "a" * 64}, frequencies="list")
PLAN = Plan(
    recipe=RECIPE,
    shards=(PlannedShard(name="a.parquet", size_bytes=10), PlannedShard(name="b.parquet", size_bytes=None)),
    row_limit=None,
)
ID = "000000-00000"
TABLE = pa.table({"row": [0, 1, 2]})
OTHER = pa.table({"row": [7, 8, 9, 10]})


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "ledger")
    ledger.create(PLAN)
    return ledger


def manifest(index: int = 0, *, name: str = "a.parquet", sha256: str = "c" * 64, rows: int = 3) -> ShardManifest:
    return ShardManifest(
        index=index,
        name=name,
        sha256=sha256,
        size_bytes=10,
        row_count=rows,
        blank_line_count=0,
        staging="",
        slices=(Slice(index=0, first_row=0, row_count=rows, file="", row_groups=(0,)),) if rows else (),
        error=None,
    )


def commit_file(ledger: Ledger, layer: str = "core") -> Path:
    return ledger.folder / "commits" / layer / f"{ID}.json"


def files(ledger: Ledger) -> dict[str, bytes]:
    return {
        path.relative_to(ledger.folder).as_posix(): path.read_bytes()
        for path in ledger.folder.rglob("*")
        if path.is_file()
    }


def test_a_commit_counts_once_and_is_never_overwritten(ledger: Ledger) -> None:
    assert not ledger.is_committed("core", ID)
    assert ledger.commit("core", ID, TABLE) is True
    before = files(ledger)
    assert ledger.commit("core", ID, TABLE) is False
    assert files(ledger) == before
    assert ledger.commit("core", ID, OTHER) is False
    assert ledger.is_committed("core", ID)
    assert ledger.read_part("core", ID).equals(TABLE)
    assert {name: content for name, content in files(ledger).items() if name in before} == before


def test_layers_and_slices_are_committed_apart(ledger: Ledger) -> None:
    ledger.commit("core", ID, TABLE)
    assert not ledger.is_committed("postings", ID)
    assert not ledger.is_committed("core", "000000-00001")
    with pytest.raises(LedgerError) as raised:
        ledger.read_part("encoder", ID)
    assert str(raised.value) == (
        f"Slice {ID} has no committed encoder layer. Run the same command again to measure it."
    )


_COMMIT = """
import sys
from pathlib import Path
import pyarrow as pa
from curation.ledger.store import Ledger
ledger = Ledger(Path(sys.argv[1]))
table = pa.table({"row": list(range(int(sys.argv[2])))})
print("ready", flush=True)
sys.stdin.readline()
for i in range(50):
    if ledger.commit("core", f"000000-{i:05d}", table):
        print(i)
"""


@pytest.mark.parametrize("sizes", [(3, 3), (1, 2, 3)], ids=["equal", "different"])
def test_of_many_processes_one_commits_each_slice(ledger: Ledger, sizes: tuple[int, ...]) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _COMMIT, str(ledger.folder), str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for size in sizes
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    won = [list(map(int, writer.communicate()[0].split())) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * len(sizes)
    assert sorted(number for numbers in won for number in numbers) == list(range(50))
    for size, numbers in zip(sizes, won, strict=True):
        for number in numbers:
            assert ledger.read_part("core", f"000000-{number:05d}").num_rows == size
    ledger.sweep()
    assert len(list((ledger.folder / "parts" / "core").iterdir())) == 50


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"rows": 3}', b'{"part": "x.parquet"}', b"\x00" * 50, b"\xff", b'{"part": 5, "size'],
    ids=repr,
)
def test_a_torn_commit_does_not_count_and_is_repaired(ledger: Ledger, content: bytes) -> None:
    ledger.commit("core", ID, TABLE)
    good = files(ledger)
    commit_file(ledger).write_bytes(content)
    with pytest.raises(LedgerError) as raised:
        ledger.read_part("core", ID)
    assert str(raised.value) == f"{commit_file(ledger)}: the commit is damaged. Run the same command again."
    assert not ledger.is_committed("core", ID)
    assert not commit_file(ledger).exists()
    assert ledger.commit("core", ID, TABLE) is True
    assert files(ledger) == good


def test_a_commit_cut_anywhere_does_not_count(ledger: Ledger) -> None:
    ledger.commit("core", ID, TABLE)
    whole = commit_file(ledger).read_bytes()
    for size in range(len(whole)):
        commit_file(ledger).write_bytes(whole[:size])
        assert not ledger.is_committed("core", ID), size
    commit_file(ledger).write_bytes(whole)
    assert ledger.is_committed("core", ID)


def test_a_part_shorter_than_committed_is_found_and_written_again(ledger: Ledger) -> None:
    ledger.commit("core", ID, TABLE)
    part = ledger.part_path("core", ID)
    whole = part.read_bytes()
    part.write_bytes(whole[:-5])
    with pytest.raises(LedgerError) as raised:
        ledger.read_part("core", ID)
    assert str(raised.value) == (
        f"{part}: {len(whole) - 5} bytes, committed with {len(whole)}. Run the same command again."
    )
    assert not ledger.is_committed("core", ID)
    assert ledger.commit("core", ID, TABLE) is True
    assert part.read_bytes() == whole


def test_a_part_that_is_gone_is_measured_again(ledger: Ledger) -> None:
    ledger.commit("core", ID, TABLE)
    ledger.part_path("core", ID).unlink()
    assert not ledger.is_committed("core", ID)
    assert ledger.commit("core", ID, TABLE) is True
    assert ledger.read_part("core", ID).equals(TABLE)


def test_a_part_of_the_right_size_that_is_no_parquet_is_damaged(ledger: Ledger) -> None:
    ledger.commit("core", ID, TABLE)
    part = ledger.part_path("core", ID)
    part.write_bytes(b"\x00" * part.stat().st_size)
    with pytest.raises(LedgerError) as raised:
        ledger.read_part("core", ID)
    assert str(raised.value).startswith(f"{part}: damaged (")
    assert str(raised.value).endswith("Delete its commit and run the same command again.")


def test_sweeping_removes_orphans_and_temporaries_alone(ledger: Ledger) -> None:
    ledger.commit("core", ID, TABLE)
    ledger.commit("postings", ID, pa.table({"word": ["a"], "row": [0], "count": [1], "form": [0]}))
    ledger.add_shard(manifest())
    before = files(ledger)
    assert ledger.sweep() == 0
    assert files(ledger) == before
    ledger.commit("core", ID, OTHER)  # came second: its part is an orphan
    (ledger.folder / "commits" / "core" / ".writing-abc").write_bytes(b"x")
    (ledger.folder / ".writing-def").write_bytes(b"x")
    assert ledger.sweep() == 3
    assert files(ledger) == before


def test_sweeping_an_empty_ledger_removes_nothing(ledger: Ledger) -> None:
    before = files(ledger)
    assert ledger.sweep() == 0
    assert files(ledger) == before


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"shards": PLAN.shards[:1]}, "of 2 shards, not these 1"),
        (
            {"shards": (PlannedShard(name="c.parquet", size_bytes=10), PLAN.shards[1])},
            "with the shard a.parquet, not c.parquet",
        ),
        (
            {"shards": (PlannedShard(name="a.parquet", size_bytes=11), PLAN.shards[1])},
            "a.parquet had 10 bytes, now 11",
        ),
        ({"row_limit": 5}, "with --limit None, not 5"),
        ({"row_limit": 0}, "with --limit None, not 0"),
        (
            {"recipe": RECIPE.model_copy(update={"slice_bytes": 2048, "text_field": "body"})},
            "under another recipe: text_field, slice_bytes differ",
        ),
        (
            {"recipe": RECIPE.model_copy(update={"artifacts": {"aoa": "b" * 64}})},
            "under another recipe: artifacts differ",
        ),
    ],
)
def test_another_plan_is_refused_by_what_differs(ledger: Ledger, change: dict[str, object], difference: str) -> None:
    before = files(ledger)
    with pytest.raises(LedgerError) as raised:
        ledger.create(PLAN.model_copy(update=change))
    assert str(raised.value) == (
        f"{ledger.folder} holds another run ({difference}). "
        "Choose another --out, or repeat the command that began this run."
    )
    assert files(ledger) == before
    ledger.create(PLAN)
    assert ledger.read_plan() == PLAN


@pytest.mark.parametrize("extra", [{}, {"new_field": 1}])
def test_a_plan_of_a_newer_schema_is_refused_clearly(ledger: Ledger, extra: dict[str, object]) -> None:
    path = ledger.folder / "plan.json"
    content = json.loads(path.read_bytes())
    content["recipe"]["ledger_schema"] = LEDGER_SCHEMA + 1
    path.write_text(json.dumps({**content, **extra}))
    for read in (ledger.read_plan, lambda: ledger.create(PLAN)):
        with pytest.raises(LedgerError) as raised:
            read()
        assert str(raised.value) == (
            f"{path} has ledger schema {LEDGER_SCHEMA + 1}; this version reads up to {LEDGER_SCHEMA}. "
            "Read it with the version that wrote it."
        )


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"recipe": 5}', b"\xff"], ids=repr)
def test_a_plan_that_cannot_be_read_is_a_ledger_error(ledger: Ledger, content: bytes) -> None:
    path = ledger.folder / "plan.json"
    path.write_bytes(content)
    with pytest.raises(LedgerError) as raised:
        ledger.read_plan()
    assert str(raised.value).startswith(f"{path} cannot be read by this version (")


def test_a_folder_without_a_plan_says_so(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "run" / "ledger")
    assert not ledger.has_plan()
    with pytest.raises(LedgerError) as raised:
        ledger.read_plan()
    assert str(raised.value) == (
        f"There is no run in {tmp_path / 'run'}. Give the folder that `primer run --out` wrote."
    )


def test_a_changed_shard_is_refused(ledger: Ledger) -> None:
    ledger.add_shard(manifest())
    ledger.add_shard(manifest())
    with pytest.raises(LedgerError) as raised:
        ledger.add_shard(manifest(sha256="d" * 64))
    assert str(raised.value) == ("a.parquet has changed since this run began. Restore the file or start a new run.")
    assert ledger.read_shard(0) == manifest()


def test_a_damaged_shard_entry_is_named(ledger: Ledger) -> None:
    ledger.add_shard(manifest())
    path = ledger.folder / "shards" / "000000.json"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(LedgerError) as raised:
        ledger.read_shard(0)
    assert str(raised.value).startswith(f"{path} is damaged (")
    assert str(raised.value).endswith("Delete that file and run the same command again.")


def test_slices_need_every_shard_opened(ledger: Ledger) -> None:
    ledger.add_shard(manifest())
    with pytest.raises(LedgerError) as raised:
        list(ledger.slices())
    assert str(raised.value) == "b.parquet has not been opened yet. Finish the run first: repeat its command."
    ledger.add_shard(manifest(1, name="b.parquet", rows=0))
    assert [ref.id for ref in ledger.slices()] == [ID]


@pytest.mark.parametrize(("limit", "opened"), [(0, 0), (2, 1), (3, 1), (4, 2), (9, 2)])
def test_a_row_limit_needs_no_shard_beyond_it(tmp_path: Path, limit: int, opened: int) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.create(PLAN.model_copy(update={"row_limit": limit}))
    left = limit
    for index, planned in enumerate(PLAN.shards[:opened]):
        ledger.add_shard(manifest(index, name=planned.name, rows=min(3, left)))
        left -= min(3, left)
    assert [shard.index for shard in ledger.read_shards()] == list(range(opened))


def test_equal_tables_have_equal_bytes(ledger: Ledger) -> None:
    split = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]).combine_chunks()
    assert encode_part(TABLE, "core") == encode_part(split, "core")
    assert encode_part(TABLE, "core") != encode_part(OTHER, "core")


def test_the_ledger_holds_no_path_of_the_machine(ledger: Ledger) -> None:
    ledger.commit("core", ID, TABLE)
    ledger.add_shard(manifest())
    assert all(str(ledger.folder.parent).encode() not in content for content in files(ledger).values())

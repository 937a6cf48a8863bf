"""`primer ledger import`: a run made elsewhere becomes a job that has succeeded, once, whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from cli_runs import SAMPLE, digest_folder, run_json, run_primer
from sqlalchemy import func, select

from curation.curate import open_decision_set
from curation.errors import LedgerError
from curation.export.verify import verify_export
from curation.run_folder import RunFolder
from primer.app.auth.actor import SYSTEM, Actor
from primer.app.auth.roles import Role
from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotAllowed
from primer.app.jobs import imports
from primer.app.jobs.progress import build_funnel
from primer.app.models import AuditEntry, Event, Job, ProfileVersion, Source, SourceShard
from primer.app.profiles.bundled import import_bundled


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the sample, without the encoder."""
    out = tmp_path_factory.mktemp("made") / "run"
    run_primer("run", SAMPLE, "--out", out, "--no-encoder", "--quiet")
    return out


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """The same to spoil."""
    return Path(shutil.copytree(made, tmp_path / "copied"))


def _import(context: Context, folder: Path, name: str = "elsewhere", **options: bool) -> imports.Import:
    return imports.import_run(context, SYSTEM, folder, source_name=name, **options)


def _count_rows(context: Context) -> dict[str, int]:
    with context.database.reading() as session:
        return {
            model.__tablename__: session.execute(select(func.count()).select_from(model)).scalar_one()
            for model in (Job, Source, SourceShard, ProfileVersion)
        }


def test_a_run_becomes_a_job_with_its_figures(context: Context, made: Path) -> None:
    with context.database.transaction() as session:
        import_bundled(session)
    before = digest_folder(made)
    found = _import(context, made)
    assert found.is_new
    assert digest_folder(made) == before
    assert digest_folder(found.folder) == before
    report = json.loads((made / "run.json").read_bytes())
    with context.database.reading() as session:
        job = session.get_one(Job, found.job_id)
        source = session.get_one(Source, job.source_id)
        profile = session.get_one(ProfileVersion, job.profile_id)
        shards = session.execute(select(SourceShard).order_by(SourceShard.position)).scalars().all()
        funnel = build_funnel(session, job)
        [event] = session.execute(select(Event).where(Event.job_id == job.id)).scalars()
        audited = session.execute(select(AuditEntry).where(AuditEntry.action == "job.import")).scalars().all()
    assert (job.state, job.folder) == ("succeeded", f"runs/import-{report['run_id']}")
    assert (job.documents_total, job.documents_done, job.slices_total, job.slices_done) == (254, 254, 2, 2)
    assert job.bytes_done > 100_000
    assert job.report == report
    assert job.facts is not None
    assert job.facts["run_id"] == report["run_id"]
    assert job.options["has_encoder"] is False
    assert (profile.name, profile.state) == ("recommended", "published")
    assert (source.name, source.state, source.row_count, source.shard_count) == ("elsewhere", "ready", 254, 2)
    assert [shard.name for shard in shards] == ["sample-00000.parquet", "sample-00001.parquet"]
    assert [shard.sha256 for shard in shards] == [shard["sha256"] for shard in report["shards"]]
    assert source.locations == [str(SAMPLE / shard.name) for shard in shards]
    assert funnel is not None
    assert json.loads(json.dumps(funnel.report())) == report["funnel"]
    assert (event.kind, event.data["state"]) == ("job.state", "succeeded")
    assert [entry.subject for entry in audited] == [f"job/{job.id}"]


def test_the_imported_run_can_be_decided_and_its_export_verified(context: Context, made: Path) -> None:
    run = RunFolder(_import(context, made).folder)
    assert open_decision_set(run).bound.stages == ("lexical", "fasttext", "notation", "vocabulary")
    assert verify_export(run.export, run=run, sample=20, seed=0).problems == ()


def test_importing_again_changes_nothing(context: Context, made: Path) -> None:
    first = _import(context, made)
    rows, files = _count_rows(context), digest_folder(first.folder)
    again = _import(context, made, name="another name")
    assert (again.job_id, again.folder, again.is_new) == (first.job_id, first.folder, False)
    assert (_count_rows(context), digest_folder(first.folder)) == (rows, files)


def test_files_are_links_where_the_disk_allows_and_copies_where_they_are_asked_for(
    context: Context, made: Path
) -> None:
    linked = _import(context, made).folder / "run.json"
    assert os.path.samefile(linked, made / "run.json")
    shutil.rmtree(linked.parent)
    copied = _import(context, made, is_copied=True).folder / "run.json"
    assert not os.path.samefile(copied, made / "run.json")
    assert copied.read_bytes() == (made / "run.json").read_bytes()


def test_a_crash_between_folder_and_rows_is_mended_by_the_next_try(
    context: Context, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(imports, "record_change", die)
    with pytest.raises(KeyboardInterrupt):
        _import(context, made)
    assert _count_rows(context)["jobs"] == _count_rows(context)["sources"] == 0
    monkeypatch.undo()
    assert _import(context, made).is_new
    assert _count_rows(context)["jobs"] == 1


def test_the_same_source_under_another_recipe_is_one_source(context: Context, made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run_primer("run", SAMPLE, "--out", other, "--no-encoder", "--quiet", "--slice-mb", "0.1")
    _import(context, made)
    _import(context, other)
    rows = _count_rows(context)
    assert (rows["jobs"], rows["sources"], rows["source_shards"]) == (2, 1, 2)


def test_a_name_of_other_shards_is_refused(context: Context, made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run_primer("run", SAMPLE / "sample-00000.parquet", "--out", other, "--no-encoder", "--quiet")
    _import(context, made)
    with pytest.raises(Conflict, match=r"There is a source elsewhere of other shards\."):
        _import(context, other)
    assert _count_rows(context)["jobs"] == 1


def test_the_same_run_asked_for_otherwise_is_refused(context: Context, made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run_primer("run", SAMPLE, "--out", other, "--no-encoder", "--quiet", "--profile", "published")
    first = _import(context, made)
    files = digest_folder(first.folder)
    with pytest.raises(Conflict, match="is here already, asked for otherwise"):
        _import(context, other)
    assert digest_folder(first.folder) == files


def test_a_profile_of_ones_own_comes_with_the_run(context: Context, tmp_path: Path) -> None:
    with context.database.transaction() as session:
        import_bundled(session)
    profile, out = tmp_path / "mine.yaml", tmp_path / "run"
    shown = run_primer("profiles", "show", "recommended").stdout
    profile.write_text(shown.replace("max_oov_ratio:", "max_oov_ratio: 0.77  #"))
    run_primer("run", SAMPLE, "--out", out, "--no-encoder", "--quiet", "--profile", profile)
    found = _import(context, out)
    with context.database.reading() as session:
        version = session.get_one(ProfileVersion, session.get_one(Job, found.job_id).profile_id)
    assert (version.name, version.version, version.state) == ("recommended-imported", 1, "published")
    assert version.content["lexical"]["max_oov_ratio"] == 0.77
    assert version.content["name"] == "recommended-imported"


def _spoil_commit(folder: Path) -> None:
    next((folder / "ledger" / "commits" / "postings").glob("*.json")).unlink()


def _cut_part(folder: Path) -> None:
    part = next((folder / "ledger" / "parts" / "core").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-1])


def _spoil_plan(folder: Path) -> None:
    (folder / "ledger" / "plan.json").write_text("{}")


def _unfinish(folder: Path) -> None:
    (folder / "run.json").write_text('{"state": "incomplete"}')


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_spoil_commit, "has no committed postings layer"),
        (_cut_part, "bytes, committed with"),
        (_spoil_plan, "cannot be read by this version"),
        (_unfinish, "is not finished"),
    ],
)
def test_what_is_not_whole_is_refused_and_nothing_is_left(
    context: Context, copied: Path, spoil: object, message: str
) -> None:
    assert callable(spoil)
    spoil(copied)
    before = digest_folder(copied)
    with pytest.raises(LedgerError, match=message):
        _import(context, copied)
    assert digest_folder(copied) == before
    assert _count_rows(context)["jobs"] == 0
    assert not context.settings.runs.exists()


def test_links_out_of_the_run_are_not_followed(context: Context, copied: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not of the run")
    (copied / "link").symlink_to(tmp_path / "secret")
    (copied / "folder").symlink_to(tmp_path)
    found = _import(context, copied)
    assert not (found.folder / "link").exists()
    assert not (found.folder / "folder").exists()


def test_it_takes_an_operator(context: Context, made: Path) -> None:
    with pytest.raises(NotAllowed):
        imports.import_run(context, Actor(1, "ben", Role.CURATOR), made, source_name="elsewhere")


def test_the_command(made: Path, tmp_path: Path) -> None:
    environment = {"PRIMER_DATA_DIR": str(tmp_path / "data")}
    run_primer("migrate", **environment)
    first = run_json("ledger", "import", made, "--name", "elsewhere", **environment)
    assert (first["job_id"], first["is_new"]) == (1, True)
    again = run_primer("ledger", "import", made, "--name", "elsewhere", **environment)
    assert f"{made} was already job 1" in " ".join(again.stderr.split())

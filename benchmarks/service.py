"""What the service costs and how it scales: `python -m benchmarks.service [--write]`.

Over copies of the web shards, without the encoder: one worker process beside two, and the service with two beside what
`primer run --workers 2` measures with. In turns, the best of ROUNDS; from the first slice that is done to the last, so
that starting and loading count for nobody. Asserts nothing; says whether the aims hold.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpus import REPO, count_bytes, read_corpus, take_bytes
from benchmarks.machine import describe_machine
from curation.curate import begin_run, measure
from curation.lexicon.vocabulary import PLAIN_VOCABULARY
from curation.profile import DEFAULT_PROFILE, load_profile
from curation.request import RunRequest
from curation.run import Progress
from curation.run_folder import RunFolder
from primer.app.auth.actor import SYSTEM
from primer.app.core.context import Context
from primer.app.core.settings import Settings
from primer.app.first_start import lay_ground
from primer.app.jobs import service as jobs
from primer.app.jobs.options import JobOptions
from primer.app.jobs.states import FINAL, JobState
from primer.app.models import Job
from primer.app.profiles import repository as profiles
from primer.app.sources import allow_list
from primer.app.sources import service as sources
from primer.workers.children import describe_broker, is_broker_up
from primer.workers.scans import perform_scan

AIM_SCALING, AIM_OVERHEAD = 1.8, 0.10
ROUNDS = 3
RESULT = REPO / "benchmarks" / "results" / "service.md"
_SHARDS = 4
_SLICE_BYTES = 1 << 20
_LOOK_SECONDS = 0.02
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Rate:
    """Text measured between the first slice that was done and the last, and the CPU time of all processes meanwhile."""

    megabytes: float
    seconds: float
    cpu_seconds: float

    @property
    def megabytes_per_second(self) -> float:
        return self.megabytes / self.seconds

    @property
    def cpu_seconds_per_megabyte(self) -> float:
        return self.cpu_seconds / self.megabytes


class Watch:
    """Notes time and CPU time of a process and its children at the first and at the last slice."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._first: tuple[int, float, float] | None = None
        self._last: tuple[int, float, float] | None = None

    def note(self, text_bytes: int) -> None:
        """`text_bytes` of the slices done so far."""
        if text_bytes and (self._last is None or text_bytes > self._last[0]):
            self._last = text_bytes, time.monotonic(), read_cpu_seconds(self._pid)
            self._first = self._first or self._last

    def rate(self) -> Rate:
        assert self._first is not None
        assert self._last is not None
        done, seconds, cpu = (after - before for before, after in zip(self._first, self._last, strict=True))
        return Rate(done / 1e6, seconds, cpu)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=30.0, help="how much text a round measures")
    parser.add_argument("--write", action="store_true", help=f"also into benchmarks/results/{RESULT.name}")
    options = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="primer-benchmark-") as name:
        folder = Path(name)
        origin, megabytes = write_source(folder / "source", options.megabytes)
        rates: dict[str, list[Rate]] = {"one": [], "two": [], "run": []}
        with running_service(folder) as (context, source_id):
            # One worker at a time has the queues; each stays warm through its round.
            for number in range(ROUNDS):
                for key, processes in (("one", 1), ("two", 2)):
                    with running_worker(context, processes) as pid:
                        time_job(context, source_id, pid, sample_share=0.25)  # models are loaded now
                        rates[key].append(time_job(context, source_id, pid))
                rates["run"].append(time_run(folder / "source", folder / f"run-{number}"))
        best = {key: max(found, key=lambda rate: rate.megabytes_per_second) for key, found in rates.items()}
    report = format_report(origin, megabytes, best, os.getloadavg()[0])
    sys.stdout.write(report)
    if options.write:
        RESULT.write_text(report)


def write_source(folder: Path, megabytes: float) -> tuple[str, float]:
    """Shards of web text with row groups of a quarter of a slice; where it comes from, and how much it is."""
    corpus = read_corpus()
    folder.mkdir()
    total = 0
    for number in range(_SHARDS):
        table = pa.concat_tables(take_bytes(corpus.documents, round(megabytes * 1e6 / _SHARDS)))
        total += count_bytes(table["text"])
        rows = max(1, table.num_rows * _SLICE_BYTES // 4 // max(count_bytes(table["text"]), 1))
        pq.write_table(table, folder / f"web-{number}.parquet", row_group_size=rows)
    return corpus.origin, total / 1e6


@contextmanager
def running_service(folder: Path) -> Iterator[tuple[Context, int]]:
    """The embedded service without its API: SQLite, the embedded broker, and the source."""
    settings = Settings(data_dir=folder / "data", min_free_bytes=0, log_format="text")
    context = Context.open(settings)
    lay_ground(context)
    allow_list.allow_prefix(context, SYSTEM, prefix=str(folder), allows_private=False, note="")
    source = sources.register_source(
        context, SYSTEM, name="web", locations=[str(folder / "source")], config=None, split=None, text_field="text"
    )
    perform_scan(context, source.id)
    broker = describe_broker(settings)
    assert broker is not None
    with subprocess.Popen(broker.command, stdout=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: is_broker_up(settings))
            yield context, source.id
        finally:
            server.terminate()


@contextmanager
def running_worker(context: Context, processes: int) -> Iterator[int]:
    """A worker of so many processes; its process id."""
    command = [sys.executable, "-m", "primer.cli", "worker", "--concurrency", str(processes)]
    environment = {**os.environ, "PRIMER_DATA_DIR": str(context.settings.data_dir), "PRIMER_MIN_FREE_BYTES": "0"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as worker:
        try:
            yield worker.pid
        finally:
            worker.terminate()


def time_job(context: Context, source_id: int, pid: int, *, sample_share: float | None = None) -> Rate:
    """A job over the source or a part of it, done by the worker with this process id."""
    with context.database.reading() as session:
        profile = profiles.find_newest_published(session, DEFAULT_PROFILE)
    assert profile is not None
    options = JobOptions(has_encoder=False, slice_bytes=_SLICE_BYTES, sample_share=sample_share)
    job = jobs.start_job(context, SYSTEM, source_id=source_id, profile_id=profile.id, options=options)
    watch = Watch(pid)

    def look() -> bool:
        with context.database.reading() as session:
            found = session.get_one(Job, job.id)
        watch.note(found.bytes_done)
        if found.state in FINAL and found.state != JobState.SUCCEEDED:
            raise RuntimeError(f"The job is {found.state}: {found.error}")
        return found.state == JobState.SUCCEEDED

    wait_until(look, seconds=1_800)
    return watch.rate()


def time_run(source: Path, out: Path) -> Rate:
    """What `primer run --workers 2` does before it decides and exports."""
    request = RunRequest(
        sources=(str(source),),
        config=None,
        split=None,
        artifacts=None,
        aoa=None,
        profile=load_profile(DEFAULT_PROFILE),
        vocabulary=PLAIN_VOCABULARY,
        export=JobOptions().describe_export(),
    )
    job = begin_run(
        RunFolder(out), request, text_field="text", slice_bytes=_SLICE_BYTES, row_limit=None, has_encoder=False
    )
    watch = Watch(os.getpid())

    def note(progress: Progress) -> None:
        watch.note(progress.text_bytes)

    measure(job, workers=2, on_progress=note)
    return watch.rate()


def read_cpu_seconds(pid: int) -> float:
    """User and system time of a process, of its children, and of those that ended and were waited for."""
    children: dict[int, list[int]] = {}
    times: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        number = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        times[number] = sum(map(int, fields[11:15]))
    found, queue = 0, [pid]
    while queue:
        number = queue.pop()
        found += times.get(number, 0)
        queue += children.get(number, [])
    return found / _TICKS


def wait_until(is_so: Callable[[], bool], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s in vain")
        time.sleep(_LOOK_SECONDS)


def format_report(origin: str, megabytes: float, best: dict[str, Rate], load: float) -> str:
    machine = describe_machine()
    libraries = ", ".join(f"{name} {found}" for name, found in machine["libraries"].items())  # type: ignore[attr-defined]
    scaling = best["two"].megabytes_per_second / best["one"].megabytes_per_second
    overhead = best["run"].megabytes_per_second / best["two"].megabytes_per_second - 1
    cpu_overhead = best["two"].cpu_seconds_per_megabyte / best["run"].cpu_seconds_per_megabyte - 1
    names = {"one": "service, 1 process", "two": "service, 2 processes", "run": "`primer run --workers 2`"}
    rows = [
        f"| {names[key]} | {rate.megabytes_per_second:.2f} | {rate.cpu_seconds_per_megabyte:.2f} |"
        for key, rate in best.items()
    ]
    return "\n".join(
        [
            f"{machine['hardware']}; Python {machine['python']}, {libraries}; {machine['date']}; load at the end {load:.1f}",
            f"{megabytes:.1f} MB: {origin}, in slices of 1 MB; SQLite and the embedded broker; best of {ROUNDS} rounds.",
            "",
            "| | MB/s | CPU seconds a MB |",
            "|---|---|---|",
            *rows,
            "",
            f"Two processes do {scaling:.2f} times what one does (aim: at least {AIM_SCALING}): {_say(scaling >= AIM_SCALING)}.",
            f"The service takes {overhead:+.1%} of the time of the command (aim: at most {AIM_OVERHEAD:+.0%}): "
            f"{_say(overhead <= AIM_OVERHEAD)}; {cpu_overhead:+.1%} of its CPU time.",
            "",
        ]
    )


def _say(holds: bool) -> str:
    return "holds" if holds else "does not hold"


if __name__ == "__main__":
    main()

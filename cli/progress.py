"""Progress of a run: a live bar with the funnel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from curation.run import Progress as RunProgress
from primer.cli.output import console

_PLAIN_SECONDS = 5.0  # between plain lines: a log that can be read and a person who knows it is alive


class RunDisplay:
    """Shows `Progress` as it comes. A context manager."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet = is_quiet
        self._is_live = console.is_terminal and not is_quiet
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("slices"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task("measuring", total=None)
        self._live = Live(self._bar, console=console, refresh_per_second=4)
        self._last_line = time.monotonic()

    def __enter__(self) -> RunDisplay:
        if self._is_live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_live:
            self._live.stop()

    def show(self, progress: RunProgress) -> None:
        if self._is_live:
            # Shards that are not opened yet have slices nobody counted: estimate them from those that are.
            total = estimate_slices(progress)
            self._bar.update(self._task, completed=progress.slices_done, total=total)
            self._live.update(Group(self._bar, _draw_funnel(progress)))
        elif not self._is_quiet and time.monotonic() - self._last_line >= _PLAIN_SECONDS:
            self._last_line = time.monotonic()
            console.print(describe_progress(progress), highlight=False)


def estimate_slices(progress: RunProgress) -> int:
    """Slices of the whole run, from the mean of the shards opened so far."""
    if not progress.shards_opened:
        return max(progress.slices_known, 1)
    return max(progress.slices_known, round(progress.slices_known * progress.shards_total / progress.shards_opened))


def describe_progress(progress: RunProgress) -> str:
    """One line: slices, documents, rates, kept, time left."""
    seconds = max(progress.seconds, 1e-9)
    measured = progress.slices_done - progress.slices_reused
    left = estimate_slices(progress) - progress.slices_done
    eta = f"{left * seconds / measured:.0f} s left" if measured else "time left unknown"
    kept = progress.funnel.documents["kept"]
    return (
        f"{progress.slices_done}/{estimate_slices(progress)} slices, {progress.documents:,} documents, "
        f"{progress.measured_documents / seconds:,.0f} documents/s, {progress.measured_bytes / seconds / 1e6:.1f} MB/s, "
        f"{kept:,} kept, {eta}"
    )


def _draw_funnel(progress: RunProgress) -> Table:
    from curation.stages import STAGES

    table = Table.grid(padding=(0, 2))
    table.add_row(describe_progress(progress))
    for step in progress.funnel.steps(STAGES):
        table.add_row(f"  {step['stage']:<11} excluded {step['excluded']:>9,}   left {step['left']:>9,}")
    return table

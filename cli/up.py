"""`primer up`: the whole service on this machine, from one command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from primer.cli.output import console, results

if TYPE_CHECKING:
    from primer.workers.embedded import Started

_LOCAL_HOSTS = ("127.0.0.1", "localhost")
_EVERYWHERE = ("0.0.0.0", "::")


def up(
    data: Annotated[
        Path | None, typer.Option("--data", "-d", help="Folder of state, runs and logs; default: primer-data.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen at; default: 127.0.0.1, which nobody else can reach.")
    ] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Port to listen at; default: 8642.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", min=1, help="Processes that measure; default: one a core.")
    ] = None,
    no_sample: Annotated[
        bool, typer.Option("--no-sample", help="Do not curate the bundled sample on the first start.")
    ] = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the address in a browser.")] = False,
) -> None:
    """Start the service: database, broker, API and worker, all in one folder, for this machine.

    The first start curates the bundled sample and prints an admin's password, once. Ctrl-C stops everything; the same
    command carries on with what was unfinished.
    """
    # Imported here: the service takes seconds to load, and other commands need none of it.
    from primer.cli.service import read_settings
    from primer.workers.embedded import Told, run_embedded

    _set_variables(data, host, port)
    settings = read_settings()
    console.print("Starting …", highlight=False)

    def show_started(started: Started) -> None:
        _show_started(started, settings.data_dir.resolve())
        if open_browser:
            typer.launch(started.address)

    run_embedded(
        settings,
        processes=workers or os.cpu_count() or 1,
        has_sample=not no_sample,
        tell=Told(
            started=show_started, said=lambda text: console.print(text, highlight=False, markup=False, soft_wrap=True)
        ),
    )
    console.print("Stopped. The same command carries on from here.", highlight=False)


def _set_variables(data: Path | None, host: str | None, port: int | None) -> None:
    """What options say goes the way that settings go: this process and those that it starts read them as variables."""
    given = {"PRIMER_DATA_DIR": data, "PRIMER_HOST": host, "PRIMER_PORT": port}
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})
    if host not in (None, *_LOCAL_HOSTS, *_EVERYWHERE) and "PRIMER_ALLOWED_HOSTS" not in os.environ:
        os.environ["PRIMER_ALLOWED_HOSTS"] = ",".join((*_LOCAL_HOSTS, str(host)))


def _show_started(started: Started, data_dir: Path) -> None:
    lines = [("Primer", started.address)]
    if started.password is not None:
        lines += [("User", started.user_name), ("Password", f"{started.password}   (shown this once)")]
    lines.append(("Data", str(data_dir)))
    if started.sample_job_id is not None:
        lines.append(("Sample", f"being curated as job {started.sample_job_id}"))
    lines.append(("Stop", "Ctrl-C"))
    for name, value in lines:
        results.print(f"{name:<9} {value}", highlight=False, markup=False, soft_wrap=True)

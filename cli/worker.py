"""`primer worker`: does the tasks of jobs, on this machine, until it is stopped."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from primer.app.core.settings import Settings
from primer.app.jobs.states import Queue

_ALL = ",".join(Queue)


def worker(
    queues: Annotated[str, typer.Option(help=f"Which tasks to take, separated by commas: {_ALL}.")] = _ALL,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one a core. One where the encoder runs on CUDA.")
    ] = None,
    nice: Annotated[
        int, typer.Option(min=0, max=19, help="How far to give way to other programs of this machine, as `nice` does.")
    ] = 0,
) -> None:
    """Measure, score and export what jobs ask for. Any number of workers may run, on any number of machines.

    A worker that dies loses nothing: its tasks are given to others when their leases run out. Ctrl-C (or SIGTERM) lets go
    of what is being worked on within a batch.
    """
    # Imported here: Celery takes a second to load, and other commands need none of it.
    from primer.workers.celery_app import build_celery

    chosen = _parse_queues(queues)
    has_cuda = Queue.ENCODER in chosen and os.environ.get("PRIMER_ENCODER_DEVICE") == "cuda"
    if has_cuda and (concurrency or 1) > 1:
        raise typer.BadParameter(
            "An encoder on CUDA runs in one process a GPU: start one worker for each.", param_hint="--concurrency"
        )
    os.nice(nice)
    celery = build_celery(Settings())
    # CUDA does not survive a fork: such a worker works in its own process.
    pool = (
        ["--pool", "solo"]
        if has_cuda
        else ["--pool", "prefork", "--concurrency", str(concurrency or os.cpu_count() or 1)]
    )
    celery.worker_main(
        [
            "worker",
            "--queues", ",".join(chosen),
            "--without-gossip", "--without-mingle", "--without-heartbeat",
            "--loglevel", "INFO",
            "--hostname", f"primer-{os.getpid()}@%h",
            *pool,
        ]
    )  # fmt: skip


def _parse_queues(queues: str) -> list[Queue]:
    names = [name.strip() for name in queues.split(",") if name.strip()]
    unknown = sorted(set(names) - set(Queue))
    if unknown or not names:
        raise typer.BadParameter(
            f"There is no queue {', '.join(unknown) or '(none named)'}. Queues: {_ALL}.", param_hint="--queues"
        )
    return [Queue(name) for name in dict.fromkeys(names)]

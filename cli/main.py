"""The `primer` command: what it can do, and how errors are shown."""

from __future__ import annotations

import sys
from importlib.metadata import version

import orjson
import typer

from curation.errors import PrimerError
from primer.cli import (
    api,
    catalogue,
    concepts,
    decide,
    evaluate,
    explain,
    export,
    label,
    ledger,
    measure,
    run,
    train,
    up,
    upkeep,
    user,
    vocab,
    worker,
)
from primer.cli.output import console, is_json

app = typer.Typer(
    name="primer",
    help="Curate grade-bounded pretraining corpora: measure every document, decide by a profile, export with a control.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run")(run.run)
app.command("finish")(run.finish)
app.command("decide")(decide.decide)
app.command("measure")(measure.measure)
app.command("export")(export.export)
app.command("control")(export.control)
app.command("verify")(export.verify)
app.command("probe")(concepts.probe)
app.command("evaluate")(evaluate.evaluate)
app.command("explain")(explain.explain)
app.command("label")(label.label)
app.command("up")(up.up)
app.command("api")(api.api)
app.command("worker")(worker.worker)
app.command("migrate")(api.migrate)
app.command("gc")(upkeep.gc)
app.command("backup")(upkeep.backup)
app.command("restore")(upkeep.restore)
app.add_typer(catalogue.profiles, name="profiles")
app.add_typer(catalogue.artifacts, name="artifacts")
app.add_typer(concepts.app, name="concepts")
app.add_typer(ledger.app, name="ledger")
app.add_typer(train.app, name="train")
app.add_typer(user.app, name="user")
app.add_typer(vocab.app, name="vocab")


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"primer {version('primer-curation')}")
        raise typer.Exit


@app.callback()
def _root(
    _version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line. A PrimerError is one message and exit status 1, never a traceback."""
    try:
        app()
    except PrimerError as error:
        if is_json():
            content = {"error": {"kind": type(error).__name__, "message": error.message, "hint": error.hint}}
            sys.stdout.write(orjson.dumps(content).decode() + "\n")
        console.print(f"[bold red]Error:[/] {_escape(error.message)}", highlight=False)
        if error.hint:
            console.print(_escape(error.hint), highlight=False)
        sys.exit(1)
    except KeyboardInterrupt:
        console.print("Stopped. The same command carries on from here.")
        sys.exit(130)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)

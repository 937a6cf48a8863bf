"""What commands print: messages for people on standard error, results on standard output, JSON where it was asked for."""

from __future__ import annotations

import sys
import unicodedata
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

console = Console(stderr=True)
results = Console()

_state = {"json": False}


def _remember(value: bool) -> bool:
    _state["json"] = value
    return value


JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object for machines.", callback=_remember, is_eager=True)
]


def is_json() -> bool:
    """Whether the command was called with --json."""
    return _state["json"]


def print_json(value: object) -> None:
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def show_safely(text: str) -> str:
    """Text of a document for a terminal: control and format characters (escape sequences, RTL overrides) become visible marks."""
    shown = "".join(
        character if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"} else "\ufffd"
        for character in text
    )
    return escape(shown)


def print_funnel(report: dict[str, object], statement: str) -> None:
    """What ran, and the funnel of `Funnel.report()` in published order."""
    documents, tokens = report["documents"], report["tokens"]
    assert isinstance(documents, dict)
    assert isinstance(tokens, dict)
    total, total_tokens = sum(documents.values()), sum(tokens.values())
    results.print(statement, highlight=False, markup=False)
    table = Table()
    for name in ("stage", "excluded", "left", "left %", "tokens left"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    table.add_row("read", "", f"{total:,}", _percent(total, total), f"{total_tokens:,}")
    if documents["error"]:
        left = total - documents["error"]
        table.add_row("unreadable", f"{documents['error']:,}", f"{left:,}", _percent(left, total), f"{total_tokens:,}")
    steps = report["published_order"]
    assert isinstance(steps, list)
    for step in steps:
        left = step["left"]
        table.add_row(
            step["stage"], f"{step['excluded']:,}", f"{left:,}", _percent(left, total), f"{step['left_tokens']:,}"
        )
    if documents["undecided"]:
        table.add_row("undecided", f"{documents['undecided']:,}", "", "", f"{tokens['undecided']:,}")
    table.add_row(
        "[bold]kept", "", f"[bold]{documents['kept']:,}", _percent(documents["kept"], total), f"{tokens['kept']:,}"
    )
    results.print(table)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"

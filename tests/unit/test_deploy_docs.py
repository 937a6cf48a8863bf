"""docs/deploy.md and the README say what is so: every setting with its default, commands that exist, figures that add up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_runs import REPO
from typer.testing import CliRunner

from primer.app.core.settings import Settings
from primer.cli.main import app
from primer.workers import children

_DEPLOY = (REPO / "docs" / "deploy.md").read_text()
_NOT_OF_THE_SERVICE = {"PRIMER_ENCODER_DEVICE"}  # the library reads it


def _read_settings() -> dict[str, str]:
    """Default by variable, as the table has it; what is in brackets is of `primer up`."""
    rows = re.findall(r"^\| (`PRIMER_[^|]+) \| ([^|]*)\|", _DEPLOY, re.MULTILINE)
    found = {}
    for names, defaults in rows:
        values = re.sub(r"\(.*?\)", "", defaults).split(",") if names.count("`") > 2 else [defaults]
        for name, value in zip(re.findall(r"PRIMER_\w+", names), values, strict=True):
            found[name] = re.sub(r"\(.*?\)", "", value).strip().strip("`")
    return found


def test_every_setting_is_documented_with_its_default() -> None:
    documented = _read_settings()
    fields = {f"PRIMER_{name}".upper(): field.default for name, field in Settings.model_fields.items()}
    assert set(documented) - _NOT_OF_THE_SERVICE == set(fields)
    for name, default in fields.items():
        said = documented[name]
        if default is None:
            assert not re.fullmatch(r"[\d.]+", said), name
        elif isinstance(default, tuple):
            assert said == ",".join(default)
        elif isinstance(default, bool):
            assert said == str(default).lower()
        elif isinstance(default, int | float):
            assert float(said) == default, name
        else:
            assert said == str(default), name


def test_shorter_times_of_the_embedded_service_are_documented() -> None:
    said = re.findall(r"\(`primer up`: ([^)]+)\)", _DEPLOY)
    assert [value.strip("` ") for text in said for value in text.split(",")] == list(children._SHORT_TIMES.values())


def _list_commands(path: Path) -> list[list[str]]:
    """The `primer` commands of a document's shell blocks: words up to the first argument or option."""
    found = []
    for block in re.findall(r"```(?:sh|ini)\n(.*?)```", path.read_text(), re.DOTALL):
        for line in block.splitlines():
            for words in re.findall(r"(?:^|/|\s)primer ((?:[a-z-]+ ?)+)([^#]*)", line.split("#")[0]):
                found.append([*words[0].split(), *re.findall(r"--[a-z-]+", words[1])])
    return found


@pytest.mark.parametrize("document", ["README.md", "docs/deploy.md"])
def test_commands_and_options_exist(document: str) -> None:
    commands = _list_commands(REPO / document)
    assert len(commands) >= 8
    helps: dict[tuple[str, ...], str] = {}
    groups = {"artifacts", "ledger", "profiles", "train", "user", "vocab"}
    for words in commands:
        name = tuple(words[: 2 if words[0] in groups else 1])
        if name not in helps:
            shown = CliRunner().invoke(app, [*name, "--help"], env={"COLUMNS": "200"})
            assert shown.exit_code == 0, name
            helps[name] = shown.stdout
        for option in (word for word in words if word.startswith("--")):
            assert option in helps[name], (name, option)


def test_sizing_follows_from_its_figures() -> None:
    together = 1 / (1 / 4.5 + 1 / 1.45)
    days = 1e12 / (together * 1e6) / 86_400
    assert (
        f"= {together:.1f} MB a\nsecond: a terabyte takes {days:.1f} days on one core, {days * 24 / 16:.0f} hours"
        in _fold()
    )


def _fold() -> str:
    """The text with list items' continuation lines beginning at the left."""
    return re.sub(r"\n +", "\n", _DEPLOY)

"""docker-compose.yml as Docker Compose reads it: variables filled in, services in the order of their dependencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).resolve().parent.parent
COMPOSE = REPO / "docker-compose.yml"
CUDA = REPO / "docker-compose.cuda.yml"

_VARIABLE = re.compile(r"\$\$|\$\{(?P<name>[A-Z_]+)(?:(?P<kind>:-|:\?)(?P<rest>[^}]*))?\}")


@dataclass(frozen=True)
class Service:
    """`depends_on`: the condition that each other service must meet first."""

    name: str
    content: dict[str, Any]

    @property
    def command(self) -> list[str]:
        return list(self.content.get("command", []))

    @property
    def environment(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.content.get("environment", {}).items()}

    @property
    def health_command(self) -> list[str] | None:
        """As a list of arguments; None where there is no health check."""
        if "healthcheck" not in self.content:
            return None
        kind, *rest = self.content["healthcheck"]["test"]
        assert kind in ("CMD", "CMD-SHELL")
        return rest if kind == "CMD" else ["/bin/sh", "-c", *rest]

    @property
    def depends_on(self) -> dict[str, str]:
        return {name: entry["condition"] for name, entry in self.content.get("depends_on", {}).items()}

    @property
    def volumes(self) -> dict[str, str]:
        """What is mounted, by its place in the container."""
        return {entry.split(":")[1]: entry.split(":")[0] for entry in self.content.get("volumes", [])}


def read_services(variables: Mapping[str, str], file: Path = COMPOSE) -> list[Service]:
    """In an order in which they can be started."""
    content = fill_in(yaml.safe_load(file.read_text()), variables)
    services = {name: Service(name, entry) for name, entry in content["services"].items()}
    order = TopologicalSorter({name: service.depends_on.keys() for name, service in services.items()})
    return [services[name] for name in order.static_order()]


def fill_in(value: Any, variables: Mapping[str, str]) -> Any:
    """Raises KeyError for a variable that must be set and is not, or is empty."""
    if isinstance(value, dict):
        return {key: fill_in(entry, variables) for key, entry in value.items()}
    if isinstance(value, list):
        return [fill_in(entry, variables) for entry in value]
    return _VARIABLE.sub(lambda match: _look_up(match, variables), value) if isinstance(value, str) else value


def _look_up(match: re.Match[str], variables: Mapping[str, str]) -> str:
    if match[0] == "$$":
        return "$"
    found = variables.get(match["name"], "")
    if found:
        return found
    if match["kind"] == ":-":
        return str(match["rest"])
    raise KeyError(f"{match['name']}: {match['rest']}")


def read_variables(file: Path) -> dict[str, str]:
    """The variables of an env file."""
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)  # type: ignore[misc]

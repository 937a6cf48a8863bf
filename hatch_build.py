"""Puts the built workbench into the wheel, where it was built: beside the programs that serve it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WorkbenchHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        built = Path(self.root) / "frontend" / "dist"
        # An editable install finds it in the checkout.
        if version == "standard" and (built / "index.html").is_file():
            build_data["force_include"][str(built)] = "primer/workbench"

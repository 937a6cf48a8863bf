"""The bundled models and tables as their files say: hash, size, licence, card, reports. Read once: the files never change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import yaml

from curation.artifacts.artifact_set import KINDS, Artifact, Kind, bundled_folder, resolve_artifacts
from primer.app.core.errors import NotFound

REPORTS: Final = {"evaluation": "EVALUATION.md", "purity": "PURITY.md"}

_CARD = "CARD.md"
_NOTICE = "NOTICE"
_FENCE = "---\n"


@dataclass(frozen=True)
class Card:
    """`text` is Markdown, or plain where the file is a notice. `facts` is its head; empty where it has none."""

    text: str
    is_markdown: bool
    facts: dict[str, Any]


@dataclass(frozen=True)
class Described:
    artifact: Artifact
    size_bytes: int
    card: Card

    @property
    def title(self) -> str | None:
        return self._read("title")

    @property
    def licence(self) -> str | None:
        return self._read("licence")

    @property
    def made_on(self) -> str | None:
        return self._read("date")

    def _read(self, name: str) -> str | None:
        value = self.card.facts.get(name)
        return None if value is None else str(value)


@lru_cache(maxsize=1)
def read_bundle() -> dict[Kind, Described]:
    """What is there, in the order of the stages."""
    found = resolve_artifacts(None)
    return {
        kind: Described(artifact, artifact.size_bytes, _read_card(bundled_folder() / kind))
        for kind in KINDS
        if (artifact := found.get(kind)) is not None
    }


def read_report(name: str) -> str:
    """Markdown. Raises NotFound."""
    file = REPORTS.get(name)
    path = bundled_folder() / (file or "")
    if file is None or not path.is_file():
        raise NotFound(f"There is no report {name!a}.", hint=f"Reports: {', '.join(REPORTS)}.")
    return path.read_text(encoding="utf-8")


def _read_card(folder: Path) -> Card:
    if not (folder / _CARD).is_file():
        notice = folder / _NOTICE
        return Card(notice.read_text(encoding="utf-8") if notice.is_file() else "", is_markdown=False, facts={})
    text = (folder / _CARD).read_text(encoding="utf-8")
    if not text.startswith(_FENCE):
        return Card(text, is_markdown=True, facts={})
    head, _, body = text.removeprefix(_FENCE).partition(f"\n{_FENCE}")
    return Card(body.strip(), is_markdown=True, facts=yaml.safe_load(head))

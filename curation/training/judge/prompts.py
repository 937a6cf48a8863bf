"""The prompts of the judge: three wordings of one question, and the frame that a document is put into.

Texts live in `prompts/*.md`. Invariant: a prompt's hash covers every word that is sent but the document and its marker,
and a document never holds the marker that fences it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from string import Template
from typing import Final

VARIANTS: Final = ("long_rubric", "short_rules", "checklist")
_BOUNDARY_BYTES = 12  # 96 random bits: a document cannot guess its fence

Message = dict[str, str]


@dataclass(frozen=True)
class Prompt:
    """One variant: `system` holds the rules and the form of the answer, `frame` goes around the document in the next message."""

    variant: str
    system: str
    frame: str

    @cached_property
    def sha256(self) -> str:
        """The version of the prompt, in hex."""
        return hashlib.sha256(f"{self.system}\0{self.frame}".encode()).hexdigest()

    def build_messages(
        self, document: str, *, draw_boundary: Callable[[], str] = lambda: secrets.token_hex(_BOUNDARY_BYTES)
    ) -> list[Message]:
        """The messages of one question. The fence is drawn anew until the document does not hold it."""
        boundary = draw_boundary()
        while boundary in document:
            boundary = draw_boundary()
        fenced = Template(self.frame).substitute(boundary=boundary, document=document)
        return [{"role": "system", "content": self.system}, {"role": "user", "content": fenced}]

    def count_bytes(self, document_bytes: int) -> int:
        """UTF-8 bytes of a question about a document of that many bytes."""
        return len(self.system.encode()) + len(self.frame.encode()) + document_bytes


def load_prompt(variant: str) -> Prompt:
    """A bundled variant. Raises KeyError for a name that is not in VARIANTS."""
    if variant not in VARIANTS:
        raise KeyError(variant)
    return Prompt(variant, f"{_read(variant).strip()}\n\n{_read('answer').strip()}", _read("document").strip())


def _read(name: str) -> str:
    return (files(__package__) / "prompts" / f"{name}.md").read_text(encoding="utf-8")

"""A hit with the words around it on one line, and where it stands. Texts are never logged."""

from __future__ import annotations

from dataclasses import dataclass

from curation.web_address import read_address

DEFAULT_CONTEXT_CHARS = 60


@dataclass(frozen=True)
class ConceptLine:
    """text[start:end] of the normalised text, what stands left and right of it, and its document. `domain` is "" where the source
    names no address."""

    concept: str
    left: str
    hit: str
    right: str
    domain: str
    shard: str
    row: int
    start: int
    end: int


def make_line(
    concept: str,
    text: str,
    span: tuple[int, int],
    *,
    url: str | None,
    shard: str,
    row: int,
    context_chars: int = DEFAULT_CONTEXT_CHARS,
) -> ConceptLine:
    """One line of the concordance; every run of white space, line breaks too, becomes a space."""
    start, end = span
    return ConceptLine(
        concept=concept,
        left=_flatten(text[max(0, start - context_chars) : start]),
        hit=_flatten(text[start:end]),
        right=_flatten(text[end : end + context_chars]),
        domain=read_address(url).host if url else "",
        shard=shard,
        row=row,
        start=start,
        end=end,
    )


def _flatten(text: str) -> str:
    words = " ".join(text.split())
    before = " " if text[:1].isspace() and words else ""
    after = " " if text[-1:].isspace() and words else ""
    return f"{before}{words}{after}"

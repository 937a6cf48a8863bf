"""Every mutant that is listed as equivalent is still one that would be planted."""

from __future__ import annotations

from pathlib import Path

from benchmarks.corpus import REPO
from benchmarks.mutate import EQUIVALENT, read_equivalent
from benchmarks.mutation_operators import list_mutants


def test_listed_mutants_are_there() -> None:
    listed = read_equivalent()
    assert len(listed) == EQUIVALENT.read_text().count("- mutant:")
    found = set()
    for file in {key.partition("::")[0] for key, _ in listed}:
        source = Path(REPO / file).read_text()
        lines = source.splitlines()
        found |= {(f"{file}::{one.scope}: {one.change}", lines[one.line - 1].strip()) for one in list_mutants(source)}
    assert set(listed) - found == set()

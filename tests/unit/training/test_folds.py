"""Folds: no group is on two sides, sources are spread evenly, the seed decides nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict

from unit.training.rows import make_rows

from curation.training.folds import assign_folds


def test_a_group_lies_in_one_fold_and_sources_are_spread() -> None:
    rows = make_rows(20) + make_rows(10, source="labelled_web")
    folds = assign_folds(rows, fold_count=5, seed=3)
    where = defaultdict(set)
    for row, fold in zip(rows, folds.tolist(), strict=True):
        where[row.source, row.group].add(fold)
    assert all(len(found) == 1 for found in where.values())
    assert Counter(folds.tolist()) == dict.fromkeys(range(5), 24)
    assert folds.tolist() == assign_folds(rows, fold_count=5, seed=3).tolist()

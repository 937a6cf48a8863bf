"""Folds: no group is on two sides, sources are spread evenly, the seed decides nothing else."""

from __future__ import annotations

from collections import Counter, defaultdict

from unit.training.rows import make_rows

from curation.training.data import TrainingRow
from curation.training.folds import assign_folds, fold_source


def test_a_group_lies_in_one_fold_and_sources_are_spread() -> None:
    rows = make_rows(20) + make_rows(10, source="labelled_web")
    folds = assign_folds(rows, fold_count=5, seed=3)
    where = defaultdict(set)
    for row, fold in zip(rows, folds.tolist(), strict=True):
        where[row.source, row.group].add(fold)
    assert all(len(found) == 1 for found in where.values())
    assert Counter(folds.tolist()) == dict.fromkeys(range(5), 24)
    assert folds.tolist() == assign_folds(rows, fold_count=5, seed=3).tolist()


def test_a_host_in_both_sources_of_web_pages_is_held_out_whole() -> None:
    hosts = [f"{number}.example" for number in range(20)]
    rows = [
        TrainingRow(f"{source} {host} {page}", "K5", source, host, "odc-by")
        for source, pages in (("labelled_web", 1), ("web_read", 2), ("graded", 1))
        for host in hosts
        for page in range(pages)
    ]
    folds = assign_folds(rows, fold_count=5, seed=1).tolist()
    where = defaultdict(set)
    for row, fold in zip(rows, folds, strict=True):
        where[fold_source(row.source), row.group].add(fold)
    assert len(where) == 40
    assert all(len(found) == 1 for found in where.values())
    web = [fold for row, fold in zip(rows, folds, strict=True) if row.source != "graded"]
    assert Counter(web) == dict.fromkeys(range(5), 12)


def test_only_the_sources_of_web_pages_are_folded_together() -> None:
    names = ("labelled_web", "web_read", "paired", "paired_web", "graded", "mine")
    assert [fold_source(name) for name in names] == ["web", "web", "paired", "paired_web", "graded", "mine"]

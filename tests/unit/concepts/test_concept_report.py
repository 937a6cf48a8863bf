"""Reports equal a recount over the flat decisions; concordances show every hit of the documents that were asked for."""

from __future__ import annotations

from collections import Counter

import pytest
from concept_catalogues import GAS, SMALL
from concept_world import World
from plain_concepts import find_plainly

from curation.concepts.interval import find_interval
from curation.concepts.measure import measure_concepts
from curation.concepts.report import read_lines, report_concepts
from curation.decide import KEEP, name_reasons
from curation.ledger.signals import decide_ledger
from curation.normalize import normalize


@pytest.fixture(scope="module")
def outcomes(world: World) -> dict[tuple[str, int], tuple[int, list[str], bool]]:
    """By document: kept, the stages that exclude it, and whether every stage was measured."""
    measure_concepts(world.run, SMALL)
    found = {}
    for decided in decide_ledger(world.run.ledger, world.decisions.bound, world.decisions.word_scores):
        rows = decided.signals.core["row"].to_pylist()
        d = decided.decisions
        for row, kept, failed, missing in zip(
            rows, d.kept.tolist(), d.failed.tolist(), d.missing.tolist(), strict=True
        ):
            found[decided.ref.shard.name, row] = (kept, name_reasons(failed), missing == 0)
    return found


def test_counts_equal_a_recount(world: World, outcomes: dict[tuple[str, int], tuple[int, list[str], bool]]) -> None:
    report = report_concepts(world.decisions, SMALL)
    mentions = {
        (shard, row): {c.id: len(spans) for c in SMALL.concepts if (spans := find_plainly(c, normalize(text).text))}
        for shard, texts in world.texts.items()
        for row, text in enumerate(texts)
        if text is not None
    }
    for concept in SMALL.concepts:
        counts = report.concepts[concept.id]
        documents = [key for key, found in mentions.items() if concept.id in found]
        assert counts.documents == len(documents) > 0
        assert counts.hits == sum(mentions[key][concept.id] for key in documents)
        assert counts.kept == sum(outcomes[key][0] == 1 for key in documents)
        assert counts.excluded == sum(outcomes[key][0] == 0 for key in documents)
        assert counts.undecided == sum(outcomes[key][0] == -1 for key in documents)
        assert counts.excluded_by == Counter(reason for key in documents for reason in outcomes[key][1])
        assert counts.sole_cause == Counter(
            outcomes[key][1][0] for key in documents if len(outcomes[key][1]) == 1 and outcomes[key][2]
        )
    kept = [key for key, outcome in outcomes.items() if outcome[0] == KEEP]
    leaking = [key for key in kept if mentions.get(key)]
    assert (report.documents, report.kept, report.leaking) == (72, len(kept), len(leaking))
    assert 0 < report.leaking < report.kept
    assert report.leak_interval == find_interval(len(leaking), len(kept))
    any_subject = {subject: sum(c.documents for c in [report.subjects[subject]]) for subject in report.subjects}
    assert any_subject == {
        "physical science": report.concepts["gas"].documents,
        "life science": report.concepts["cell"].documents,
        "math": report.concepts["slope"].documents,
    }
    assert report.standards["MS-LS1-1"] == report.concepts["cell"]
    assert report.bands["K8"].documents == sum(bool(found) for found in mentions.values())
    assert report.standards[""].documents == sum(bool({"gas", "slope"} & set(found)) for found in mentions.values())


def test_documents_to_judge_are_kept_and_have_most_concepts_first(
    world: World, outcomes: dict[tuple[str, int], tuple[int, list[str], bool]]
) -> None:
    judged = report_concepts(world.decisions, SMALL, judgements=4).to_judge
    assert len(judged) == 4
    assert all(outcomes[entry.shard, entry.row][0] == KEEP for entry in judged)
    assert (judged[0].concepts, judged[0].hits) == (("gas", "slope"), 4)
    assert judged[0].url is not None
    assert [len(entry.concepts) for entry in judged] == sorted((len(entry.concepts) for entry in judged), reverse=True)


def test_a_concordance_shows_every_hit_of_kept_documents_alone(
    world: World, outcomes: dict[tuple[str, int], tuple[int, list[str], bool]]
) -> None:
    lines = read_lines(world.decisions, SMALL, GAS, max_documents=1000, context_chars=9)
    expected = [
        (shard, row, *span)
        for shard, texts in world.texts.items()
        for row, text in enumerate(texts)
        if text is not None and outcomes[shard, row][0] == KEEP
        for span in find_plainly(GAS, normalize(text).text)
    ]
    assert [(line.shard, line.row, line.start, line.end) for line in lines] == expected
    first = next(line for line in lines if (line.shard, line.row) == ("shard-0.parquet", 1))
    assert (first.left, first.hit, first.right, first.domain) == (
        "t ran. A ",
        "compound",
        " and a co",
        "www.host1.example",
    )
    few = read_lines(world.decisions, SMALL, GAS, max_documents=3, seed=5)
    assert len({(line.shard, line.row) for line in few}) == 3
    assert few == read_lines(world.decisions, SMALL, GAS, max_documents=3, seed=5)


def test_a_concordance_of_what_one_stage_excludes(
    world: World, outcomes: dict[tuple[str, int], tuple[int, list[str], bool]]
) -> None:
    lines = read_lines(world.decisions, SMALL, GAS, outcome="excluded", excluded_by="vocabulary", max_documents=1000)
    assert lines
    assert all("vocabulary" in outcomes[line.shard, line.row][1] for line in lines)
    assert read_lines(world.decisions, SMALL, GAS, outcome="undecided", max_documents=10) == []

"""Over the index the same is found as over the ledger: counts, documents to judge, concordances."""

from __future__ import annotations

import numpy as np
import pytest
from concept_catalogues import CELL, GAS, SMALL
from concept_world import World

from curation.concepts.catalogue import Catalogue
from curation.concepts.indexed import (
    ConceptConcordance,
    Mentions,
    open_mentions,
    pick_judgements,
    report_indexed,
    select_mentioning,
)
from curation.concepts.measure import measure_concepts
from curation.concepts.report import read_lines, report_concepts
from curation.errors import LedgerError
from curation.index import SignalIndex, build_index, open_index
from curation.index.decided import Decided
from curation.index.request import DecisionRequest
from curation.lexicon.vocabulary import read_vocabulary_table


@pytest.fixture(scope="module")
def index(world: World, tmp_path_factory: pytest.TempPathFactory) -> SignalIndex:
    measure_concepts(world.run, SMALL)
    table = read_vocabulary_table(world.decisions.artifacts.require("vocabulary").path)
    return open_index(build_index(world.run, tmp_path_factory.mktemp("indexes"), table=table))


@pytest.fixture(scope="module")
def decided(world: World, index: SignalIndex) -> Decided:
    return index.decide(DecisionRequest.of(world.decisions))


@pytest.fixture(scope="module")
def mentions(world: World, index: SignalIndex) -> Mentions:
    return open_mentions(index, world.run.ledger, SMALL)


@pytest.mark.parametrize("judgements", [0, 4, 50])
def test_the_report_is_the_ledgers(world: World, decided: Decided, mentions: Mentions, judgements: int) -> None:
    found = report_indexed(decided, mentions, judgements=judgements)
    assert found == report_concepts(world.decisions, SMALL, judgements=judgements)
    assert found.leaking > 0
    assert len(found.to_judge) == min(judgements, found.leaking)
    assert report_indexed(decided, mentions, judgements=judgements) is found


def test_positions_of_what_is_to_be_judged_name_the_same_rows(decided: Decided, mentions: Mentions) -> None:
    for position, judgement in pick_judgements(decided, mentions, 10):
        [address] = decided.index.describe_rows([position])
        assert (address.shard, address.row) == (judgement.shard, judgement.row)


@pytest.mark.parametrize("outcome", ["kept", "excluded", "undecided"])
def test_a_concordance_has_the_ledgers_lines(world: World, decided: Decided, mentions: Mentions, outcome: str) -> None:
    reader = ConceptConcordance(world.run, decided.index)
    for concept in SMALL.concepts:
        positions = select_mentioning(decided, mentions, concept, outcome=outcome)  # type: ignore[arg-type]
        chosen = reader.choose(positions, max_documents=1_000, seed=0)
        assert chosen.tolist() == positions.tolist()
        lines = [line for _, line in reader.read_lines(concept, chosen.tolist())]
        assert lines == read_lines(world.decisions, SMALL, concept, outcome=outcome, max_documents=1_000)  # type: ignore[arg-type]


def test_a_sample_is_the_ledgers_while_row_groups_suffice(world: World, decided: Decided, mentions: Mentions) -> None:
    reader = ConceptConcordance(world.run, decided.index)
    positions = select_mentioning(decided, mentions, GAS, outcome="kept")
    chosen = reader.choose(positions, max_documents=5, seed=3)
    assert len(chosen) == 5
    lines = [line for _, line in reader.read_lines(GAS, chosen.tolist())]
    assert lines == read_lines(world.decisions, SMALL, GAS, max_documents=5, seed=3)
    few = reader.choose(positions, max_documents=5, seed=3, max_groups=1)
    groups = {(address.shard, address.row // 10) for address in decided.index.describe_rows(few)}
    assert len(groups) == 1
    assert set(few.tolist()) <= set(positions.tolist())


def test_rows_are_chosen_by_what_excludes_them(decided: Decided, mentions: Mentions) -> None:
    counts = report_indexed(decided, mentions).concepts["gas"]
    for reason, number in counts.excluded_by.items():
        assert len(select_mentioning(decided, mentions, GAS, excluded_by=reason)) == number
        sole = select_mentioning(decided, mentions, GAS, excluded_by=reason, is_sole=True)
        assert len(sole) == counts.sole_cause.get(reason, 0)
    assert len(select_mentioning(decided, mentions, GAS)) == counts.documents
    assert not np.isin(select_mentioning(decided, mentions, CELL), -1).any()


def test_a_catalogue_that_was_not_measured_is_named(world: World, index: SignalIndex) -> None:
    other = Catalogue(name=SMALL.name, version=99, concepts=SMALL.concepts)
    with pytest.raises(LedgerError, match="v99"):
        open_mentions(index, world.run.ledger, other)

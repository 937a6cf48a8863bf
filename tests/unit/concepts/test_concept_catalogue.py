"""Catalogues: what is read, what is refused and where, what identifies one, and what two say differently."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from concept_catalogues import GAS, SMALL, make_catalogue, make_concept

from curation.concepts.catalogue import (
    diff_catalogues,
    dump_catalogue,
    open_catalogue,
    parse_catalogue,
    read_catalogue,
)
from curation.errors import CatalogueError

HEAD = "name: mine\nversion: 2\nconcepts:\n"
RATIO = "  - {id: ratio, name: ratio, subject: math, band: K8, standard: 6.RP.A.1, terms: [ratio]}\n"


def test_a_file_is_read_and_written_back_equal(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(HEAD + RATIO)
    catalogue = read_catalogue(tmp_path / "mine.yaml")
    assert (catalogue.name, catalogue.version, [concept.id for concept in catalogue.concepts]) == ("mine", 2, ["ratio"])
    assert parse_catalogue(dump_catalogue(catalogue), "again") == catalogue
    assert parse_catalogue(dump_catalogue(SMALL), "again").sha256 == SMALL.sha256


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD + RATIO + RATIO, "mine.yaml: line 5: concept ratio: line 4 has a concept of this id."),
        (HEAD + RATIO + "  - {id: slope, name: slope}\n", "mine.yaml: line 5: concept slope: subject: Field required."),
        (
            HEAD + RATIO.replace("K8", "K12"),
            "mine.yaml: line 4: concept ratio: Value error, standard 6.RP.A.1 is of band K8, the concept says K12.",
        ),
        (
            HEAD + RATIO.replace("6.RP.A.1", "5.NBT.A.2"),
            "mine.yaml: line 4: concept ratio: Value error, standard '5.NBT.A.2' is no Common Core or NGSS code of grades 6-12.",
        ),
        (
            HEAD + RATIO.replace("standard: 6.RP.A.1, ", ""),
            "mine.yaml: line 4: concept ratio: Value error, neither a standard nor a basis: say what puts it after grade 5.",
        ),
        (
            HEAD + RATIO.replace(", terms: [ratio]", ""),
            "mine.yaml: line 4: concept ratio: Value error, no terms, verbs, exact words or senses: nothing could show it.",
        ),
        (
            HEAD + RATIO.replace("[ratio]", "[ratio, ratio]"),
            "mine.yaml: line 4: concept ratio: terms: Value error, said twice: ratio.",
        ),
        (HEAD + "  - {id: ratio, id: slope}\n", "mine.yaml: line 4: id is there twice."),
        (
            HEAD + "  - just words\n",
            "mine.yaml: line 4: concept without id: Input should be a valid dictionary or instance of Concept.",
        ),
        ("name: mine\n", "mine.yaml: line 1: expected name, version and a list of concepts."),
        ("name: [mine\n", "mine.yaml: line 2: cannot be read as YAML"),
        (HEAD.replace("2", "zero") + RATIO, "mine.yaml: line 1: version: Input should be a valid integer"),
        ("", "mine.yaml: line 1: expected name, version and a list of concepts."),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_concept(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "mine.yaml").write_text(content)
    with pytest.raises(CatalogueError) as raised:
        read_catalogue(tmp_path / "mine.yaml")
    assert message in raised.value.message.replace(f"{tmp_path}/", "")


def test_a_missing_file_and_an_unknown_version_are_told(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"none\.yaml: cannot be read \(No such file"):
        read_catalogue(tmp_path / "none.yaml")
    with pytest.raises(CatalogueError, match="no version 99"):
        open_catalogue("99")
    with pytest.raises(CatalogueError, match="has no concept 'nothing'"):
        SMALL.require("nothing")


def test_nested_aliases_end() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40)]
    with pytest.raises(CatalogueError, match="line 1"):
        parse_catalogue("\n".join(lines).encode(), "laughs")


def test_the_hash_follows_the_content() -> None:
    assert make_catalogue(GAS).sha256 == make_catalogue(GAS).sha256
    assert make_catalogue(GAS).sha256 != make_catalogue(GAS, version=2).sha256
    reworded = GAS.model_copy(update={"name": "gases", "k5_neighbour": "air"})
    assert reworded.matching_sha256 == GAS.matching_sha256
    assert GAS.model_copy(update={"innocent": ()}).matching_sha256 != GAS.matching_sha256


def test_a_diff_tells_what_must_be_measured_again_from_what_is_only_reworded() -> None:
    old = make_catalogue(GAS, make_concept("gone", terms=["gone"]), make_concept("kept", terms=["kept"]))
    new = make_catalogue(
        GAS.model_copy(update={"innocent": (), "name": "gases"}),
        make_concept("kept", terms=["kept"], k5_neighbour="a neighbour"),
        make_concept("new", terms=["new"]),
        version=2,
    )
    diff = diff_catalogues(old, new)
    assert (diff.added, diff.removed) == (("new",), ("gone",))
    assert diff.changed == {"gas": ("name", "innocent")}
    assert diff.reworded == {"kept": ("k5_neighbour",)}
    assert diff.remeasured == ("new", "gas")
    assert diff_catalogues(old, old).is_empty


def test_the_bundled_catalogue_is_whole(shared: Path) -> None:
    catalogue = open_catalogue()
    assert open_catalogue(1) == catalogue
    assert (catalogue.name, catalogue.version, len(catalogue.concepts)) == ("beyond-k5", 1, 334)
    codes = set(pq.read_table(shared / "data/catalogues/standards.parquet", columns=["code"])["code"].to_pylist())
    unknown = [concept.standard for concept in catalogue.concepts if concept.standard and concept.standard not in codes]
    assert unknown == []


def test_no_sentence_of_a_standard_is_in_the_catalogue(shared: Path) -> None:
    content = dump_catalogue(open_catalogue()).decode()
    statements = pq.read_table(shared / "data/catalogues/standards.parquet", columns=["statement"])[
        "statement"
    ].to_pylist()
    assert [statement for statement in statements if len(statement) > 60 and statement in content] == []

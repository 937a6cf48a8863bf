"""The bundled catalogue on texts written for this project: leaks planted from decisive phrases are found, K-5 texts stay free.

K-5 texts are split by topic into two halves. The first was read while the catalogue was written; of the second the hits
were read once, and three concepts corrected, so neither is a clean test; the limit holds on both.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.concepts.catalogue import open_catalogue
from curation.concepts.compile import CompiledCatalogue, compile_catalogue
from curation.concepts.interval import find_interval
from curation.concepts.match import find_concepts
from curation.normalize import normalize

REPO = Path(__file__).resolve().parents[3]
WRITTEN = REPO / "curation" / "training" / "labels" / "written.parquet"
MAX_FALSE_ALARMS = 0.02
MIN_RECALL = 0.8
_ENDINGS = (
    "ations",
    "ation",
    "ically",
    "ical",
    "ities",
    "ity",
    "ing",
    "ies",
    "ied",
    "ics",
    "ed",
    "es",
    "ic",
    "al",
    "ly",
    "s",
    "e",
    "y",
)


@dataclass(frozen=True)
class Document:
    band: str
    half: int
    text: str
    decisive: tuple[str, ...]


@cache
def compile_bundled() -> CompiledCatalogue:
    return compile_catalogue(open_catalogue())


def read_documents(shared: Path) -> list[Document]:
    documents = []
    for path in (shared / "data/paired/paired.parquet", shared / "data/paired/paired_web.parquet", WRITTEN):
        for row in pq.read_table(path).to_pylist():
            group = row.get("page_type") or row["topic"]  # one topic, or type of page, in one half
            half = hashlib.sha256(f"concepts {group}".encode()).digest()[0] % 2
            documents.append(Document(row["band"], half, normalize(row["text"]).text, tuple(row["decisive"] or ())))
    return documents


def count_mentioning(texts: list[str]) -> int:
    return len(set(find_concepts(compile_bundled(), texts).texts.tolist()))


@pytest.mark.parametrize("half", [0, 1])
def test_false_alarms_on_k5_texts(shared: Path, half: int, record_property: pytest.RecordProperty) -> None:
    texts = [document.text for document in read_documents(shared) if document.band == "K5" and document.half == half]
    alarms = count_mentioning(texts)
    record_property("false_alarms", f"{alarms} of {len(texts)}, {find_interval(alarms, len(texts))}")
    assert len(texts) > 200
    assert alarms <= MAX_FALSE_ALARMS * len(texts)


def test_texts_beyond_k5_do_mention_concepts(shared: Path) -> None:
    texts = [document.text for document in read_documents(shared) if document.band in ("K8", "K12")]
    assert count_mentioning(texts) > 0.6 * len(texts)


def stem(word: str) -> str:
    return next((word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 4), word)


def stem_all(phrase: str) -> frozenset[str]:
    return frozenset(stem(word) for word in re.findall("[a-z]{2,}", phrase.lower()) if word not in {"of", "the", "an"})


@cache
def stem_terms() -> list[frozenset[str]]:
    """The words of every term, in stems: what says that a phrase is inside the catalogue, and knows nothing of the matcher."""
    terms = [stem_all(term) for concept in open_catalogue().concepts for term in (*concept.terms, *concept.verbs)]
    return [term for term in terms if term and max(map(len, term)) > 3]


def inflect(phrase: str) -> list[str]:
    """Singular and plural of the last word, which a term may end in."""
    *words, last = phrase.split()
    if not last.isalpha() or len(last) < 4 or not last.islower():
        return [phrase]
    other = last[:-1] if last.endswith("s") and not last.endswith(("ss", "is", "us", "ics")) else last
    if other == last:
        other = last[:-1] + "ies" if last.endswith("y") and last[-2] not in "aeiou" else last + "s"
        other = last + "es" if last.endswith(("s", "x", "ch", "sh")) else other
        other = last[:-2] + "es" if last.endswith("sis") else other
    return [phrase, " ".join([*words, other])]


FRAMES = (
    "On Monday our class sat on the rug. Ms. Lee read us a page about {}, and then we ate lunch.",
    "My brother says that {}\nis what he had to learn for his big test!",
    "*{}* - that was on the card. We put the card back in the box.",
    "We asked Grandpa why. “Look up “{}”,” he said, and he laughed.",
)


def plant(phrase: str) -> list[str]:
    """The phrase and its inflection among words of a K-5 text, in several ways of writing it."""
    planted = []
    for number, form in enumerate(inflect(phrase)):
        written = (form, form.upper() if form.islower() else form, form.replace(" ", "\n"), form.replace(" ", "-", 1))
        planted += [normalize(frame.format(written[(i + number) % 4])).text for i, frame in enumerate(FRAMES)]
    return planted


def read_phrases(shared: Path) -> list[str]:
    """Short decisive phrases of texts beyond K-5 that no K-5 text holds."""
    documents = read_documents(shared)
    k5 = "\n".join(document.text.lower() for document in documents if document.band == "K5")
    phrases = {
        phrase
        for document in documents
        if document.band in ("K8", "K12")
        for phrase in document.decisive
        if 4 <= len(phrase) <= 40 and len(phrase.split()) <= 4 and re.fullmatch("[A-Za-z' -]+", phrase)
    }
    return sorted(phrase for phrase in phrases if phrase.lower() not in k5)


def test_planted_leaks_are_found(shared: Path, record_property: pytest.RecordProperty) -> None:
    phrases = read_phrases(shared)
    inside = [phrase for phrase in phrases if any(term <= stem_all(phrase) for term in stem_terms())]
    outside = [phrase for phrase in phrases if phrase not in set(inside)]
    key = lambda phrase: hashlib.sha256(phrase.encode()).digest()  # noqa: E731
    size = min(len(inside), len(outside))
    half_inside, half_outside = sorted(inside, key=key)[:size], sorted(outside, key=key)[:size]
    recall = {}
    for name, chosen in (("inside", half_inside), ("outside", half_outside)):
        texts = [text for phrase in chosen for text in plant(phrase)]
        recall[name] = (count_mentioning(texts), len(texts))
    record_property("recall", str(recall))
    assert size > 150
    found, planted = recall["inside"]
    assert found >= MIN_RECALL * planted, recall
    # What no concept knows cannot be found; that some is shows only how crude "outside" is drawn.
    assert recall["outside"][0] < 0.3 * recall["outside"][1], recall
    assert count_mentioning([frame.format("the red ball") for frame in FRAMES]) == 0


# By concept: paraphrases that a writer for children might slip it in with, none of them a term as the catalogue has it.
PARAPHRASES = {
    "photosynthesis-as-a-chemical-process": "Leaves photosynthesize all day long.",
    "evolution-and-common-ancestry": "Birds evolved from dinosaurs, so they share a relative.",
    "natural-selection": "In Darwin's theory the best-fitted animals live on.",
    "probability-of-an-event": "What are the probabilities that the coin lands on heads?",
    "negative-number": "Two negative integers were on the board.",
    "ratio": "Mix sand and water in equal ratios.",
    "one-variable-equation-solving": "Kids were solving for x at the back table.",
    "redox-and-electrochemistry": "The old penny had oxidized to green.",
    "acceleration-and-velocity": "The sled was accelerating down the hill.",
    "foreshadowing": "The dark cloud foreshadowed the storm in the tale.",
    "verbal-irony-pun-and-irony-types": "Ironically, the fire station burned down.",
    "sectionalism-secession-reconstruction": "Then eleven states seceded.",
    "genes-and-chromosomes": "A frog with a mutated leg hopped by.",
    "square-roots-and-cube-roots": "She found the square\nroots of big numbers.",
    "mitosis-and-cell-division": "Watch the daughter cells split off.",
    "circle-theorems-and-arcs": "Measure the inscribed angles with care.",
    "climate-change-and-greenhouse-gases": "Greenhouse gasses? No: greenhouse gases!",
    "pythagorean-theorem": "The hypotenuses of both ramps were long.",
    "impeachment-and-checks-in-detail": "The House impeached him.",
    "judicial-review": "The ruling set a precedent.",
}


@pytest.mark.parametrize("concept", PARAPHRASES)
def test_paraphrases_of_a_concept_are_found(concept: str) -> None:
    compiled = compile_bundled()
    hits = find_concepts(compiled, [normalize(PARAPHRASES[concept]).text])
    assert concept in {compiled.concepts[index].id for index in hits.concepts.tolist()}


# Words with a second, innocent sense, and strings that notation rules stumble over: none is a concept.
INNOCENT = (
    "Put your cell phone away.", "He sat in a prison cell.", "Bees build cells of wax in the hive.",
    "a rotting log (full of beetles)", "the ship's log (a diary)", "its coat is tan (light brown)", "Log in to the site.",
    "The farm sells a dairy product.", "Don't be mean to her!", "What do you mean?", "She did not mean to be mean.",
    "The plant has a long root.", "Set the table for six.", "Do your times table.", "Turn down the volume of the radio.",
    "volume 2 of the book", "The garden covers 12 m² of soil.", "Lincoln³ was born in a log cabin.", "the n^{th} child in line",
    "**Vitamin** C keeps you well", "√ Brush your teeth", "R2D2 is a robot", "(vitamin B12)", "CO2 in air", "H2O is water",
    "c-a-t = cat", "J + M = best friends", "The final score was 3^2.", "You win 50 exp (experience) points",
    "CBRT (Central Bank of Turkey)", "negative feelings", "the median of the road", "a butterfly net and a fishing net",
    "Wipe your nose with a tissue.", "The Matrix was loud.", "My guitar chord was off.", "I am 100% sure.", "100 percent cotton",
    "The band gained momentum.", "We play the Monopoly game.", "A mole dug a hole.", "my blue jeans and my friend Gene",
    "the apple core and the bread crust", "a stocking on the mantle above the fireplace", 
    "Peas and beans are factors? No, 3 and 4 are factors of 12.", "A mountain range", "She went off on a tangent.",
    "third base", "family tree", "two-step dance", "in a good mood", "Santa Claus", "toy train conductor", "The dense fog",
)  # fmt: skip


@pytest.mark.parametrize("text", INNOCENT)
def test_homographs_are_no_leaks(text: str) -> None:
    compiled = compile_bundled()
    hits = find_concepts(compiled, [normalize(text).text])
    assert [compiled.concepts[index].id for index in hits.concepts.tolist()] == []


def test_no_innocent_phrase_of_the_catalogue_is_a_leak_of_its_concept() -> None:
    compiled = compile_bundled()
    cases = [(index, phrase) for index, concept in enumerate(compiled.concepts) for phrase in concept.innocent]
    hits = find_concepts(compiled, [normalize(f"There was a {phrase} in it.").text for _, phrase in cases])
    wrong = [
        (compiled.concepts[concept].id, cases[text][1])
        for text, concept in zip(hits.texts.tolist(), hits.concepts.tolist(), strict=True)
        if cases[text][0] == concept
    ]
    assert wrong == []


def test_every_term_of_the_catalogue_is_found_where_nothing_excuses_it() -> None:
    """A term whose innocent phrases or neighbours cancel it always would be dead."""
    compiled = compile_bundled()
    cases = [
        (index, f"Here: {term}.")
        for index, concept in enumerate(compiled.concepts)
        for term in (*concept.terms, *concept.verbs, *concept.exact)
    ] + [
        (index, f"{sense.near[0]}: {term}.")
        for index, concept in enumerate(compiled.concepts)
        for sense in concept.senses
        for term in sense.terms
    ]
    hits = find_concepts(compiled, [normalize(text).text for _, text in cases])
    found = set(zip(hits.texts.tolist(), hits.concepts.tolist(), strict=True))
    dead = [text for number, (concept, text) in enumerate(cases) if (number, concept) not in found]
    assert dead == []


def test_the_false_friends_of_the_first_draft_are_no_leaks_of_their_concept(shared: Path) -> None:
    import csv

    compiled = compile_bundled()
    with (shared / "data/catalogues/beyond_k5_concepts.csv").open(encoding="utf-8", newline="") as file:
        friends = [
            (row["concept"], friend.strip().strip('"'))
            for row in csv.DictReader(file)
            for friend in row["false_friends"].split(";")
            if friend.strip()
        ]
    hits = find_concepts(compiled, [normalize(friend).text for _, friend in friends])
    wrong = {
        friends[text]
        for text, concept in zip(hits.texts.tolist(), hits.concepts.tolist(), strict=True)
        if compiled.concepts[concept].name == friends[text][0]
    }
    # A description of where the word is innocent, not a phrase that a text would hold.
    assert {friend for _, friend in wrong} <= {'ratio" as a name in software or finance talk'}

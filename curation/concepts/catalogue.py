"""The catalogue of concepts: what is taught after grade 5, by which standard, and the words that show it. Immutable versions.

A catalogue is known by its sha256. What a concept finds depends on its own words alone, so concepts can be measured,
changed and compared one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

from curation.errors import CatalogueError
from curation.normalize import NORMALIZATION_VERSION
from curation.recipe import hash_json

# Changes with anything that changes what a term matches; terms are looked for in normalised text.
MATCHER_VERSION = f"1, normalization {NORMALIZATION_VERSION}"

BUNDLED_VERSIONS = (1,)

Subject = Literal["math", "physical science", "life science", "earth & space science", "ELA", "social studies"]
Band = Literal["K8", "K12", "beyond"]
BANDS: tuple[Band, ...] = ("K8", "K12", "beyond")
Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]

_MIDDLE = re.compile(
    r"[678]\.[A-Z]{1,3}\.[A-Z]\.\d{1,2}[a-d]?|(?:RL|RI|W|SL|L)\.[678]\.\d{1,2}[a-f]?|(?:RH|RST|WHST)\.6-8\.\d{1,2}|MS-[A-Z]{2,4}\d-\d"
)
_HIGH = re.compile(
    r"HS[A-Z]-[A-Z]{1,4}\.[A-Z]\.\d{1,2}[a-d]?|(?:RL|RI|W|SL|L|RH|RST|WHST)\.(?:9-10|11-12)\.\d{1,2}[a-f]?|HS-[A-Z]{2,4}\d-\d"
)
_DEFAULT_WITHIN = 8  # words on either side: about a sentence


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Sense(_Part):
    """Words that show the concept only where one of the words `near` stands within `within` words on either side."""

    terms: tuple[Phrase, ...] = Field(min_length=1)
    near: tuple[Phrase, ...] = Field(min_length=1)
    within: int = Field(default=_DEFAULT_WITHIN, ge=1, le=40)


class Concept(_Part):
    """One idea. `terms`: also in the plural of their last word; `verbs`: also with their first word in every form; `exact`:
    case and form as written. `innocent`: phrases that cancel what is found inside or across them; `not_near`: words that
    cancel a hit within `within` words. `standard`: the code that introduces it, None where none does; `basis` says then
    what the band rests on. `k5_neighbour`: what a fifth-grader may well read."""

    id: str = Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=60)
    name: Phrase
    subject: Subject
    band: Band
    standard: str | None = None
    basis: str = Field(default="", max_length=80)
    terms: tuple[Phrase, ...] = ()
    verbs: tuple[Phrase, ...] = ()
    exact: tuple[Phrase, ...] = ()
    senses: tuple[Sense, ...] = ()
    innocent: tuple[Phrase, ...] = ()
    not_near: tuple[Phrase, ...] = ()
    within: int = Field(default=_DEFAULT_WITHIN, ge=1, le=40)
    k5_neighbour: str = Field(default="", max_length=120)

    @field_validator("terms", "verbs", "exact", "innocent", "not_near")
    @classmethod
    def _are_said_once(cls, phrases: tuple[str, ...]) -> tuple[str, ...]:
        if twice := sorted({phrase for phrase in phrases if phrases.count(phrase) > 1}):
            raise ValueError(f"said twice: {', '.join(twice[:5])}")
        return phrases

    @model_validator(mode="after")
    def _can_be_found(self) -> Concept:
        if not (self.terms or self.verbs or self.exact or self.senses):
            raise ValueError("no terms, verbs, exact words or senses: nothing could show it")
        if self.standard is None and not self.basis:
            raise ValueError("neither a standard nor a basis: say what puts it after grade 5")
        return self

    @model_validator(mode="after")
    def _agrees_with_its_standard(self) -> Concept:
        if self.standard is None:
            return self
        if _MIDDLE.fullmatch(self.standard):
            expected = "K8"
        elif _HIGH.fullmatch(self.standard):
            expected = "K12"
        else:
            raise ValueError(f"standard {self.standard!r} is no Common Core or NGSS code of grades 6-12")
        if self.band != expected:
            raise ValueError(f"standard {self.standard} is of band {expected}, the concept says {self.band}")
        return self

    @property
    def matching_sha256(self) -> str:
        """The hash that concepts share which find the same: what describes a concept plays no part."""
        words = self.model_dump(
            mode="json", include={"terms", "verbs", "exact", "senses", "innocent", "not_near", "within"}
        )
        return hash_json({"matcher": MATCHER_VERSION, "words": words})


class Catalogue(_Part):
    """A version of the catalogue; the order of its concepts is the order of every report."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)
    version: int = Field(ge=1)
    concepts: tuple[Concept, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_each_concept_once(self) -> Catalogue:
        ids = [concept.id for concept in self.concepts]
        if twice := sorted({id for id in ids if ids.count(id) > 1}):
            raise ValueError(f"two concepts of one id: {', '.join(twice[:5])}")
        return self

    @property
    def sha256(self) -> str:
        return _hash_catalogue(self)

    @property
    def label(self) -> str:
        """Name, version and content in short: two catalogues that share it are equal."""
        return f"{self.name} v{self.version} ({self.sha256[:12]})"

    @property
    def by_id(self) -> dict[str, Concept]:
        return {concept.id: concept for concept in self.concepts}

    def require(self, concept_id: str) -> Concept:
        """Raises CatalogueError when there is no such concept."""
        found = self.by_id.get(concept_id)
        if found is None:
            raise CatalogueError(
                f"{self.label} has no concept {concept_id!r}.", hint="`primer concepts list` shows every id."
            )
        return found


@lru_cache(maxsize=16)  # by equality: a value kept on the model itself would travel into its changed copies
def _hash_catalogue(catalogue: Catalogue) -> str:
    return hash_json({"matcher": MATCHER_VERSION, **catalogue.model_dump(mode="json")})


class CatalogueDiff(_Part):
    """What a catalogue says differently from an older one. `remeasured`: the concepts whose hits the older one's layers do
    not know; `reworded`: those that find the same and are described otherwise, with the fields that differ."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: dict[str, tuple[str, ...]]
    reworded: dict[str, tuple[str, ...]]

    @property
    def remeasured(self) -> tuple[str, ...]:
        return (*self.added, *self.changed)

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.removed or self.changed or self.reworded)


def diff_catalogues(old: Catalogue, new: Catalogue) -> CatalogueDiff:
    """What changed from `old` to `new`, in the order of `new`."""
    changed: dict[str, tuple[str, ...]] = {}
    reworded: dict[str, tuple[str, ...]] = {}
    old_ids, new_ids = old.by_id, new.by_id
    for concept in new.concepts:
        before = old_ids.get(concept.id)
        if before is None or before == concept:
            continue
        fields = tuple(name for name in Concept.model_fields if getattr(before, name) != getattr(concept, name))
        is_same = before.matching_sha256 == concept.matching_sha256
        (reworded if is_same else changed)[concept.id] = fields
    return CatalogueDiff(
        added=tuple(concept.id for concept in new.concepts if concept.id not in old_ids),
        removed=tuple(concept.id for concept in old.concepts if concept.id not in new_ids),
        changed=changed,
        reworded=reworded,
    )


def bundled_catalogue_path(version: int = BUNDLED_VERSIONS[-1]) -> Path:
    """Raises CatalogueError when Primer has no such version."""
    if version not in BUNDLED_VERSIONS:
        known = ", ".join(map(str, BUNDLED_VERSIONS))
        raise CatalogueError(f"There is no version {version} of the bundled catalogue.", hint=f"There are: {known}.")
    return Path(__file__).parent / "catalogues" / f"beyond-k5-{version}.yaml"


def open_catalogue(where: str | Path | None = None) -> Catalogue:
    """A file's catalogue, the bundled one of a version given as a number, or the newest bundled one where None."""
    if where is None:
        return read_catalogue(bundled_catalogue_path())
    if str(where).isdigit():
        return read_catalogue(bundled_catalogue_path(int(str(where))))
    return read_catalogue(Path(where))


def read_catalogue(path: Path) -> Catalogue:
    """A YAML file with name, version and concepts. Raises CatalogueError that names file, line and concept."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CatalogueError(f"{path}: cannot be read ({error.strerror}).", hint="Give a catalogue file.") from error
    return parse_catalogue(content, str(path))


def parse_catalogue(content: bytes, name: str) -> Catalogue:
    """As `read_catalogue`, of a file's content; `name` stands in messages."""
    try:
        root = yaml.compose(content, Loader=yaml.CSafeLoader)
        if root is not None:
            _refuse_repeated_keys(root, name, set())
        loaded: Any = yaml.load(content, Loader=yaml.CSafeLoader)
    # ValueError: no UTF-8, or what looks like a date and is none; RecursionError: nested beyond reason.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        problem = getattr(error, "problem", None) or type(error).__name__
        raise CatalogueError(f"{name}: {where}cannot be read as YAML ({problem}).") from error
    if not isinstance(loaded, dict) or not isinstance(loaded.get("concepts"), list):
        raise CatalogueError(
            f"{name}: line 1: expected name, version and a list of concepts.", hint="See docs/concepts.md."
        )
    concepts, lines = [], _find_lines(root)
    seen: dict[str, int] = {}
    for entry, line in zip(loaded["concepts"], lines, strict=True):
        concept = _read_concept(entry, f"{name}: line {line}")
        if concept.id in seen:
            raise CatalogueError(
                f"{name}: line {line}: concept {concept.id}: line {seen[concept.id]} has a concept of this id.",
                hint="Give each concept an id of its own.",
            )
        seen[concept.id] = line
        concepts.append(concept)
    try:
        return Catalogue.model_validate({**loaded, "concepts": concepts})
    except ValidationError as error:
        raise CatalogueError(f"{name}: line 1: {_say_first(error)}", hint="See docs/concepts.md.") from error


def dump_catalogue(catalogue: Catalogue) -> bytes:
    """The YAML that `parse_catalogue` reads back as an equal catalogue."""
    content = catalogue.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120).encode()


def _read_concept(entry: object, place: str) -> Concept:
    concept_id = entry.get("id", "without id") if isinstance(entry, dict) else "without id"
    try:
        return Concept.model_validate(entry)
    except ValidationError as error:
        raise CatalogueError(
            f"{place}: concept {concept_id}: {_say_first(error)}", hint="See docs/concepts.md."
        ) from error


def _say_first(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field}: {first['msg']}." if field else f"{first['msg']}."


def _find_lines(root: yaml.Node | None) -> Iterator[int]:
    """The 1-based line on which each concept begins."""
    assert root is not None
    for key, value in root.value:
        if key.value == "concepts":
            for item in value.value:
                yield item.start_mark.line + 1


def _refuse_repeated_keys(node: yaml.Node, name: str, visited: set[int]) -> None:
    """YAML lets the last of equal keys win, which would drop half of a concept without a word."""
    if id(node) in visited:  # an alias: a file of nested ones would be walked for ever
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if str(key.value) in seen:
                raise CatalogueError(f"{name}: line {key.start_mark.line + 1}: {key.value} is there twice.")
            seen.add(str(key.value))
            _refuse_repeated_keys(value, name, visited)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, name, visited)

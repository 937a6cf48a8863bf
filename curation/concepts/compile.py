"""A catalogue compiled: every form of every term, and the multi-pattern scan that finds where any of them may stand.

The scan looks for one key a form, its rarest word or, where it has none, a sign of it, and so finds a superset:
`curation.concepts.match` confirms. Keys are literals: 4,000 of them compile in 0.1 s, as patterns with word boundaries
in 7 s.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import hyperscan
from wordfreq import get_frequency_dict

from curation.concepts.catalogue import Catalogue, Concept
from curation.concepts.fold import fold
from curation.concepts.inflect import conjugate, pluralize, spell_british

# Spaces between the words of one term: a line break and an indent.
_GAP = b" {1,8}"
_MAX_GAP = 8
# Words that nearly every text has: a form without any other has a sign for its key.
_COMMON = frozenset(b"of to is in by an as at be it or on the and for".split())
_UNKNOWN_FREQUENCY = 1e-9
_ARTICLES = ("a", "an", "the")
_MAX_FORMS = 64  # of one term
WORD = re.compile(rb"[a-z0-9\x80-\xff]+")  # a word of a window
_KEY_WORD = re.compile(rb"[a-z0-9]+")
_PIECE = re.compile(rb"[^ ]+")


@dataclass(frozen=True, slots=True)
class Window:
    """Words that must, or must not, stand within so many words of a hit. `phrases`: folded, a space at either end; `heads`: the
    first word of each."""

    phrases: tuple[bytes, ...]
    heads: tuple[bytes, ...]
    within: int


@dataclass(frozen=True, slots=True)
class Use:
    """A form as a hit of one concept. `spelling`: the form as it must be written, None where any case will do; `near`: what a
    sense asks for."""

    concept: int
    spelling: str | None = None
    near: Window | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """One folded form. `begins_word`, `ends_word`: whether a word boundary must stand there. Its key is preceded by what
    `before` finds at its end and at most `reach` bytes, and with what follows it is what `after` matches; None where the key
    begins or ends the form."""

    folded: bytes
    key: bytes
    begins_word: bool
    ends_word: bool
    before: re.Pattern[bytes] | None
    reach: int
    after: re.Pattern[bytes] | None
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class InnocentPhrase:
    """A phrase that excuses what touches it. `longest`: bytes at most."""

    pattern: re.Pattern[bytes]
    begins_word: bool
    ends_word: bool
    longest: int


@dataclass(frozen=True)
class Keys:
    """Literals to scan for, and by their number the forms that have this key."""

    literals: tuple[bytes, ...]
    forms: tuple[tuple[Form, ...], ...]

    @cached_property
    def scanner(self) -> hyperscan.Database | None:
        """None where there is nothing to scan for. Built when first asked for: it cannot be sent to another process."""
        if not self.literals:
            return None
        database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        count = len(self.literals)
        database.compile(
            expressions=list(self.literals), ids=list(range(count)), elements=count, flags=[0] * count, literal=True
        )
        return database


@dataclass(frozen=True)
class CompiledCatalogue:
    """`concepts[i]` is what `Use.concept` i means; `excluded[i]`: the words that cancel its hits, None where there are none;
    `innocent[i]`: the phrases that do. `words` are keys with a space at either end, for a fold in which everything else is a
    space; `signs` are for the fold."""

    concepts: tuple[Concept, ...]
    words: Keys
    signs: Keys
    excluded: tuple[Window | None, ...]
    innocent: tuple[tuple[InnocentPhrase, ...], ...]


def compile_catalogue(catalogue: Catalogue) -> CompiledCatalogue:
    return compile_concepts(catalogue.concepts)


def compile_concepts(concepts: Sequence[Concept]) -> CompiledCatalogue:
    """Compile some concepts; what each finds does not depend on the others."""
    uses: dict[bytes, list[Use]] = {}
    for index, concept in enumerate(concepts):
        for form, use in _list_uses(concept, index):
            found = uses.setdefault(form, [])
            if use not in found:
                found.append(use)
    words: dict[bytes, list[Form]] = {}
    signs: dict[bytes, list[Form]] = {}
    for folded in sorted(uses):
        start, end, is_word = _choose_key(folded)
        key = folded[start:end]
        (words if is_word else signs).setdefault(b" " + key + b" " if is_word else key, []).append(
            _make_form(folded, start, end, tuple(uses[folded]))
        )
    excluded = tuple(
        _make_window(concept.not_near, concept.within) if concept.not_near else None for concept in concepts
    )
    innocent = tuple(
        tuple(map(_make_innocent, dict.fromkeys(form for phrase in concept.innocent for form in expand_term(phrase))))
        for concept in concepts
    )
    return CompiledCatalogue(tuple(concepts), _make_keys(words), _make_keys(signs), excluded, innocent)


def _list_uses(concept: Concept, index: int) -> Iterator[tuple[bytes, Use]]:
    hit = Use(index)
    for term in concept.terms:
        for form in expand_term(term):
            yield form, hit
    for term in concept.verbs:
        for form in expand_verb(term):
            yield form, hit
    for spelling in concept.exact:
        yield _fold_term(spelling), Use(index, spelling=" ".join(spelling.split()))
    for sense in concept.senses:
        window = _make_window(sense.near, sense.within)
        for term in sense.terms:
            for form in expand_term(term):
                yield form, Use(index, near=window)


def expand_term(term: str) -> list[bytes]:
    """The folded forms of a noun or phrase: singular and plural of its last word, and where it has an "of" of the word before
    that, with any article after it; British spellings; without accents."""
    words = _fold_term(term).decode().split(" ")
    choices: list[list[str]] = [[word] for word in words]
    choices[-1] = [words[-1], *pluralize(words[-1])]
    for place, word in enumerate(words):
        if word == "of" and 0 < place < len(words) - 1:
            choices[place - 1] = [words[place - 1], *pluralize(words[place - 1])]
            if words[place + 1] in _ARTICLES:
                choices[place + 1] = ["", *_ARTICLES]
    return _fold_all(" ".join(filter(None, choice)) for choice in product(*choices))


def expand_verb(term: str) -> list[bytes]:
    """The folded forms of a verb, or of a phrase that begins with one."""
    first, *rest = _fold_term(term).decode().split(" ")
    return _fold_all(" ".join([form, *rest]) for form in [first, *conjugate(first)])


def _fold_all(forms: Iterator[str]) -> list[bytes]:
    spelled: dict[bytes, None] = {}
    for form in forms:
        for variant in (form, spell_british(form)):
            spelled[variant.encode()] = None
            spelled[_strip_accents(variant).encode()] = None
        if len(spelled) >= _MAX_FORMS:  # a phrase of many "of" has more of them than anybody can wait for
            break
    return list(spelled)[:_MAX_FORMS]


def _strip_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", bare)


def _fold_term(term: str) -> bytes:
    return b" ".join(fold(unicodedata.normalize("NFC", term)).split())


def _make_window(words: Sequence[str], within: int) -> Window:
    forms = dict.fromkeys(b" ".join(WORD.findall(form)) for word in words for form in expand_term(word))
    heads = dict.fromkeys(form.split(b" ")[0] for form in forms)
    return Window(tuple(b" " + form + b" " for form in forms), tuple(heads), within)


def _make_keys(forms: dict[bytes, list[Form]]) -> Keys:
    return Keys(tuple(forms), tuple(map(tuple, forms.values())))


def _choose_key(folded: bytes) -> tuple[int, int, bool]:
    """Where the key stands, and whether it is a word: the rarest ASCII word, else the longest piece. Any key would find the same."""
    words = [match.span() for match in _KEY_WORD.finditer(folded)]
    rare = [span for span in words if span[1] - span[0] > 1 and folded[slice(*span)] not in _COMMON]
    if rare:
        frequencies = _read_frequencies()
        start, end = min(rare, key=lambda span: frequencies.get(folded[slice(*span)].decode(), _UNKNOWN_FREQUENCY))
        return start, end, True
    pieces = [match.span() for match in _PIECE.finditer(folded)]
    return *max(pieces, key=lambda span: span[1] - span[0]), False


@cache
def _read_frequencies() -> dict[str, float]:
    return get_frequency_dict("en", "best")


def _make_innocent(folded: bytes) -> InnocentPhrase:
    text = folded.decode()
    longest = len(folded) + (_MAX_GAP - 1) * folded.count(b" ")
    return InnocentPhrase(re.compile(_escape(folded)), _is_letter(text[0]), _is_letter(text[-1]), longest)


def _make_form(folded: bytes, start: int, end: int, uses: tuple[Use, ...]) -> Form:
    text = folded.decode()
    head = folded[:start]
    return Form(
        folded,
        key=folded[start:end],
        begins_word=_is_letter(text[0]),
        ends_word=_is_letter(text[-1]),
        before=re.compile(_escape(head) + b"$") if head else None,
        reach=len(head) + (_MAX_GAP - 1) * head.count(b" "),
        after=re.compile(_escape(folded[start:])) if end < len(folded) else None,
        uses=uses,
    )


def _is_letter(character: str) -> bool:
    # A Greek letter is a sign that stands between others: 2πr.
    return character.isalnum() and not "\u0370" <= character <= "\u03ff"


def _escape(folded: bytes) -> bytes:
    return _GAP.join(re.sub(rb"([^a-z0-9\x80-\xff])", rb"\\\1", word) for word in folded.split(b" "))

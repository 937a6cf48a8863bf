"""English inflections of a catalogue's words, made once when a catalogue is compiled. Rules and the exceptions that terms need.

A form that no writer uses costs nothing, since it never matches; a form that is another word does harm and is not made.
"""

from __future__ import annotations

import re

_IRREGULAR_PLURALS = {
    "man": "men",
    "woman": "women",
    "foot": "feet",
    "radius": "radii",
    "stimulus": "stimuli",
    "nucleus": "nuclei",
    "locus": "loci",
    "focus": "foci",
    "fungus": "fungi",
    "genus": "genera",
    "phylum": "phyla",
    "bacterium": "bacteria",
    "mitochondrion": "mitochondria",
    "alveolus": "alveoli",
    "ovum": "ova",
    "datum": "data",
    "medium": "media",
    "spectrum": "spectra",
    "equilibrium": "equilibria",
    "phenomenon": "phenomena",
    "matrix": "matrices",
    "vertex": "vertices",
    "index": "indices",
    "codex": "codices",
    "nova": "novae",
    "supernova": "supernovae",
    "formula": "formulae",
    "hypha": "hyphae",
    "stoma": "stomata",
    "testis": "testes",
}
_NEVER_PLURAL = {
    "the",
    "of",
    "to",
    "as",
    "per",
    "not",
    "at",
    "for",
    "in",
    "is",
    "by",
    "from",
    "with",
    "x",
    "a",
    "and",
    "q",
}
_DOUBLED = re.compile(r"(?:[^aeiou]|^)[aeiou][bdgklmnprtv]$")
# Verbs of more than one syllable whose last one is stressed: only these double their last letter.
_DOUBLED_LONG = {
    "refer",
    "infer",
    "transmit",
    "permit",
    "compel",
    "rebut",
    "commit",
    "emit",
    "abhor",
    "submit",
    "occur",
}
_IRREGULAR_VERBS = {
    "find": ("found",),
    "take": ("took", "taken"),
    "break": ("broke", "broken"),
    "bend": ("bent",),
    "undergo": ("underwent", "undergone"),
    "split": ("split", "splitting"),
    "draw": ("drew", "drawn"),
    "write": ("wrote", "written"),
    "bind": ("bound",),
    "give": ("gave", "given"),
    "is": ("are", "was", "were"),
    "foresee": ("foresaw", "foreseen"),
    "overthrow": ("overthrew", "overthrown"),
    "secede": ("seceded",),
}
_BRITISH = (
    (re.compile(r"iz(?=e\b|es\b|ed\b|ing\b|er\b|ers\b|ation|able)"), "is"),
    (re.compile(r"yz(?=e\b|es\b|ed\b|ing\b)"), "ys"),
    (re.compile(r"\bcenter"), "centre"),
    (re.compile(r"meter(?=s?\b)"), "metre"),
    (re.compile(r"(?<=fib)er(?=s?\b)"), "re"),
    (re.compile(r"\bcolor"), "colour"),
    (re.compile(r"behavior"), "behaviour"),
    (re.compile(r"\blabor\b"), "labour"),
    (re.compile(r"hemoglobin"), "haemoglobin"),
    (re.compile(r"\bfetus"), "foetus"),
    (re.compile(r"\bestrogen"), "oestrogen"),
)


def pluralize(word: str) -> list[str]:
    """The plurals of a lower-case noun, none for words that have none."""
    if word in _NEVER_PLURAL or not word.isalpha() or len(word) < 3:
        return []
    plurals = [_IRREGULAR_PLURALS[word]] if word in _IRREGULAR_PLURALS else []
    if word.endswith(("sis", "xis")):
        return [*plurals, word[:-2] + "es"]
    if word.endswith("y") and word[-2] not in "aeiou":
        return [*plurals, word[:-1] + "ies"]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return [*plurals, word + "es"] if not word.endswith(("ss", "ics")) or word.endswith("ss") else plurals
    return [*plurals, word + "s"]


def conjugate(word: str) -> list[str]:
    """The other forms of a lower-case verb: -s, past, participles, -ing."""
    if not word.isalpha() or len(word) < 2:
        return []
    irregular = list(_IRREGULAR_VERBS.get(word, ()))
    if word == "is":
        return irregular
    third = word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if word.endswith("y") and word[-2] not in "aeiou":
        return [*irregular, word[:-1] + "ies", word[:-1] + "ied", word + "ing"]
    if word.endswith("ee"):
        return [*irregular, third, word + "d", word + "ing"]
    if word.endswith("e"):
        return [*irregular, third, word + "d", word[:-1] + "ing"]
    if _DOUBLED.search(word) and (len(re.findall("[aeiou]+", word)) == 1 or word in _DOUBLED_LONG):
        return [*irregular, third, word + word[-1] + "ed", word + word[-1] + "ing"]
    return [*irregular, third, word + "ed", word + "ing"]


def spell_british(form: str) -> str:
    """The same words in British spelling."""
    for pattern, spelling in _BRITISH:
        form = pattern.sub(spelling, form)
    return form

"""Chemical formulas and reactions, judged by their elements. Not here: robots, postcodes, vitamins, paper sizes, years.

Water, carbon dioxide and the gases of air may be named by formula in K-5, but not beside the words of atoms and molecules.
"""

from __future__ import annotations

import re
from itertools import pairwise

from curation.notation import clues as clue
from curation.notation.rule import RecommendedRule, scan_near, scan_pattern

_ELEMENTS_LISTED = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr "
    "Nb Mo Ag Cd In Sn Sb Te I Xe Cs Ba La Ce W Pt Au Hg Pb Bi Rn Ra Th U Pu"
)
_ELEMENTS = frozenset(_ELEMENTS_LISTED.split())
_NON_METALS = frozenset(["H", "C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "Se"])
_NAMED_IN_K5 = frozenset({"H2O", "CO2", "O2", "N2", "O3", "H2"})
# Formulas of capitals with one count that chemistry uses; any other such token is a room, a road, a console or a code.
_CAPITAL_FORMULAS_LISTED = "H2S N2O K2O CH4 NH3 NH4 NO2 NO3 SO2 SO3 SO4 PO4 CO3 UO2 HNO3 HNO2 KNO3 HCO3"
_CAPITAL_FORMULAS = frozenset(_CAPITAL_FORMULAS_LISTED.split())
_GROUPS = frozenset(
    ["OH", "NO3", "SO4", "PO4", "CO3", "NH4", "CN", "CH3", "C2H3O2", "CH3COO", "HCO3", "NO2", "CH2", "NH2"]
)
_PART = re.compile(r"([A-Z][a-z]?)([0-9]{0,3})")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789", "_{}")
_ATOMIC_WORD = re.compile(
    r"\b(?:molecul\w*|atoms?|atomic|ions?|bond(?:s|ed|ing)?|compounds?|formulas?|formulae|reactions?|reacts?|moles?|mol)\b",
    re.IGNORECASE,
)
_POSTCODE_END = re.compile(r" \d[A-Z]{2}\b")
_FORMULA = r"[A-Z][a-z]?(?:[A-Z][a-z]?|_?\{?[0-9₀-₉]{1,3}\}?|\((?:[A-Z][a-z]?|[0-9₀-₉]){1,8}\)[0-9₀-₉]){1,16}"


def _split_formula(formula: str) -> list[tuple[str, str]] | None:
    """Elements and counts of a formula in plain digits, groups in brackets left out; None where a part is no element."""
    without_groups = re.sub(r"\((\w+)\)\d", lambda match: "" if match[1] in _GROUPS else "?", formula)
    parts = _PART.findall(without_groups)
    if "".join(element + count for element, count in parts) != without_groups:
        return None
    return parts if all(element in _ELEMENTS for element, _ in parts) else None


def _is_atomic_context(text: str, start: int, end: int) -> bool:
    """Whether a word of atoms and molecules is among the four words before or after."""
    before = text[max(0, start - 40) : start].replace("\n", " ").split(" ")[-5:]
    after = text[end : end + 40].replace("\n", " ").split(" ")[:5]
    return _ATOMIC_WORD.search(" ".join(before)) is not None or _ATOMIC_WORD.search(" ".join(after)) is not None


def _is_formula(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    formula = match[0].translate(_SUBSCRIPTS)
    if formula in _NAMED_IN_K5:
        return not re.search(r"\bvitamin $", text[max(0, start - 8) : start]) and _is_atomic_context(text, start, end)
    parts = _split_formula(formula)
    if parts is None or _POSTCODE_END.match(text, end):
        return False
    counts = [count for _, count in parts if count]
    symbols = [element for element, _ in parts]
    has_group = "(" in formula
    if any(count in ("1", "0") or count.startswith("0") or int(count) > 60 for count in counts):
        return False
    if not has_group and (not counts or len(set(symbols)) < 2):
        return False
    if any(left == right for left, right in pairwise(symbols)) or not _NON_METALS & set(symbols + ["O"] * has_group):
        return False
    if has_group or any(len(symbol) == 2 for symbol in symbols):
        return not (len(symbols) == 2 and symbols[0] in ("I", "Y", "V", "W", "U"))
    if len(counts) == 1:
        return formula in _CAPITAL_FORMULAS
    return (formula.startswith("C") and symbols[1] == "H") or "O" in symbols or formula in ("N2H4", "B2H6")


CHEMICAL_FORMULA = RecommendedRule(
    name="chemical_formula",
    claim="A compound is written by its formula.",
    hits=("C6H12O6", "Fe2O3", "CH₄", "H2O molecules"),
    passes=("H2O", "CO2 in air", "R2D2", "C3PO", "SW1A 1AA", "vitamin B12", "Y2K"),
    judgement=(
        "Every part must be an element, two different ones at least, no count 1. Capitals with one count alone (PS5, W3C, COP26) "
        "must be on a list. H2O, CO2, O2, O3, N2 and H2 hit only with molecule, atom, ion, bond, compound, formula, reaction or "
        "mole among the four words on either side."
    ),
    clues=clue.FORMULA | clue.SIGN,
    scan=scan_near(
        re.compile(r"[0-9₀-₉](?<=[A-Za-z)_{][0-9₀-₉])"),
        24,
        re.compile(r"(?<![A-Za-z_/.@#-])(?<!\d[-/])[A-Z]"),
        re.compile(rf"{_FORMULA}(?![A-Za-z0-9/@]|-\w)"),
        _is_formula,
    ),
)
SALT_FORMULA = RecommendedRule(
    name="salt_formula",
    claim="A compound whose formula has no number is written by its formula.",
    hits=("NaCl", "HCl", "NaOH"),
    passes=("McDo", "PhD", "TVs"),
    judgement="From a list of the compounds of school chemistry, in exact case.",
    clues=clue.SALT,
    scan=scan_pattern(
        re.compile(
            r"[A-Z](?<![A-Za-z][A-Z])(?:(?<=N)a(?:Cl|OH|F|Br|I|H|CN)|(?<=L)i(?:Cl|F|OH)|(?<=A)gCl|(?<=C)[au][OS]|"
            r"(?<=M)g[OS]|(?<=Z)n[OS]|(?<=F)e[OS]|(?<=B)aO|(?<=[HK])(?:Cl|Br)|(?<=S)iC)(?![A-Za-z0-9])"
        )
    ),
)

CHEMICAL_REACTION = RecommendedRule(
    name="chemical_reaction",
    claim="A reaction is written with formulas, or a formula carries a number of molecules.",
    hits=("2H2 + O2 → 2H2O",),
    passes=("O2 and CO2 in air", "2 → 3"),
    judgement="Formulas joined by + and followed by an arrow or equals sign, or a count from 2 directly before H2O or CO2.",
    clues=clue.REACTION | clue.SIGN,
    scan=scan_near(
        re.compile("[2₂3₃](?<=[HON].)"),
        4,
        re.compile(r"(?<![\w.])[\dHCON]"),
        re.compile(
            r"(?:[2-9]|1\d)(?:H[2₂]O|CO[2₂])(?!\w)|"
            r"\d{0,2}(?:H[2₂]O|CO[2₂]|[HON][2₂3₃])[ ]?(?:"
            r"\+[ ]?\d{0,2}(?:H[2₂]O|CO[2₂]|[HON][2₂]|light|sunlight)[ ]?(?:→|⟶|->|=>|⇌)[ ]?\w|"
            r"(?:→|⟶|->|=>|⇌)[ ]?\d{0,2}[A-Z][A-Za-z]?[\dA-Z₀-₉])"
        ),
    ),
)
ION_CHARGE = RecommendedRule(
    name="ion_charge",
    claim="An ion is written with its charge.",
    hits=("Ca²⁺", "Na⁺", "Ca2+"),
    passes=("A⁺ work", "18+"),
    judgement="A raised charge on a symbol of two letters, or on H, K, OH, NH4; in plain digits only the common metals.",
    clues=clue.SIGN | clue.ION,
    scan=scan_near(
        re.compile("[⁺⁻+]"),
        5,
        re.compile(r"(?<![A-Za-z])[A-Z]"),
        re.compile(
            r"(?:Na|Ca|Mg|Fe|Cu|Zn|Al|Li|Ag|Cl|Br|Pb|Ba|H|K|OH|F|O|S|N|NH[4₄]|NO[3₃]|SO[4₄]|CO[3₃])[²³]?[⁺⁻](?![\w⁰-⁹])|"
            r"(?:Ca|Mg|Fe|Cu|Zn|Ba|Pb)2\+(?!\w)|(?:Al|Fe)3\+(?!\w)"
        ),
    ),
)

"""Hostile and realistic text for comparing two implementations: a seeded generator and a hypothesis strategy.

Texts are short (at most 400 characters, 160 where an indexed root opens) so that the slow oracle stays quick on them.
No lone surrogates: a Parquet string cannot hold one, so a document never does.
"""

from __future__ import annotations

import random

from hypothesis import strategies as st

MAX_CHARS = 400
MAX_CHARS_WITH_ROOT = 160

ENGLISH = [
    "the", "a", "of", "and", "to", "in", "is", "it", "that", "cat", "dog", "water", "garden", "teacher", "school",
    "rain", "bird", "river", "apple", "tree", "story", "number", "group", "equal", "share", "count", "square",
    "metre", "photosynthesis", "mitochondria", "jurisprudence", "epistemology", "quadratic", "coefficient",
    "derivative", "Supplies", "Frogs", "Tip", "Vitamin", "Bold", "Founded", "log", "ln", "exp", "sin", "cos", "tan",
    "sinh", "arctan", "cbrt", "CBRT", "Log", "LN", "Sin", "zzyzx", "qwxkjv", "bcdfgh", "I", "OK", "NASA",
]  # fmt: skip

AWKWARD_WORDS = [
    "don't", "o'clock", "children’s", "ain't", "rock'n'roll", "snake_case", "_private", "x_1", "U.S.", "e.g.", "2nd",
    "5^th", "A4", "MP3", "B12", "R2D2", "Y2K", "SW1A 1AA", "café", "cafe\u0301", "naïve", "Ångström", "A\u030angström",
    "straße", "STRASSE", "ſin", "ſtory", "S\u0130N", "s\u0131n", "\u0130stanbul", "I\u0307stanbul", "\u212a", "\u212ag",
    "o\u212a", "Σίσυφος", "ΟΔΟΣ", "ﬁnd", "ＡＢＣ", "ａｂ", "北京", "слово", "שלום", "مرحبا", "co\u00adoperate",
    "zero\u200bwidth", "join\u200dner", "\ufeffbom", "half½", "½cup", "km²", "m³", "Lincoln³", "c-a-t", "e\u0301\u0323",
]  # fmt: skip

CHARS = [
    *"aAbBxXyYzZnNfghtTkKsSiI019_ ^*()[]{}<>=+-/\\|.,;:!?'\"`~#&@%$",
    "\n", "\r\n", "\r", "\t", "\v", "\f", "\x1c", "\x1f", "\x85", "\u2028", "\u2029", "\xa0", "\u3000", "\u202f",
    "\u180e", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u200f", "\u202e", "\u0301",
    "\u0307", "\u20dd", "\ufe0f", "\u212a", "\u0130", "\u0131", "ſ", "é", "É", "ß", "ẞ", "ª", "º", "µ", "Ω", "σ", "ς",
    "٣", "٠", "१", "３", "𝟚", "𝐱", "①", "Ⅳ", "½", "⁰", "¹", "²", "³", "⁴", "⁵", "⁹", "⁻", "ⁿ", "₂", "₀", "−", "–", "—",
    "×", "÷", "·", "≤", "≥", "≠", "≈", "√", "∛", "∜", "∑", "Σ", "∏", "∫", "∬", "∂", "∞", "π", "😀", "👩\u200d🚀", "🇺🇸",
    "Ð", "¾", "\x00", "\x7f", "\U0010ffff",
]  # fmt: skip

NOTATION = [
    "**", "^", "^2", "^ 2", "^3", "^n", "^N", "x^2", "ab^2", "x^25", "x^{n+1}", "x^{}", "e^{", "10^3", "12345^6",
    "10^1234", "2**10", "2** 10", "a ** b", "x^y", "x^yz", "10^-3", "10^\u22123", "s**-(2", "x^(n+1)", "8^(1/3)",
    "V ** ( 1 / 3 )", "**Milk** (1/3) cup", "**Day 2** - water", "\\sqrt", "\\sqrt{5}", "\\sqrt[3]{8}", "\\sqrt[ 3 ]",
    "\\sqrt[]", "\\sqrt[ ]", "\\sqrt[", "\\frac{1}{2}", "\\frac", "\\fraction", "\\lim_", "\\int ", "\\int3", "\\sum",
    "\\infty", "\\partial x", "\\alpha", "³√8", "² √", "cbrt(27)", "CBRT (", "exp(-x)", "Exp(", "log (", "ln(2)",
    "blog(", "sin(30)", "TANH (", "arc cos(", "arctan(1)", "asin(", "2x + 3y = 12", "a - b =", "c-a-t =", "12a+b=",
    "x + 3 = 7", "x^2 + 3x", "cm^2 - a", "y^2\u22123y", "3 < x < 7", "0 ≤ t ≤ 1", "1 <= n >= m", "the<b>cat</b>",
    "<i>x</i>", "a<bc<d", "f(x)", "g ( y )", "h(z", "F(x)", "elf(x)", "3x + 4 = 10", "12Y-5=7", "3x × 4 = 12", "٣x+٤=٥",
    "H2O", "C6H12O6", "CO2 in", "B12)", "Na2S", "NaCl", "ÉB2O", "H٢O", "H₂O", "H²O", "m²", "10⁻³", "٣²", "é²", "½²",
    "a \u2212 b = c", "a–b=c", "ſin(1)", "s\u0131n(", "TAN\u212a(", "S\u0130NH (", "\u0130^3", "ſ + b =", "\u212a-t=",
    "x^2+ſ", "10^–3", "é^-2", "1<\u212a<2", "\u0131 < x > 3", "é**2", "²**3", "_**2", ")**2", "]^(", "é^(", "é^y",
    "x^é", "10^-é", "ⅳ^{2}", "é^{2}",
    "</s>", "<s>", "[UNK]", "[CLS]", "__label__K5", "http://a.org/f(x)/y", "&lt;b&gt;", "$x$", "`x`", "|x|", "5!",
]  # fmt: skip

SPACES = ["", "", "", " ", " ", " ", "\n", "  ", "\xa0", "\u2028", "\x85", "\u200b", "\t", "\r\n", "\u3000", "\x1d"]


def cap_length(text: str) -> str:
    """The text cut to what the oracle can read quickly."""
    text = text[:MAX_CHARS]
    return text[:MAX_CHARS_WITH_ROOT] if "\\sqrt[" in text else text


def write_prose(rng: random.Random) -> str:
    """English words with a rare awkward word, punctuation and line breaks: most of it passes every rule."""
    words = [rng.choice(AWKWARD_WORDS if rng.random() < 0.08 else ENGLISH) for _ in range(rng.randrange(1, 60))]
    return "".join(word + rng.choice([" ", " ", " ", " ", ", ", ". ", "\n", " - ", "\xa0"]) for word in words)


def write_notation(rng: random.Random) -> str:
    """Rule-shaped pieces in a sentence."""
    pieces = []
    for _ in range(rng.randrange(1, 6)):
        pieces.append(rng.choice(NOTATION))
        pieces.extend(rng.choice(ENGLISH) for _ in range(rng.randrange(3)))
    return "".join(piece + rng.choice(SPACES) for piece in pieces)


def mutate_notation(rng: random.Random) -> str:
    """One rule-shaped piece with a few characters put in, taken out, replaced or swapped: hits and near misses."""
    before, after = rng.choice(["", "a", "1", " ", "_", "é", "**"]), rng.choice(["", "a", "7", " "])
    chars = list(before + rng.choice(NOTATION) + after)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(chars))
        change = rng.randrange(5)
        if change == 0:
            chars.insert(at, rng.choice(CHARS))
        elif change == 1:
            chars.insert(at, rng.choice(SPACES))
        elif change == 2:
            chars[at] = rng.choice(CHARS)
        elif change == 3:
            chars[at] = chars[at].swapcase()
        elif len(chars) > 1:
            del chars[at]
    return "".join(chars)


def write_soup(rng: random.Random) -> str:
    """Anything next to anything, with runs of one character."""
    pieces = []
    for _ in range(rng.randrange(0, 40)):
        source = rng.choice([CHARS, CHARS, CHARS, SPACES, NOTATION, AWKWARD_WORDS])
        pieces.append(rng.choice(source) * (rng.randrange(2, 12) if rng.random() < 0.05 else 1))
    return "".join(pieces)


def fuzz_texts(seed: int, count: int) -> list[str]:
    """`count` texts, the same ones for the same seed on any machine; a smaller count gives their beginning."""
    rng = random.Random(seed)
    writers = [write_prose, write_notation, mutate_notation, mutate_notation, write_soup]
    return [cap_length(rng.choice(writers)(rng)) for _ in range(count)]


def hostile_text() -> st.SearchStrategy[str]:
    """Texts of at most `MAX_CHARS` characters that shrink to few, plain pieces."""
    piece = st.one_of(
        st.sampled_from(ENGLISH),
        st.sampled_from(SPACES),
        st.sampled_from(NOTATION),
        st.sampled_from(CHARS),
        st.sampled_from(AWKWARD_WORDS),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
        st.builds(lambda char, times: char * times, st.sampled_from(CHARS), st.integers(2, 12)),
    )
    return st.lists(piece, max_size=40).map("".join).map(cap_length)

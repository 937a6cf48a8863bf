"""The explicit normalisation of a text before the recommended measurements.

Every change is counted by kind, so nothing can hide in what was removed. Measuring only: the text of an
export is always the source's. Changing what `normalize` does means a new NORMALIZATION_VERSION.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

NORMALIZATION_VERSION = "1"

# Kinds of change, in the order of the counts.
CHANGES = ("end_of_text_tags", "soft_hyphens", "invisible", "ligatures", "quotes", "styled_letters", "composed")

END_OF_TEXT_TAG = "</s>"
_SOFT_HYPHEN = "\u00ad"
# Zero-width spaces and joiners, word joiner and invisible operators, byte-order mark, Mongolian vowel separator, grapheme
# joiner, directional marks, embeddings, overrides and isolates, Hangul fillers, and tag characters.
_INVISIBLE = (
    "\u200b-\u200f\u2060-\u2064\ufeff\u180e\u034f\u202a-\u202e\u2066-\u2069\u115f\u1160\u3164\U000e0000-\U000e007f"
)
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_QUOTES = {"‘": "'", "’": "'", "‚": "'", "‛": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "‟": '"'}
# Full-width ASCII and the mathematical alphabets: letters and digits in another dress.
_STYLED = "\uff01-\uff5e\U0001d400-\U0001d7ff"
# No writing stacks more marks on a letter; the limit is that of Unicode's stream-safe format (UAX #15).
_MAX_MARKS = 30
_SPECIAL = re.compile(f"[{_SOFT_HYPHEN}{_INVISIBLE}{''.join(_LIGATURES)}{_STYLED}]")
_IS_INVISIBLE = re.compile(f"[{_INVISIBLE}]")


@dataclass(frozen=True, slots=True)
class Normalized:
    """`text` after normalisation; `counts[i]` is how many characters (tags, compositions) CHANGES[i] touched."""

    text: str
    counts: tuple[int, ...]

    @property
    def is_changed(self) -> bool:
        return any(self.counts)


_UNCHANGED = (0,) * len(CHANGES)


def normalize(text: str) -> Normalized:
    """Tags that end a line for fastText become a space; soft hyphens and invisible characters vanish; ligatures, curly
    quotes and styled letters become ASCII; what is left is composed (NFC). Linear in the length of the text."""
    if text.isascii():
        if END_OF_TEXT_TAG not in text:
            return Normalized(text, _UNCHANGED)
        return Normalized(text.replace(END_OF_TEXT_TAG, " "), (text.count(END_OF_TEXT_TAG), *_UNCHANGED[1:]))
    counts = dict.fromkeys(CHANGES, 0)

    def replace_special(match: re.Match[str]) -> str:
        character = match[0]
        if character == _SOFT_HYPHEN:
            counts["soft_hyphens"] += 1
            return ""
        if character in _LIGATURES:
            counts["ligatures"] += 1
            return _LIGATURES[character]
        if _IS_INVISIBLE.match(character):
            counts["invisible"] += 1
            return ""
        counts["styled_letters"] += 1
        return unicodedata.normalize("NFKC", character)

    replaced = text
    for quote, plain in _QUOTES.items():
        if found := replaced.count(quote):
            counts["quotes"] += found
            replaced = replaced.replace(quote, plain)
    if not replaced.isascii():
        replaced = _SPECIAL.sub(replace_special, replaced)
        if not unicodedata.is_normalized("NFC", replaced):
            composed = _compose(replaced)
            counts["composed"] = max(abs(len(replaced) - len(composed)), 1)
            replaced = composed
    # Last, so that a tag written with invisible or styled characters inside is found too.
    if END_OF_TEXT_TAG in replaced:
        counts["end_of_text_tags"] = replaced.count(END_OF_TEXT_TAG)
        replaced = replaced.replace(END_OF_TEXT_TAG, " ")
    return Normalized(replaced, tuple(counts.values()))


def _compose(text: str) -> str:
    """NFC; runs of more than _MAX_MARKS combining marks in pieces, because putting marks in order takes quadratic time."""
    pieces: list[str] = []
    start = 0
    for run in _long_mark_runs().finditer(text):
        for cut in range(run.start() + _MAX_MARKS, run.end(), _MAX_MARKS):
            pieces.append(unicodedata.normalize("NFC", text[start:cut]))
            start = cut
    pieces.append(unicodedata.normalize("NFC", text[start:]))
    return "".join(pieces)


@cache
def _long_mark_runs() -> re.Pattern[str]:
    # Tibetan vowel signs that are no marks themselves but come apart into two.
    marks = "".join(chr(code) for code in range(0x110000) if unicodedata.combining(chr(code))) + "\u0f73\u0f75\u0f81"
    return re.compile(f"[{marks}]{{{_MAX_MARKS + 1},}}")

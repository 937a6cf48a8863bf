"""Folded text: what terms are looked for in. Lower case, every space, hyphen and underscore a space; as UTF-8 bytes.

One character of the text stays one character of the fold, so places in one are places in the other. Lines end only
where one text ends: a line break inside a text folds to a space.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

_SPACES = " \t\n\v\f\r-_"
_TABLE = bytes(0x20 if chr(byte) in _SPACES else ord(chr(byte).lower()) if byte < 0x80 else byte for byte in range(256))
# Hyphens, the minus and the en dash (Hardy–Weinberg); an em dash parts words as a comma does.
_WIDE_SPACES = (
    "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u2010\u2011\u2012\u2013\u2212"
)
_CONTINUATION = bytes(range(0x80, 0xC0))
_FEW = 16  # places that are counted one by one, before a count of the whole text is cheaper


def fold(text: str) -> bytes:
    """The fold of a text, without a line break in it."""
    if not text.isascii():
        lowered = text.lower()
        # U+0130 alone becomes two characters: then lower case is taken character by character.
        text = lowered if len(lowered) == len(text) else "".join(map(_lower, text))
        for space in _WIDE_SPACES:
            if space in text:
                text = text.replace(space, " ")
    return text.encode("utf-8", "surrogatepass").translate(_TABLE)


def _lower(character: str) -> str:
    lowered = character.lower()
    return lowered if len(lowered) == 1 else character


def find_characters(folded: bytes, places: Sequence[int]) -> list[int]:
    """How many characters begin before each of some places in a fold."""
    if folded.isascii():
        return list(places)
    if len(places) <= _FEW:
        return [len(folded[:place].translate(None, _CONTINUATION)) for place in places]
    begins = (np.frombuffer(folded, np.uint8) & 0xC0) != 0x80
    counts = np.concatenate([[0], np.cumsum(begins)])
    return counts[np.array(places, np.int64)].tolist()  # type: ignore[no-any-return]


def is_word_byte_before(folded: bytes, start: int) -> bool:
    """Whether the character that ends at `start` belongs to a word."""
    if start == 0 or folded[start - 1] < 0x80:
        return start > 0 and chr(folded[start - 1]).isalnum()
    first = start - 1
    while first > 0 and 0x80 <= folded[first] < 0xC0:
        first -= 1
    return _is_word_character(folded[first:start])


def is_word_byte_after(folded: bytes, end: int) -> bool:
    """Whether the character that begins at `end` belongs to a word."""
    if end >= len(folded) or folded[end] < 0x80:
        return end < len(folded) and chr(folded[end]).isalnum()
    last = end + 1
    while last < len(folded) and 0x80 <= folded[last] < 0xC0:
        last += 1
    return _is_word_character(folded[end:last])


def _is_word_character(encoded: bytes) -> bool:
    # A superscript is a footnote's mark or a power; a combining mark belongs to the letter before it.
    character = encoded.decode("utf-8", "replace")
    return character.isalpha() or character.isdecimal() or unicodedata.category(character).startswith("M")

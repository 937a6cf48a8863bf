"""Tokens: runs of two or more letters a-z that are whole words, counted per text.

A token is a maximal run of Unicode word characters that, lower-cased, is wholly a-z. `U.S.`, `café`, `H2O` give none.
Shared by the lexical, vocabulary and postings signals, so that no text is split or looked up twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curation.lexicon.ages import AgeTable

TOKENS_VERSION = "1"

_WORD_MARK = "0"  # stands for every word character that is not a letter a-z; a run that holds one is no token
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_WORD_CHARACTER = re.compile(r"\w")
# Replaced first, because str.replace is ten times faster than a substitution and these are most of what web text has.
_COMMON_PUNCTUATION = "’“”‘–—…•\u00a0"


class _AsciiShape(dict[int, str]):
    """For str.translate: a non-ASCII character as the mark where it is a word character, else as a space."""

    def __missing__(self, code: int) -> str:
        self[code] = shape = _WORD_MARK if _WORD_CHARACTER.match(chr(code)) else " "
        return shape


_ASCII_SHAPE = _AsciiShape()
_TRANSLATION = bytes(
    code
    if chr(code).islower()
    else ord(chr(code).lower())
    if chr(code).isalpha()
    else ord(_WORD_MARK)
    if chr(code).isdigit() or chr(code) == "_"
    else ord(" ")
    for code in range(128)
) + bytes(128)


def to_token_stream(text: str) -> bytes:
    """The text as lower-case ASCII in which every maximal run without spaces is a run of word characters.

    Two texts with the same stream have the same tokens. Linear in the length of the text.
    """
    if not text.isascii():
        text = text.lower()
        for character in _COMMON_PUNCTUATION:
            text = text.replace(character, " ")
        if not text.isascii():
            text = _NON_ASCII.sub(lambda run: run[0].translate(_ASCII_SHAPE), text)
    return text.encode("ascii").translate(_TRANSLATION)


def list_tokens(stream: bytes) -> list[bytes]:
    """The tokens of a stream, in order of the text."""
    mark = _WORD_MARK.encode()
    return [run for run in stream.split() if len(run) >= 2 and mark not in run]


@dataclass(frozen=True)
class TokenCounts:
    """Distinct tokens of each text, ascending by word id, which is ascending by age; unknown words come last.

    `texts`, `ids`, `counts`: int64 arrays of equal length. `starts`: n_texts + 1 offsets into them. `words[id]` is the
    word; ids below `known_count` are words of the age table. `token_counts`: tokens per text.
    """

    texts: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    token_counts: npt.NDArray[np.int64]
    words: Sequence[str]
    known_count: int


class TokenCounter:
    """Counts tokens of batches of texts. Words outside the age table get ids in the order they are met.

    Memory grows with the distinct unknown words met, so use one counter a slice.
    """

    def __init__(self, index: KnownWords) -> None:
        self._ids = _WordIds(index.ids)
        self._ids.words = list(index.table.words)
        self._known_count = len(index.table)

    def count(self, streams: Sequence[bytes]) -> TokenCounts:
        joined = b"".join(stream + b" " for stream in streams)
        ends = np.flatnonzero(np.frombuffer(joined, np.uint8) == ord(" "))
        run_texts = np.repeat(np.arange(len(streams)), [stream.count(b" ") + 1 for stream in streams])
        ids = self._look_up(joined, ends)
        n_texts = len(streams)
        is_token = ids >= 0
        texts, ids = run_texts[is_token], ids[is_token]
        keys = np.sort((texts << 32) | ids)
        is_first = np.empty(len(keys), bool)
        is_first[:1] = True
        np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
        firsts = np.flatnonzero(is_first)
        unique = keys[firsts]
        unique_texts = unique >> 32
        return TokenCounts(
            texts=unique_texts,
            ids=unique & 0xFFFFFFFF,
            counts=np.diff(firsts, append=len(keys)),
            starts=np.searchsorted(unique_texts, np.arange(n_texts + 1)),
            token_counts=np.bincount(texts, minlength=n_texts).astype(np.int64),
            words=self._ids.words,
            known_count=self._known_count,
        )

    def _look_up(self, joined: bytes, ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The id of every run of `joined`, each ended by one space; Arrow's hash table makes one Python look-up a distinct run."""
        offsets = np.concatenate([[0], ends + 1])
        runs = pa.Array.from_buffers(pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(joined)])
        encoded = runs.dictionary_encode()
        look_up = self._ids.__getitem__
        ids = np.array([look_up(run[:-1]) for run in encoded.dictionary.to_pylist()], np.int64)
        places: npt.NDArray[np.int32] = encoded.indices.to_numpy()
        return ids[places]


class KnownWords:
    """The age table with the look-up from a word's bytes to its id; built once a process and shared by counters."""

    def __init__(self, table: AgeTable) -> None:
        self.table = table
        self.ids = {word.encode(): i for i, word in enumerate(table.words)}


class _WordIds(dict[bytes, int]):
    """Word bytes to id; -1 for what is no token; a new word gets the next id and is appended to `words`."""

    words: list[str]

    def __missing__(self, word: bytes) -> int:
        if len(word) < 2 or _WORD_MARK.encode() in word:
            self[word] = -1
            return -1
        self[word] = new = len(self.words)
        self.words.append(word.decode())
        return new

"""Which paths of a repository a pattern names, and which split a path belongs to when nothing says so.

The rules are those of the Hub's pages on file names, splits and manual configuration. Patterns come from strangers'
cards: matching is by segment and quadratic at worst, never exponential.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

_MAGIC = frozenset("*?[")
_SEPARATORS = "-._ 0-9"
_SPLIT_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_SPLIT_PATTERNS = {
    split: re.compile(rf"(?:^|[{_SEPARATORS}])(?:{'|'.join(words)})(?:$|[{_SEPARATORS}])")
    for split, words in _SPLIT_WORDS.items()
}
_NUMBERED_SHARD = re.compile(r"data/([^/]+)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*")


def has_magic(pattern: str) -> bool:
    return not _MAGIC.isdisjoint(pattern)


def find_static_folder(pattern: str) -> str:
    """The deepest folder that certainly holds all matches ("" for the root); a pattern without magic is its own."""
    segments = pattern.split("/")
    plain = next((number for number, segment in enumerate(segments) if has_magic(segment)), len(segments))
    return "/".join(segments[:plain])


def is_match(pattern: str, path: str) -> bool:
    """Whether the pattern names the path: `*`, `?`, `[…]` within a segment, `**` for any number of segments.

    A pattern without magic names a file or everything under a folder. Paths with a segment that starts with "." or
    "__" match only where the pattern spells out as many such segments.
    """
    if not has_magic(pattern):
        return path == pattern or pattern == "" or path.startswith(pattern + "/")
    wanted, found = pattern.split("/"), path.split("/")
    return _count_hidden(wanted) == _count_hidden(found) and _match_segments(wanted, found)


def select_paths(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The paths that any of the patterns names, sorted, each once."""
    patterns = list(patterns)
    return sorted({path for path in paths if any(is_match(pattern, path) for pattern in patterns)})


def assign_splits(paths: Iterable[str]) -> dict[str, list[str]]:
    """Paths by split, from names alone. The first convention that fits any path decides for all of them:

    `data/<split>-00000-of-00001.*`, then a split word in a folder's name, then in the file's name, else all is train.
    """
    visible = sorted(path for path in paths if _count_hidden(path.split("/")) == 0)
    for find_splits in (_find_numbered_split, _find_folder_splits, _find_file_splits):
        by_split: dict[str, list[str]] = {}
        for path in visible:
            for split in find_splits(path):
                by_split.setdefault(split, []).append(path)
        if by_split:
            return by_split
    return {"train": visible} if visible else {}


def _match_segments(wanted: list[str], found: list[str]) -> bool:
    reachable = {0}
    for number, segment in enumerate(wanted):
        if segment == "**":
            first = min(reachable, default=len(found) + 1)
            # A closing ** stands for what lies in the folder, not for the folder itself.
            reachable = set(range(first + (number == len(wanted) - 1), len(found) + 1))
        else:
            reachable = {at + 1 for at in reachable if at < len(found) and fnmatchcase(found[at], segment)}
    return len(found) in reachable


def _count_hidden(segments: list[str]) -> int:
    return sum(segment.startswith((".", "__")) for segment in segments)


def _find_numbered_split(path: str) -> list[str]:
    match = _NUMBERED_SHARD.fullmatch(path)
    return [match[1]] if match else []


def _find_folder_splits(path: str) -> list[str]:
    folders = path.split("/")[:-1]
    return [split for split, pattern in _SPLIT_PATTERNS.items() if any(map(pattern.search, folders))]


def _find_file_splits(path: str) -> list[str]:
    name = path.rpartition("/")[2]
    return [split for split, pattern in _SPLIT_PATTERNS.items() if pattern.search(name)]

"""The `configs:` of a data set card: which file patterns make up a config and its splits.

Reads the YAML block at the top of a README.md; matching patterns against files lives in path_patterns. Cards are
strangers' text: whatever has another form than the documented ones is a SourceError that shows where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from curation.errors import SourceError

# A front matter beyond this is no card; FineWeb-Edu's, with more than a hundred configs, has about 30 kB.
FRONT_MATTER_CHARS_MAX = 4_000_000


@dataclass(frozen=True)
class CardConfig:
    """`folder` is `data_dir` ("" for the root); `splits` maps a split to its patterns, None: known by names only."""

    name: str
    is_default: bool
    folder: str
    splits: Mapping[str, tuple[str, ...]] | None


def read_card_configs(readme: str, label: str) -> list[CardConfig]:
    """The configs in the card's order; empty where the card declares none."""
    front_matter = _cut_front_matter(readme)
    try:
        metadata = yaml.safe_load(front_matter)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SourceError(
            f"{label}: the YAML block of README.md cannot be read.", hint="Name files by path."
        ) from error
    entries = metadata.get("configs") if isinstance(metadata, dict) else None
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise _bad_card(label, "configs is not a list")
    return [_read_config(entry, label) for entry in entries]


def choose_config(configs: Sequence[CardConfig], name: str | None, label: str) -> CardConfig:
    """The named config, else the only one, else the one that is called or marked default.

    A card without configs has one, `default`, whose files are known by their names. Raises SourceError that lists the
    configs when none or several fit.
    """
    configs = configs or [CardConfig("default", True, "", None)]
    if name is not None:
        fitting = [config for config in configs if config.name == name]
    elif len(configs) == 1:
        fitting = list(configs)
    else:
        fitting = [config for config in configs if config.is_default or config.name == "default"]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(sorted(config.name for config in configs))
    if name is not None:
        problem = f"has no config {name!r}" if not fitting else f"declares config {name!r} {len(fitting)} times"
    else:
        problem = f"has {len(configs)} configs and {len(fitting) or 'no'} default"
    raise SourceError(f"{label}: {problem}.", hint=f"Name one of its configs: {known}.")


def _cut_front_matter(readme: str) -> str:
    lines = readme[:FRONT_MATTER_CHARS_MAX].splitlines()
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return ""
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return "\n".join(lines[1:number])
    return ""


def _read_config(entry: Any, label: str) -> CardConfig:
    if not isinstance(entry, dict) or not isinstance(entry.get("config_name"), str | int | float):
        raise _bad_card(label, "a config without config_name")
    name = str(entry["config_name"])
    folder = _read_path(entry.get("data_dir", ""), name, label)
    data_files = entry.get("data_files")
    splits = None if data_files is None else _read_splits(data_files, folder, name, label)
    return CardConfig(name, entry.get("default") is True, folder, splits)


def _read_splits(data_files: Any, folder: str, name: str, label: str) -> dict[str, tuple[str, ...]]:
    """`data_files` as text, list of texts, mapping of split to those, or list of {split, path}."""
    if isinstance(data_files, dict):
        pairs = list(data_files.items())
    elif isinstance(data_files, list) and data_files and all(isinstance(item, dict) for item in data_files):
        if any(set(item) != {"split", "path"} for item in data_files):
            raise _bad_card(label, f"data_files of config {name!r} has entries other than {{split, path}}")
        pairs = [(item["split"], item["path"]) for item in data_files]
    else:
        pairs = [("train", data_files)]
    splits: dict[str, tuple[str, ...]] = {}
    for split, patterns in pairs:
        if str(split) in splits:
            raise _bad_card(label, f"config {name!r} declares split {str(split)!r} twice")
        listed = patterns if isinstance(patterns, list) else [patterns]
        splits[str(split)] = tuple(_join(folder, _read_path(pattern, name, label)) for pattern in listed)
    return splits


def _read_path(pattern: Any, name: str, label: str) -> str:
    if not isinstance(pattern, str):
        raise _bad_card(label, f"config {name!r} has a path that is not text")
    segments = [segment for segment in pattern.split("/") if segment not in {"", "."}]
    if "://" in pattern or ".." in segments:
        raise _bad_card(label, f"config {name!r} points outside the data set: {pattern!r}")
    if any("**" in segment and segment != "**" for segment in segments):
        raise _bad_card(label, f"config {name!r} has ** inside a name: {pattern!r}")
    return "/".join(segments)


def _join(folder: str, pattern: str) -> str:
    return f"{folder}/{pattern}" if folder and pattern else folder or pattern


def _bad_card(label: str, problem: str) -> SourceError:
    return SourceError(f"{label}: README.md: {problem}.", hint="Name the files by path instead of by config.")

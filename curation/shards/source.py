"""From what a person names (files, folders, globs, URLs, Hub data sets) to an ordered list of shards.

A shard's name is relative to what was named, never a path of the machine, so that equal inputs give equal ledgers.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from curation.errors import SourceError
from curation.shards.remote_shard import RemoteShard

_HUB_PREFIX = "hf://"
SHARD_SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst", ".json.gz", ".ndjson", ".json")


@dataclass(frozen=True)
class SourceShard:
    """One listed shard. `location` is a local path, or where `remote` is set its address without secrets."""

    name: str
    location: str
    size_bytes: int
    remote: RemoteShard | None = None


def list_shards(sources: Sequence[str], *, config: str | None = None, split: str | None = None) -> list[SourceShard]:
    """The shards of everything named, in the order named, each place once. `config` and `split` are of Hub data sets.

    Raises SourceError when something is not there or holds no shard.
    """
    found: list[SourceShard] = []
    for source in sources:
        if source.startswith(_HUB_PREFIX):
            # Imported here: HTTP clients take a second to load, and local runs need none.
            from curation.shards.hub import list_hub_shards, parse_hub_url

            remote = list_hub_shards(parse_hub_url(source), config=config, split=split)
            found += [SourceShard(shard.path, shard.uri, shard.size_bytes, shard) for shard in remote]
        elif "://" in source:
            from curation.shards.remote import list_remote_shards

            remote = list_remote_shards(source)
            found += [SourceShard(_name_remote(shard), shard.uri, shard.size_bytes, shard) for shard in remote]
        else:
            found += list_local_shards(source)
    return _name_apart(found)


def _name_remote(shard: RemoteShard) -> str:
    return shard.path.partition("?")[0].rstrip("/").rpartition("/")[2]


def list_local_shards(source: str) -> list[SourceShard]:
    """The shards of one local file, folder (searched to the bottom) or glob, by path. Raises SourceError when there are none."""
    path = Path(source)
    if path.is_file():
        return [_describe(path, path.parent)]
    if path.is_dir():
        found = [file for file in path.rglob("*") if not file.is_dir() and _is_shard(file.relative_to(path))]
        root = path
    elif glob.has_magic(source):
        found = [Path(match) for match in glob.glob(source, recursive=True) if not Path(match).is_dir()]
        root = _fixed_root(source)
    else:
        raise SourceError(
            f"There is no file or folder {source}.", hint="Check the path; a pattern must be quoted from the shell."
        )
    if not found:
        raise SourceError(f"{source} holds no shards.", hint=f"Shards end in {', '.join(SHARD_SUFFIXES)}.")
    for file in sorted(found):
        if not file.is_file():
            raise SourceError(f"{file} is a link to nothing.", hint="Restore what it points to, or remove the link.")
    return [_describe(file, root) for file in sorted(found)]


def _name_apart(shards: Sequence[SourceShard]) -> list[SourceShard]:
    """The same shards without the second listing of a place; a name that is taken gets a number."""
    named: dict[str, SourceShard] = {}
    locations: set[str] = set()
    for shard in shards:
        if shard.location in locations:
            continue
        locations.add(shard.location)
        name, number = shard.name, 1
        while name in named:
            number += 1
            name = f"{shard.name}#{number}"
        named[name] = replace(shard, name=name)
    return list(named.values())


def _describe(file: Path, root: Path) -> SourceShard:
    name = file.relative_to(root).as_posix()
    try:
        name.encode()
    except UnicodeEncodeError:
        raise SourceError(f"{str(file)!a} has a name that is not UTF-8.", hint="Rename the file.") from None
    return SourceShard(name, str(file.resolve()), file.stat().st_size)


def _is_shard(relative: Path) -> bool:
    is_hidden = any(part.startswith((".", "_")) for part in relative.parts)
    return not is_hidden and relative.name.endswith(SHARD_SUFFIXES)


def _fixed_root(pattern: str) -> Path:
    """The folder above the first wildcard."""
    fixed = []
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return Path(*fixed) if fixed else Path()

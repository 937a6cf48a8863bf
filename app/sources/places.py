"""Places: how a location is spelt, and whether the allow-list has it. Nothing is opened or resolved here but local paths.

Invariant: what is checked is what is used. A location is brought into one spelling first, and a local path to where its
links lead, so that no `..`, link, percent sign or user name makes it mean another place.
"""

from __future__ import annotations

import glob
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from curation.shards.hub import parse_hub_url
from curation.shards.remote_shard import mask_url
from curation.shards.source import SourceShard
from curation.web_address import DEFAULT_PORTS, WebAddress, normalize_host, normalize_path
from primer.app.core.errors import NotAllowed, Unprocessable

HUB = "hf://datasets/"
WEB_SCHEMES = tuple(DEFAULT_PORTS)
# Object stores are spoken to at the operator's own endpoint: the location names a bucket, never a machine.
STORE_SCHEMES = ("s3", "gs", "az", "abfs", "abfss")

_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")
_HIDDEN_SEPARATORS = re.compile(r"%(?:2[fF]|5[cC]|00)")
_MAX_DECODINGS = 4


@dataclass(frozen=True)
class Prefix:
    """An entry of the allow-list, in its normal spelling. `allows_private`: addresses of private networks too."""

    text: str
    allows_private: bool = False


def normalize_prefix(prefix: str) -> str:
    """The normal spelling of a new entry. Raises Unprocessable for what would allow everything or nothing."""
    if prefix.rstrip("/") == HUB.rstrip("/"):
        return HUB
    if prefix.startswith(HUB):
        segments = prefix.removeprefix(HUB).strip("/").split("/")
        if len(segments) > 2 or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", part) for part in segments):
            raise Unprocessable(f"{prefix!a} is no prefix of the Hub.", hint=f"{HUB}, {HUB}OWNER or {HUB}OWNER/NAME.")
        return HUB + "/".join(segments)
    if glob.has_magic(prefix):
        raise Unprocessable(f"{prefix!a} holds a wildcard.", hint="A prefix covers everything below it.")
    text = normalize_location(prefix)
    if text == "/":
        raise Unprocessable("The whole disk cannot be allowed.", hint="Name the folder that holds shards.")
    if "?" in text:
        raise Unprocessable(f"{prefix!a} has a query.", hint="Name scheme, host and path.")
    return text.rstrip("/") if "://" in text else text


def normalize_location(location: str) -> str:
    """The normal spelling of a location. Raises Unprocessable when it could be read in more than one way."""
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in location) or location != location.strip():
        raise Unprocessable(f"{location!a} holds control characters or outer spaces.", hint="Remove them.")
    scheme, separator, rest = location.partition("://")
    if not separator or location.startswith("/"):
        if separator:
            raise Unprocessable(f"{location!a} is neither path nor URL.", hint="Give an absolute path or a URL.")
        return _normalize_path(location)
    if "::" in location.replace("[::", "["):
        raise Unprocessable(f"{location!a} is a chained address.", hint="Unpack it and name the files.")
    if mask_url(location) != location or (scheme.lower() in WEB_SCHEMES and "@" in rest.partition("/")[0]):
        # Not quoted: it holds a secret.
        raise Unprocessable("The address holds a user name or a secret.", hint="Credentials belong to the service.")
    match scheme.lower():
        case "file":
            if not rest.startswith("/"):
                raise Unprocessable(f"{location!a} names a machine.", hint="Write file:///path or the path alone.")
            return _normalize_path(rest)
        case "hf":
            return parse_hub_url(location).label
        case scheme_name if scheme_name in WEB_SCHEMES:
            return str(read_web_location(location))
        case scheme_name if scheme_name in STORE_SCHEMES:
            return _normalize_store(location, scheme_name, rest)
    raise Unprocessable(
        f"{location!a} has a scheme that sources cannot have.",
        hint=f"Paths, {HUB}…, {', '.join(f'{name}://' for name in (*WEB_SCHEMES, *STORE_SCHEMES))}.",
    )


def read_web_location(url: str) -> WebAddress:
    """The parts of an http(s) address. Raises Unprocessable for a spelling that servers and clients read differently."""
    scheme, _, rest = url.partition("://")
    authority, path, query = re.fullmatch(r"([^/?#]*)([^?#]*)(.*)", rest, re.DOTALL).groups()  # type: ignore[union-attr]
    match = _AUTHORITY.fullmatch(authority)
    if match is None or "%" in authority or "@" in authority or "\\" in url or "#" in query or " " in url:
        raise Unprocessable(f"{mask_url(url)!a} is no plain web address.", hint="Write https://HOST[:PORT]/PATH.")
    _require_plain(path, url)
    port = int(match["port"]) if match["port"] else None
    return WebAddress(
        scheme.lower(),
        normalize_host(match["host"]),
        None if port == DEFAULT_PORTS[scheme.lower()] else port,
        normalize_path(path),
        query.removeprefix("?"),
    )


def _require_plain(path: str, url: str) -> None:
    """Raises where decoding a path, however often a server may do so, gives it other segments."""
    decoded = path
    for _ in range(_MAX_DECODINGS):
        if _HIDDEN_SEPARATORS.search(decoded):
            break
        again = unquote(decoded)
        if again == decoded:
            return
        if decoded != path and {".", ".."} & set(again.split("/")):
            break
        decoded = again
    raise Unprocessable(f"{mask_url(url)!a} hides a separator or a dot segment.", hint="Write the path plainly.")


def _normalize_store(location: str, scheme: str, rest: str) -> str:
    bucket, _, key = rest.partition("/")
    if not bucket or {".", ".."} & set(key.split("/")):
        raise Unprocessable(f"{location!a} is no plain address of a bucket.", hint="Write s3://BUCKET/PATH.")
    return f"{scheme}://{bucket}/{key}"


def _normalize_path(location: str) -> str:
    """An absolute path whose links are followed up to its first wildcard."""
    if not location.startswith("/"):
        raise Unprocessable(f"{location!a} is not an absolute path.", hint="Give the whole path, or a URL.")
    try:
        if not glob.has_magic(location) or Path(location).exists():
            return str(Path(location).resolve())
        parts = PurePosixPath(location).parts
        first = next(index for index, part in enumerate(parts) if glob.has_magic(part))
        if ".." in parts[first:]:
            raise Unprocessable(f"{location!a} climbs out of a wildcard.", hint="Leave out `..` after it.")
        return str(Path(*parts[:first]).resolve().joinpath(*parts[first:]))
    except (OSError, RuntimeError, ValueError) as error:
        raise Unprocessable(f"{location!a} cannot be followed.", hint="Is it a loop of links, or too long?") from error


class Places:
    """The allow-list."""

    def __init__(self, prefixes: Iterable[Prefix]) -> None:
        self.prefixes = tuple(prefixes)

    def find(self, location: str) -> Prefix:
        """The entry that has a location, one that allows private addresses before others. Raises NotAllowed.

        `location` is in its normal spelling.
        """
        found = [prefix for prefix in self.prefixes if _covers(prefix.text, location)]
        if not found:
            raise NotAllowed(
                f"{mask_url(location)!a} is under no place that sources may name.",
                hint="An admin adds places: POST /api/v1/allowed-prefixes.",
            )
        return max(found, key=lambda prefix: prefix.allows_private)

    def require_shard(self, shard: SourceShard) -> None:
        """Raises NotAllowed when a listed shard lies elsewhere than its source said: behind a link, or on another host."""
        address = shard.location if shard.remote is None else shard.remote.url
        if shard.remote is not None and shard.remote.uri.startswith("hf://"):
            address = shard.remote.uri
        self.find(normalize_location(address))


def _covers(prefix: str, location: str) -> bool:
    if prefix.startswith("/") or location.startswith("/"):
        return prefix.startswith("/") and location.startswith("/") and _is_below(_split(prefix), _split(location))
    if prefix.startswith(HUB):
        if not location.startswith(HUB):
            return False
        wanted = [part for part in prefix.removeprefix(HUB).split("/") if part]
        return wanted == parse_hub_url(location).repository.split("/")[: len(wanted)]
    scheme, _, rest = prefix.partition("://")
    other_scheme, _, other_rest = location.partition("://")
    if scheme != other_scheme:
        return False
    if scheme in WEB_SCHEMES:
        other_rest = other_rest.partition("?")[0]
    origin, *path = rest.rstrip("/").split("/")
    other_origin, *other_path = other_rest.split("/")
    return origin == other_origin and _is_below(path, other_path)


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _is_below(folder: list[str], path: list[str]) -> bool:
    return path[: len(folder)] == folder

"""Web addresses in one spelling, so that two spellings of one place are equal. No connection is opened and nothing raises.

Host names are lower-case punycode without a closing dot; paths have no dot segments and no needless percent signs.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from urllib.parse import quote, unquote

DEFAULT_PORTS = {"http": 80, "https": 443}

_MAX_HOST_CHARS = 253  # of RFC 1035; the codec for punycode takes the square of what is longer
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})

# As browsers read it: backslashes are slashes, and what stands before the last @ is no host.
HOST_PATTERN = (
    r"^\s*(?:[A-Za-z][A-Za-z0-9+.\-]*:[/\\]+|[/\\]*)(?:[^/?#\\]*@)?(?P<host>\[[^\]]*\]|[^/?#\\:]*)(?P<rest>(?s:.*))"
)
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.\-]*):[/\\]+")
_ADDRESS = re.compile(HOST_PATTERN)


@dataclass(frozen=True)
class WebAddress:
    """`port` None: the scheme's own. `scheme` "": none was given. `query` without its question mark; fragments are dropped."""

    scheme: str
    host: str
    port: int | None
    path: str
    query: str

    def __str__(self) -> str:
        port = f":{self.port}" if self.port is not None else ""
        query = f"?{self.query}" if self.query else ""
        return f"{self.scheme}://{self.host}{port}{self.path}{query}"


def read_address(url: str) -> WebAddress:
    """The address that a browser would go to. The host is "" where there is none."""
    match = _ADDRESS.match(url)
    assert match is not None, "every part of the pattern may be empty"
    scheme = _SCHEME.match(url)
    name = scheme[1].lower() if scheme else ""
    rest = match["rest"].partition("#")[0]
    port: int | None = None
    if rest.startswith(":"):
        digits = re.match(r":([0-9]*)", rest)
        assert digits is not None
        rest = rest[digits.end() :]
        port = int(digits[1][:6]) if digits[1] else None
    before, _, query = rest.partition("?")
    if port == DEFAULT_PORTS.get(name, -1):
        port = None
    return WebAddress(
        name, normalize_host(match["host"]), port, normalize_path(before.replace("\\", "/")), _respell(query)
    )


def normalize_host(host: str) -> str:
    """Lower case, punycode, no closing dot."""
    host = unquote(host).strip().translate(_DOTS).rstrip(".")
    if not host.isascii() and len(host) <= _MAX_HOST_CHARS:
        try:
            return host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return host.casefold()
    return host.lower() if host.isascii() else host.casefold()


def normalize_path(path: str) -> str:
    """Begins with a slash; `.` and `..` are resolved, also where they are percent-encoded, and never climb above the root."""
    kept: list[str] = []
    segments = _respell(path).split("/")
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    joined = "/".join(kept)
    return joined if joined.startswith("/") else f"/{joined}"


def _respell(text: str) -> str:
    """Percent signs only where RFC 3986 needs them, in upper case."""

    def respell(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in _UNRESERVED else match[0].upper()

    return quote(_ESCAPE.sub(respell, text), safe="%/:@!$&'()*+,;=~?[]", errors="replace")

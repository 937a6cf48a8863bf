"""One remote file of a source, and its address with every secret removed.

Nothing here opens a connection. Invariant: `uri` never holds a secret, so it may go into ledgers, messages and logs;
`url` and `storage_options` may, so they are kept out of `repr`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

DATA_SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst", ".json.gz")

_SECRET_WORDS = ("token", "secret", "signature", "passw", "credential", "apikey", "api_key", "api-key", "auth")
_SECRET_NAMES = frozenset({"sig", "sign", "key", "pass", "pwd", "awsaccesskeyid", "googleaccessid"})
_SIGNED_PREFIXES = ("x-amz-", "x-goog-", "x-xet-")
# The other parameters of an Azure shared access signature: they change with every signature, as X-Amz-Date does.
_AZURE_NAMES = frozenset({"sv", "ss", "srt", "sp", "se", "st", "spr", "sr", "sip", "ske", "sks", "skt", "skv"})


@dataclass(frozen=True)
class RemoteShard:
    """One immutable remote file.

    `uri` is the stable address without secrets; `path` the file's place within its source; `sha256` None where the
    server publishes none; `revision` a commit of the Hub, else a hash of what the file system says about this version.
    """

    uri: str
    path: str
    size_bytes: int
    sha256: str | None
    revision: str
    url: str = field(repr=False)
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)


def is_data_file(path: str) -> bool:
    """Whether a reader exists for the file's suffix (upper case counts too)."""
    return path.lower().endswith(DATA_SUFFIXES)


def mask_url(url: str) -> str:
    """The address without user:password@ and without query parameters that carry or belong to a signature.

    Linear, never raises, and idempotent; fsspec's chained addresses (`zip://a::https://…`) are masked link by link.
    Over http(s) a bare user name and the fragment go too: both are used to carry tokens.
    """
    return "::".join(_mask_link(link) for link in url.split("::"))


def _mask_link(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    is_http = scheme.lower() in {"http", "https"}
    if is_http:
        rest = rest.partition("#")[0]
    address, question_mark, query = rest.partition("?")
    authority, slash, path = address.partition("/")
    user, at, host = authority.rpartition("@")
    if at and (is_http or ":" in user):
        authority = host
    masked = f"{scheme}://{authority}{slash}{path}"
    if not question_mark:
        return masked
    kept = _drop_secret_parameters(query.split("&"))
    return f"{masked}?{'&'.join(kept)}" if kept else masked


def _drop_secret_parameters(parameters: list[str]) -> list[str]:
    names = [unquote(parameter.partition("=")[0]).lower() for parameter in parameters]
    is_azure_signed = "sig" in names
    return [
        parameter
        for parameter, name in zip(parameters, names, strict=True)
        if "=" not in parameter or not (_is_secret_name(name) or (is_azure_signed and name in _AZURE_NAMES))
    ]


def _is_secret_name(name: str) -> bool:
    return name in _SECRET_NAMES or name.startswith(_SIGNED_PREFIXES) or any(word in name for word in _SECRET_WORDS)

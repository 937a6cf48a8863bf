"""Shards behind any fsspec address (s3://, gs://, https://, memory://, file://), and the reader of any remote shard.

The Hub's own listing is in hub.py. Invariant: a shard listed here is only read while the file system still says the
same about it, because such files have no published hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import fsspec
from fsspec.registry import known_implementations

from curation.errors import PrimerError, SourceError
from curation.shards.http_file import HttpFile, Opening, RemoteFile
from curation.shards.hub import build_hub_headers, explain_refusal
from curation.shards.network import describe_client, find_network
from curation.shards.path_patterns import has_magic
from curation.shards.remote_shard import RemoteShard, is_data_file, mask_url
from curation.shards.retries import TRANSIENT_STATUSES, Interruption, RetryPolicy, run_with_retries

__all__ = ["RemoteShard", "list_remote_shards", "mask_url", "open_remote_file"]

_CHUNK_BYTES = 1 << 20
# What file systems call the mark of a version, surest first; `created` is the memory file system's.
_VERSION_FIELDS = (
    "ETag",
    "etag",
    "md5Hash",
    "generation",
    "LastModified",
    "Last-Modified",
    "last_modified",
    "mtime",
    "created",
)
# Drivers of object stores raise errors of packages that need not be installed: known by their names.
_DRIVER_PACKAGES = frozenset({"botocore", "aiobotocore", "azure", "gcsfs", "google"})
_CONNECTION_ERRORS = frozenset({"HTTPClientError", "ConnectionError", "ServiceRequestError"})
_TOLD_ERRORS = (OSError, aiohttp.ClientError, PrimerError)
# Addresses, and redirects to them, that no later attempt can ask for.
_LASTING_REQUESTS = (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, aiohttp.TooManyRedirects)
_LASTING_OS_ERRORS = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)


def list_remote_shards(
    url: str, storage_options: Mapping[str, Any] | None = None, *, policy: RetryPolicy | None = None
) -> list[RemoteShard]:
    """The data files behind a file, folder (over http(s): an index page, ending in "/") or pattern, sorted by address.

    A file named in full is taken whatever its suffix. Raises SourceError when the driver is missing, nothing is there,
    or the server does not say how large a file is.
    """
    options = dict(storage_options or {})
    label = mask_url(url)
    file_system, path = _open_file_system(url, options)

    def find_files() -> list[tuple[str, dict[str, Any]]]:
        with _translate_errors(label, url):
            is_http = url.lower().startswith(("http://", "https://"))
            if has_magic(path.partition("?")[0] if is_http else path):
                found = file_system.glob(path, detail=True)
            elif path.endswith("/") if is_http else file_system.isdir(path):
                found = file_system.find(path, detail=True)
            else:
                return [(path, file_system.info(path))]
            names = sorted(name for name, info in found.items() if info["type"] == "file" and is_data_file(name))
            return [(name, file_system.info(name)) for name in names]

    files = run_with_retries(find_files, label=label, policy=policy or RetryPolicy())
    if not files:
        raise SourceError(
            f"{label}: no data files there.", hint="Name a folder, a file, or a pattern such as *.parquet."
        )
    return [_build_shard(file_system, name, info, options) for name, info in files]


def open_remote_file(shard: RemoteShard, *, policy: RetryPolicy | None = None) -> RemoteFile:
    """The shard's bytes, whatever protocol they come by. The Hub's token is looked up here: shards carry none."""
    policy = policy or RetryPolicy()
    if shard.uri.startswith("hf://"):
        headers = build_hub_headers(shard.url)
        return HttpFile(shard.url, shard.uri, headers, shard.size_bytes, policy, explain_refusal)
    file_system, path = _open_file_system(shard.url, dict(shard.storage_options))

    def check_version() -> None:
        with _translate_errors(shard.uri, shard.url):
            file_system.invalidate_cache()
            current = _hash_version(shard.uri, file_system.info(path))
        if current != shard.revision:
            raise SourceError(f"{shard.uri}: changed since it was listed.", hint="List the source again.")

    run_with_retries(check_version, label=shard.uri, policy=policy)
    if shard.url.lower().startswith(("http://", "https://")) and not shard.storage_options:
        return HttpFile(shard.url, shard.uri, {}, shard.size_bytes, policy)
    return _FsspecFile(shard.uri, shard.url, shard.size_bytes, file_system, path, policy, shard.revision)


@dataclass
class _FsspecFile:
    """`validator` is the shard's revision: it was compared with the file system before the file was opened."""

    label: str
    url: str = field(repr=False)
    size_bytes: int | None
    file_system: Any = field(repr=False)
    path: str = field(repr=False)
    policy: RetryPolicy
    validator: str | None

    @contextmanager
    def open_at(self, start: int) -> Iterator[Opening]:
        with _translate_errors(self.label, self.url), self.file_system.open(self.path, "rb") as handle:
            if start > 0:
                handle.seek(start)
            yield start, self._iterate_chunks(handle)

    def _iterate_chunks(self, handle: Any) -> Iterator[bytes]:
        with _translate_errors(self.label, self.url):
            while chunk := handle.read(_CHUNK_BYTES):
                yield chunk


def _open_file_system(url: str, options: dict[str, Any]) -> tuple[Any, str]:
    protocol = url.partition("://")[0]
    if "::" in url:
        raise SourceError(f"{mask_url(url)}: chained addresses are not read.", hint="Unpack it and name the files.")
    network = find_network()
    if network is not None and protocol.lower() in {"http", "https"}:
        options = {**options, **describe_client(network)}
    try:
        file_system, path = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        driver = known_implementations.get(protocol, {})
        package = driver.get("class", "").partition(".")[0]
        hint = f"pip install {package}" if package not in {"", "fsspec"} else driver.get("err", "Install its driver.")
        raise SourceError(f"{mask_url(url)}: no driver for {protocol}:// is installed.", hint=hint) from error
    except ValueError as error:
        cause = error if mask_url(url) == url else None
        raise SourceError(f"{mask_url(url)}: cannot be opened.", hint=f"Is {protocol}:// right?") from cause
    return file_system, path


def _build_shard(file_system: Any, name: str, info: Mapping[str, Any], options: dict[str, Any]) -> RemoteShard:
    url = file_system.unstrip_protocol(name)
    uri = mask_url(url)
    size_bytes = info.get("size")
    if size_bytes is None:
        raise SourceError(
            f"{uri}: the server does not say how large it is.", hint="Download it and use the local file."
        )
    return RemoteShard(uri, uri.partition("://")[2], size_bytes, None, _hash_version(uri, info), url, options)


def _hash_version(uri: str, info: Mapping[str, Any]) -> str:
    """Names this version of the file: its address, size, and the surest mark of a version that the driver reports."""
    mark = next((str(info[name]) for name in _VERSION_FIELDS if info.get(name)), "")
    return hashlib.sha256(json.dumps([uri, info.get("size"), mark]).encode()).hexdigest()[:40]


@contextmanager
def _translate_errors(label: str, url: str) -> Iterator[None]:
    """Drivers raise OSError, aiohttp's own errors over http, and those of their store's client. Their messages may quote
    the address with its secrets: none is repeated, and where there are secrets the cause is cut off too."""
    try:
        yield
    except (OSError, aiohttp.ClientError) as error:
        cause = error if label == url else None
        # fsspec says "not found" over http for every failure; what really happened is the cause.
        real: BaseException = error
        if isinstance(error, FileNotFoundError) and isinstance(error.__cause__, _TOLD_ERRORS):
            real = error.__cause__
        if isinstance(real, PrimerError):
            raise real from None
        if isinstance(real, _LASTING_REQUESTS):
            raise SourceError(
                f"{label}: cannot be requested ({type(real).__name__}).", hint="Check the address and where it leads."
            ) from cause
        status = real.status if isinstance(real, aiohttp.ClientResponseError) else None
        if isinstance(real, PermissionError) or status in {401, 403}:
            raise SourceError(f"{label}: access is refused.", hint="Check the credentials.") from cause
        if isinstance(real, _LASTING_OS_ERRORS) or (status is not None and status not in TRANSIENT_STATUSES):
            raise SourceError(f"{label}: there is no such file.", hint="Check address and credentials.") from cause
        raise Interruption(f"the file system reports {type(real).__name__}") from cause
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _DRIVER_PACKAGES:
            raise
        shown = error if label == url else None
        if any(kind.__name__ in _CONNECTION_ERRORS for kind in type(error).__mro__):
            raise Interruption(f"the file system reports {type(error).__name__}") from shown
        raise SourceError(
            f"{label}: the driver gives up ({type(error).__name__}).", hint="Check address and credentials."
        ) from shown

"""A file behind HTTP that can be opened at any byte: ranges, validators, refusals.

Saving and streaming live elsewhere. Invariant: bytes of two versions of a file are never joined, because a range is
asked for with If-Range and whatever else the server then sends counts as a new beginning.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

import httpx2 as httpx

from curation.errors import SourceError
from curation.shards.network import PinnedTransport, find_network
from curation.shards.retries import TRANSIENT_STATUSES, Interruption, RetryPolicy, read_retry_after

# Failures of the connection; everything else httpx raises for a request is a fault of the request itself.
_PASSING_ERRORS = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)

Opening = tuple[int, Iterator[bytes]]


class RemoteFile(Protocol):
    """What saving and streaming need of a remote file, whatever the protocol."""

    label: str
    size_bytes: int | None
    policy: RetryPolicy
    validator: str | None

    def open_at(self, start: int) -> AbstractContextManager[Opening]:
        """Yield the offset of the first byte to come (`start`, or 0 for a new beginning) and the chunks from there.

        Raises Interruption for what may pass and SourceError for what will not, both here and from the chunks.
        """
        ...


def describe_refusal(label: str, response: httpx.Response) -> SourceError:
    """The error for a status that no retry can change, for servers of which nothing more is known."""
    status = response.status_code
    if status in {401, 403}:
        return SourceError(f"{label}: the server refuses access (HTTP {status}).", hint="Check its credentials.")
    if status in {404, 410}:
        return SourceError(f"{label}: there is no such file (HTTP {status}).", hint="Check the address.")
    return SourceError(f"{label}: the server answers HTTP {status}.", hint="Check the address.")


def open_client(policy: RetryPolicy) -> httpx.Client:
    """A client that follows redirects; httpx drops Authorization when a redirect leaves the origin."""
    timeout = httpx.Timeout(policy.read_timeout_seconds, connect=policy.connect_timeout_seconds)
    network = find_network()
    if network is None:
        return httpx.Client(follow_redirects=True, timeout=timeout, verify=_load_certificates())
    transport = PinnedTransport(network, verify=_load_certificates())
    return httpx.Client(follow_redirects=True, timeout=timeout, transport=transport, trust_env=False)


@cache
def _load_certificates() -> ssl.SSLContext:
    # Measured: 0.1 s a time, nearly all of what a client costs.
    return httpx.create_ssl_context()


@contextmanager
def translate_http_errors(label: str) -> Iterator[None]:
    """Turn httpx's errors into Interruption (may pass) or SourceError (will not)."""
    try:
        yield
    except _PASSING_ERRORS as error:
        raise Interruption(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error
    except (httpx.RequestError, httpx.InvalidURL) as error:
        raise SourceError(
            f"{label}: cannot be requested ({type(error).__name__}).", hint="Check the address."
        ) from error


def check_status(
    response: httpx.Response, label: str, explain: Callable[[str, httpx.Response], SourceError] = describe_refusal
) -> None:
    """Raise unless it is a success: Interruption for a passing state of the server, else what `explain` says."""
    if response.status_code in TRANSIENT_STATUSES:
        wish = read_retry_after(response.headers.get("Retry-After"))
        raise Interruption(f"the server answers HTTP {response.status_code}", retry_after_seconds=wish)
    if not response.is_success:
        raise explain(label, response)


@dataclass
class HttpFile:
    """One file behind `url`. `validator` is the strong ETag of the version being read, None where there is none."""

    url: str = field(repr=False)
    label: str
    headers: Mapping[str, str] = field(repr=False)
    size_bytes: int | None
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    explain: Callable[[str, httpx.Response], SourceError] = describe_refusal
    validator: str | None = None

    @contextmanager
    def open_at(self, start: int) -> Iterator[Opening]:
        # Identity: a compressed body has other offsets than the file, so neither ranges nor sizes would mean anything.
        headers = {**self.headers, "Accept-Encoding": "identity"}
        if start > 0:
            headers["Range"] = f"bytes={start}-"
            if self.validator is not None:
                headers["If-Range"] = self.validator
        with (
            translate_http_errors(self.label),
            open_client(self.policy) as client,
            client.stream("GET", self.url, headers=headers) as response,
        ):
            if not (start > 0 and self._is_useless_range(response)):
                yield self._read_opening(response, start)
                return
        with self.open_at(0) as opening:
            yield opening

    def _is_useless_range(self, response: httpx.Response) -> bool:
        """The range does not exist any more, or belongs to another version (some servers ignore If-Range)."""
        if response.status_code == 416:
            return True
        etag = response.headers.get("ETag")
        return response.status_code == 206 and None not in (self.validator, etag) and etag != self.validator

    def _read_opening(self, response: httpx.Response, start: int) -> Opening:
        check_status(response, self.label, self.explain)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise SourceError(
                f"{self.label}: the server sends it compressed.", hint="Look for a proxy that re-encodes."
            )
        if response.status_code == 206:
            first, total = _read_content_range(response.headers.get("Content-Range", ""))
            if first != start:
                raise Interruption(f"the server sends bytes from {first} although asked from {start}")
        else:
            first, total = 0, _read_length(response.headers.get("Content-Length"))
            etag = response.headers.get("ETag")
            self.validator = None if etag is None or etag.startswith("W/") else etag
        if None not in (total, self.size_bytes) and total != self.size_bytes:
            raise SourceError(
                f"{self.label}: has {total} bytes on the server but {self.size_bytes} were listed.",
                hint="It changed since it was listed: list the source again.",
            )
        return first, self._iterate_chunks(response, first, total if self.size_bytes is None else self.size_bytes)

    def _iterate_chunks(self, response: httpx.Response, position: int, size_bytes: int | None) -> Iterator[bytes]:
        with translate_http_errors(self.label):
            for chunk in response.iter_raw():
                position += len(chunk)
                if size_bytes is not None and position > size_bytes:
                    raise SourceError(f"{self.label}: more than the {size_bytes} bytes listed.", hint="List it again.")
                yield chunk
        if size_bytes is not None and position < size_bytes:
            raise Interruption("the server ended the transfer early")


def _read_content_range(value: str) -> tuple[int | None, int | None]:
    """First byte and total of `bytes 5-9/10`; None for what is missing or unreadable."""
    unit, _, rest = value.partition(" ")
    span, _, total = rest.partition("/")
    return (_read_length(span.partition("-")[0]) if unit == "bytes" else None), _read_length(total)


def _read_length(value: str | None) -> int | None:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None

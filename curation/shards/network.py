"""Who may be spoken to over HTTP: a hook for programs that read addresses which other people named.

Inside `reaching_through(network)` every request of this context asks the network first, and goes to the very address that
the network gave for the host, so that a name cannot mean one machine when it is checked and another when it is used.
Proxies of the environment are not used then: they would look names up themselves.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import aiohttp
import httpx2 as httpx
from aiohttp.abc import AbstractResolver, ResolveResult

_PORTS = {"http": 80, "https": 443}


class Network(Protocol):
    """What decides about requests. Both raise PrimerError to refuse."""

    def check_url(self, url: str) -> None:
        """Called with the address of every request, redirects included, before anything is resolved."""
        ...

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The IP addresses to connect to, one or more; `host` is a name or an IP address without brackets."""
        ...


_network: ContextVar[Network | None] = ContextVar("primer_network", default=None)


@contextmanager
def reaching_through(network: Network) -> Iterator[None]:
    """Let `network` decide about every request made inside. Threads that are started inside do not know of it."""
    token = _network.set(network)
    try:
        yield
    finally:
        _network.reset(token)


def find_network() -> Network | None:
    return _network.get()


class PinnedTransport(httpx.HTTPTransport):
    """Connects to the address that the network gives; certificates and the Host header are still of the name."""

    def __init__(self, network: Network, **options: Any) -> None:
        # A kept connection would be shared by every name at that address, whosever certificate was checked.
        super().__init__(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0), **options)
        self._network = network

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._network.check_url(str(request.url))
        host = request.url.raw_host.decode("ascii").strip("[]")
        address = self._network.resolve(host, request.url.port or _PORTS[request.url.scheme])[0]
        pinned = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        return super().handle_request(pinned)


class _PinnedResolver(AbstractResolver):
    def __init__(self, network: Network) -> None:
        self._network = network

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await asyncio.to_thread(self._network.resolve, host, port)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        pass


def describe_client(network: Network) -> dict[str, Any]:
    """Arguments of fsspec's HTTP file system that make it ask the network."""

    async def check(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        network.check_url(str(request.url))
        # Also where the host is an IP address: then no resolver is asked.
        await asyncio.to_thread(network.resolve, request.url.host or "", request.url.port or 0)
        return await handler(request)

    async def open_session(**options: Any) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(resolver=_PinnedResolver(network), use_dns_cache=False)
        return aiohttp.ClientSession(connector=connector, middlewares=(check,), trust_env=False, **options)

    # A file system that is kept for the next caller would keep this network too.
    return {"get_client": open_session, "skip_instance_cache": True}

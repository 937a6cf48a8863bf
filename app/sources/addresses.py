"""Addresses: which machines the service may speak to when a source names a host.

A name is resolved once, all of its addresses are checked, and the connection goes to one of them
(`curation.shards.network`), so that a name cannot change its meaning after the check.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence

from curation.errors import SourceError
from curation.web_address import DEFAULT_PORTS, normalize_host
from primer.app.sources.places import HUB, WEB_SCHEMES, Places, normalize_location, read_web_location

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
LookUp = Callable[[str, int], Sequence[str]]

# IETF protocol assignments, which tables of older Pythons call global.
_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")


def look_up(host: str, port: int) -> list[str]:
    """Every address of a name, in the system's order. Raises SourceError when it has none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceError(f"The host {host!a} cannot be found.", hint="Check the address.") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(address: str) -> bool:
    """Whether an IP address is of the open internet; so must be any IPv4 address that an IPv6 one stands for."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_open(form) for form in _list_forms(parsed))


def _list_forms(address: IpAddress) -> list[IpAddress]:
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    inner: list[IpAddress] = [form for form in (address.ipv4_mapped, address.sixtofour) if form is not None]
    inner += address.teredo or ()
    # What is mapped is an IPv4 address in another dress: whether the dress counts as open depends on Python's version.
    return inner if address.ipv4_mapped is not None else [address, *inner]


def _is_open(address: IpAddress) -> bool:
    is_special = address.is_multicast or address.is_reserved or address.is_unspecified or address in _PROTOCOLS
    return address.is_global and not is_special


class AddressGuard:
    """The network of one source: what its locations' prefixes allow, redirects included."""

    def __init__(self, places: Places, locations: Sequence[str], *, look_up: LookUp = look_up) -> None:
        self._places = places
        self._look_up = look_up
        self._resolved: dict[tuple[str, int], tuple[str, ...]] = {}
        self._lock = threading.Lock()
        hub = [location for location in locations if location.startswith(HUB)]
        self._has_hub = bool(hub)
        # The Hub hands its files out from hosts that no list knows: a private Hub's may be private too, but then the
        # source may hold nothing else that could be redirected there.
        is_hub_alone = not any(location.partition("://")[0] in WEB_SCHEMES for location in locations)
        self._allows_any_private = (
            bool(hub) and is_hub_alone and all(places.find(place).allows_private for place in hub)
        )
        self._private_origins = {
            (address.host.strip("[]"), address.port or DEFAULT_PORTS[address.scheme])
            for prefix in places.prefixes
            if prefix.allows_private and prefix.text.partition("://")[0] in WEB_SCHEMES
            for address in [read_web_location(prefix.text)]
        }

    def check_url(self, url: str) -> None:
        """Raises NotAllowed for an address that no prefix has. Where the Hub leads, any host may be: its address decides."""
        location = normalize_location(url) if not self._has_hub else url
        if not self._has_hub:
            self._places.find(location)

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Raises SourceError when the name cannot be found, or any address of it is private and must not be."""
        key = normalize_host(host.strip("[]")), port
        with self._lock:
            if key not in self._resolved:
                addresses = tuple(self._look_up(*key))
                is_private_allowed = self._allows_any_private or key in self._private_origins
                if not addresses or not (is_private_allowed or all(map(is_public, addresses))):
                    raise SourceError(
                        f"The host {host!a} is in a private network.",
                        hint="An admin may allow its prefix with private addresses.",
                    )
                self._resolved[key] = addresses
            return self._resolved[key]

"""The hosts of a run's URLs, ordered by their labels from the right, so that a domain and all below it are one run of codes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curation.web_address import HOST_PATTERN, normalize_host

NO_HOST = -1


def find_hosts(urls: pa.ChunkedArray) -> tuple[list[str], npt.NDArray[np.int32]]:
    """The distinct hosts of a slice as written in normal spelling, and for each row its place among them or NO_HOST."""
    hosts = pc.struct_field(pc.extract_regex(urls.combine_chunks().cast(pa.string()), HOST_PATTERN), "host")
    encoded = hosts.dictionary_encode()
    spelled: dict[str, int] = {}
    codes = [_number(spelled, normalize_host(host)) for host in encoded.dictionary.to_pylist()]
    places = encoded.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
    return list(spelled), np.array([*codes, NO_HOST], np.int32)[places]


def _number(spelled: dict[str, int], host: str) -> int:
    return spelled.setdefault(host, len(spelled)) if host else NO_HOST


def order_key(host: str) -> tuple[str, ...]:
    """The labels from the right: a domain's are the first ones of every host below it."""
    return tuple(reversed(host.split(".")))


def write_hosts(path: Path, hosts: Sequence[str]) -> None:
    """`hosts` must be ordered by `order_key`."""
    table = pa.table({"host": pa.array(hosts, pa.large_string())})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


class Hosts:
    """The hosts by code, mapped into memory."""

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        self._hosts = table["host"].combine_chunks()

    def __len__(self) -> int:
        return len(self._hosts)

    def name(self, code: int) -> str:
        return str(self._hosts[code].as_py())

    def find_range(self, domain: str, *, has_subdomains: bool) -> tuple[int, int]:
        """The codes [first, end) of a host, or of it and every host below it."""
        key = order_key(normalize_host(domain))
        codes = range(len(self))
        first = bisect_left(codes, key, key=lambda code: order_key(self.name(code)))
        if has_subdomains:
            return first, bisect_right(codes, key, key=lambda code: order_key(self.name(code))[: len(key)])
        return first, bisect_right(codes, key, key=lambda code: order_key(self.name(code)))

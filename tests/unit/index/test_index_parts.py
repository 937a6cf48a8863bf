"""The small parts of an index: the cache, arrays written in pieces, hosts in order, hashes of words."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from curation.index.array_file import ArrayFile
from curation.index.cache import BoundedCache
from curation.index.hosts import Hosts, find_hosts, order_key, write_hosts
from curation.index.layout import map_array
from curation.index.names import Names, NamesWriter, pack_names
from curation.index.word_places import hash_words


def test_the_least_recently_used_goes_first() -> None:
    cache = BoundedCache(3)
    made: list[str] = []

    def ask(key: str) -> str:
        return cache.get(key, lambda: made.append(key) or key, lambda _: 1)  # type: ignore[func-returns-value]

    for key in ("a", "b", "c", "a", "d", "a", "b"):
        assert ask(key) == key
    assert made == ["a", "b", "c", "d", "b"]


def test_what_is_larger_than_the_cache_is_made_and_not_kept() -> None:
    cache = BoundedCache(10)
    made: list[int] = []
    cache.get("small", lambda: 1, lambda _: 10)
    for _ in range(2):
        assert cache.get("large", lambda: made.append(1) or 7, lambda _: 11) == 7  # type: ignore[func-returns-value]
    assert len(made) == 2
    assert cache.get("small", lambda: pytest.fail("it was pushed out"), lambda _: 10) == 1


def test_many_threads_make_a_value_once() -> None:
    cache, made = BoundedCache(100), list[int]()
    barrier = threading.Barrier(6)

    def make() -> int:
        made.append(1)
        time.sleep(0.05)
        return 5

    def ask() -> None:
        barrier.wait()
        assert cache.get("key", make, lambda _: 1) == 5

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_a_value_that_fails_is_asked_for_again() -> None:
    cache = BoundedCache(100)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 // 0, lambda _: 1)
    assert cache.get("key", lambda: 3, lambda _: 1) == 3


def test_an_array_in_pieces_is_an_array(tmp_path: Path) -> None:
    with ArrayFile(tmp_path / "a.npy", "<i4") as file:
        file.append(np.array([3, -1], np.int64))
        file.append(np.zeros(0, np.int64))
        file.append(np.array([7], np.int64))
    found = np.load(tmp_path / "a.npy")
    assert (found.tolist(), found.dtype, file.extent) == ([3, -1, 7], np.int32, (3.0, 7.0))
    assert map_array(tmp_path / "a.npy").tolist() == [3, -1, 7]


def test_an_empty_array_has_no_extent(tmp_path: Path) -> None:
    with ArrayFile(tmp_path / "a.npy", "<f8") as file:
        file.append(np.array([np.nan, np.inf]))
    assert file.extent is None
    with ArrayFile(tmp_path / "b.npy", "<f8") as file:
        pass
    assert map_array(tmp_path / "b.npy").tolist() == []


@pytest.mark.parametrize("value", [1 << 31, -(1 << 31) - 1])
def test_a_whole_number_that_does_not_fit_is_refused(tmp_path: Path, value: int) -> None:
    with ArrayFile(tmp_path / "a.npy", "<i4") as file, pytest.raises(OverflowError, match="does not fit into int32"):
        file.append(np.array([value], np.int64))


HOSTS = ["com", "example.com", "a.example.com", "b.a.example.com", "example-a.com", "examplea.com", "org", "[::1]"]


def test_a_domain_and_all_below_it_are_one_run(tmp_path: Path) -> None:
    ordered = sorted(HOSTS, key=order_key)
    write_hosts(tmp_path / "hosts.arrow", ordered)
    hosts = Hosts(tmp_path / "hosts.arrow")

    def find(domain: str, *, has_subdomains: bool) -> list[str]:
        return [hosts.name(code) for code in range(*hosts.find_range(domain, has_subdomains=has_subdomains))]

    assert find("example.com", has_subdomains=True) == ["example.com", "a.example.com", "b.a.example.com"]
    assert find("example.com", has_subdomains=False) == ["example.com"]
    assert sorted(find("com", has_subdomains=True)) == sorted(HOSTS[:6])
    assert find("[::1]", has_subdomains=False) == ["[::1]"]
    assert find("ample.com", has_subdomains=True) == []
    assert find("net", has_subdomains=True) == []


def test_hosts_of_addresses_however_they_are_spelled() -> None:
    urls = ["https://Example.com/", "http://user@example.com.:80/x", None, "?nothing", "//b.org", "https://bücher.de/"]
    hosts, codes = find_hosts(pa.chunked_array([urls], pa.string()))
    assert [hosts[code] if code >= 0 else None for code in codes.tolist()] == [
        "example.com",
        "example.com",
        None,
        None,
        "b.org",
        "xn--bcher-kva.de",
    ]
    assert len(hosts) == 3


def test_names_of_groups_that_end_within_slices(tmp_path: Path) -> None:
    writer = NamesWriter(tmp_path / "names")
    expected: list[tuple[str | None, str | None]] = []
    rows = [130, 0, 3, 256]
    for number, count in enumerate(rows):
        ids = [f"{number}-{row}" if row % 3 else None for row in range(count)]
        urls = [f"https://example.org/{row}\n\u0000é" if row % 2 else None for row in range(count)]
        writer.append(pack_names(pa.chunked_array([ids], pa.string()), pa.chunked_array([urls], pa.string())))
        expected += list(zip(ids, urls, strict=True))
    writer.close()
    names = Names(tmp_path / "names", rows)
    wanted = [388, 0, 129, 130, 132, 133, 260, 261, 0]
    assert names.read(wanted) == [expected[position] for position in wanted]
    assert names.read(range(389)) == expected


def test_equal_words_have_equal_hashes_and_no_others() -> None:
    words = ["aa", "ab", "ba", "aab", "a" * 3000, "a" * 3001, "zz", "", "quark"]
    hashes = hash_words(pa.array(words))
    assert len(set(hashes.tolist())) == len(words)
    # Alone, in another place and in a slice of an array a word's hash is the same.
    assert hash_words(pa.array(["quark"]))[0] == hashes[-1]
    assert hash_words(pa.array(words).slice(3, 2)).tolist() == hashes[3:5].tolist()
    assert hash_words(pa.array([], pa.string())).tolist() == []

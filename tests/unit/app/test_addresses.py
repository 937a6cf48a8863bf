"""Which machines a source may lead to: over real sockets, with names that mean other machines than they say."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes.file_server import FileServer
from fakes.hub_server import HubServer

from curation.errors import PrimerError, SourceError
from curation.shards.download import fetch
from curation.shards.network import reaching_through
from curation.shards.remote import list_remote_shards
from curation.shards.remote_reader import RemoteReader
from curation.shards.retries import RetryPolicy
from primer.app.core.errors import NotAllowed
from primer.app.sources.addresses import AddressGuard, is_public, look_up
from primer.app.sources.listing import list_allowed, reaching_source
from primer.app.sources.places import Places, Prefix

ONCE = RetryPolicy(attempts=1)
LINES = b'{"text": "The cat sat on the mat."}\n'


class Names:
    """A resolver double: each name has answers, given in turn, the last one for ever."""

    def __init__(self, **answers: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): given for name, given in answers.items()}
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        given = self.answers[host]
        return given.pop(0) if len(given) > 1 else given[0]


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer({"/data/a.jsonl": LINES, "/secret/a.jsonl": LINES}) as server:
        yield server


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_an_address_of_the_open_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1",
        "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "2002:a9fe:a9fe::",
        "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2001:db8::1", "not an address", "",
    ],
)  # fmt: skip
def test_an_address_of_no_open_network_is_private(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST.", "127.0.0.1", "127.1", "0x7f000001", "0x7f.1", "2130706433", "017700000001", "0177.0.0.1",
     "0", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "169.254.169.254", "2852039166", "0xa9fea9fe"],
)  # fmt: skip
def test_no_spelling_of_this_machine_is_reached(server: FileServer, host: str, tmp_path: Any) -> None:
    """By either client: the one that lists (aiohttp) and the one that reads (httpx)."""
    url = f"http://{host}:{server.port}/data/a.jsonl"
    places = Places([Prefix(f"http://{host.strip('.').lower()}:{server.port}")])
    with pytest.raises(PrimerError), reaching_through(AddressGuard(places, [url])):
        list_remote_shards(url, policy=ONCE)
    with pytest.raises(PrimerError) as raised, reaching_through(AddressGuard(places, [url])):
        fetch(url, tmp_path / "a", size_bytes=None, sha256=None, policy=ONCE)
    assert server.requests == []
    # InvalidURL: httpx itself refuses a number that is neither a name nor an address.
    assert any(said in str(raised.value) for said in ("is in a private network", "cannot be found", "(InvalidURL)"))


def test_a_private_host_is_reached_where_its_prefix_allows_it(server: FileServer) -> None:
    url = f"{server.url}/data/a.jsonl"
    places = Places([Prefix(f"{server.url}/data", allows_private=True)])
    [shard] = list_allowed(places, [url])
    assert (shard.name, shard.size_bytes) == ("a.jsonl", len(LINES))
    with reaching_source(places, [url]):
        assert shard.remote is not None
        assert RemoteReader(shard.remote).read() == LINES
    with pytest.raises(NotAllowed):
        list_allowed(places, [f"{server.url}/secret/a.jsonl"])
    assert not any("secret" in path for _, path, _ in server.requests)


def test_outside_of_a_source_nothing_is_asked(server: FileServer) -> None:
    assert list_remote_shards(f"{server.url}/data/a.jsonl", policy=ONCE)[0].size_bytes == len(LINES)


def test_a_name_is_resolved_once_and_cannot_be_bound_anew(server: FileServer) -> None:
    """The second answer would be a private machine: nobody asks for it, so nobody is led there."""
    names = Names(rebind_example=[["93.184.216.34"], ["127.0.0.1"]])
    url = f"http://rebind.example:{server.port}/data/a.jsonl"
    guard = AddressGuard(Places([Prefix(f"http://rebind.example:{server.port}")]), [url], look_up=names)
    assert guard.resolve("rebind.example", server.port) == ("93.184.216.34",)
    assert guard.resolve("REBIND.example.", server.port) == ("93.184.216.34",)
    assert names.asked == ["rebind.example"]
    assert server.requests == []


def test_the_connection_goes_to_the_checked_address_under_the_name(server: FileServer, tmp_path: Any) -> None:
    """The name exists for the double alone: whoever looked it up a second time would find nothing."""
    names = Names(corpus_invalid=[["127.0.0.1"], ["203.0.113.9"]])
    url = f"http://corpus.invalid:{server.port}/data/a.jsonl"
    places = Places([Prefix(f"http://corpus.invalid:{server.port}", allows_private=True)])
    [shard] = list_allowed(places, [url], look_up=names)
    with reaching_source(places, [url], look_up=Names(corpus_invalid=[["127.0.0.1"], ["203.0.113.9"]])):
        assert shard.remote is not None
        assert RemoteReader(shard.remote, policy=ONCE).read() == LINES
        fetch(url, tmp_path / "a", size_bytes=None, sha256=None, policy=ONCE)
    assert (tmp_path / "a").read_bytes() == LINES
    assert {host for _, _, host in server.requests} == {f"corpus.invalid:{server.port}"}
    assert names.asked == ["corpus.invalid"]


def test_one_private_address_among_public_ones_is_enough_to_refuse(server: FileServer) -> None:
    names = Names(mixed_example=[["93.184.216.34", "127.0.0.1"]], none_example=[[]])
    guard = AddressGuard(Places([]), [], look_up=names)
    for host in ("mixed.example", "none.example"):
        with pytest.raises(SourceError, match="is in a private network"):
            guard.resolve(host, 80)


def test_a_name_that_nobody_knows_is_told(server: FileServer) -> None:
    with pytest.raises(SourceError, match="cannot be found"):
        look_up("no-such-host.invalid", 80)


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1:{other}/secret/a.jsonl", "http://localhost:{other}/data/a.jsonl", "http://169.254.169.254/latest/meta-data",
     "http://[::ffff:127.0.0.1]:{other}/data/a.jsonl", "http://0x7f.1:{other}/data/a.jsonl", "/secret/a.jsonl",
     "//127.0.0.1:{other}/data/a.jsonl", "/data/%2e%2e/secret/a.jsonl", "file:///etc/passwd", "https://elsewhere.example/data/a.jsonl"],
)  # fmt: skip
def test_a_redirect_leads_nowhere_else(server: FileServer, tmp_path: Any, target: str) -> None:
    """Both clients: the one that lists (aiohttp) and the one that reads (httpx)."""
    with FileServer({"/data/a.jsonl": LINES, "/secret/a.jsonl": LINES}) as other:
        server.redirects["/data/moved.jsonl"] = target.format(other=other.port)
        url = f"{server.url}/data/moved.jsonl"
        places = Places([Prefix(f"{server.url}/data", allows_private=True)])
        with pytest.raises(PrimerError):
            list_allowed(places, [url])
        listings = len(server.requests)
        with pytest.raises(PrimerError), reaching_source(places, [url]):
            fetch(url, tmp_path / "a", size_bytes=None, sha256=None, policy=ONCE)
        assert not (tmp_path / "a").exists()
        assert other.requests == []
    assert listings <= 3  # what leads elsewhere does so the next time too
    assert not any("secret" in path for _, path, _ in server.requests)


def test_a_redirect_within_the_prefix_is_followed(server: FileServer, tmp_path: Any) -> None:
    server.redirects["/data/moved.jsonl"] = "/data/x/../a.jsonl"
    server.files["/data/x/../a.jsonl"] = LINES
    url = f"{server.url}/data/moved.jsonl"
    places = Places([Prefix(f"{server.url}/data", allows_private=True)])
    [shard] = list_allowed(places, [url])
    assert shard.size_bytes == len(LINES)
    with reaching_source(places, [url]):
        fetch(url, tmp_path / "a", size_bytes=None, sha256=None, policy=ONCE)
    assert (tmp_path / "a").read_bytes() == LINES


def test_an_index_page_may_not_link_out_of_the_prefix(server: FileServer) -> None:
    places = Places([Prefix(f"{server.url}/data", allows_private=True)])
    server.pages["/data/"] = [f"{server.url}/data/a.jsonl"]
    assert [shard.name for shard in list_allowed(places, [f"{server.url}/data/*.jsonl"])] == ["a.jsonl"]
    with FileServer({"/data/b.jsonl": LINES}) as other:
        for link in (f"{other.url}/data/b.jsonl", "../secret/a.jsonl", f"{server.url}/secret/a.jsonl"):
            server.pages["/data/"] = [f"{server.url}/data/a.jsonl", link]
            try:
                found = list_allowed(places, [f"{server.url}/data/*.jsonl"])
            except PrimerError:
                continue
            assert [shard.name for shard in found] == ["a.jsonl"]
        assert other.requests == []
    assert not any("secret" in path for _, path, _ in server.requests)


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_footer_is_read_without_the_file(has_ranges: bool) -> None:
    sink = io.BytesIO()
    values = pa.array([f"{number} " + "x" * 4000 for number in range(3000)])
    pq.write_table(pa.table({"text": values}), sink, row_group_size=100, compression="none", use_dictionary=False)
    with FileServer({"/a.parquet": sink.getvalue()}, has_ranges=has_ranges) as server:
        [shard] = list_remote_shards(f"{server.url}/a.parquet", policy=ONCE)
        file = pq.ParquetFile(RemoteReader(shard, policy=ONCE), pre_buffer=False)
        assert (file.metadata.num_rows, file.metadata.num_row_groups) == (3000, 30)
        assert file.read_row_group(7)["text"][3].as_py() == values[703].as_py()


@pytest.mark.parametrize("allows_private", [True, False])
def test_a_hub_in_a_private_network_is_reached_only_where_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch, allows_private: bool
) -> None:
    with HubServer({"data/a.jsonl": LINES}) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        places = Places([Prefix("hf://datasets/owner", allows_private=allows_private)])
        location = "hf://datasets/owner/name"
        if not allows_private:
            with pytest.raises(SourceError, match="is in a private network"):
                list_allowed(places, [location])
            assert hub.requests == []
            return
        [shard] = list_allowed(places, [location])
        assert shard.name == "data/a.jsonl"
        with reaching_source(places, [location]):
            assert shard.remote is not None
            assert RemoteReader(shard.remote, policy=ONCE).read() == LINES
        # A place of the web beside it could be led into the private network by a redirect.
        mixed = Places([*places.prefixes, Prefix("https://data.example.org")])
        with pytest.raises(SourceError, match="is in a private network"):
            list_allowed(mixed, [location, "https://data.example.org/a.jsonl"])

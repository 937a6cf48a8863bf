"""Other addresses through fsspec, one pass over a remote shard, and addresses without their secrets."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fakes.hub_server import CONTENT, TOKEN, Fault, HubServer
from fsspec.implementations.memory import MemoryFileSystem

from curation.errors import SourceError
from curation.shards.cache import ShardCache
from curation.shards.hub import list_hub_shards, parse_hub_url
from curation.shards.remote import list_remote_shards, mask_url
from curation.shards.remote_shard import RemoteShard
from curation.shards.retries import RetryPolicy
from curation.shards.stream import open_stream

SHA256 = hashlib.sha256(CONTENT).hexdigest()


class ShakyFileSystem(MemoryFileSystem):  # type: ignore[misc]
    """Memory that breaks: each entry of `breaks` is how many bytes one opened file gives before it fails."""

    protocol = "shaky"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    breaks: ClassVar[list[int]] = []
    opened_at: ClassVar[list[int]] = []

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        stripped: str = super()._strip_protocol(path.replace("shaky://", "memory://", 1))
        return stripped

    def open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        handle = super().open(path, mode, **kwargs)
        return _ShakyHandle(handle) if mode == "rb" else handle


class _ShakyHandle:
    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.left = ShakyFileSystem.breaks.pop(0) if ShakyFileSystem.breaks else None
        ShakyFileSystem.opened_at.append(0)

    def __enter__(self) -> _ShakyHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.handle.close()

    def seek(self, position: int) -> None:
        ShakyFileSystem.opened_at[-1] = position
        self.handle.seek(position)

    def read(self, size: int) -> bytes:
        if self.left == 0:
            raise OSError("secret-in-a-driver-message")
        chunk: bytes = self.handle.read(size if self.left is None else min(size, self.left))
        self.left = None if self.left is None else self.left - len(chunk)
        return chunk


@pytest.fixture
def shaky() -> Iterator[type[ShakyFileSystem]]:
    fsspec.register_implementation("shaky", ShakyFileSystem, clobber=True)
    ShakyFileSystem.breaks.clear()
    ShakyFileSystem.opened_at.clear()
    fsspec.filesystem("shaky").pipe("/box/a.parquet", CONTENT)
    yield ShakyFileSystem
    ShakyFileSystem.store.clear()


@pytest.fixture
def memory() -> Iterator[Any]:
    file_system = fsspec.filesystem("memory")
    file_system.pipe(
        {"/box/b.parquet": b"bb", "/box/a.jsonl": b"a", "/box/notes.txt": b"n", "/box/sub/c.parquet": b"ccc"}
    )
    yield file_system
    file_system.store.clear()


def read_cached(shard: RemoteShard, folder: Path, policy: RetryPolicy) -> bytes:
    with ShardCache(folder, policy=policy).get(shard) as path:
        return path.read_bytes()


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("memory://box", ["box/a.jsonl", "box/b.parquet", "box/sub/c.parquet"]),
        ("memory://box/", ["box/a.jsonl", "box/b.parquet", "box/sub/c.parquet"]),
        ("memory://box/*.parquet", ["box/b.parquet"]),
        ("memory://box/**/*.parquet", ["box/b.parquet", "box/sub/c.parquet"]),
        ("memory://box/notes.txt", ["box/notes.txt"]),
    ],
)
def test_listing(memory: Any, url: str, found: list[str]) -> None:
    shards = list_remote_shards(url)
    assert [shard.path.lstrip("/") for shard in shards] == found
    assert [shard.sha256 for shard in shards] == [None] * len(found)


@pytest.mark.parametrize("url", ["memory://box/*.zst", "memory://empty", "memory://box/x.parquet"])
def test_nothing_there(memory: Any, url: str) -> None:
    with pytest.raises(SourceError, match=r"no data files there|no such file"):
        list_remote_shards(url)


def test_local_folder(tmp_path: Path, policy: RetryPolicy) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.parquet").write_bytes(CONTENT)
    (shard,) = list_remote_shards(f"file://{tmp_path}/in")
    assert shard.uri == f"file://{tmp_path}/in/a.parquet"
    assert shard.size_bytes == len(CONTENT)
    assert read_cached(shard, tmp_path / "cache", policy) == CONTENT


def test_changed_file_is_another_revision(memory: Any, tmp_path: Path, policy: RetryPolicy) -> None:
    (before,) = list_remote_shards("memory://box/b.parquet")
    assert list_remote_shards("memory://box/b.parquet") == [before]
    assert read_cached(before, tmp_path, policy) == b"bb"
    memory.pipe("/box/b.parquet", b"BB")
    (after,) = list_remote_shards("memory://box/b.parquet")
    assert after.revision != before.revision
    assert read_cached(after, tmp_path, policy) == b"BB"
    # What is in the cache is still the version that was listed first.
    assert read_cached(before, tmp_path, policy) == b"bb"


def test_file_that_changed_after_listing_is_refused(memory: Any, tmp_path: Path, policy: RetryPolicy) -> None:
    (shard,) = list_remote_shards("memory://box/b.parquet")
    memory.pipe("/box/b.parquet", b"BB")
    with pytest.raises(SourceError, match="changed since it was listed"):
        read_cached(shard, tmp_path, policy)
    assert list(tmp_path.rglob("*.parquet*")) == []


def test_broken_reads_go_on(shaky: type[ShakyFileSystem], tmp_path: Path, policy: RetryPolicy) -> None:
    (shard,) = list_remote_shards("shaky://box/a.parquet")
    shaky.breaks.extend([100_000, 50_000])
    assert read_cached(shard, tmp_path, policy) == CONTENT
    assert shaky.opened_at == [0, 100_000, 150_000]


def test_reads_that_stay_broken_end(shaky: type[ShakyFileSystem], tmp_path: Path, policy: RetryPolicy) -> None:
    (shard,) = list_remote_shards("shaky://box/a.parquet")
    shaky.breaks.extend([1000, 0, 0, 0, 0, 0])
    with pytest.raises(SourceError, match=r"reports OSError \(at byte 1000; 4 attempts in a row\)") as caught:
        read_cached(shard, tmp_path, policy)
    assert "secret-in-a-driver-message" not in str(caught.value)
    assert shaky.opened_at == [0, 1000, 1000, 1000]
    # Another process goes on from the part.
    shaky.breaks.clear()
    assert read_cached(shard, tmp_path, policy) == CONTENT
    assert shaky.opened_at[-1] == 1000


def test_missing_driver_says_what_to_install() -> None:
    with pytest.raises(SourceError, match=r"no driver for gs:// is installed\. pip install gcsfs"):
        list_remote_shards("gs://bucket/a.parquet")
    with pytest.raises(SourceError, match="Is nonsense:// right"):
        list_remote_shards("nonsense://bucket/a.parquet")
    with pytest.raises(SourceError, match="chained"):
        list_remote_shards("zip://a.parquet::memory://box.zip")


class _Index(http.server.SimpleHTTPRequestHandler):
    """Python's own file server: index pages, Last-Modified, no ranges, no ETag."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "web"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.parquet").write_bytes(CONTENT)
    (folder / "sub" / "b.txt").write_bytes(b"b")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: _Index(*args, directory=str(folder)))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("path", ["sub/a.parquet", "sub/a.parquet?token=abc", "sub/", "sub/*.parquet"])
def test_plain_web_server(web: tuple[str, Path], tmp_path: Path, policy: RetryPolicy, path: str) -> None:
    host, folder = web
    (shard,) = list_remote_shards(f"http://{host}/{path}", policy=policy)
    assert shard.uri == f"http://{host}/sub/a.parquet"
    assert read_cached(shard, tmp_path / "cache", policy) == CONTENT
    os.utime(folder / "sub" / "a.parquet", (1, 1))
    with pytest.raises(SourceError, match="changed since it was listed"), open_stream(shard, policy=policy):
        pass


def test_web_errors_name_no_secret(
    web: tuple[str, Path], policy: RetryPolicy, caplog: pytest.LogCaptureFixture
) -> None:
    host, _ = web
    url = f"http://user:hunter2@{host}/none.parquet?X-Amz-Signature=hunter3&part=1"
    with pytest.raises(SourceError) as caught:
        list_remote_shards(url, policy=policy)
    assert str(caught.value).startswith(f"http://{host}/none.parquet?part=1: there is no such file.")
    assert caught.value.__cause__ is None
    assert "hunter" not in repr(caught.value)


def test_shard_shows_no_secret(web: tuple[str, Path], policy: RetryPolicy) -> None:
    host, _ = web
    (shard,) = list_remote_shards(f"http://{host}/sub/a.parquet?sig=hunter2", policy=policy)
    assert "hunter2" not in repr(shard)
    assert "hunter2" in shard.url


def list_one(hub: HubServer, policy: RetryPolicy) -> RemoteShard:
    (shard,) = list_hub_shards(parse_hub_url("hf://datasets/owner/name"), policy=policy)
    return shard


def test_stream_is_one_request(hub: HubServer, policy: RetryPolicy) -> None:
    with open_stream(list_one(hub, policy), policy=policy) as stream:
        assert stream.sha256 is None
        assert stream.read(10) == CONTENT[:10]
        assert stream.sha256 is None
        assert stream.read() == CONTENT[10:]
        assert stream.read() == b""
        assert stream.sha256 == SHA256
    assert hub.read_ranges() == [None]


def test_stream_resumes(hub: HubServer, policy: RetryPolicy) -> None:
    hub.data_faults.extend([Fault(cut_after_bytes=100_000), Fault(status=503), Fault(stall_after_bytes=300_000)])
    with open_stream(list_one(hub, policy), policy=policy) as stream:
        assert stream.read() == CONTENT
        assert stream.sha256 == SHA256
    assert hub.read_ranges() == [None, "bytes=100000-", "bytes=100000-", "bytes=400000-"]
    assert [request.headers.get("authorization") for request in hub.find_requests("cdn")] == [None] * 4


def test_stream_without_ranges_skips_what_was_read(hub: HubServer, policy: RetryPolicy) -> None:
    hub.has_ranges = False
    hub.data_faults.append(Fault(cut_after_bytes=123_456))
    with open_stream(list_one(hub, policy), policy=policy) as stream:
        assert stream.read() == CONTENT


def test_stream_never_joins_two_versions(hub: HubServer, policy: RetryPolicy) -> None:
    shard = replace(list_one(hub, policy), sha256=None)
    hub.data_faults.append(Fault(cut_after_bytes=100_000))
    with open_stream(shard, policy=policy) as stream:
        stream.read(50_000)
        hub.commits[shard.revision]["data/a.parquet"] = CONTENT[::-1]
        with pytest.raises(SourceError, match="changed while it was read"):
            stream.read()


def test_stream_refuses_wrong_bytes_at_the_end(hub: HubServer, policy: RetryPolicy) -> None:
    hub.data_faults.append(Fault(is_corrupt=True))
    with open_stream(list_one(hub, policy), policy=policy) as stream:
        with pytest.raises(SourceError, match=f"but {SHA256} was listed"):
            stream.read()
        assert stream.sha256 is None


def test_stream_gives_up(hub: HubServer, policy: RetryPolicy) -> None:
    hub.data_faults.extend([Fault(cut_after_bytes=10), *[Fault(status=503)] * 10])
    with (
        open_stream(list_one(hub, policy), policy=policy) as stream,
        pytest.raises(SourceError, match=r"HTTP 503 \(at byte 10; 4 attempts in a row\)"),
    ):
        stream.read()
    assert len(hub.read_ranges()) == 4


def test_stream_feeds_other_readers(hub: HubServer, policy: RetryPolicy) -> None:
    lines = b"".join(b'{"n": %d}\n' % number for number in range(50_000))
    hub.commits[hub.branches["main"]] = {"a.jsonl.gz": gzip.compress(lines)}
    hub.data_faults.append(Fault(cut_after_bytes=20_000))
    with open_stream(list_one(hub, policy), policy=policy) as stream, gzip.open(stream) as unpacked:
        assert isinstance(stream, io.BufferedReader)
        assert unpacked.read() == lines


def test_stream_from_a_file_system(shaky: type[ShakyFileSystem], policy: RetryPolicy) -> None:
    (shard,) = list_remote_shards("shaky://box/a.parquet")
    shaky.breaks.append(77_777)
    with open_stream(shard, policy=policy) as stream:
        assert stream.read() == CONTENT
        assert stream.sha256 == SHA256
    assert shaky.opened_at == [0, 77_777]


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("https://example.org/a.parquet", "https://example.org/a.parquet"),
        ("https://user:pw@example.org/a", "https://example.org/a"),
        ("https://ghp_token@example.org/a", "https://example.org/a"),
        ("https://a:b@c@example.org/x", "https://example.org/x"),
        ("sftp://user@example.org/a", "sftp://user@example.org/a"),
        ("sftp://user:pw@example.org/a", "sftp://example.org/a"),
        ("abfs://box@account.dfs.core.windows.net/a", "abfs://box@account.dfs.core.windows.net/a"),
        ("https://e.org/a?part=1&token=t&X-Amz-Date=d&x-amz-signature=s", "https://e.org/a?part=1"),
        ("https://e.org/a?X%2DAmz%2DSignature=s", "https://e.org/a"),
        ("https://e.org/a?sv=1&se=2&sr=b&sp=r&sig=x&v=3", "https://e.org/a?v=3"),
        ("https://e.org/a?sr=b&v=3", "https://e.org/a?sr=b&v=3"),
        ("https://e.org/a?api_key=1&Key=2&AWSAccessKeyId=3&Signature=4&monkey=5", "https://e.org/a?monkey=5"),
        ("https://e.org/a#access_token=x", "https://e.org/a"),
        ("https://e.org/path@2x/a", "https://e.org/path@2x/a"),
        ("s3://bucket/part-?.parquet", "s3://bucket/part-?.parquet"),
        ("s3://bucket/a#b", "s3://bucket/a#b"),
        ("zip://a.parquet::https://u:p@e.org/x?sig=1", "zip://a.parquet::https://e.org/x"),
        ("https://[not an address?token=x", "https://[not an address"),
        ("/local/a:b@c?token=x", "/local/a:b@c?token=x"),
        ("", ""),
    ],
)
def test_mask_url(url: str, masked: str) -> None:
    assert mask_url(url) == masked
    assert mask_url(masked) == masked


def test_nothing_logs_the_token(hub: HubServer, policy: RetryPolicy, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    hub.data_faults.append(Fault(cut_after_bytes=10))
    with open_stream(list_one(hub, policy), policy=policy) as stream:
        stream.read()
    assert caplog.records
    assert TOKEN not in caplog.text

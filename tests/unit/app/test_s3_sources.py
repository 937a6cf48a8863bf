"""Shards in a bucket, over a real S3-compatible server: listed, read by ranges, downloaded, refused in plain words."""

from __future__ import annotations

import io
from collections.abc import Iterator

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from moto.server import ThreadedMotoServer
from s3fs import S3FileSystem

from curation.errors import SourceError
from curation.shards.cache import ShardCache
from curation.shards.remote import list_remote_shards
from curation.shards.remote_reader import RemoteReader
from curation.shards.retries import RetryPolicy
from primer.app.core.errors import NotAllowed
from primer.app.sources.facts import read_facts
from primer.app.sources.listing import list_allowed
from primer.app.sources.places import Places, Prefix

ONCE = RetryPolicy(attempts=1)
LINES = b'{"text": "The cat sat on the mat."}\n'


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """`corpora`: web/a.parquet of 20 rows in 2 row groups, web/b.jsonl, private/c.jsonl."""
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    S3FileSystem.clear_instance_cache()
    client = boto3.client("s3")
    client.create_bucket(Bucket="corpora")
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": [f"text {row}" for row in range(20)]}), sink, row_group_size=10)
    for key, body in {"web/a.parquet": sink.getvalue(), "web/b.jsonl": LINES, "private/c.jsonl": LINES}.items():
        client.put_object(Bucket="corpora", Key=key, Body=body)
    yield client
    for entry in client.list_objects_v2(Bucket="corpora").get("Contents", []):
        client.delete_object(Bucket="corpora", Key=entry["Key"])
    client.delete_bucket(Bucket="corpora")
    S3FileSystem.clear_instance_cache()


def test_a_bucket_is_listed_and_its_shards_described(bucket: object) -> None:
    places = Places([Prefix("s3://corpora/web")])
    shards = list_allowed(places, ["s3://corpora/web/"])
    assert [shard.location for shard in shards] == ["s3://corpora/web/a.parquet", "s3://corpora/web/b.jsonl"]
    columns, lines = map(read_facts, shards)
    assert (columns.row_count, columns.row_groups, columns.sha256, columns.error) == (20, 2, None, None)
    assert (lines.name, lines.size_bytes, lines.row_count, lines.error) == ("b.jsonl", len(LINES), None, None)
    with pytest.raises(NotAllowed):
        list_allowed(places, ["s3://corpora/private/c.jsonl"])
    with pytest.raises(NotAllowed):
        list_allowed(places, ["s3://corpora/**"])


def test_rows_are_read_by_ranges_and_files_through_the_cache(bucket: object, tmp_path: object) -> None:
    [shard] = list_remote_shards("s3://corpora/web/a.parquet", policy=ONCE)
    file = pq.ParquetFile(RemoteReader(shard, policy=ONCE), pre_buffer=False)
    assert file.read_row_group(1)["text"].to_pylist() == [f"text {row}" for row in range(10, 20)]
    with ShardCache(tmp_path / "cache").get(shard) as path:  # type: ignore[operator]
        assert pq.read_table(path).num_rows == 20


def test_an_object_that_changed_since_it_was_listed_is_refused(bucket: object) -> None:
    [shard] = list_remote_shards("s3://corpora/web/b.jsonl", policy=ONCE)
    bucket.put_object(Bucket="corpora", Key="web/b.jsonl", Body=LINES.replace(b"cat", b"dog"))  # type: ignore[attr-defined]
    with pytest.raises(SourceError, match="changed since it was listed"):
        RemoteReader(shard, policy=ONCE)


def test_what_is_not_there_or_not_for_us_is_said_plainly(bucket: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for url in ("s3://corpora/web/none.parquet", "s3://corpora/none/*.parquet", "s3://no-such-bucket/a.parquet"):
        with pytest.raises(SourceError, match=r"there is no such file|no data files there"):
            list_remote_shards(url, policy=ONCE)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    S3FileSystem.clear_instance_cache()
    with pytest.raises(
        SourceError, match=r"the driver gives up \(NoCredentialsError\)\. Check address and credentials"
    ):
        list_remote_shards("s3://corpora/web/a.parquet", policy=ONCE)


def test_a_fault_of_ours_is_no_fault_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(MemoryFileSystem, "isdir", fail)
    with pytest.raises(ZeroDivisionError):
        list_remote_shards("memory://x/a.parquet", policy=ONCE)

"""The cache with real files, real locks and real second processes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fakes.hub_server import CONTENT, Fault, HubServer, name_commit

from curation.errors import QuotaError, SourceError
from curation.shards.cache import ShardCache, find_cache_folder
from curation.shards.hub import list_hub_shards, parse_hub_url
from curation.shards.leases import hold_exclusive, hold_shared, try_exclusive
from curation.shards.remote_shard import RemoteShard
from curation.shards.retries import RetryPolicy

COMMIT = name_commit("first")

READER = """
import sys, time
from pathlib import Path
from curation.shards.cache import ShardCache
from curation.shards.hub import list_hub_shards, parse_hub_url
from curation.errors import QuotaError
folder, path, quota, seconds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) or None, float(sys.argv[4])
(shard,) = list_hub_shards(parse_hub_url(f"hf://datasets/owner/name/{path}"))
while True:
    try:
        with ShardCache(folder, quota).get(shard) as local:
            print(len(local.read_bytes()), flush=True)
            time.sleep(seconds)
            local.read_bytes()
            break
    except QuotaError:
        time.sleep(0.02)
"""


def start_reader(folder: Path, path: str, *, quota: int = 0, seconds: float = 0.0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", READER, str(folder), path, str(quota), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def put_shards(hub: HubServer, policy: RetryPolicy, count: int, size: int = 1000) -> list[RemoteShard]:
    hub.commits[COMMIT] = {f"data/{number}.parquet": bytes([number]) * size for number in range(count)}
    return list_hub_shards(parse_hub_url("hf://datasets/owner/name"), policy=policy)


def read(cache: ShardCache, shard: RemoteShard) -> bytes:
    with cache.get(shard) as path:
        return path.read_bytes()


def list_held(cache: ShardCache) -> list[str]:
    return sorted(path.name for path in cache.folder.rglob("*.parquet*"))


def test_layout_and_second_read(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    cache = ShardCache(tmp_path, None, policy=policy)
    (shard,) = list_hub_shards(parse_hub_url("hf://datasets/owner/name"), policy=policy)
    hub.requests.clear()
    for _ in range(3):
        with cache.get(shard) as path:
            assert path == tmp_path / "owner--name" / COMMIT / hashlib.sha256(CONTENT).hexdigest() / "a.parquet"
            assert path.read_bytes() == CONTENT
    assert len(hub.requests) == 2
    assert sorted(file.name for file in path.parent.iterdir()) == [".lock", "a.parquet"]


def test_shard_without_hash_lies_under_its_address(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.plain_paths.add("data/a.parquet")
    (shard,) = list_hub_shards(parse_hub_url("hf://datasets/owner/name"), policy=policy)
    path = ShardCache(tmp_path).locate(shard)
    assert path.parent == tmp_path / "owner--name" / COMMIT / hashlib.sha256(shard.uri.encode()).hexdigest()


@pytest.mark.parametrize("path", ["../../etc/passwd", "a/..", "..", "x\0y", "ü" * 300 + ".parquet", "-rf", "a\nb"])
def test_hostile_names_stay_inside(tmp_path: Path, path: str) -> None:
    shard = RemoteShard(f"memory://{path}", path, 1, None, "../r", f"memory://{path}")
    located = ShardCache(tmp_path).locate(shard)
    assert located.resolve().relative_to(tmp_path.resolve())
    assert len(located.relative_to(tmp_path).parts) == 4
    assert all(len(part) <= 120 and not part.startswith(".") for part in located.relative_to(tmp_path).parts)


def test_folder_from_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRIMER_CACHE_DIR", str(tmp_path / "mine"))
    assert ShardCache().folder == tmp_path / "mine"
    monkeypatch.delenv("PRIMER_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert find_cache_folder() == Path.home() / ".cache" / "primer" / "shards"


def test_least_recently_used_goes_first(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    shards = put_shards(hub, policy, 4)
    cache = ShardCache(tmp_path, 3000, policy=policy)
    for shard in shards[:3]:
        read(cache, shard)
    read(cache, shards[0])
    read(cache, shards[3])
    assert list_held(cache) == ["0.parquet", "2.parquet", "3.parquet"]
    assert cache.measure_bytes() == 3000
    # The evicted entry is gone with its folder and lock.
    assert not cache.locate(shards[1]).parent.exists()


def test_file_in_use_is_not_evicted(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    shards = put_shards(hub, policy, 3)
    cache = ShardCache(tmp_path, 2000, policy=policy)
    with cache.get(shards[0]) as path:
        read(cache, shards[1])
        read(cache, shards[2])
        assert list_held(cache) == ["0.parquet", "2.parquet"]
        assert path.read_bytes() == bytes([0]) * 1000


def test_no_room_while_all_is_in_use(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    shards = put_shards(hub, policy, 3)
    cache = ShardCache(tmp_path, 2500, policy=policy)
    with cache.get(shards[0]), cache.get(shards[1]):
        hub.requests.clear()
        with (
            pytest.raises(QuotaError, match="needs 1000 bytes in the cache, available are 500 of 2500"),
            cache.get(shards[2]),
        ):
            pass
        assert hub.requests == []
    assert read(cache, shards[2]) == bytes([2]) * 1000


def test_shard_larger_than_the_quota_evicts_nothing(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    shards = put_shards(hub, policy, 1)
    hub.commits[COMMIT]["data/9.parquet"] = bytes(5000)
    large = list_hub_shards(parse_hub_url("hf://datasets/owner/name/data/9.parquet"), policy=policy)[0]
    cache = ShardCache(tmp_path, 4999, policy=policy)
    read(cache, shards[0])
    with pytest.raises(QuotaError, match="needs 5000 bytes in the cache, available are 4999 of 4999"):
        read(cache, large)
    assert list_held(cache) == ["0.parquet"]


def test_downloads_in_progress_count_in_full(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    shards = put_shards(hub, policy, 2)
    hub.data_faults.append(Fault(stall_after_bytes=10))
    child = start_reader(tmp_path, "data/0.parquet", quota=1500)
    part = ShardCache(tmp_path).locate(shards[0]).with_name("0.parquet.part")
    wait_until(lambda: part.exists() and part.stat().st_size == 10, child)
    cache = ShardCache(tmp_path, 1500, policy=policy)
    assert cache.measure_bytes() == 1000
    with pytest.raises(QuotaError, match="available are 500 of 1500"):
        read(cache, shards[1])
    # A download that was killed holds no lock: its part makes room.
    child.kill()
    child.wait()
    assert read(cache, shards[1]) == bytes([1]) * 1000
    assert list_held(cache) == ["1.parquet"]


def test_failed_download_leaves_nothing_that_counts_as_done(
    hub: HubServer, tmp_path: Path, policy: RetryPolicy
) -> None:
    (shard,) = put_shards(hub, policy, 1)
    cache = ShardCache(tmp_path, 1000, policy=policy)
    hub.data_faults.append(Fault(is_corrupt=True))
    with pytest.raises(SourceError, match="sha256"):
        read(cache, shard)
    assert list_held(cache) == []
    assert read(cache, shard) == bytes([0]) * 1000


def test_truncated_file_is_fetched_again(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    (shard,) = put_shards(hub, policy, 1)
    cache = ShardCache(tmp_path, None, policy=policy)
    read(cache, shard)
    cache.locate(shard).write_bytes(b"short")
    assert read(cache, shard) == bytes([0]) * 1000


def test_two_processes_download_once(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    readers = [start_reader(tmp_path, "data/a.parquet", seconds=0.2) for _ in range(3)]
    assert [reader.communicate(timeout=60)[0] for reader in readers] == [f"{len(CONTENT)}\n"] * 3
    assert [reader.returncode for reader in readers] == [0] * 3
    assert hub.read_ranges() == [None]


def test_threads_download_once(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    (shard,) = list_hub_shards(parse_hub_url("hf://datasets/owner/name"), policy=policy)
    cache = ShardCache(tmp_path, None, policy=policy)
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(read(cache, shard))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert found == [CONTENT] * 8
    assert hub.read_ranges() == [None]


def test_file_in_use_by_another_process_stays(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    shards = put_shards(hub, policy, 2)
    child = start_reader(tmp_path, "data/0.parquet", quota=1000, seconds=60)
    assert child.stdout is not None
    assert child.stdout.readline() == "1000\n"
    cache = ShardCache(tmp_path, 1000, policy=policy)
    with pytest.raises(QuotaError, match="available are 0 of 1000"):
        read(cache, shards[1])
    assert list_held(cache) == ["0.parquet"]
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert read(cache, shards[1]) == bytes([1]) * 1000
    assert list_held(cache) == ["1.parquet"]


def test_many_processes_stay_under_the_quota(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    put_shards(hub, policy, 4, size=50_000)
    readers = [start_reader(tmp_path, f"data/{number}.parquet", quota=120_000, seconds=0.1) for number in range(4)]
    highest = 0
    while any(reader.poll() is None for reader in readers):
        highest = max(highest, measure_files(tmp_path))
        time.sleep(0.005)
    assert [reader.communicate()[0] for reader in readers] == ["50000\n"] * 4
    assert 50_000 <= highest <= 120_000


def measure_files(folder: Path) -> int:
    """Bytes on disk now; a file or folder that is evicted meanwhile counts nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            if ".parquet" in name:
                with contextlib.suppress(FileNotFoundError):
                    total += (Path(parent) / name).stat().st_size
    return total


def wait_until(is_reached: object, child: subprocess.Popen[str]) -> None:
    assert callable(is_reached)
    deadline = time.monotonic() + 30
    while not is_reached():
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lease_modes(tmp_path: Path) -> None:
    lock = tmp_path / "deep" / "lock"
    with hold_shared(lock), hold_shared(lock), try_exclusive(lock) as lease:
        assert lease is None
    with hold_exclusive(lock) as exclusive:
        with try_exclusive(lock) as lease:
            assert lease is None
        exclusive.share()
        with hold_shared(lock):
            pass
    with try_exclusive(lock) as lease:
        assert lease is not None
        lock.unlink()
        assert not lease.has_name()


def test_waiting_for_a_lock_that_is_removed_gets_the_new_one(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    got: list[bool] = []

    def wait_for_it() -> None:
        with hold_shared(lock) as lease:
            got.append(lease.has_name())

    with hold_exclusive(lock):
        waiter = threading.Thread(target=wait_for_it)
        waiter.start()
        time.sleep(0.05)
        lock.unlink()
    waiter.join(timeout=10)
    assert got == [True]
    assert lock.exists()


def test_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with hold_shared(lock):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
    try:
        with try_exclusive(lock) as lease:
            assert lease is not None
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

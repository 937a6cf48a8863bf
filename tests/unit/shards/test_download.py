"""Downloads over real sockets: what arrives, what is asked for, and what is left behind when it goes wrong."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import stamina
from fakes.hub_server import CONTENT, TOKEN, Fault, HubServer

from curation.errors import QuotaError, SourceError
from curation.shards.download import fetch
from curation.shards.hub import build_hub_headers, list_hub_shards, parse_hub_url
from curation.shards.remote import open_remote_file
from curation.shards.retries import RetryPolicy, read_retry_after

SHA256 = hashlib.sha256(CONTENT).hexdigest()
SIZE = len(CONTENT)


def locate(hub: HubServer) -> str:
    return f"{hub.url}/datasets/owner/name/resolve/{hub.branches['main']}/data/a.parquet"


def download(hub: HubServer, destination: Path, policy: RetryPolicy, *, sha256: str | None = SHA256) -> Path:
    url = locate(hub)
    return fetch(url, destination, size_bytes=SIZE, sha256=sha256, headers=build_hub_headers(url), policy=policy)


def list_left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def waits() -> list[float]:
    """Seconds of every wait between attempts, as stamina reports them."""
    recorded: list[float] = []
    stamina.instrumentation.set_on_retry_hooks([lambda details: recorded.append(details.wait_for)])
    yield recorded
    stamina.instrumentation.set_on_retry_hooks(None)


def test_plain_download(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    steps: list[int] = []
    url = locate(hub)
    destination = tmp_path / "deep" / "a.parquet"
    found = fetch(
        url, destination, size_bytes=SIZE, sha256=SHA256, headers=build_hub_headers(url), on_progress=steps.append
    )
    assert found == destination
    assert destination.read_bytes() == CONTENT
    assert list_left(destination.parent) == ["a.parquet"]
    assert steps == sorted(steps)
    assert steps[-1] == SIZE
    assert hub.read_ranges() == [None]
    assert len(hub.requests) == 2


def test_token_stays_with_the_hub(
    hub: HubServer, tmp_path: Path, policy: RetryPolicy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    hub.data_faults.append(Fault(status=503))
    download(hub, tmp_path / "a", policy)
    assert [request.headers["authorization"] for request in hub.find_requests("hub")] == [f"Bearer {TOKEN}"] * 2
    assert [request.headers.get("authorization") for request in hub.find_requests("cdn")] == [None, None]
    assert TOKEN not in caplog.text


def test_token_is_not_offered_to_another_host(hub: HubServer) -> None:
    assert "Authorization" in build_hub_headers(locate(hub))
    assert "Authorization" not in build_hub_headers(f"{hub.cdn_url}/x")
    assert "Authorization" not in build_hub_headers(f"{hub.url}.example.org/x")
    assert "Authorization" not in build_hub_headers(f"{hub.url}@example.org/x")


def test_cut_connection_goes_on_where_it_broke(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.extend([Fault(cut_after_bytes=300_000), Fault(cut_after_bytes=200_000)])
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    assert hub.read_ranges() == [None, "bytes=300000-", "bytes=500000-"]
    assert all(request.headers["if-range"] for request in hub.find_requests("cdn")[1:])


def test_attempts_count_from_the_last_progress(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.extend([Fault(cut_after_bytes=50_000)] * 10)
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    assert len(hub.read_ranges()) == 11


def test_gives_up_without_progress_and_keeps_the_part(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.extend([Fault(cut_after_bytes=100), *[Fault(status=503)] * 4])
    with pytest.raises(SourceError, match=r"HTTP 503 \(at byte 100; 4 attempts in a row\)"):
        download(hub, tmp_path / "a", policy)
    # The cut is the first failure since its hundred bytes, three refusals follow; the fourth is not asked for.
    assert len(hub.read_ranges()) == 4
    assert (tmp_path / "a.part").read_bytes() == CONTENT[:100]
    assert not (tmp_path / "a").exists()
    hub.data_faults.clear()
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    assert hub.read_ranges()[-1] == "bytes=100-"


def test_starting_over_is_no_progress(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.has_ranges = False
    hub.data_faults.extend([Fault(cut_after_bytes=1000)] * 20)
    with pytest.raises(SourceError, match="4 attempts in a row"):
        download(hub, tmp_path / "a", policy)
    assert len(hub.read_ranges()) == 4


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_passing_statuses_are_retried(hub: HubServer, tmp_path: Path, policy: RetryPolicy, status: int) -> None:
    hub.data_faults.extend([Fault(status=status)] * 2)
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    assert hub.read_ranges() == [None, None, None]


@pytest.mark.parametrize("status", [400, 404, 410, 501])
def test_lasting_statuses_are_not(hub: HubServer, tmp_path: Path, policy: RetryPolicy, status: int) -> None:
    hub.data_faults.append(Fault(status=status))
    with pytest.raises(SourceError, match=f"HTTP {status}"):
        download(hub, tmp_path / "a", policy)
    assert hub.read_ranges() == [None]


def test_retry_after_is_capped(hub: HubServer, tmp_path: Path, policy: RetryPolicy, waits: list[float]) -> None:
    hub.data_faults.append(Fault(status=429, headers={"Retry-After": "7"}))
    hub.data_faults.append(Fault(status=429, headers={"Retry-After": "Wed, 21 Oct 2065 07:28:00 GMT"}))
    download(hub, tmp_path / "a", policy)
    assert waits == pytest.approx([0.02, 0.02])


def test_retry_after_is_waited_for(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.append(Fault(status=429, headers={"Retry-After": "1"}))
    began = time.monotonic()
    download(hub, tmp_path / "a", replace(policy, retry_after_max_seconds=5.0))
    assert time.monotonic() - began >= 1.0


def test_waits_grow_and_are_capped(hub: HubServer, tmp_path: Path, policy: RetryPolicy, waits: list[float]) -> None:
    hub.data_faults.extend([Fault(status=503)] * 3)
    download(hub, tmp_path / "a", policy)
    assert waits == pytest.approx([0.001, 0.002, 0.002])


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Wed, 21 Oct 2015 07:29:30 GMT", 90.0),
        ("Wed, 21 Oct 2015 07:27:00 GMT", 0.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("9" * 5000, 999_999_999.0),
        ("٣", None),
    ],
)
def test_read_retry_after(value: str | None, seconds: float | None) -> None:
    assert read_retry_after(value, datetime(2015, 10, 21, 7, 28, tzinfo=UTC)) == seconds


def test_stall_is_cut_short_and_resumed(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.append(Fault(stall_after_bytes=400_000))
    began = time.monotonic()
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    assert time.monotonic() - began < 3
    assert hub.read_ranges() == [None, "bytes=400000-"]


def test_nobody_listens(tmp_path: Path, policy: RetryPolicy) -> None:
    with pytest.raises(SourceError, match="ConnectError"):
        fetch("http://127.0.0.1:1/a", tmp_path / "a", size_bytes=1, sha256=None, policy=policy)
    assert not (tmp_path / "a").exists()


def test_wrong_bytes_are_removed(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.append(Fault(is_corrupt=True))
    with pytest.raises(SourceError, match=f"but {SHA256} was listed"):
        download(hub, tmp_path / "a", policy)
    assert list_left(tmp_path) == []
    assert hub.read_ranges() == [None]
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT


@pytest.mark.parametrize("listed_bytes", [SIZE - 1, SIZE + 1])
def test_another_size_is_refused_before_it_is_read(
    hub: HubServer, tmp_path: Path, policy: RetryPolicy, listed_bytes: int
) -> None:
    with pytest.raises(SourceError, match=f"has {SIZE} bytes on the server but {listed_bytes} were listed"):
        fetch(locate(hub), tmp_path / "a", size_bytes=listed_bytes, sha256=None, policy=policy)
    assert not (tmp_path / "a").exists()
    assert (tmp_path / "a.part").stat().st_size == 0


def test_file_changed_between_two_calls(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.extend([Fault(cut_after_bytes=1000), *[Fault(status=503)] * 3])
    with pytest.raises(SourceError):
        download(hub, tmp_path / "a", policy, sha256=None)
    changed = CONTENT[::-1]
    hub.commits[hub.branches["main"]]["data/a.parquet"] = changed
    hub.data_faults.clear()
    hub.requests.clear()
    assert download(hub, tmp_path / "a", policy, sha256=None).read_bytes() == changed
    assert hub.read_ranges() == ["bytes=1000-"]
    assert hub.find_requests("cdn")[0].headers["if-range"].startswith('"')


def test_server_that_ignores_if_range_joins_nothing(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.extend([Fault(cut_after_bytes=1000), *[Fault(status=503)] * 3])
    with pytest.raises(SourceError):
        download(hub, tmp_path / "a", policy, sha256=None)
    changed = CONTENT[::-1]
    hub.commits[hub.branches["main"]]["data/a.parquet"] = changed
    hub.honours_if_range = False
    hub.data_faults.clear()
    hub.requests.clear()
    assert download(hub, tmp_path / "a", policy, sha256=None).read_bytes() == changed
    assert hub.read_ranges() == ["bytes=1000-", None]


def test_without_validator_and_hash_nothing_is_joined(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.has_etags = False
    (tmp_path / "a.part").write_bytes(b"of another version")
    assert download(hub, tmp_path / "a", policy, sha256=None).read_bytes() == CONTENT
    assert hub.read_ranges() == [None]


def test_with_a_hash_old_bytes_are_used_and_checked(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.has_etags = False
    (tmp_path / "a.part").write_bytes(CONTENT[:12_345])
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    assert hub.read_ranges() == ["bytes=12345-"]
    (tmp_path / "b.part").write_bytes(b"x" * 12_345)
    with pytest.raises(SourceError, match="sha256"):
        download(hub, tmp_path / "b", policy)
    assert list_left(tmp_path) == ["a"]


def test_whole_part_needs_no_request_and_is_still_checked(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    (tmp_path / "a.part").write_bytes(CONTENT)
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    (tmp_path / "b.part").write_bytes(b"x" * SIZE)
    with pytest.raises(SourceError, match="sha256"):
        download(hub, tmp_path / "b", policy)
    assert hub.requests == []
    assert list_left(tmp_path) == ["a"]


def test_part_longer_than_the_file_is_dropped(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    (tmp_path / "a.part").write_bytes(CONTENT + b"more")
    assert download(hub, tmp_path / "a", policy).read_bytes() == CONTENT
    assert hub.read_ranges() == [None]


@pytest.mark.parametrize(("token", "status"), [("", 401), (TOKEN, 403)])
def test_gated(
    hub: HubServer,
    tmp_path: Path,
    policy: RetryPolicy,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    status: int,
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "none"))
    (shard,) = list_hub_shards(parse_hub_url("hf://datasets/owner/name"), policy=policy)
    hub.is_gated = True
    hub.requests.clear()
    with pytest.raises(SourceError) as caught, open_remote_file(shard, policy=policy).open_at(0):
        pass
    assert f"HTTP {status}" in str(caught.value)
    assert f"Accept its terms at {hub.url}/datasets/owner/name and set HF_TOKEN" in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert len(hub.requests) == 1


def test_full_disk(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    (tmp_path / "a.part").symlink_to("/dev/full")
    with pytest.raises(QuotaError, match="the disk is full") as caught:
        download(hub, tmp_path / "a", policy)
    assert "PRIMER_CACHE_DIR" in caught.value.hint
    assert not (tmp_path / "a").exists()
    assert hub.read_ranges() == [None]


def test_killed_process_is_resumed(hub: HubServer, tmp_path: Path, policy: RetryPolicy) -> None:
    hub.data_faults.append(Fault(stall_after_bytes=500_000))
    script = (
        "import sys; from pathlib import Path; from curation.shards.download import fetch\n"
        f"fetch(sys.argv[1], Path(sys.argv[2]), size_bytes={SIZE}, sha256='{SHA256}')"
    )
    destination = tmp_path / "a"
    part = tmp_path / "a.part"
    child = subprocess.Popen([sys.executable, "-c", script, locate(hub), str(destination)], env=dict(os.environ))
    deadline = time.monotonic() + 30
    while not (part.exists() and part.stat().st_size == 500_000):
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert not destination.exists()
    assert part.read_bytes() == CONTENT[:500_000]
    assert download(hub, destination, policy).read_bytes() == CONTENT
    assert hub.read_ranges() == [None, "bytes=500000-"]
    assert list_left(tmp_path) == ["a"]

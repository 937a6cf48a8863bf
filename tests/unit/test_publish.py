"""Files that appear whole, at most once, and never half when the disk is full."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.errors import QuotaError
from curation.publish import publish_bytes, replace_bytes


def test_the_first_content_stays(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "name"
    assert publish_bytes(path, b"first") is True
    assert publish_bytes(path, b"second") is False
    assert path.read_bytes() == b"first"
    assert [entry.name for entry in path.parent.iterdir()] == ["name"]


def test_replacing_leaves_the_last_content_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "name"
    replace_bytes(path, b"first")
    replace_bytes(path, b"second")
    assert path.read_bytes() == b"second"
    assert [entry.name for entry in path.parent.iterdir()] == ["name"]


def test_a_dangling_link_counts_as_a_taken_name(tmp_path: Path) -> None:
    (tmp_path / "name").symlink_to(tmp_path / "gone")
    assert publish_bytes(tmp_path / "name", b"x") is False
    assert not (tmp_path / "gone").exists()


_RACE = """
import sys
from pathlib import Path
from curation.publish import publish_bytes
sys.stdin.readline()
for i in range(200):
    if publish_bytes(Path(sys.argv[1]) / str(i), sys.argv[2].encode() * 1000):
        print(i)
"""


def test_of_many_writers_one_is_first_and_its_content_is_whole(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _RACE, str(tmp_path), letter], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for letter in "abc"
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    won = {
        letter: set(map(int, writer.communicate()[0].split())) for letter, writer in zip("abc", writers, strict=True)
    }
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert sum(map(len, won.values())) == 200
    assert set.union(*won.values()) == set(range(200))
    for letter, numbers in won.items():
        assert all((tmp_path / str(i)).read_bytes() == letter.encode() * 1000 for i in numbers)
    assert len(list(tmp_path.iterdir())) == 200


FULL = "The disk is full: name was not written. Free space, then run the same command again; it carries on."


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("call", ["link", "replace"])
def test_a_disk_that_fills_when_the_name_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, call: str
) -> None:
    def fail(*_args: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(QuotaError) as raised:
        (publish_bytes if call == "link" else replace_bytes)(tmp_path / "name", b"x")
    assert str(raised.value) == FULL
    assert list(tmp_path.iterdir()) == []


def test_other_errors_keep_their_kind_and_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(OSError, match="Input/output error"):
        publish_bytes(tmp_path / "name", b"x")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with one MiB; skipped where one may not mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if mounted.returncode:
        pytest.skip("mounting a small disk is not allowed here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("write", [publish_bytes, replace_bytes])
def test_a_really_full_disk(small_disk: Path, write) -> None:  # type: ignore[no-untyped-def]
    assert publish_bytes(small_disk / "kept", b"k" * 1000)
    with pytest.raises(QuotaError) as raised:
        write(small_disk / "name", b"x" * (2 << 20))
    assert str(raised.value) == FULL
    assert [entry.name for entry in small_disk.iterdir()] == ["kept"]
    assert (small_disk / "kept").read_bytes() == b"k" * 1000
    write(small_disk / "name", b"fits")
    assert (small_disk / "name").read_bytes() == b"fits"


def test_a_report_on_a_full_disk_keeps_what_it_was(small_disk: Path) -> None:
    replace_bytes(small_disk / "name", b"old")
    with pytest.raises(QuotaError):
        replace_bytes(small_disk / "name", b"x" * (2 << 20))
    assert (small_disk / "name").read_bytes() == b"old"

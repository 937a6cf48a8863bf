"""The hashes that the bundled artefacts were shipped with: `SHA256SUMS` in their folder, one line a file."""

from __future__ import annotations

from pathlib import Path

from curation.shards.prepare import hash_file

SUMS = "SHA256SUMS"


def write_sums(folder: Path) -> None:
    """Record every file below `folder`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    lines = [f"{hash_file(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / SUMS).write_text("".join(lines))


def verify_bundle(folder: Path) -> list[str]:
    """What differs from the record: changed, missing and unknown files. Empty when all is as shipped."""
    recorded: dict[str, str] = {}
    for line in (folder / SUMS).read_text().splitlines():
        sha256, _, name = line.partition("  ")
        recorded[name] = sha256
    present = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file() and path.name != SUMS
    }
    problems = [f"{name}: missing" for name in recorded.keys() - present.keys()]
    problems += [f"{name}: not shipped with Primer" for name in present.keys() - recorded.keys()]
    problems += [
        f"{name}: changed" for name, path in present.items() if name in recorded and hash_file(path) != recorded[name]
    ]
    return sorted(problems)


if __name__ == "__main__":
    write_sums(Path(__file__).parent / "bundled")

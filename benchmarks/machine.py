"""The machine and the library versions a result was measured with, in words: no host names, no paths."""

from __future__ import annotations

import datetime
import os
import platform
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("numpy", "pyarrow", "fasttext-community")


def describe_machine() -> dict[str, object]:
    """Processor, cores this process may use, memory in GiB, interpreter, libraries and the day (UTC), as JSON."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "hardware": f"{_name_processor()}, {cores} cores, {memory_bytes / 2**30:.0f} GiB of memory, {platform.system()}",
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def _name_processor() -> str:
    info = Path("/proc/cpuinfo")
    names = (
        [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.is_file()
        else []
    )
    return f"{names[0]} ({platform.machine()})" if names else platform.machine()

"""Logs of what went wrong show where, and never the values that were at hand there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SECRET = "the-text-of-a-document"

# The secret is put together, so that no quoted line of source holds it.
_SCRIPT = """
import logging, sys
from primer.app.core.logs import configure_logs
configure_logs(sys.argv[1])
def read():
    document = "-".join("the text of a document".split())
    return len(document) / 0
try:
    read()
except ZeroDivisionError:
    logging.getLogger("library").exception("it broke")
"""


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_no_local_variable_is_logged(tmp_path: Path, log_format: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(_SCRIPT)
    result = subprocess.run([sys.executable, script, log_format], capture_output=True, text=True, check=True)
    assert "it broke" in result.stderr
    assert "ZeroDivisionError" in result.stderr
    assert SECRET not in result.stderr

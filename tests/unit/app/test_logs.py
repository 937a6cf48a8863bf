"""Logs of what went wrong show where, and never the values that were at hand there."""

from __future__ import annotations

import subprocess
import sys

import pytest

SECRET = "the text of a document"

_SCRIPT = f"""
import logging
from primer.app.core.logs import configure_logs
configure_logs({{log_format!r}})
def read():
    document = {SECRET!r}
    return len(document) / 0
try:
    read()
except ZeroDivisionError:
    logging.getLogger("library").exception("it broke")
"""


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_no_local_variable_is_logged(log_format: str) -> None:
    # From a file that is not there, so that no source line is quoted either.
    code = f"exec(compile({_SCRIPT.format(log_format=log_format)!r}, 'gone.py', 'exec'))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "it broke" in result.stderr
    assert "ZeroDivisionError" in result.stderr
    assert SECRET not in result.stderr

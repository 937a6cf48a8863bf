"""The workbench's client is generated from the API as it is now."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from primer.app.core.settings import Settings
from primer.app.main import create_app
from primer.app.openapi import dump_description

SCHEMA = Path(__file__).resolve().parents[3] / "frontend" / "src" / "api" / "schema.ts"


def test_the_client_was_generated_from_this_api(tmp_path: Path) -> None:
    first_line = SCHEMA.read_text(encoding="utf-8").partition("\n")[0]
    found = re.search(r"sha256 ([0-9a-f]{64})", first_line)
    assert found is not None
    described = hashlib.sha256(dump_description(create_app(Settings(data_dir=tmp_path)))).hexdigest()
    assert found.group(1) == described, (
        "the API has changed: run `npm run api` in frontend/ and commit src/api/schema.ts"
    )

"""Times as clients see them: ISO 8601 in UTC, from the seconds since 1970 that the database keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator


def _read_seconds(value: Any) -> Any:
    # Without this, pydantic takes large numbers for milliseconds.
    return datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) else value


Instant = Annotated[datetime, BeforeValidator(_read_seconds)]

"""The one clock of the service: the database's. Leases and ages never compare the clocks of two machines.

Times are seconds since 1970 as double precision, the same on PostgreSQL and SQLite.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class now(FunctionElement[float]):  # noqa: N801 - reads as the SQL function that it is
    """The database's time at this statement, not at the start of its transaction."""

    type = Double()
    inherit_cache = True
    name = "primer_now"


@compiles(now, "postgresql")
def _now_on_postgresql(_element: Any, _compiler: Any, **_: Any) -> str:
    return "extract(epoch from clock_timestamp())::double precision"


@compiles(now, "sqlite")
def _now_on_sqlite(_element: Any, _compiler: Any, **_: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"

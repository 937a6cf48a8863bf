"""What the routes of the status answer."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Health(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "alive"}]})

    status: str


class Readiness(BaseModel):
    """`checks`: `ok` or what is wrong, by what was looked at."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "is_ready": False,
                    "checks": {"database": "ok", "schema": "ok", "broker": "cannot be reached", "data_folder": "ok"},
                }
            ]
        }
    )

    is_ready: bool
    checks: dict[str, str]

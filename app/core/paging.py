"""Keyset pages: a page begins after the last key of the one before, so that rows added meanwhile shift nothing.

A cursor is opaque to clients; one that was not given out by this service is refused.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Generic, TypeVar

import orjson
from fastapi import Query
from pydantic import BaseModel

from primer.app.core.errors import Unprocessable

Item = TypeVar("Item", bound=BaseModel)

Cursor = Annotated[str | None, Query(description="`next` of the page before.", max_length=500)]
Limit = Annotated[int, Query(ge=1, le=500, description="Rows of a page.")]


class Page(BaseModel, Generic[Item]):
    """`next` is the cursor of the following page, null on the last."""

    items: list[Item]
    next: str | None = None


def encode_cursor(*key: int | str | float) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(list(key))).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> list[int | str | float] | None:
    """The key of a cursor; None for the first page. Raises Unprocessable for anything else."""
    if cursor is None:
        return None
    try:
        key = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        key = None
    if not isinstance(key, list) or not all(isinstance(part, int | str | float) for part in key):
        raise Unprocessable("The cursor is not one of ours.", hint="Give `next` of the page before, unchanged.")
    return key


def decode_id_cursor(cursor: str | None) -> int | None:
    """The id that a page of rows ordered by id begins after."""
    key = decode_cursor(cursor)
    if key is None:
        return None
    if len(key) != 1 or not isinstance(key[0], int) or isinstance(key[0], bool) or not 0 <= key[0] < 1 << 63:
        raise Unprocessable("The cursor is not one of ours.", hint="Give `next` of the page before, unchanged.")
    return key[0]

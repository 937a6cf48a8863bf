"""What all tables share: names of constraints that migrations can rely on, and the column types in use."""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy import BigInteger, Double, Integer, MetaData, String, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column
from sqlalchemy.types import JSON

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

# SQLite counts up only a primary key of type INTEGER.
BigId = BigInteger().with_variant(Integer(), "sqlite")
Json = JSON().with_variant(JSONB(), "postgresql")

Id = Annotated[int, mapped_column(BigId, primary_key=True, autoincrement=True)]
Seconds = Annotated[float, mapped_column(Double)]  # since 1970, by the database's clock
Name = Annotated[str, mapped_column(String(200))]
Note = Annotated[str, mapped_column(Text)]
Hash = Annotated[str, mapped_column(String(64))]


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=_NAMES)
    type_annotation_map = {dict[str, Any]: Json, list[Any]: Json, int: BigId}  # noqa: RUF012

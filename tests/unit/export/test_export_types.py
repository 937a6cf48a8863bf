"""One type for a column over many shards: what is held together, and what is not because it would change."""

from __future__ import annotations

import pyarrow as pa
import pytest

from curation.export.source_types import cast_array, is_lossless, to_plain, unify_types

DICTIONARY = pa.dictionary(pa.int32(), pa.string())
PAIR = pa.struct([("key", pa.string()), ("value", pa.int64())])


@pytest.mark.parametrize(
    ("kinds", "unified"),
    [
        ([pa.null(), pa.int64()], pa.int64()),
        ([pa.null()], pa.null()),
        ([pa.int8(), pa.int64()], pa.int64()),
        ([pa.uint32(), pa.int32()], pa.int64()),
        ([pa.int32(), pa.float64()], pa.float64()),
        ([pa.float32(), pa.float64()], pa.float64()),
        ([DICTIONARY, pa.string()], pa.string()),
        ([pa.string_view(), pa.string()], pa.string()),
        ([pa.string(), pa.large_string()], pa.large_string()),
        ([pa.string(), pa.binary()], pa.binary()),
        ([pa.list_(pa.null()), pa.list_(pa.string())], pa.list_(pa.string())),
        ([pa.list_(pa.int32()), pa.large_list(pa.int32())], pa.large_list(pa.int32())),
        (
            [pa.struct([("a", pa.int64())]), pa.struct([("b", pa.string())])],
            pa.struct([("a", pa.int64()), ("b", pa.string())]),
        ),
        # Would change a value, or cannot be told from one that would: no common type.
        ([pa.int64(), pa.uint64()], None),
        ([pa.int64(), pa.float64()], None),
        ([pa.int64(), pa.float32()], None),
        ([pa.timestamp("s"), pa.timestamp("ns")], None),
        ([pa.list_(pa.int64()), pa.list_(pa.float64())], None),
        ([pa.bool_(), pa.int64()], None),
        ([pa.string(), pa.int64()], None),
        ([pa.struct([("a", pa.int64())]), pa.struct([("a", pa.string())])], None),
    ],
)
def test_types_are_unified_only_where_no_value_changes(kinds: list[pa.DataType], unified: pa.DataType | None) -> None:
    assert unify_types(kinds, are_integers_small=False) == unified


def test_small_integers_and_floats_are_floats() -> None:
    assert unify_types([pa.int64(), pa.float64()], are_integers_small=True) == pa.float64()
    assert unify_types([pa.int64(), pa.float32()], are_integers_small=True) == pa.float64()


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (pa.list_(DICTIONARY), pa.list_(pa.string())),
        (pa.struct([pa.field("a", pa.string_view(), nullable=False)]), pa.struct([("a", pa.string())])),
        (pa.map_(pa.string(), pa.int64()), pa.list_(PAIR)),
        (pa.binary(3), pa.binary()),
        (pa.uuid(), pa.binary()),
        (pa.list_(pa.int64(), 3), pa.list_(pa.int64(), 3)),
    ],
)
def test_plain_types_have_no_encodings(kind: pa.DataType, plain: pa.DataType) -> None:
    assert to_plain(kind) == plain


def test_casting_keeps_values() -> None:
    encoded = pa.array(["a", None, "b"]).dictionary_encode()
    assert cast_array(encoded, pa.string()).to_pylist() == ["a", None, "b"]
    wider = pa.struct([("a", pa.int64()), ("b", pa.string())])
    assert cast_array(pa.array([{"a": 1}, None]), wider).to_pylist() == [{"a": 1, "b": None}, None]
    assert cast_array(pa.nulls(2), pa.list_(pa.string())).to_pylist() == [None, None]


def test_a_narrower_integer_is_not_lossless() -> None:
    assert not is_lossless(pa.int64(), pa.int32())
    assert not is_lossless(pa.int8(), pa.uint64())
    assert is_lossless(pa.uint8(), pa.int16())
    assert is_lossless(pa.int64(), pa.decimal128(19, 0))
    assert not is_lossless(pa.int64(), pa.decimal128(19, 2))

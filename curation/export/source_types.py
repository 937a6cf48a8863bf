"""One Arrow type for a column that many shards store in several: the narrowest that holds every value unchanged.

Where no type does, there is none, and the caller keeps the values as JSON text. Types that only Arrow knows
(dictionaries, views, extensions, maps) become the plain type of their content, which every loader reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

# Whole numbers that a float of so many bits holds exactly.
_EXACT_INTEGER_BITS = {16: 11, 32: 24, 64: 53}


def to_plain(kind: pa.DataType) -> pa.DataType:
    """The type of the same values without encodings, extensions, field metadata or `not null`."""
    if isinstance(kind, pa.BaseExtensionType):
        return to_plain(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return to_plain(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_map(kind):
        pair = [pa.field("key", to_plain(kind.key_type)), pa.field("value", to_plain(kind.item_type))]
        return pa.list_(pa.struct(pair))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(to_plain(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(to_plain(kind.value_type))
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(to_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, to_plain(field.type)) for field in kind])
    return kind


def unify_types(kinds: Sequence[pa.DataType], *, are_integers_small: bool) -> pa.DataType | None:
    """The type that holds the values of all, or None. `are_integers_small`: no 64-bit whole number exceeds 2 ** 53,
    so that a column of such numbers and of float64 is float64."""
    plain = [to_plain(kind) for kind in kinds]
    try:
        schemas = [pa.schema([("column", kind)]) for kind in plain]
        unified = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return None
    for stored, kind in zip(kinds, plain, strict=True):
        is_small = are_integers_small and pa.types.is_integer(kind) and pa.types.is_float64(unified)
        if not (is_small or is_lossless(kind, unified)) or not _can_cast(stored, unified):
            return None
    return unified


def is_lossless(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether every value of a plain type stays the same in another. Times of two units do not: the finer one overflows."""
    if source.equals(target) or pa.types.is_null(source):
        return True
    if pa.types.is_integer(source):
        return _holds_integers(source, target)
    if pa.types.is_floating(source):
        return bool(pa.types.is_floating(target) and source.bit_width <= target.bit_width)
    if pa.types.is_decimal(source):
        return bool(
            pa.types.is_decimal(target)
            and target.scale >= source.scale
            and target.precision - target.scale >= source.precision - source.scale
        )
    if pa.types.is_string(source):
        return pa.types.is_large_string(target) or _is_bytes(target)
    if pa.types.is_large_string(source) or _is_bytes(source):
        return _is_bytes(target)
    if _is_list(source):
        return _is_list(target) and is_lossless(source.value_type, target.value_type)
    if pa.types.is_struct(source):
        return pa.types.is_struct(target) and all(
            target.get_field_index(field.name) >= 0 and is_lossless(field.type, target.field(field.name).type)
            for field in source
        )
    return False


def _holds_integers(source: pa.DataType, target: pa.DataType) -> bool:
    is_signed = pa.types.is_signed_integer(source)
    digit_bits = source.bit_width - is_signed
    if pa.types.is_integer(target):
        is_wide_enough = digit_bits <= target.bit_width - pa.types.is_signed_integer(target)
        return bool(is_wide_enough and (pa.types.is_signed_integer(target) or not is_signed))
    if pa.types.is_floating(target):
        return bool(digit_bits <= _EXACT_INTEGER_BITS[target.bit_width])
    if pa.types.is_decimal(target):
        return bool(len(str(1 << digit_bits)) <= target.precision - target.scale)
    return False


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _can_cast(source: pa.DataType, target: pa.DataType) -> bool:
    try:
        cast_array(pa.nulls(1, source), target)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


def cast_array(array: pa.Array, target: pa.DataType) -> pa.Array:
    """The same values in a type that `unify_types` gave."""
    if array.type.equals(target):
        return array
    if isinstance(array.type, pa.BaseExtensionType):
        return cast_array(array.storage, target)
    if pa.types.is_dictionary(array.type):
        return cast_array(array.dictionary_decode(), target)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    return array.cast(target)

"""The Triton kernels of `encoder_packed`: what lies between its matrix products, each one pass over memory.

Sums and exponentials are float32 whatever is stored. Invariant: what is written for a token depends on its own window
alone, and not on where in the pack the window lies.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc, no-any-return"
# ruff: noqa: N803 - what the compiler must know beforehand is written in capitals, as Triton's own kernels have it

from __future__ import annotations

import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]

# Below every score, and finite: a key out of reach weighs exactly 0 once the row has met one within it.
_NEVER = tl.constexpr(-1.0e30)


@triton.jit
def normalize_rows(
    source, ids, weight, out, epsilon, row_count, IS_LOOKED_UP: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr,
    LANES: tl.constexpr,
):  # fmt: skip
    """LayerNorm without bias of each row of `source`, or of its rows named by `ids`."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, LANES)
    is_row = rows < row_count
    mask = is_row[:, None] & (columns < WIDTH)[None, :]
    taken = tl.load(ids + rows, mask=is_row, other=0) if IS_LOOKED_UP else rows
    values = tl.load(source + taken[:, None] * WIDTH + columns[None, :], mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=1) / WIDTH
    values = tl.where(mask, values - mean[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(values * values, axis=1) / WIDTH + epsilon)
    weights = tl.load(weight + columns, mask=columns < WIDTH, other=0.0).to(tl.float32)
    normed = values * scale[:, None] * weights[None, :]
    tl.store(out + rows[:, None] * WIDTH + columns[None, :], normed.to(out.dtype.element_ty), mask=mask)


@triton.jit
def gate_gelu(source, out, value_count, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """gelu of the first half of each row of `source` (rows, 2 WIDTH), times its second half: (rows, WIDTH)."""
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = places < value_count
    first = places // WIDTH * 2 * WIDTH + places % WIDTH
    inner = tl.load(source + first, mask=mask, other=0.0).to(tl.float32)
    gate = tl.load(source + first + WIDTH, mask=mask, other=0.0).to(tl.float32)
    gated = 0.5 * inner * (1.0 + tl.erf(inner * 0.7071067811865476)) * gate
    tl.store(out + places, gated.to(out.dtype.element_ty), mask=mask)


@triton.jit
def rotate_in_place(
    mixed, positions, cosines, sines, HEADS: tl.constexpr, HALF: tl.constexpr, LANES: tl.constexpr
):  # fmt: skip
    """Turn queries and keys of each row of `mixed` (rows, 3, HEADS, 2 HALF) by its position in its window."""
    row = tl.program_id(0)
    lanes = tl.arange(0, LANES)
    mask = lanes < 2 * HEADS * HALF
    first = row * 6 * HEADS * HALF + lanes // HALF * 2 * HALF + lanes % HALF
    turn = tl.load(positions + row) * HALF + lanes % HALF
    cosine, sine = tl.load(cosines + turn, mask=mask, other=0.0), tl.load(sines + turn, mask=mask, other=0.0)
    left = tl.load(mixed + first, mask=mask, other=0.0).to(tl.float32)
    right = tl.load(mixed + first + HALF, mask=mask, other=0.0).to(tl.float32)
    tl.store(mixed + first, (left * cosine - right * sine).to(mixed.dtype.element_ty), mask=mask)
    tl.store(mixed + first + HALF, (right * cosine + left * sine).to(mixed.dtype.element_ty), mask=mask)


@triton.jit
def attend(
    mixed, blocks, cosines, sines, out, scale, REACH: tl.constexpr, IS_TURNED: tl.constexpr, HEADS: tl.constexpr,
    HALF: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    """Attention of one block of queries of one window, for one head, into `out` (rows, HEADS, 2 HALF).

    `blocks` int32 (n, 3): first query, first token of its window, one past its last. REACH: tokens to either side that
    are seen, 0 for all. `mixed` as in `rotate_in_place`; unless IS_TURNED, queries and keys are turned here.
    `scale` holds the logarithm of e to base 2.
    """
    head = tl.program_id(0)
    block = blocks + tl.program_id(1) * 3
    first, begin, end = tl.load(block), tl.load(block + 1), tl.load(block + 2)
    stride = 6 * HEADS * HALF
    queries = first + tl.arange(0, QUERIES)
    lanes = tl.arange(0, HALF)[None, :]
    wide = tl.arange(0, 2 * HALF)[None, :]
    is_query = (queries < end)[:, None]
    query_rows = mixed + queries[:, None] * stride + head * 2 * HALF
    key_rows = mixed + (HEADS + head) * 2 * HALF
    value_rows = mixed + (2 * HEADS + head) * 2 * HALF
    if IS_TURNED:
        query = tl.load(query_rows + wide, mask=is_query, other=0.0)
    else:
        query_turns = (queries - begin)[:, None] * HALF + lanes
        query_left, query_right = _load_turned(query_rows + lanes, query_turns, is_query, cosines, sines, HALF)
    low, high = begin, end
    if REACH > 0:
        low, high = tl.maximum(begin, first - REACH), tl.minimum(end, first + QUERIES + REACH)
    highest = tl.full([QUERIES], _NEVER, tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    mixture = tl.zeros([QUERIES, 2 * HALF], tl.float32)
    for start in range(low, high, KEYS):
        keys = start + tl.arange(0, KEYS)
        is_key = (keys < high)[:, None]
        places = keys[:, None] * stride
        if IS_TURNED:
            key = tl.load(key_rows + places + wide, mask=is_key, other=0.0)
            scores = tl.dot(query, tl.trans(key)) * scale
        else:
            key_turns = (keys - begin)[:, None] * HALF + lanes
            key_left, key_right = _load_turned(key_rows + places + lanes, key_turns, is_key, cosines, sines, HALF)
            scores = tl.dot(query_right, tl.trans(key_right), tl.dot(query_left, tl.trans(key_left))) * scale
        is_seen = (keys < high)[None, :]
        if REACH > 0:
            is_seen = is_seen & (tl.abs(queries[:, None] - keys[None, :]) <= REACH)
        scores = tl.where(is_seen, scores, _NEVER)
        new_highest = tl.maximum(highest, tl.max(scores, axis=1))
        powers = tl.exp2(scores - new_highest[:, None])
        shrink = tl.exp2(highest - new_highest)
        total = total * shrink + tl.sum(powers, axis=1)
        values = tl.load(value_rows + places + wide, mask=is_key, other=0.0)
        mixture = tl.dot(powers.to(values.dtype), values, mixture * shrink[:, None])
        highest = new_highest
    attended = (mixture / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + queries[:, None] * (2 * HEADS * HALF) + head * 2 * HALF + wide, attended, mask=is_query)


@triton.jit
def _load_turned(at, turns, mask, cosines, sines, HALF: tl.constexpr):
    """Both halves of heads at `at`, turned by the angles at `turns`, as they are stored."""
    left = tl.load(at, mask=mask, other=0.0)
    right = tl.load(at + HALF, mask=mask, other=0.0)
    cosine, sine = tl.load(cosines + turns, mask=mask, other=0.0), tl.load(sines + turns, mask=mask, other=0.0)
    turned_left = left.to(tl.float32) * cosine - right.to(tl.float32) * sine
    turned_right = right.to(tl.float32) * cosine + left.to(tl.float32) * sine
    return turned_left.to(left.dtype), turned_right.to(right.dtype)


@triton.jit
def average_windows(source, begins, ends, out, WIDTH: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr):
    """The mean row of each window, 0 where a window is empty."""
    window = tl.program_id(0)
    begin, end = tl.load(begins + window), tl.load(ends + window)
    columns = tl.arange(0, LANES)
    total = tl.zeros([LANES], tl.float32)
    for first in range(begin, end, ROWS):
        rows = first + tl.arange(0, ROWS)
        mask = (rows < end)[:, None] & (columns < WIDTH)[None, :]
        values = tl.load(source + rows[:, None] * WIDTH + columns[None, :], mask=mask, other=0.0)
        total += tl.sum(values.to(tl.float32), axis=0)
    mean = total / tl.maximum(end - begin, 1)
    tl.store(out + window * WIDTH + columns, mean.to(out.dtype.element_ty), mask=columns < WIDTH)

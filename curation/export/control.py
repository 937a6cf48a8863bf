"""The control: a seeded sample of the unfiltered source with as many tokens as the curriculum, and alike in shape if asked.

Rows are taken in the order of their keys. Besides key, tokens and stratum (24 bytes a row) the drawing itself holds
some 50 bytes a row while it sorts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

# The low bits of a stratum are the octave of its length (a count of tokens has at most 62 bits), the others its host.
_OCTAVE_MASK = np.uint64(63)


@dataclass(frozen=True)
class ControlSample:
    """`is_taken`: one a row. `matched_tokens`: by round (stratum, octave, any), the tokens that it could place.

    What the finest round could not place is the shortfall: its strata had no document left that fits.
    """

    is_taken: npt.NDArray[np.bool_]
    matched_tokens: dict[str, int]


def name_strata(tokens: npt.NDArray[np.int64], urls: Sequence[str | None] | None) -> npt.NDArray[np.uint64]:
    """uint64 a row: the octave of its length (16-31 tokens, 32-63, ...) and, where `urls` are given, its host."""
    octaves = np.frexp(np.maximum(tokens, 1).astype(np.float64))[1].astype(np.uint64)
    if urls is None:
        return octaves
    hosts = [find_host(url) for url in urls]
    numbers = {host: _number_host(host) for host in set(hosts)}
    return np.array([numbers[host] for host in hosts], np.uint64) | octaves


def find_host(url: str | None) -> str:
    """The host of a URL in lower case without `www.`; "" where there is none or it cannot be parsed."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")


def _number_host(host: str) -> int:
    digest = hashlib.blake2b(host.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") & ~int(_OCTAVE_MASK)


def draw_control(
    keys: npt.NDArray[np.uint64],
    tokens: npt.NDArray[np.int64],
    is_readable: npt.NDArray[np.bool_],
    is_curriculum: npt.NDArray[np.bool_],
    strata: npt.NDArray[np.uint64] | None,
) -> ControlSample:
    """Take readable rows until their tokens are as many as the curriculum's, to within one document.

    With strata each takes, in key order, what fits under the curriculum's tokens in it; what is missing then comes from
    the same octave, and at last from anywhere. An empty curriculum has an empty control.
    """
    taken = np.zeros(len(keys), bool)
    matched: dict[str, int] = {}
    if not is_curriculum.any():
        return ControlSample(taken, matched)
    order = np.argsort(keys, kind="stable")
    order = order[is_readable[order]]
    if strata is not None:
        octaves = strata & _OCTAVE_MASK
        rounds = {"stratum": strata, "octave": octaves} if (strata != octaves).any() else {"octave": octaves}
        for name, groups in rounds.items():
            matched[name] = _fill_groups(taken, order, tokens, groups, is_curriculum)
    matched["any"] = _fill_rest(taken, order, tokens, float(tokens[is_curriculum].sum(dtype=np.float64)))
    return ControlSample(taken, matched)


def _fill_groups(
    taken: npt.NDArray[np.bool_],
    order: npt.NDArray[np.int64],
    tokens: npt.NDArray[np.int64],
    groups: npt.NDArray[np.uint64],
    is_curriculum: npt.NDArray[np.bool_],
) -> int:
    """In every group: rows not yet taken, in key order, while they fit under what is missing. The tokens taken."""
    names, members = np.unique(groups, return_inverse=True)
    weights = np.where(is_curriculum, tokens, 0) - np.where(taken, tokens, 0).astype(np.float64)
    missing = np.bincount(members, weights=weights, minlength=len(names))
    left = order[~taken[order]]
    left = left[np.argsort(members[left], kind="stable")]
    group = members[left]
    totals = np.cumsum(tokens[left], dtype=np.float64)
    starts = np.searchsorted(group, np.arange(len(names)))
    before = np.concatenate([[0.0], totals])[starts]
    fits = left[totals - before[group] <= missing[group]]
    taken[fits] = True
    return int(tokens[fits].sum(dtype=np.float64))


def _fill_rest(
    taken: npt.NDArray[np.bool_], order: npt.NDArray[np.int64], tokens: npt.NDArray[np.int64], wanted: float
) -> int:
    """Rows not yet taken, in key order, to the total nearest to `wanted`. The tokens taken."""
    left = order[~taken[order]]
    missing = wanted - float(tokens[taken].sum(dtype=np.float64))
    totals = np.cumsum(tokens[left], dtype=np.float64)
    count = int(np.searchsorted(totals, missing, side="right"))
    below = float(totals[count - 1]) if count else 0.0
    if count < len(left) and float(totals[count]) - missing < missing - below:
        count += 1
    taken[left[:count]] = True
    return int(tokens[left[:count]].sum(dtype=np.float64))

"""Listing and reading a source within the allow-list: what the scan, the preview and the workers go through.

Invariant: the allow-list is asked anew each time, for every location as it leads now and for every shard found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from curation.shards.network import reaching_through
from curation.shards.source import SourceShard, list_shards
from primer.app.sources.addresses import AddressGuard, LookUp, look_up
from primer.app.sources.places import Places, normalize_location


@contextmanager
def reaching_source(places: Places, locations: Sequence[str], *, look_up: LookUp = look_up) -> Iterator[None]:
    """Inside, requests go only where the source's places allow. For whoever reads shards of it.

    Raises NotAllowed when a location is not under an allowed prefix any more.
    """
    for location in locations:
        places.find(normalize_location(location))
    with reaching_through(AddressGuard(places, locations, look_up=look_up)):
        yield


def list_allowed(
    places: Places,
    locations: Sequence[str],
    *,
    config: str | None = None,
    split: str | None = None,
    look_up: LookUp = look_up,
) -> list[SourceShard]:
    """The shards of all locations. Raises NotAllowed when one lies outside of the allowed prefixes, SourceError when
    something cannot be listed."""
    with reaching_source(places, locations, look_up=look_up):
        shards = list_shards([normalize_location(location) for location in locations], config=config, split=split)
    for shard in shards:
        places.require_shard(shard)
    return shards

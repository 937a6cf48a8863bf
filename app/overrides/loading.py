"""The rulings of a source as the library decides by them: all entries up to a revision, bulk rulings with their rows.

What was loaded last is kept a source, and only what came since is read: rulings are added and never changed.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from curation.errors import LedgerError
from curation.overrides import BulkRuling, Entry, Overrides, Ruling, encode_entry
from primer.app.core.context import Context
from primer.app.core.errors import NotFound
from primer.app.overrides import repository
from primer.app.overrides.id_sets import RowsByShard, read_id_set
from primer.app.overrides.repository import Record

if TYPE_CHECKING:
    from hashlib import _Hash

_KEPT_SOURCES: Final = 8


@dataclass(frozen=True)
class _Loaded:
    """`digest`: of the lines so far, to go on from."""

    overrides: Overrides
    digest: _Hash


_kept: OrderedDict[tuple[str, int], _Loaded] = OrderedDict()
_lock = threading.Lock()


def load_overrides(context: Context, source_id: int, revision: int | None = None) -> Overrides:
    """All entries up to a revision; None: the newest. `sha256` is of `encode_overrides`.

    Raises NotFound for a revision that there is not yet, LedgerError when rows of a bulk ruling are lost.
    """
    key = (context.settings.database, source_id)
    with context.database.reading() as session:
        newest = repository.read_revision(session, source_id)
        wanted = newest if revision is None else revision
        if not 0 <= wanted <= newest:
            raise NotFound(
                f"The rulings of source {source_id} have no revision {wanted}.", hint=f"The newest is {newest}."
            )
        with _lock:
            known = _kept.get(key)
        if known is not None and known.overrides.revision == wanted:
            return known.overrides
        if known is None or known.overrides.revision > wanted:
            known = _Loaded(Overrides((), hashlib.sha256().hexdigest()), hashlib.sha256())
        records = repository.list_between(session, source_id, known.overrides.revision, wanted)
    if [record.revision for record in records] != list(range(known.overrides.revision + 1, wanted + 1)):
        raise LedgerError(
            f"Rulings of source {source_id} are missing from the database.", hint="Restore it from its newest backup."
        )
    entries = [_to_entry(context, record) for record in records]
    digest = known.digest.copy()
    for entry in entries:
        digest.update(encode_entry(entry))
    loaded = _Loaded(Overrides((*known.overrides.rulings, *entries), digest.hexdigest()), digest)
    if wanted == newest:
        _keep(key, loaded)
    return loaded.overrides


def encode_overrides(overrides: Overrides) -> bytes:
    """The file that `primer export --overrides` takes for the same decisions and the same bytes."""
    return b"".join(map(encode_entry, overrides.rulings))


def read_ids(context: Context, record: Record) -> RowsByShard:
    """The rows of a bulk ruling. Raises LedgerError when they are lost."""
    assert record.file is not None
    assert record.file_sha256 is not None
    return read_id_set(context.settings.data_dir / record.file, record.file_sha256)


def _keep(key: tuple[str, int], loaded: _Loaded) -> None:
    with _lock:
        known = _kept.pop(key, None)
        if known is not None and known.overrides.revision > loaded.overrides.revision:
            loaded = known
        _kept[key] = loaded
        while len(_kept) > _KEPT_SOURCES:
            _kept.popitem(last=False)


def _to_entry(context: Context, record: Record) -> Entry:
    time = datetime.fromtimestamp(record.at, UTC).isoformat(timespec="microseconds")
    if record.is_bulk:
        return BulkRuling(read_ids(context, record), record.action, record.author, record.reason, time)  # type: ignore[arg-type]
    # Checked when it was made; a hundred thousand are read at once.
    return Ruling.model_construct(
        shard_sha256=record.shard_sha256,
        shard=None,
        row=record.row,
        action=record.action,
        author=record.author,
        reason=record.reason,
        time=time,
    )

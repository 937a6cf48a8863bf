"""Every error that Primer raises on purpose.

PrimerError
├── SourceError       a source, shard or row group that cannot be found, opened or counted
├── QuotaError        a cache, staging folder or disk that is full
├── ArtifactError     a model or table that is missing, damaged or not the one a profile binds
├── ProfileError      a profile or recipe that does not say something decidable
├── CatalogueError    a catalogue of concepts that cannot be read or lacks what is asked of it
├── LedgerError       a ledger that is damaged, foreign, or lacks what a question needs
├── ExportError       an export that cannot be built or does not verify
│   ├── ExportBusy    another process is building it: trying again later may succeed
│   ├── UndecidedRows rows lack a signal that the profile reads
│   └── TooManyLeaks  more documents mention a concept beyond K-5 than the export allows
└── TrainingError     training data that cannot make a model
"""

from __future__ import annotations


class PrimerError(Exception):
    """What went wrong (`message`) and what the reader can do about it (`hint`, may be empty)."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.hint))


def _rebuild(kind: type[PrimerError], message: str, hint: str) -> PrimerError:
    return kind(message, hint=hint)


class SourceError(PrimerError):
    pass


class QuotaError(PrimerError):
    pass


class ArtifactError(PrimerError):
    pass


class ProfileError(PrimerError):
    pass


class CatalogueError(PrimerError):
    pass


class LedgerError(PrimerError):
    pass


class ExportError(PrimerError):
    pass


class ExportBusy(ExportError):
    pass


class UndecidedRows(ExportError):
    pass


class TooManyLeaks(ExportError):
    pass


class TrainingError(PrimerError):
    pass

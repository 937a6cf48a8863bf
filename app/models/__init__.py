"""The tables of the service, one a file. Importing this package makes all of them known to the metadata."""

from primer.app.models.accounts import ApiToken, BrowserSession, User
from primer.app.models.audit import AuditEntry
from primer.app.models.base import Base
from primer.app.models.concepts import CatalogueRecord, ConceptMeasuring, LeakProbe
from primer.app.models.events import Counter, Event
from primer.app.models.exports import Export, ExportCheck, ExportPush
from primer.app.models.jobs import Job, Outcome
from primer.app.models.login_attempts import LoginAttempts
from primer.app.models.overrides import BulkRuling, Override
from primer.app.models.profiles import ProfileVersion
from primer.app.models.sources import AllowedPrefix, Source, SourceRule, SourceShard
from primer.app.models.tasks import Task
from primer.app.models.vocabularies import VocabularyRecord

__all__ = [
    "AllowedPrefix",
    "ApiToken",
    "AuditEntry",
    "Base",
    "BrowserSession",
    "BulkRuling",
    "CatalogueRecord",
    "ConceptMeasuring",
    "Counter",
    "Event",
    "Export",
    "ExportCheck",
    "ExportPush",
    "Job",
    "LeakProbe",
    "LoginAttempts",
    "Outcome",
    "Override",
    "ProfileVersion",
    "Source",
    "SourceRule",
    "SourceShard",
    "Task",
    "User",
    "VocabularyRecord",
]

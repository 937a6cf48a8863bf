"""What a process of the service works with: settings, the database, and the way to the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from primer.app.core.db import Database
from primer.app.core.messages import Messenger
from primer.app.core.settings import Settings


@dataclass(frozen=True)
class Context:
    settings: Settings
    database: Database
    messenger: Messenger

    @classmethod
    def open(cls, settings: Settings) -> Context:
        return cls(settings, Database(settings.database), Messenger(settings.broker))


def _read_context(request: Request) -> Context:
    context = request.app.state.context
    assert isinstance(context, Context)
    return context


ContextDep = Annotated[Context, Depends(_read_context)]

"""Commands that act on the service's state: the database that PRIMER_* settings name, as it is. They migrate nothing."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from primer.app.core.context import Context
from primer.app.core.errors import Conflict, NotFound, Unprocessable
from primer.app.core.migrate import is_current
from primer.app.core.settings import Settings

_START = "Start the service once, which brings the database to this version."


def read_settings() -> Settings:
    """Raises Unprocessable that names the variables; their values may be secret."""
    try:
        return Settings()
    except ValidationError as error:
        found = "; ".join(
            f"{'.'.join(f'PRIMER_{part}'.upper() for part in e['loc']) or 'PRIMER_*'}: {e['msg']}"
            for e in error.errors(include_input=False, include_context=False)
        )
        raise Unprocessable(f"The settings do not fit: {found}.", hint="Mend these environment variables.") from None


def open_service() -> Context:
    """Raises NotFound, Conflict or Unprocessable when there is no database of this version's schema."""
    settings = read_settings()
    try:
        url = make_url(settings.database)
    except ArgumentError:
        raise Unprocessable("PRIMER_DATABASE_URL is no SQLAlchemy URL.", hint="Mend the variable.") from None
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise NotFound(f"There is no database {url.database}.", hint=f"Set PRIMER_DATA_DIR. {_START}")
    context = Context.open(settings)
    try:
        is_usable = is_current(context.database)
    except OperationalError:
        shown = url.render_as_string(hide_password=True)
        raise Conflict(f"The database {shown} does not answer.", hint="Is it running?") from None
    if not is_usable:
        raise Conflict("The database has the schema of another version.", hint=_START)
    return context

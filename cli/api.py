"""`primer api` and `primer migrate`: the HTTP service, and its database's schema."""

from __future__ import annotations

from primer.cli.output import JsonOption, console, print_json

_STOP_SECONDS = 3  # event streams never end by themselves


def api() -> None:
    """Answer HTTP requests at PRIMER_HOST and PRIMER_PORT until stopped. The database must have this version's schema."""
    # Imported here: the service takes seconds to load, and other commands need none of it.
    import uvicorn

    from primer.app.core.logs import configure_logs
    from primer.app.core.patience import make_protocol
    from primer.cli.service import open_service, read_settings

    settings = read_settings()
    configure_logs(settings.log_format)
    open_service().database.engine.dispose()
    uvicorn.run(
        "primer.app.main:create_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        http=make_protocol(settings.client_patience),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )


def migrate(as_json: JsonOption = False) -> None:
    """Bring the database to this version: its schema, and the profiles that the library ships. Again changes nothing."""
    from primer.app import first_start
    from primer.app.core.context import Context
    from primer.app.core.migrate import read_revision
    from primer.cli.service import read_settings

    context = Context.open(read_settings())
    first_start.lay_ground(context)
    revision = read_revision(context.database)
    if as_json:
        print_json({"revision": revision})
    else:
        console.print(f"The database has the schema {revision}.", highlight=False)

"""Requests made from the API's own description: no answer is a server error, and none is one that the description lacks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
import uvicorn
from accounts import open_program
from cli_runs import SAMPLE, run_primer
from hypothesis import HealthCheck, given, settings
from schemathesis import checks
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import status_code_conformance
from servers import ValkeyServer, find_free_port

from primer.app.auth.actor import SYSTEM
from primer.app.auth.roles import Role
from primer.app.core.migrate import migrate
from primer.app.core.settings import Settings
from primer.app.jobs.imports import import_run
from primer.app.main import create_app

# What ends the caller's own session, or never ends.
_LEFT_OUT = ("/api/v1/events/stream", "/api/v1/session")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, valkey: ValkeyServer) -> Iterator[tuple[str, str]]:
    """The service on a port, with one imported run; its address and an admin's token."""
    folder = tmp_path_factory.mktemp("api")
    run_primer("run", SAMPLE, "--out", folder / "run", "--no-encoder", "--quiet")
    port = find_free_port()
    app = create_app(
        Settings(data_dir=folder / "data", password_memory_kib=8, password_rounds=1, broker_url=valkey.url)  # type: ignore[arg-type]
    )
    context = app.state.context
    migrate(context.database)
    import_run(context, SYSTEM, folder / "run", source_name="sample", is_copied=True)
    token = open_program(app, Role.ADMIN).headers["Authorization"]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.05)
    yield f"http://127.0.0.1:{port}", token
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture(scope="module")
def description(served: tuple[str, str]) -> Any:
    address, token = served
    return schemathesis.openapi.from_url(f"{address}/api/v1/openapi.json", headers={"Authorization": token})


def test_no_request_breaks_the_service(served: tuple[str, str], description: Any) -> None:
    _, token = served
    broken: list[str] = []
    seen = 0
    for result in description.get_all_operations():
        operation = result.ok()
        if operation.path in _LEFT_OUT:
            continue
        seen += 1

        def call(case: Any) -> None:
            answer = case.call(headers={"Authorization": token})
            case.validate_response(answer, checks=[checks.not_a_server_error, status_code_conformance])

        quietly = settings(max_examples=8, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
        try:
            quietly(given(case=operation.as_strategy())(call))()
        except FailureGroup as failure:
            broken += [f"{operation.method} {operation.path}: {one}" for one in failure.exceptions]
    assert seen > 40
    assert not broken, "\n\n".join(broken)

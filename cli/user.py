"""`primer user`: people of the service, managed on its machine. No password is ever an argument: others could see it.

The service is imported by the commands that need it: it takes two seconds, which the other commands need not wait.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from primer.app.auth.roles import Role
from primer.cli.output import JsonOption, console, is_json, print_json, results

if TYPE_CHECKING:
    from primer.app.models import User

app = typer.Typer(help="Add and change users of the service.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(help="The user's name: small letters, digits, . _ @ -")]
RoleOption = Annotated[
    Role, typer.Option("--role", "-r", help="What the user may do; each role includes those before.")
]
StdinOption = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of asking.")
]
_USERS_AT_ONCE = 500


@app.callback()
def _root() -> None:
    pass


@app.command()
def add(name: NameArgument, role: RoleOption, password_stdin: StdinOption = False, as_json: JsonOption = False) -> None:
    """Add a user."""
    from primer.app.auth import service
    from primer.app.auth.actor import SYSTEM
    from primer.cli.service import open_service

    context = open_service()
    password = _read_password(password_stdin)
    user = service.create_user(context, SYSTEM, name=name, role=role, password=password)
    _report(user, f"{user.name} is a user with the role {user.role}.")


@app.command("list")
def list_users(as_json: JsonOption = False) -> None:
    """List the users."""
    from primer.app.auth import service
    from primer.app.auth.actor import SYSTEM
    from primer.cli.service import open_service

    context = open_service()
    users: list[User] = []
    while found := service.list_users(context, SYSTEM, after=users[-1].id if users else 0, limit=_USERS_AT_ONCE):
        users += found
    if is_json():
        print_json([_describe(user) for user in users])
        return
    table = Table()
    for heading in ("id", "name", "role", "active"):
        table.add_column(heading)
    for user in users:
        table.add_row(str(user.id), user.name, user.role, "yes" if user.is_active else "no")
    results.print(table)


@app.command("set-role")
def set_role(name: NameArgument, role: RoleOption, as_json: JsonOption = False) -> None:
    """Change a user's role. Their sessions and tokens end."""
    from primer.app.auth import service
    from primer.app.auth.actor import SYSTEM
    from primer.cli.service import open_service

    context = open_service()
    user = service.find_user_by_name(context, SYSTEM, name)
    user = service.change_user(context, SYSTEM, user.id, role=role)
    _report(user, f"{user.name} has the role {user.role}.")


@app.command()
def password(name: NameArgument, password_stdin: StdinOption = False, as_json: JsonOption = False) -> None:
    """Set a user's password. Their sessions and tokens end."""
    from primer.app.auth import service
    from primer.app.auth.actor import SYSTEM
    from primer.cli.service import open_service

    context = open_service()
    user = service.find_user_by_name(context, SYSTEM, name)
    service.set_password(context, SYSTEM, user.id, _read_password(password_stdin))
    _report(user, f"{user.name} has a new password.")


def _read_password(is_on_stdin: bool) -> str:
    if is_on_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _report(user: User, message: str) -> None:
    if is_json():
        print_json(_describe(user))
    else:
        console.print(message, highlight=False, markup=False)


def _describe(user: User) -> dict[str, object]:
    return {"id": user.id, "name": user.name, "role": user.role, "is_active": user.is_active}

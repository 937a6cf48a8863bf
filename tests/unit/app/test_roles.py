"""The roles: each includes those before it, and docs/roles.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from primer.app.auth.actor import Actor
from primer.app.auth.roles import LEAST_ROLE, Action, Role
from primer.app.core.errors import NotAllowed

_DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "roles.md"


def test_the_document_has_the_table_of_the_code() -> None:
    rows = re.findall(r"^\| (\w+) \| (\w+) \| [^|]+ \|$", _DOCUMENT.read_text(), re.MULTILINE)
    documented = {action: role for action, role in rows if action != "action"}
    assert documented == {action.value: role.value for action, role in LEAST_ROLE.items()}
    assert set(LEAST_ROLE) == set(Action)


@pytest.mark.parametrize("action", list(Action))
def test_an_action_is_allowed_from_its_least_role_on(action: Action) -> None:
    for role in Role:
        actor = Actor(1, "anna", role)
        if role.rank >= LEAST_ROLE[action].rank:
            actor.require(action)
        else:
            with pytest.raises(NotAllowed, match=f"This needs the role {LEAST_ROLE[action]}; anna has the role {role}"):
                actor.require(action)

"""The person, or their program, for whom something is done. Services ask it for leave; routes only say who it is."""

from __future__ import annotations

from dataclasses import dataclass

from primer.app.auth.roles import LEAST_ROLE, Action, Role
from primer.app.core.errors import NotAllowed


@dataclass(frozen=True)
class Actor:
    """`user_id` None: the service itself, or a command on its machine. `is_program`: a token speaks for the user."""

    user_id: int | None
    name: str
    role: Role
    is_program: bool = False

    def require(self, action: Action) -> None:
        """Raises NotAllowed that names the role that is needed."""
        least = LEAST_ROLE[action]
        if self.role.rank < least.rank:
            raise NotAllowed(
                f"This needs the role {least}; {self.name} has the role {self.role}.", hint="Ask an admin for the role."
            )

    def require_person(self) -> int:
        """The user's id. Raises NotAllowed for programs: a stolen token must not make itself a successor."""
        if self.user_id is None or self.is_program:
            raise NotAllowed("This needs a person who signed in with their password.", hint="Sign in, then try again.")
        return self.user_id


SYSTEM = Actor(None, "system", Role.ADMIN)

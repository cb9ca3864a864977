"""Who asks, and what they may do and see."""

from collections.abc import Iterable
from dataclasses import dataclass

from sandbox.lldap.errors import RefusedError
from sandbox.lldap.store import State, Store


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a valid token, with the permissions of its groups."""

    user_id: str
    is_admin: bool
    manages_passwords: bool
    reads_all: bool

    @classmethod
    def of(cls, user_id: str, groups: Iterable[str]) -> "Caller":
        """What a member of these groups may do."""
        names = {group.lower() for group in groups}
        admin = "lldap_admin" in names
        manager = admin or "lldap_password_manager" in names
        return cls(user_id, admin, manager, manager or "lldap_strict_readonly" in names)

    def may_set_password(self, user_id: str, *, of_admin: bool) -> bool:
        """Whether the caller may register a password for `user_id` (an admin's: `of_admin`)."""
        manages = self.manages_passwords and not of_admin
        return self.is_admin or manages or self.user_id == user_id


@dataclass(frozen=True, slots=True)
class Request:
    """The context of every resolver. Caller holds lldap's lock."""

    store: Store
    caller: Caller

    @property
    def state(self) -> State:
        """The whole database."""
        return self.store.state

    def require(self, allowed: bool, what: str) -> None:
        """Refuse `what` unless it is allowed."""
        if not allowed:
            raise RefusedError(f"Unauthorized {what}")

"""One pass over one LldapUser: what was read of it, and what came of it so far."""

from dataclasses import dataclass

from controller.api import UserSpec
from controller.harness.resource import Resource
from controller.reconcilers.attributes import Wanted
from controller.reconcilers.drift import Drift
from controller.reconcilers.userchange import PASSWORD, declared_names, managed_names, password_name


@dataclass(slots=True)
class UserPass:
    """One thread.

    `asked`: a person asked for a full pass, the password included. `before` is what this object
    owned before this pass, None without a record. `created`: this pass made the account.
    """

    resource: Resource
    spec: UserSpec
    user_id: str
    wanted: Wanted
    drift: Drift
    asked: bool
    before: frozenset[str] | None = None
    created: bool = False

    @property
    def declared(self) -> frozenset[str]:
        """What this object owns of the account; what waits for its schema stays ours."""
        names = declared_names(self.spec, self.wanted)
        if not self.wanted.missing or self.before is None:
            return names
        return names | (self.before & managed_names(frozenset(self.wanted.missing)))

    @property
    def owned(self) -> frozenset[str]:
        """The same and the password."""
        return self.declared | password_name(self.spec)

    @property
    def begun(self) -> frozenset[str]:
        """What this pass makes ours: a crash must not make an ignored password a begun one."""
        return self.declared if self.password_was_ignored else self.owned

    @property
    def password_was_ignored(self) -> bool:
        """Whether the policy has been Ignore for this account up to now."""
        return self.before is not None and PASSWORD not in self.before

"""The connection to one lldap: what is asked before work goes on, and the mirror of it."""

import threading
from collections.abc import Callable, Iterable

from controller.configuration.rules import Rules
from lldap import Client, Mirror, NotAdmin, Session
from lldap.names import LLDAP_ADMIN


class Connection:
    """Any thread; one bulk read at a time.

    `expected` gives ids of users that are probably in lldap: with them the bulk read of many users
    is quicker.
    """

    def __init__(
        self,
        session: Session,
        client: Client,
        mirror: Mirror,
        rules: Rules,
        expected: Callable[[], Iterable[str]],
    ) -> None:
        self._session = session
        self._client = client
        self._mirror = mirror
        self._rules = rules
        self._expected = expected
        self._reading = threading.Lock()
        self._is_admin = True  # as far as it is known

    def check(self) -> None:
        """Raise unless the operator may do its work: asks for its own groups as they are now."""
        self._is_admin = LLDAP_ADMIN in self._client.own_groups().values()
        if not self._is_admin:
            raise NotAdmin(f"{self._rules.own_user} is not in {LLDAP_ADMIN}")

    def probe(self) -> None:
        """Raise unless work can go on; then the mirror shows the whole of lldap as it is now.

        A new login, whose token has the roles as they are now, and the operator's own groups. An
        account that was seen to lack its rights is not logged in again and again until it has
        them: lldap answers for its groups from the database, whatever the token says.
        """
        if not self._is_admin:
            self.check()
        self._session.renew()
        self.check()
        self.refresh()

    def refresh(self) -> None:
        """Read the whole of lldap into the mirror; what changed meanwhile is kept."""
        with self._reading:
            self._mirror.refresh(self._client, self._expected())

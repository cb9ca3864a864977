"""The connection to one lldap: what is asked before work goes on, and the mirror of it."""

import threading

from controller.rules import Rules
from lldap import Client, Mirror, NotAdmin, Session
from lldap.names import LLDAP_ADMIN


class Connection:
    """Any thread; one bulk read at a time."""

    def __init__(self, session: Session, client: Client, mirror: Mirror, rules: Rules) -> None:
        self._session = session
        self._client = client
        self._mirror = mirror
        self._rules = rules
        self._reading = threading.Lock()

    def probe(self) -> None:
        """Raise unless work can go on.

        A new login, whose token has the roles as they are now; the operator's own rights; then
        the whole of lldap is read into the mirror.
        """
        self._session.renew()
        if LLDAP_ADMIN not in self._client.own_groups().values():
            raise NotAdmin(f"{self._rules.own_user} is not in {LLDAP_ADMIN}")
        self.refresh()

    def refresh(self) -> None:
        """Read the whole of lldap into the mirror; what changed meanwhile is kept."""
        with self._reading:
            self._mirror.refresh(self._client)

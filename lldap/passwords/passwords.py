"""Setting a user's password so that the user can log in with it."""

from collections.abc import Callable, Iterable
from typing import Protocol

from lldap.errors import LldapError
from lldap.names import user_key
from lldap.opaque import Client, InvalidMessage, KeptKey, Version
from lldap.passwords.checks import check_password
from lldap.passwords.exchange import AuthEndpoints, PasswordExchange
from lldap.passwords.own_credentials import OwnCredentials
from lldap.passwords.server_version import Logins, ServerVersion

_ATTEMPTS = 2


class PasswordSession(AuthEndpoints, Logins, Protocol):
    """What is needed of the session."""


class PasswordNotConfirmed(LldapError):  # noqa: N818 - as in lldap.errors
    """What was registered or proved does not show whether the user can log in. Try again."""


class Passwords:
    """Registers and proves the passwords of users other than the operator. Any thread.

    User names are lower-cased as lldap does it. What the session raises passes through, and so
    do UnsupportedServer and InvalidMessage.
    """

    def __init__(
        self, session: PasswordSession, credentials: OwnCredentials, clients: Iterable[Client]
    ) -> None:
        """`credentials` are those that `session` logs in with."""
        self._exchange = PasswordExchange(session, clients)
        self._credentials = credentials
        self._server = ServerVersion(session, credentials, self._exchange)

    def set_password(
        self, username: str, password: bytes, *, registered: Callable[[], None] = lambda: None
    ) -> Version:
        """Register `password`, so that it is shown that the user can log in with it.

        Returns the version that it was registered in. It counts only after a proof of it and a
        proof of the operator's own password that began after the registration, both in the
        version used: a server may be upgraded at any time. Else the version is found anew and
        the password is registered once more.

        `registered` is called after a registration and before its proof: the date that it reads
        of the account is that of a password which then was proved.

        Raises PasswordRejected before anything is sent, PasswordNotConfirmed after the second
        time. After any other error the password may be registered or not: prove it.
        """
        check_password(password)
        version = self._server.current()
        self._refuse_own_account(username)
        for _ in range(_ATTEMPTS):
            kept = KeptKey()
            self._exchange.register(username, password, version, kept)
            registered()
            moment = self._server.moment()
            proved = self._proved_current(username, password, version, kept)
            found = self._server.found_after(moment)
            if proved and found is version:
                return version
            version = found
        raise PasswordNotConfirmed(
            f"the password of {username} was registered {_ATTEMPTS} times, "
            "and lldap does not confirm that it is the stored one"
        )

    def _proved_current(
        self, username: str, password: bytes, version: Version, kept: KeptKey
    ) -> bool:
        try:
            return self._exchange.prove_current(username, password, version, kept)
        except InvalidMessage:  # an answer that is not understood proves nothing
            return False

    def has_password(self, username: str, password: bytes) -> bool:
        """Whether the user can log in with `password`; makes no session and changes nothing.

        False for another password, for a user without one, and for one that was registered in a
        version that the server does not speak. Raises PasswordNotConfirmed.
        """
        kept = KeptKey()

        def proved(version: Version) -> bool:
            return self._exchange.prove(username, password, version, kept)

        return self._settled(username, proved)

    def is_misregistered(self, username: str, password: bytes) -> bool:
        """Whether `password` was registered in the version that the server does not speak.

        Its user cannot log in with it, and a proof in the server's own version fails. It cannot
        be seen on a server that speaks 0.7, where it is False. Raises PasswordNotConfirmed.
        """
        kept = KeptKey()

        def proved_in_another_alone(version: Version) -> bool:
            others = (each for each in Version if each is not version)
            return not self._exchange.prove(username, password, version, kept) and any(
                self._exchange.prove(username, password, each, kept) for each in others
            )

        return self._settled(username, proved_in_another_alone)

    def _settled(self, username: str, ask: Callable[[Version], bool]) -> bool:
        """The answer of `ask` in the version that the server still speaks after it."""
        version = self._server.current()
        for _ in range(_ATTEMPTS):
            answer = ask(version)
            found = self._server.found_after(self._server.moment())
            if found is version:
                return answer
            version = found
        raise PasswordNotConfirmed(
            f"lldap changed its version of OPAQUE {_ATTEMPTS} times while the password of "
            f"{username} was proved"
        )

    def _refuse_own_account(self, username: str) -> None:
        """Its own password is what shows the version: a registration would vouch for itself."""
        if user_key(username) == user_key(self._credentials.last.username):
            raise ValueError(f"{username} is the operator's own account, which is never managed")

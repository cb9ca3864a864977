"""The operator's own credentials, remembered for proofs."""

from collections.abc import Callable

from lldap.login import Credentials


class OwnCredentials:
    """Hands credentials to the session's logins and remembers the last. Any thread.

    Give it to the session as its `credentials`: it then knows what the newest login used. If a
    login since was refused it knows that one's, and the next login will be refused too.
    """

    def __init__(self, read: Callable[[], Credentials]) -> None:
        """`read` gives the credentials as they are now; it may raise."""
        self._read = read
        self._last: Credentials | None = None

    def __call__(self) -> Credentials:
        """The credentials as they are now."""
        credentials = self._read()
        self._last = credentials
        return credentials

    @property
    def last(self) -> Credentials:
        """Those of the newest login; only after a login."""
        assert self._last is not None, "the session does not read its credentials here"
        return self._last

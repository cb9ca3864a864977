"""Which version of OPAQUE the server speaks, shown by a password that is known to be right."""

import itertools
import threading
from concurrent.futures import Future, wait
from typing import Protocol

from lldap.errors import Unsupported
from lldap.opaque import InvalidMessage, KeptKey, Version
from lldap.passwords.exchange import PasswordExchange
from lldap.passwords.own_credentials import OwnCredentials


class UnsupportedServer(Unsupported):
    """The server speaks neither version: no password may be registered there."""


class Login(Protocol):
    """One login of the operator's own account."""

    @property
    def generation(self) -> int:
        """Another login has another number."""


class Logins(Protocol):
    """The session's logins. Any thread."""

    def login(self) -> Login:
        """The login in force, made if there is none."""

    def renew(self) -> Login:
        """A new login, with the password file read again."""


class _OwnProof:
    """One search by one thread; others may wait for its outcome."""

    __slots__ = ("began", "found")

    def __init__(self, began: int) -> None:
        self.began = began
        self.found: Future[Version] = Future()


class ServerVersion:
    """Finds the version by proofs of the operator's own password. Any thread.

    The server has just accepted that password, so exactly the version that it speaks proves it;
    it may be upgraded at any time, so only a proof that began after something shows anything
    about it. One proof runs at a time and serves all that ended before it began. The result of
    its Argon2 is kept for the life of the login.
    """

    def __init__(
        self, logins: Logins, credentials: OwnCredentials, exchange: PasswordExchange
    ) -> None:
        self._logins = logins
        self._credentials = credentials
        self._exchange = exchange
        self._lock = threading.Lock()  # guards _moments, _proof and _last_found
        self._moments = itertools.count(1)
        self._proof: _OwnProof | None = None
        self._last_found: Version | None = None
        # used by the one thread whose own proof is running
        self._generation = 0
        self._kept = KeptKey()

    def moment(self) -> int:
        """Now, in the order of moments: what happened before is over."""
        with self._lock:
            return next(self._moments)

    def current(self) -> Version:
        """The version that was found last; looks for it the first time.

        Raises UnsupportedServer, and what the session raises.
        """
        with self._lock:
            found = self._last_found
        return found if found is not None else self.found_after(self.moment())

    def found_after(self, moment: int) -> Version:
        """The version, by an own proof that began after `moment`.

        Raises UnsupportedServer, and what the session raises.
        """
        while True:
            proof, mine = self._join(moment)
            if mine:
                self._run(proof)
            if proof.began > moment:
                return proof.found.result()
            wait([proof.found])

    def _join(self, moment: int) -> tuple[_OwnProof, bool]:
        """The proof to wait for, and whether the caller is the one that runs it."""
        with self._lock:
            proof = self._proof
            if proof is not None and (proof.began > moment or not proof.found.done()):
                return proof, False
            self._proof = proof = _OwnProof(next(self._moments))
            return proof, True

    def _run(self, proof: _OwnProof) -> None:
        try:
            version = self._find()
        except BaseException as error:  # noqa: BLE001 - those who wait must get it too
            with self._lock:
                self._proof = None  # a later call tries again, and before it registers anything
                self._last_found = None
            proof.found.set_exception(error)
        else:
            with self._lock:
                self._last_found = version
            proof.found.set_result(version)

    def _find(self) -> Version:
        """A failed own proof counts only after a new login.

        The password may have been changed, or an upgraded server may still hold the account's
        record of before, which it re-encodes at the account's next login.
        """
        version = self._proved_by(self._logins.login()) or self._proved_by(self._logins.renew())
        if version is None:
            versions = " nor ".join(each.value for each in Version)
            raise UnsupportedServer(
                f"lldap speaks neither OPAQUE {versions} with the operator's own account: "
                "passwords need a release of lldap that this operator knows"
            )
        return version

    def _proved_by(self, login: Login) -> Version | None:
        if login.generation != self._generation:
            self._generation, self._kept = login.generation, KeptKey()
        for version in sorted(Version, key=lambda each: each is not self._last_found):
            if self._holds(version):
                return version
        return None

    def _holds(self, version: Version) -> bool:
        own = self._credentials.last
        try:
            return self._exchange.prove_current(
                own.username, own.password.encode(), version, self._kept
            )
        except InvalidMessage:  # an answer that is not understood proves nothing
            return False

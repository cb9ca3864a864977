"""The one interface of both versions: register a password, prove a password."""

import enum
from typing import Protocol

from lldap.opaque.key_stretching import KeptKey


class Version(enum.Enum):
    """A version of opaque-ke that some lldap speaks."""

    V0_7 = "0.7"
    V4_0 = "4.0"


class Registration(Protocol):
    """One registration of one password: for one server, one exchange, one thread."""

    @property
    def request(self) -> bytes:
        """The first message to the server."""

    def finish(self, response: bytes) -> bytes:
        """The upload that answers `response`; InvalidMessage if that is none."""


class Proof(Protocol):
    """One proof that a password is the stored one: for one exchange, one thread."""

    @property
    def request(self) -> bytes:
        """The message to the server."""

    def check(self, response: bytes) -> bool:
        """Whether the password is the stored one; InvalidMessage if `response` is none.

        False for another password, a user without one and no user at all: the server's answers
        do not tell those apart.
        """


class Client(Protocol):
    """The client's side of one version. Any thread.

    A password has at most 65,535 bytes. `kept` carries the expensive key from a registration to
    the proof that follows and from one proof to the next; a version that cannot use it leaves it
    alone.
    """

    @property
    def version(self) -> Version:
        """The version that this client speaks."""

    def begin_registration(self, password: bytes, kept: KeptKey, /) -> Registration:
        """Begin to register `password`."""

    def begin_proof(self, password: bytes, kept: KeptKey, /) -> Proof:
        """Begin to prove `password`."""

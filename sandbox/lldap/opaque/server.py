"""The one interface of both versions of the server's side."""

from typing import NamedTuple, Protocol


class LoginStart(NamedTuple):
    """The answer to the start of a login, and what would check the client's last message.

    In 0.7 the state is that message.
    """

    response: bytes
    state: bytes


class Server(Protocol):
    """One version's server. Any thread.

    `username` is the user id as lldap stores it; a record is the upload as it was accepted. What
    is none of the protocol raises InvalidMessage, which lldap answers with 400.
    """

    def registration_start(self, username: str, request: bytes) -> bytes:
        """The registration response."""

    def registration_finish(self, upload: bytes) -> bytes:
        """The record to store."""

    def login_start(self, username: str, request: bytes, record: bytes | None) -> LoginStart:
        """The credential response; a well-formed one that fits no password without a record."""

    def verify(self, username: str, password: bytes, record: bytes) -> bool:
        """Whether `password` is the one that was registered: both sides in one, one Argon2."""

    def register(self, username: str, password: bytes) -> bytes:
        """The record of `password`: both sides in one, one Argon2."""

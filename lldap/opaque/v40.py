"""OPAQUE as opaque-ke 4.0 speaks it (RFC 9807), which lldap is to move to."""

from types import ModuleType

from lldap.opaque import messages
from lldap.opaque.client import Version
from lldap.opaque.errors import InvalidMessage
from lldap.opaque.key_stretching import KeptKey


def _opaque_ke() -> ModuleType:
    """The library, loaded at first use: most servers do not speak this version."""
    import opaque_ke_py  # noqa: PLC0415 - see above

    return opaque_ke_py


class ClientV40:
    """A `Client` of version 4.0, on opaque-ke-py. Any thread.

    The library draws its own randomness, and runs Argon2 (19 MiB) inside a call that holds the
    interpreter's lock for about 20 ms: it needs no permit and has no result to keep.
    """

    version = Version.V4_0

    def begin_registration(self, password: bytes, _kept: KeptKey, /) -> "RegistrationV40":
        """Begin to register `password`."""
        return RegistrationV40(password)

    def begin_proof(self, password: bytes, _kept: KeptKey, /) -> "ProofV40":
        """Begin to prove `password`."""
        return ProofV40(password)


class RegistrationV40:
    """A `Registration` of version 4.0. One thread."""

    __slots__ = ("_password", "_state", "request")

    def __init__(self, password: bytes) -> None:
        started = _opaque_ke().client_registration_start(password)
        self._password = password
        self._state: bytes = started.get_state()
        self.request: bytes = started.get_message()

    def finish(self, response: bytes) -> bytes:
        """The upload that answers `response`; InvalidMessage if that is none."""
        messages.read_registration_response(response, self.request)
        finish = _opaque_ke().client_registration_finish
        try:
            finished = finish(self._password, self._state, response)
        except ValueError:
            raise InvalidMessage("opaque-ke refuses the registration response") from None
        return bytes(finished.get_message())


class ProofV40:
    """A `Proof` of version 4.0. One thread."""

    __slots__ = ("_password", "_state", "request")

    def __init__(self, password: bytes) -> None:
        started = _opaque_ke().client_login_start(password)
        self._password = password
        self._state: bytes = started.get_state()
        self.request: bytes = started.get_message()

    def check(self, response: bytes) -> bool:
        """Whether the password is the stored one; InvalidMessage if `response` is none."""
        # read first: the library has one ValueError for a bad message and a wrong password
        messages.read_credential_response(response, self.request)
        try:
            _opaque_ke().client_login_finish(self._password, self._state, response)
        except ValueError:
            return False
        return True

"""An lldap.transport.Transport that ends in an embedded lldap."""

from collections.abc import Mapping

from lldap.errors import AnswerTooLarge, ConnectionFailed, OutcomeUnknown
from lldap.http import BeforeSend
from lldap.transport import Answer
from sandbox.lldap.exchange import Call
from sandbox.lldap.faults import ConnectionLostError
from sandbox.lldap.server import Lldap


class InProcessTransport:
    """Sends in the caller's thread, with no socket; `caller` is its name in the log. Any thread."""

    def __init__(self, lldap: Lldap, *, caller: str = "operator") -> None:
        self._lldap = lldap
        self._caller = caller

    def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        max_bytes: int,
        before_send: BeforeSend | None = None,
    ) -> Answer:
        """Send once. A hook that lets more than `timeout` pass makes the outcome unknown."""
        if before_send is not None:
            before_send(timeout)
        monotonic = self._lldap.clock.monotonic
        begun = monotonic()
        lowered = {name.lower(): value for name, value in headers.items()}
        try:
            response = self._lldap.send(Call(self._caller, method, path, lowered, body or b""))
        except ConnectionLostError as lost:
            failure = OutcomeUnknown if lost.sent else ConnectionFailed
            raise failure(f"{method} {path}: the connection was lost") from lost
        if monotonic() - begun > timeout:
            raise OutcomeUnknown(f"{method} {path}: no answer within {timeout} s")
        if len(response.body) > max_bytes:
            raise AnswerTooLarge(f"{method} {path}: more than {max_bytes} bytes")
        return Answer(
            response.status, dict(response.headers).get("content-type", ""), response.body
        )

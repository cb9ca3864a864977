"""A session in front of a scripted lldap."""

from collections.abc import Callable

from lldap import Answer, Credentials, Metrics, Session
from lldap.classify import Asked
from lldap.graphql import Document, Request
from lldap.metrics import NOOP
from tests.lldap.scripted_transport import ScriptedTransport, Sent, data, text_answer
from tests.support.clock import FakeClock

READ = Request(Document("users", "{ users { id } }", max_bytes=77), {}, Asked("users"))
WRITE = Request(Document("deleteUser", "mutation { x }"), {}, Asked("deleteUser", user="bob"))
START = "/auth/opaque/register/start"
EXPIRED = text_answer("Invalid JWT", 401)
NOT_ALLOWED = text_answer("Unauthorized: `Not authorized to change the user's password`", 401)
OK = data({"users": []})


def admin() -> Credentials:
    return Credentials("Admin", "password")


def session_of(
    transport: ScriptedTransport,
    clock: FakeClock | None = None,
    *,
    credentials: Callable[[], Credentials] = admin,
    before_write: Callable[[float], None] | None = None,
    metrics: Metrics = NOOP,
) -> Session:
    return Session(
        transport,
        credentials,
        clock=clock or FakeClock(),
        call_seconds=8.0,
        before_write=before_write,
        metrics=metrics,
    )


def advancing(clock: FakeClock, seconds: float, answer: Answer) -> Callable[[Sent], Answer]:
    """A reply that takes `seconds`."""

    def reply(_: Sent) -> Answer:
        clock.advance(seconds)
        return answer

    return reply

"""A Transport that answers as a test says, and remembers what it was asked."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from lldap import Answer
from lldap.http import BeforeSend

LOGIN = "/auth/simple/login"
GRAPHQL = "/api/graphql"


@dataclass(frozen=True)
class Sent:
    """One request as it was sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    timeout: float
    max_bytes: int

    @property
    def json(self) -> dict[str, Any]:
        parsed: dict[str, Any] = orjson.loads(self.body)
        return parsed

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "").removeprefix("Bearer ")


Reply = Answer | Exception | Callable[[Sent], Answer]


def json_answer(value: object, status: int = 200) -> Answer:
    return Answer(status, "application/json", orjson.dumps(value))


def text_answer(text: str, status: int, content_type: str = "") -> Answer:
    return Answer(status, content_type, text.encode())


def data(value: object) -> Answer:
    return json_answer({"data": value})


def failed(*messages: str, status: int = 200) -> Answer:
    errors = [{"message": text, "locations": [], "path": []} for text in messages]
    return json_answer({"data": None, "errors": errors}, status)


class ScriptedTransport:
    """Answers with `replies`, one after the other, the last one for ever; logins by themselves.

    A login number n gets the token `token-n`, unless `logins` has replies of its own.
    """

    def __init__(self, *replies: Reply, logins: tuple[Reply, ...] = ()) -> None:
        self._lock = threading.Lock()  # guards all below
        self._replies = list(replies)
        self._logins = list(logins)
        self.sent: list[Sent] = []

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
        if before_send is not None:
            before_send(timeout)
        sent = Sent(method, path, dict(headers), body or b"", timeout, max_bytes)
        with self._lock:
            self.sent.append(sent)
            reply = self._next_login() if path == LOGIN else self._next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Answer) else reply(sent)

    def _next_login(self) -> Reply:
        if self._logins:
            return self._next(self._logins)
        return json_answer({"token": f"token-{len(self.logins)}", "refreshToken": "unused"})

    @staticmethod
    def _next(replies: list[Reply]) -> Reply:
        return replies.pop(0) if len(replies) > 1 else replies[0]

    @property
    def logins(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.path == LOGIN]

    @property
    def calls(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.path != LOGIN]

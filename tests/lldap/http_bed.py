"""Calls through a real HTTP transport, and what a failed one may hold."""

from typing import Protocol

import pytest

from lldap import Answer, HttpTransport, LldapError, Unavailable
from tests.lldap.loopback import Handler, LoopbackServer

HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer S3cr3t-TOKEN"}
BODY = b'{"password": "S3cr3t-CANARY"}'


class Connect(Protocol):
    """Makes a server with such connections and a transport to it."""

    def __call__(
        self, *handlers: Handler, path: str = ""
    ) -> tuple[HttpTransport, LoopbackServer]: ...


def send(
    transport: HttpTransport,
    *,
    timeout: float = 5.0,
    max_bytes: int = 1000,
    body: bytes = BODY,
) -> Answer:
    return transport.send(
        "POST",
        "/api/graphql",
        headers=HEADERS,
        body=body,
        timeout=timeout,
        max_bytes=max_bytes,
    )


def failure(transport: HttpTransport, *, timeout: float = 5.0) -> LldapError:
    """The error of a call; it must hold nothing of the request."""
    with pytest.raises(Unavailable) as caught:
        send(transport, timeout=timeout)
    error = caught.value
    assert error.__context__ is None
    assert error.__cause__ is None
    assert "S3cr3t" not in f"{error!r}{error.__dict__}"
    return error

"""A scripted server and a transport to it, as the tests of the transport use them."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from informers import (
    ApiClientTransport,
    ApiFailure,
)
from tests.informers.rawserver import (
    Certificate,
    RawServer,
    Script,
    transport_to,
)

SHORT = 0.3
"""The deadline of calls that are meant to exceed it."""

LONG = 5.0

Open = Callable[[Script], AbstractContextManager[ApiClientTransport]]


class Site:
    """A server with a script and a transport to it, over TLS or not."""

    def __init__(self, script: Script, certificate: Certificate | None) -> None:
        self.server = RawServer(script, certificate.context() if certificate else None)
        self._ca = certificate.path if certificate else None

    def __enter__(self) -> ApiClientTransport:
        self.server.__enter__()
        self._client = transport_to(self.server.url, ca=self._ca)
        return self._client.__enter__()

    def __exit__(self, *raised: object) -> None:
        self._client.__exit__(None, None, None)
        self.server.__exit__(None, None, None)


def failed(call: Callable[[], object]) -> tuple[ApiFailure, float]:
    started = time.monotonic()
    with pytest.raises(ApiFailure) as caught:
        call()
    return caught.value, time.monotonic() - started

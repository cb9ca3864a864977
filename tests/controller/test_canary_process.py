"""B14: nothing that the process shows to the host or writes anywhere holds a password."""

import contextlib
import datetime
import itertools
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import orjson
import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandbox.controlplane import free_ports
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import ConnectionLostError, Forward
from tests.support.process import (
    ADMIN_PASSWORD,
    OperatorProcess,
    Servers,
    eventually,
    forms_of,
    operator_of,
    servers_in,
)

pytestmark = pytest.mark.slow

CANARY = "S3cr3t-CANARY-é"


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with servers_in(tmp_path) as both:
        yield both


def assert_clean(servers: Servers, operator: OperatorProcess, *texts: str) -> None:
    seen = {
        "log": operator.log,
        "command line": operator.command_line().decode(),
        "events": orjson.dumps(servers.events()).decode(),
        "object": orjson.dumps([servers.get("LldapUser", "alice")]).decode(),
        "texts": "\n".join(texts),
    }
    for where, text in seen.items():
        leaked = [form for form in forms_of(CANARY) | forms_of(ADMIN_PASSWORD) if form in text]
        assert not leaked, f"{where} has {leaked}"


class Trouble:
    """Every kind of fault in turn, on every third call, with what was sent in the answer."""

    def __init__(self) -> None:
        self.on = True
        self._number = itertools.count()
        self._lock = threading.Lock()

    def __call__(self, call: Call, forward: Forward) -> Response:
        with self._lock:
            number = next(self._number)
        if not self.on or number % 3:
            return forward(call)
        said = f"no: {call.data.decode(errors='replace')} {CANARY} {ADMIN_PASSWORD}"
        faults: list[Callable[[], Response]] = [
            lambda: Response(500, [], said.encode()),
            lambda: Response(401, [], said.encode()),
            lambda: Response(200, [("content-type", "text/html")], said.encode()),
            lambda: Response.of_json(200, {"data": None, "echo": said}),
            lambda: _lost(call, forward),
        ]
        return faults[number // 3 % len(faults)]()


def _lost(call: Call, forward: Forward) -> Response:
    forward(call)
    raise ConnectionLostError(sent=True)


@pytest.mark.parametrize("given", ["file", "environment"])
def test_B14_a_process_in_trouble_at_debug_level_shows_no_password(
    servers: Servers, given: str
) -> None:
    trouble = Trouble()
    (port,) = free_ports(1)
    flags = {"log-level": "debug", "metrics-address": f"127.0.0.1:{port}", "log-format": "json"}
    environ = {}
    if given == "environment":
        flags["lldap-admin-password-file"] = ""
        environ["LLDAP_ADMIN_PASSWORD"] = ADMIN_PASSWORD
    with operator_of(servers, flags, environ) as operator:
        operator.wait_log("working")
        servers.lldap.hooks.append(trouble)
        servers.user_with_password("alice", CANARY.encode())
        eventually("a warning", lambda: '"level":"warning"' in operator.log)
        servers.secret("alice-password", f"{CANARY}x".encode())
        eventually("some trouble", lambda: len(servers.lldap.log) > 25, 60.0)
        trouble.on = False
        servers.wait_ready("LldapUser", "alice")
        metrics = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=5.0).text
        assert "lldap_operator_lldap_calls_total" in metrics
        assert_clean(servers, operator, metrics)
        assert operator.stop()[0] == 0
    assert servers.login("alice", f"{CANARY}x") == 200


class TlsServer(socketserver.ThreadingTCPServer):
    """Shakes hands, or tries to."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__(("127.0.0.1", 0), socketserver.BaseRequestHandler)
        self._thread = threading.Thread(target=self.serve_forever, args=[0.05], name="tls")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def finish_request(self, request: Any, client_address: Any) -> None:
        with contextlib.suppress(OSError):
            self._context.wrap_socket(request, server_side=True).close()


@contextmanager
def untrusted_tls(folder: Path) -> Iterator[str]:
    """A server whose certificate nobody knows; it never sees a request."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = folder / "server.pem"
    pem.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with TlsServer(context) as server:
        yield f"https://127.0.0.1:{server.server_address[1]}"


def test_B14_a_certificate_that_is_not_trusted_brings_no_password_out(servers: Servers) -> None:
    servers.user("alice")
    with (
        untrusted_tls(servers.folder) as url,
        operator_of(servers, {"lldap-url": url, "log-level": "debug"}) as operator,
    ):
        servers.wait_reason("LldapUser", "alice", "LldapUnavailable")
        assert_clean(servers, operator)
        assert operator.stop()[0] == 0

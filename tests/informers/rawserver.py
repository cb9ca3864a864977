"""A server on loopback that does to each connection what a test says, and nothing else."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kubernetes import client

from informers import ApiClientTransport

PATIENCE = 10.0
"""Seconds after which a test's server gives up, so that no thread is left behind."""

Script = Callable[["Peer"], None]


class Peer:
    """The server's side of one connection."""

    def __init__(self, sock: socket.socket, over: threading.Event) -> None:
        self.sock = sock
        self.over = over
        self.requests: list[tuple[str, dict[str, str], bytes]] = []

    def receive(self) -> tuple[str, dict[str, str], bytes] | None:
        """Read one request: its first line, headers and body; None when the client is gone."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.sock.recv(65536)
            if not piece:
                return None
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {n.lower(): v for n, v in (line.split(": ", 1) for line in lines)}
        while len(body) < int(headers.get("content-length", "0")):
            body += self.sock.recv(65536)
        self.requests.append((first, headers, body))
        return self.requests[-1]

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def drip(self, data: bytes, seconds: float = 0.02) -> None:
        """Send byte by byte until the client has had enough."""
        for byte in data:
            self.send(bytes([byte]))
            if self.over.wait(seconds):
                return

    def answer(self, body: bytes = b"{}", status: str = "200 OK", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join([*lines, "", ""]).encode() + body)

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%b\r\n" % (len(data), data))

    def hang(self) -> None:
        """Do nothing until the test is over."""
        self.over.wait(PATIENCE)

    def reset(self) -> None:
        """Close so that the client gets a reset."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class RawServer:
    """Runs `script` in a thread for each connection; `with` starts and ends it."""

    def __init__(self, script: Script, tls: ssl.SSLContext | None = None) -> None:
        self._script = script
        self._tls = tls
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self.peers: list[Peer] = []
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for peer in self.peers:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(peer.sock, socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE + 1)

    @property
    def requests(self) -> list[tuple[str, dict[str, str], bytes]]:
        return [request for peer in self.peers for request in peer.requests]

    def _start(self, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name="raw server")
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.settimeout(PATIENCE)
            self._start(partial(self._serve, sock))

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), sock:
            if self._tls is None:
                return self._run(sock)
            with self._tls.wrap_socket(sock, server_side=True) as wrapped:
                self._run(wrapped)
        return None

    def _run(self, sock: socket.socket) -> None:
        peer = Peer(sock, self._over)
        self.peers.append(peer)
        self._script(peer)


def serve(answer: Callable[[Peer], None]) -> Script:
    """A script that answers every request of a connection."""

    def run(peer: Peer) -> None:
        while peer.receive():
            answer(peer)

    return run


class Certificate:
    """A self-signed certificate of 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
        now = datetime.datetime.now(datetime.UTC)
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        built = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([address]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        self.path = folder / "cert.pem"
        self.path.write_bytes(built.public_bytes(serialization.Encoding.PEM))
        self._key = folder / "key.pem"
        self._key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path, self._key)
        return context


@contextlib.contextmanager
def transport_to(
    url: str,
    *,
    token: str = "",
    ca: Path | None = None,
    proxy: str = "",
    proxy_headers: dict[str, str] | None = None,
    max_bytes: int = 1 << 20,
) -> Iterator[ApiClientTransport]:
    """A transport on a new ApiClient; both are closed at the end."""
    configuration = client.Configuration(host=url, no_proxy="")
    configuration.ssl_ca_cert = str(ca) if ca else None
    configuration.proxy = proxy or None
    configuration.proxy_headers = proxy_headers
    if token:
        configuration.api_key["BearerToken"] = token
    with client.ApiClient(configuration) as api_client:
        transport = ApiClientTransport(
            api_client, user_agent="lldap-operator/test", pool_size=2, max_bytes=max_bytes
        )
        try:
            yield transport
        finally:
            transport.close()

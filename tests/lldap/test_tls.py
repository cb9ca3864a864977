"""TLS: whom the transport trusts, and when it looks again."""

import datetime
import io
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from lldap import ConnectionFailed, HttpTransport, OutcomeUnknown, SystemClock
from tests.lldap.http_bed import failure, send
from tests.lldap.loopback import Connection, Handler, LoopbackServer, answer_all


class Certificate:
    """A certificate for 127.0.0.1 (or another name) that vouches for itself."""

    def __init__(self, folder: Path, name: str, *, address: str = "127.0.0.1") -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False
            )
            .sign(key, hashes.SHA256())
        )
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_file = folder / f"{name}.key"
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.file, key_file)


@contextmanager
def connected(
    certificate: Certificate | None, ca_file: Path | None, *handlers: Handler
) -> Iterator[tuple[HttpTransport, LoopbackServer]]:
    context = certificate.context if certificate else None
    with LoopbackServer(*(handlers or (answer_all,)), tls=context) as server:
        url = f"https://127.0.0.1:{server.port}/lldap"
        transport = HttpTransport(url, clock=SystemClock(), ca_file=ca_file)
        try:
            yield transport, server
        finally:
            transport.close()


def test_a_server_of_the_given_authority_is_trusted(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path, "server")
    with connected(certificate, certificate.file) as (transport, server):
        assert [send(transport).status for _ in range(3)] == [200, 200, 200]
        assert len(server.connections) == 1


def test_what_tls_holds_back_behind_an_answer_is_not_the_next(tmp_path: Path) -> None:
    def two_in_a_record(connection: Connection) -> None:
        while connection.request():
            head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: "
            filled = head.ljust(io.DEFAULT_BUFFER_SIZE - 6, b"x") + b"\r\n\r\n{}"
            connection.sock.sendall(filled + b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n0")

    certificate = Certificate(tmp_path, "server")
    with connected(certificate, certificate.file, two_in_a_record) as (transport, server):
        assert [send(transport).body for _ in range(2)] == [b"{}", b"{}"]
        assert len(server.connections) == 2


def test_a_server_of_another_authority_is_sent_nothing(tmp_path: Path) -> None:
    certificate, other = Certificate(tmp_path, "server"), Certificate(tmp_path, "other")
    for trusted in (other.file, None):
        with connected(certificate, trusted) as (transport, server):
            error = failure(transport)
            assert type(error) is ConnectionFailed
            assert "its certificate is not trusted" in str(error)
            assert server.requests == []


def test_a_server_of_another_name_is_sent_nothing(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path, "server", address="127.0.0.2")
    with connected(certificate, certificate.file) as (transport, server):
        error = failure(transport)
        assert type(error) is ConnectionFailed
        assert "its certificate is not trusted" in str(error)
        assert server.requests == []


def test_a_server_without_tls_is_sent_nothing(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path, "server")

    def plain(connection: Connection) -> None:
        connection.sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with connected(None, certificate.file, plain) as (transport, _):
        error = failure(transport)
        assert type(error) is ConnectionFailed
        assert "TLS failed" in str(error)


def test_C09_a_handshake_that_hangs_is_left_at_the_deadline(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path, "server")

    def hang(connection: Connection) -> None:
        connection.stop.wait(10.0)

    with connected(None, certificate.file, hang) as (transport, _):
        began = time.monotonic()
        assert type(failure(transport, timeout=0.3)) is ConnectionFailed
        assert time.monotonic() - began < 2.0


def test_C09_the_deadline_holds_within_tls(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path, "server")

    def drip(connection: Connection) -> None:
        connection.request()
        connection.drip(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")

    with connected(certificate, certificate.file, drip) as (transport, _):
        began = time.monotonic()
        assert type(failure(transport, timeout=0.4)) is OutcomeUnknown
        assert time.monotonic() - began < 2.0


def test_a_large_body_goes_through_tls(tmp_path: Path) -> None:
    certificate = Certificate(tmp_path, "server")
    with connected(certificate, certificate.file) as (transport, server):
        assert send(transport, body=b"x" * 1_000_000).status == 200
        assert server.requests[0].endswith(b"x" * 1_000_000)


def test_the_authority_is_read_again_when_its_file_changes(tmp_path: Path) -> None:
    certificate, other = Certificate(tmp_path, "server"), Certificate(tmp_path, "other")
    trusted = tmp_path / "ca.pem"
    trusted.write_bytes(other.file.read_bytes())
    with connected(certificate, trusted) as (transport, _):
        assert type(failure(transport)) is ConnectionFailed
        trusted.write_bytes(certificate.file.read_bytes() + b"\n")
        assert send(transport).status == 200


@pytest.mark.parametrize("content", [b"no certificate", b"", None])
def test_an_authority_that_is_gone_or_broken_leaves_the_last_good_one(
    tmp_path: Path, content: bytes | None
) -> None:
    certificate = Certificate(tmp_path, "server")
    trusted = tmp_path / "ca.pem"
    trusted.write_bytes(certificate.file.read_bytes())
    with connected(certificate, trusted) as (transport, server):
        assert send(transport).status == 200
        trusted.unlink() if content is None else trusted.write_bytes(content)
        assert [send(transport).status for _ in range(2)] == [200, 200]
        assert len(server.connections) == 1
        trusted.write_bytes(certificate.file.read_bytes())
        assert send(transport).status == 200


@pytest.mark.parametrize("content", [b"no certificate", None])
def test_an_authority_that_is_none_at_the_start_is_a_mistake(
    tmp_path: Path, content: bytes | None
) -> None:
    trusted = tmp_path / "ca.pem"
    if content is not None:
        trusted.write_bytes(content)
    with pytest.raises(OSError, match=r".+"):
        HttpTransport("https://127.0.0.1:1", clock=SystemClock(), ca_file=trusted)

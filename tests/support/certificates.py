"""Certificates for servers on 127.0.0.1."""

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)


class Authority:
    """A CA of a test's own. `pem` is its certificate."""

    def __init__(self, name: str) -> None:
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = self._signed(
            self._name,
            self._key.public_key(),
            [x509.BasicConstraints(ca=True, path_length=None)],
        )
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue(
        self, certificate: Path, key: Path, *, host: str = "127.0.0.1", days: int = 1
    ) -> None:
        """Write a new certificate for `host` and its key; with days=-1 one that is over."""
        new = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([_name(host)])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        signed = self._signed(subject, new.public_key(), [names], days=days)
        key.write_bytes(
            new.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def _signed(
        self,
        subject: x509.Name,
        public: ec.EllipticCurvePublicKey,
        extensions: list[x509.ExtensionType],
        *,
        days: int = 1,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 2 * DAY)
            .not_valid_after(now + days * DAY)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)

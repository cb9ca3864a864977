"""The server's side of version 0.7."""

import hmac
from collections.abc import Callable

from lldap.opaque import envelope, hashing, oprf, ristretto255
from lldap.opaque.key_stretching import KeyStretching
from lldap.opaque.messages import MASKING_KEY_BYTES, NONCE_BYTES
from sandbox.lldap.opaque import messages
from sandbox.lldap.opaque.key_exchange import Parties, exchange_keys
from sandbox.lldap.opaque.server import LoginStart
from sandbox.lldap.opaque.setup import ServerSetup

_OPRF_KEY_SEED_BYTES = 32


class ServerV07:
    """A `Server` of version 0.7, to the byte what the real one answers. Any thread.

    `random` gives that many random bytes; `stretch` is the key stretching of `verify`.
    """

    def __init__(
        self, setup: bytes, *, random: Callable[[int], bytes], stretch: KeyStretching
    ) -> None:
        self._setup = ServerSetup.from_bytes(setup)
        self._public_key = ristretto255.public_key(self._setup.private_key)
        self._random = random
        self._stretch = stretch

    def registration_start(self, username: str, request: bytes) -> bytes:
        """The registration response."""
        messages.check_registration_request(request)
        return ristretto255.multiply(self._oprf_key(username), request) + self._public_key

    def registration_finish(self, upload: bytes) -> bytes:
        """The record to store."""
        messages.read_record(upload)
        return upload

    def login_start(self, username: str, request: bytes, record: bytes | None) -> LoginStart:
        """The credential response; a well-formed one that fits no password without a record."""
        parts = messages.read_credential_request(request)
        stored = messages.read_record(record or self._dummy_record())
        masking_nonce = self._random(NONCE_BYTES)
        ephemeral = ristretto255.random_scalar(self._random)
        masked = envelope.mask(
            stored.masking_key, masking_nonce, self._public_key + stored.envelope
        )
        response = (
            ristretto255.multiply(self._oprf_key(username), parts.blinded)
            + masking_nonce
            + masked
            + self._random(NONCE_BYTES)
            + ristretto255.public_key(ephemeral)
        )
        parties = Parties(
            self._setup.private_key, ephemeral, stored.client_public, parts.client_ephemeral
        )
        exchange = exchange_keys(parties, request, response)
        return LoginStart(response + exchange.server_mac, exchange.client_mac)

    def verify(self, username: str, password: bytes, record: bytes) -> bool:
        """Whether `password` is the one that was registered."""
        sealed = messages.read_record(record).envelope
        nonce, tag = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
        randomized_password = self._randomized_password(username, password)
        expected = envelope.auth_tag(randomized_password, nonce, self._public_key)
        return hmac.compare_digest(expected, tag)

    def register(self, username: str, password: bytes) -> bytes:
        """The record of `password`: both sides in one, one Argon2."""
        randomized_password = self._randomized_password(username, password)
        return envelope.seal(randomized_password, self._random(NONCE_BYTES), self._public_key)

    def _randomized_password(self, username: str, password: bytes) -> bytes:
        element = ristretto255.multiply(self._oprf_key(username), oprf.hash_to_group(password))
        return hashing.hkdf_extract(self._stretch(oprf.finalize(password, element)))

    def _oprf_key(self, username: str) -> bytes:
        info = username.encode() + b"OprfKey"
        seed = hashing.hkdf_expand(self._setup.oprf_seed, info, _OPRF_KEY_SEED_BYTES)
        return hashing.hash_to_scalar(seed, b"")

    def _dummy_record(self) -> bytes:
        public = ristretto255.public_key(self._setup.fake_private_key)
        return messages.dummy_record(public, self._random(MASKING_KEY_BYTES))

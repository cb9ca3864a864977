"""OPAQUE as opaque-ke 0.7 speaks it, the version of lldap up to 0.6."""

from collections.abc import Callable

from lldap.opaque import envelope, hashing, messages, ristretto255
from lldap.opaque.client import Version
from lldap.opaque.key_stretching import KeptKey, KeyStretching
from lldap.opaque.oprf import Blinded

Random = Callable[[int], bytes]


class ClientV07:
    """A `Client` of version 0.7. Any thread.

    `random` gives that many unpredictable bytes; `stretch` is the key stretching function.
    """

    version = Version.V0_7

    def __init__(self, *, random: Random, stretch: KeyStretching) -> None:
        self._random = random
        self._stretch = stretch

    def begin_registration(self, password: bytes, kept: KeptKey, /) -> "RegistrationV07":
        """Begin to register `password`."""
        return RegistrationV07(_Randomizer(password, self._random, self._stretch, kept))

    def begin_proof(self, password: bytes, kept: KeptKey, /) -> "ProofV07":
        """Begin to prove `password`."""
        return ProofV07(_Randomizer(password, self._random, self._stretch, kept))


class _Randomizer:
    """Makes of a password the randomized password, with the server's help."""

    __slots__ = ("_blinded", "_kept", "_stretch", "random")

    def __init__(
        self, password: bytes, random: Random, stretch: KeyStretching, kept: KeptKey
    ) -> None:
        self.random = random
        self._blinded = Blinded(password, random)
        self._stretch = stretch
        self._kept = kept

    @property
    def request(self) -> bytes:
        return self._blinded.request

    def randomized_password(self, evaluated: bytes) -> bytes:
        """The key that all others come from: one stretching, unless it is the kept one."""
        output = self._blinded.finalize(evaluated)
        key = self._kept.get(output)
        if key is None:
            key = hashing.hkdf_extract(self._stretch(output))
            self._kept.put(output, key)
        return key


class RegistrationV07:
    """A `Registration` of version 0.7. One thread."""

    __slots__ = ("_randomizer", "request")

    def __init__(self, randomizer: _Randomizer) -> None:
        self._randomizer = randomizer
        self.request = randomizer.request

    def finish(self, response: bytes) -> bytes:
        """The upload that answers `response`; InvalidMessage if that is none."""
        evaluated, server_public = messages.read_registration_response(response, self.request)
        randomized_password = self._randomizer.randomized_password(evaluated)
        nonce = self._randomizer.random(messages.NONCE_BYTES)
        return envelope.seal(randomized_password, nonce, server_public)


class ProofV07:
    """A `Proof` of version 0.7. One thread.

    It ends where the envelope opens: the key exchange behind that would log in, so the
    ephemeral secret is not kept.
    """

    __slots__ = ("_randomizer", "request")

    def __init__(self, randomizer: _Randomizer) -> None:
        self._randomizer = randomizer
        ephemeral = ristretto255.public_key(ristretto255.random_scalar(randomizer.random))
        nonce = randomizer.random(messages.NONCE_BYTES)
        self.request = randomizer.request + nonce + ephemeral

    def check(self, response: bytes) -> bool:
        """Whether the password is the stored one; InvalidMessage if `response` is none."""
        parts = messages.read_credential_response(response, self.request)
        randomized_password = self._randomizer.randomized_password(parts.evaluated)
        return envelope.opens(randomized_password, parts.masking_nonce, parts.masked)

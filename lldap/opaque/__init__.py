"""OPAQUE as lldap speaks it: passwords are registered and proved without being sent.

- Two versions, 0.7 and 4.0, behind one interface (`Client`). Their messages have the same
  lengths, and a server takes a registration of the wrong version with no error: which version
  it speaks is found by a proof (`lldap.passwords`), never guessed.
- A proof shows that a password is the stored one. It makes no session and no token, and leaves
  nothing behind on the server.
- A message that is none of the protocol raises `InvalidMessage`, and nothing else is raised for
  what a server sends.
- Secrets are compared in constant time, and appear in no repr and no exception.
- No I/O, no threads, no state outside the objects; randomness is handed in where the library
  below allows it.
"""

from lldap.opaque.client import Client, Proof, Registration, Version
from lldap.opaque.errors import InvalidMessage
from lldap.opaque.key_stretching import Argon2, KeptKey, KeyStretching
from lldap.opaque.v07 import ClientV07
from lldap.opaque.v40 import ClientV40

__all__ = [
    "Argon2",
    "Client",
    "ClientV07",
    "ClientV40",
    "InvalidMessage",
    "KeptKey",
    "KeyStretching",
    "Proof",
    "Registration",
    "Version",
]

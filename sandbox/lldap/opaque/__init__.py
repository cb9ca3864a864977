"""The server's side of OPAQUE in both versions, for an lldap that is embedded.

`PasswordServer` is what the endpoints use; `ServerV07` answers to the byte what the real crate
answers, given the same setup and randomness.
"""

from sandbox.lldap.opaque.key_stretching import CountedStretching, cheap_stretching
from sandbox.lldap.opaque.password_server import OldRecordError, PasswordRecord, PasswordServer
from sandbox.lldap.opaque.server import LoginStart, Server
from sandbox.lldap.opaque.setup import setup_from_seed
from sandbox.lldap.opaque.v07 import ServerV07
from sandbox.lldap.opaque.v40 import ServerV40

__all__ = [
    "CountedStretching",
    "LoginStart",
    "OldRecordError",
    "PasswordRecord",
    "PasswordServer",
    "Server",
    "ServerV07",
    "ServerV40",
    "cheap_stretching",
    "setup_from_seed",
]

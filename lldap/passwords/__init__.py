"""Passwords over HTTP: registered so that they work, proved without a session.

- `Passwords.set_password` returns when it is shown that the user can log in: a server takes a
  registration of the wrong version with no error, and may be upgraded at any moment.
- `Passwords.has_password` changes nothing, and leaves no session and no token behind.
- `check_password` and `password_warnings` look at the bytes alone and call nobody.
- No password is in an exception, a repr or a log. No threads; deadlines are the session's.
"""

from lldap.passwords.checks import (
    PasswordRejected,
    PasswordWarning,
    check_password,
    password_warnings,
)
from lldap.passwords.exchange import AuthEndpoints, PasswordExchange
from lldap.passwords.own_credentials import OwnCredentials
from lldap.passwords.passwords import PasswordNotConfirmed, Passwords, PasswordSession
from lldap.passwords.server_version import ServerVersion, UnsupportedServer

__all__ = [
    "AuthEndpoints",
    "OwnCredentials",
    "PasswordExchange",
    "PasswordNotConfirmed",
    "PasswordRejected",
    "PasswordSession",
    "PasswordWarning",
    "Passwords",
    "ServerVersion",
    "UnsupportedServer",
    "check_password",
    "password_warnings",
]

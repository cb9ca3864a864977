"""Connections of a command that does one thing and ends: no threads, no election, no fence."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from controller.clock import Clock
from controller.cluster import api_client
from controller.configuration.config import Config, ConfigError
from controller.configuration.contradictions import Mistake
from controller.configuration.credentials import Credentials
from controller.version import VERSION
from informers import ApiClientTransport, RestClient
from lldap import Credentials as LldapCredentials
from lldap import HttpTransport, Session
from lldap.opaque import Argon2, Client, ClientV07, ClientV40
from lldap.passwords import OwnCredentials

_USER_AGENT = f"lldap-operator/{VERSION}"


@contextmanager
def api_server(kubeconfig: str | None, call_seconds: float, clock: Clock) -> Iterator[RestClient]:
    """The API server that a kubeconfig, or the service account, leads to. Raises ConfigError."""
    try:
        transport = ApiClientTransport(api_client(kubeconfig), user_agent=_USER_AGENT)
    except ValueError as error:
        mistake = Mistake("KUBECONFIG", f"cannot be used: {error}")
        raise ConfigError((mistake,)) from None
    try:
        yield RestClient(
            transport, call_seconds=call_seconds, now=clock.now, monotonic=clock.monotonic
        )
    finally:
        transport.close()


@dataclass(frozen=True, slots=True)
class Lldap:
    """The ways into lldap; nobody is logged in yet."""

    transport: HttpTransport
    session: Session
    own: OwnCredentials


@contextmanager
def lldap_server(config: Config, clock: Clock) -> Iterator[Lldap]:
    """The lldap of a configuration. Raises ConfigError."""
    try:
        transport = HttpTransport(config.lldap_url, clock=clock, ca_file=config.lldap_ca_file)
    except (OSError, ValueError) as error:
        why = f"cannot be used ({type(error).__name__})"
        raise ConfigError((Mistake("LLDAP_URL", why),)) from None
    credentials = Credentials(config, lambda _password: None)
    own = OwnCredentials(lambda: LldapCredentials(credentials.username, credentials.password()))
    session = Session(transport, own, clock=clock, call_seconds=config.call_seconds)
    try:
        yield Lldap(transport, session, own)
    finally:
        transport.close()


def opaque_clients() -> list[Client]:
    """The two versions of OPAQUE, one proof at a time."""
    return [ClientV07(random=os.urandom, stretch=Argon2(1)), ClientV40()]

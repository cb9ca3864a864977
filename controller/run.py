"""`lldap-operator run`: from the configuration to a running process."""

import logging
import os
import random
import secrets
from collections.abc import Callable
from pathlib import Path

from controller.api import KINDS
from controller.clock import SystemClock
from controller.cluster import api_client, cluster_id
from controller.config import Config
from controller.config_values import read_hash_key
from controller.credentials import Credentials
from controller.election import LeaderElector, new_identity
from controller.httpserver import HTTPServer
from controller.leadership import Election, NoElection, Times
from controller.lease import LeaseLock
from controller.manager import Manager, Process
from controller.metrics import Metrics
from controller.objectevents import ObjectEvents
from controller.operator import Operator, Parts
from controller.probes import probe_routes
from controller.recorder import EventRecorder
from controller.redaction import Redactor
from controller.rules import Rules
from controller.version import VERSION
from informers import ApiClientTransport, RestClient
from lldap import Credentials as LldapCredentials
from lldap import HttpTransport, Session
from lldap.opaque import Argon2, Client, ClientV07, ClientV40
from lldap.passwords import OwnCredentials, Passwords

USER_AGENT = f"lldap-operator/{VERSION}"
CONTROLLER = "lldap-operator"

_LOG = logging.getLogger("controller.run")


class Assembly:
    """Makes the process of one configuration. Raises ConfigError where it cannot be used."""

    def __init__(self, config: Config, redactor: Redactor) -> None:
        self._config = config
        self._clock = SystemClock()
        self._rng = random.Random(secrets.randbits(64))  # noqa: S311 - jitter
        self._metrics = Metrics(clock=self._clock, kinds=[kind.kind for kind in KINDS])
        self._redactor = redactor
        self._manager: Manager | None = None
        self._transport = self._api_transport()
        self._lldap_transport = self._make_lldap_transport()
        self._elector = self._make_elector()

    # --- the API server --------------------------------------------------------------------

    def _api_transport(self) -> ApiClientTransport:
        client = api_client(self._config.kubeconfig)
        return ApiClientTransport(client, pool_size=self._config.workers + 8, user_agent=USER_AGENT)

    def _rest(self, fence: Callable[[float], None] | None) -> RestClient:
        return RestClient(
            self._transport,
            call_seconds=self._config.call_seconds,
            fence=fence,
            host=self._transport.host,
            metrics=self._metrics.rest,
            now=self._clock.now,
            monotonic=self._clock.monotonic,
        )

    def _make_elector(self) -> Election:
        config = self._config
        if not config.leader_elect:
            return NoElection(clock=self._clock, on_leading=lambda _term: None)
        lock = LeaseLock(self._rest(None), config.lease_namespace, config.lease_name)
        return LeaderElector(
            lock,
            new_identity(config.pod_name),
            Times.of(config),
            clock=self._clock,
            rng=self._rng,
            metrics=self._metrics.election,
            on_leading=lambda _term: _LOG.info("this replica leads"),
            on_lost=self._lost,
        )

    def _lost(self, why: str) -> None:
        if self._manager is not None:
            self._manager.lost(why)

    # --- lldap -----------------------------------------------------------------------------

    def _make_lldap_transport(self) -> HttpTransport:
        config = self._config
        return HttpTransport(
            config.lldap_url,
            clock=self._clock,
            ca_file=config.lldap_ca_file,
            pool_size=config.workers + 4,
        )

    def _current_credentials(self) -> LldapCredentials:
        credentials = Credentials(
            self._config, lambda password: self._redactor.register("password", password)
        )
        return LldapCredentials(credentials.username, credentials.password())

    def _session(self, own: OwnCredentials) -> Session:
        return Session(
            self._lldap_transport,
            own,
            clock=self._clock,
            call_seconds=self._config.call_seconds,
            before_write=self._elector.fence,
            metrics=self._metrics.lldap,
        )

    def _passwords(self, session: Session, own: OwnCredentials) -> Passwords:
        permits = os.cpu_count() or 1  # each Argon2 takes 50 MiB and a core
        clients: list[Client] = [ClientV07(random=os.urandom, stretch=Argon2(permits)), ClientV40()]
        return Passwords(session, own, clients)

    # --- all together ------------------------------------------------------------------------

    def manager(self) -> Manager:
        """The manager of everything; nothing runs yet."""
        config, clock = self._config, self._clock
        recorder = EventRecorder(
            self._rest(None),
            clock=clock,
            rng=self._rng,
            controller=CONTROLLER,
            instance=config.pod_name,
            count=self._metrics.objects.event,
        )
        operator = Operator(self._parts(ObjectEvents(recorder)))
        self._follow(operator)
        servers: list[HTTPServer] = []
        manager = Manager(
            Process(
                operator=operator,
                elector=self._elector,
                recorder=recorder,
                servers=servers,
                workers=config.workers,
                clock=clock,
                abort=self._abort,
            )
        )
        servers.extend(self._servers(manager))
        self._manager = manager
        return manager

    def _parts(self, events: ObjectEvents) -> Parts:
        config = self._config
        own = OwnCredentials(self._current_credentials)
        session = self._session(own)
        return Parts(
            rules=Rules.of(config, cluster_id(config, self._rest(None))),
            rest=self._rest(self._elector.fence),
            session=session,
            passwords=self._passwords(session, own),
            hash_key=_hash_key(config.lldap_password_hash_key_file),
            events=events,
            metrics=self._metrics,
            clock=self._clock,
            rng=self._rng,
            own_namespace=config.pod_namespace,
            max_deletions_per_minute=config.lldap_max_deletions_per_minute,
            resync_seconds=config.resync_seconds,
        )

    def _follow(self, operator: Operator) -> None:
        instance = operator.instance
        for kind in KINDS:
            self._metrics.reconcile.workers(kind.kind, self._config.workers)
        self._metrics.lldap.follow(
            gate_open=lambda: instance.gate.is_open,
            mirror_age=lambda: instance.mirror.age or 0.0,
            dead_marks=lambda: 0,
        )
        self._metrics.objects.follow(
            states=operator.states, deletions_waiting=lambda: instance.brake.waiting
        )

    def _servers(self, manager: Manager) -> list[HTTPServer]:
        config, servers = self._config, []
        if config.metrics_address is not None:
            routes = {"/metrics": self._metrics.serve}
            servers.append(HTTPServer(config.metrics_address, routes, clock=self._clock))
        if config.health_address is not None:
            health = probe_routes(manager.liveness(), manager.readiness())
            servers.append(HTTPServer(config.health_address, health, clock=self._clock))
        return servers

    def _abort(self) -> None:
        self._transport.close()
        self._lldap_transport.close()


def _hash_key(path: Path | None) -> bytes | None:
    return None if path is None else read_hash_key(path)

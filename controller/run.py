"""`lldap-operator run`: from the configuration to a process that can be run."""

import logging
import math
import os
import random
import secrets
from collections.abc import Callable
from pathlib import Path

from controller.api import KINDS
from controller.clock import SystemClock
from controller.cluster import ClusterId, api_client
from controller.configuration.config import Config, ConfigError
from controller.configuration.contradictions import Mistake
from controller.configuration.credentials import Credentials
from controller.configuration.rules import Rules
from controller.configuration.values import Address, read_hash_key
from controller.election.election import LeaderElector, new_identity
from controller.election.leadership import Election, NoElection, Times
from controller.election.lease import LeaseLock
from controller.events.objectevents import ObjectEvents
from controller.events.recorder import EventRecorder
from controller.manager import Checks, Manager, Process
from controller.metrics.metrics import Metrics
from controller.operator import Operator, Parts
from controller.ownership.deadmarks import count_dead_marks
from controller.redaction import Redactor
from controller.serving.httpmessage import Guard, Handler, admit_all
from controller.serving.httpserver import HTTPServer
from controller.serving.probes import probe_routes
from controller.serving.servertls import ServerTLS
from controller.serving.tokenguard import TokenGuard
from controller.stop import Stop
from controller.version import VERSION
from informers import ApiClientTransport, RestClient
from lldap import Credentials as LldapCredentials
from lldap import HttpTransport, Session
from lldap.opaque import Argon2, Client, ClientV07, ClientV40
from lldap.passwords import OwnCredentials, Passwords

USER_AGENT = f"lldap-operator/{VERSION}"
CONTROLLER = "lldap-operator"
SPARE_CONNECTIONS = 8  # beside the workers': informers, election, events, probe
ARGON2_PERMITS = 2  # at once, in all threads: each takes 50 MiB and a core

_LOG = logging.getLogger("controller.run")


class Assembly:
    """Makes the process of one configuration; starts nothing.

    Two REST clients share the connections to the API server: what the workers and informers do
    is behind the election's fence; the election itself and the events are not, for a replica that
    does not lead, or ends, still has these to write. Raises ConfigError.
    """

    def __init__(self, config: Config, redactor: Redactor, stop: Stop) -> None:
        self._config = config
        self._redactor = redactor
        self._stop = stop
        self._clock = SystemClock()
        self._rng = random.Random(secrets.randbits(64))  # noqa: S311 - jitter
        self._metrics = Metrics(clock=self._clock, kinds=[kind.kind for kind in KINDS])
        self._api = self._connect_api()
        self._lldap = self._connect_lldap()
        self._unfenced = self._rest(None)
        self._elector = self._make_elector()

    def manager(self) -> Manager:
        """The manager of everything."""
        recorder = EventRecorder(
            self._unfenced,
            clock=self._clock,
            rng=self._rng,
            controller=CONTROLLER,
            instance=self._config.pod_name,
            count=self._metrics.objects.event,
        )
        process = Process(
            cluster=ClusterId(self._config.lldap_cluster_id, self._unfenced),
            make_operator=lambda cluster: self._reporting(cluster, recorder),
            elector=self._elector,
            recorder=recorder,
            serve=self._serve,
            workers=self._config.workers,
            clock=self._clock,
            close_lldap=self._lldap.close,
            close_api=self._api.close,
        )
        return Manager(process, self._stop)

    # --- the API server --------------------------------------------------------------------

    def _connect_api(self) -> ApiClientTransport:
        client = api_client(self._config.kubeconfig)
        size = self._config.workers + SPARE_CONNECTIONS
        try:
            return ApiClientTransport(client, pool_size=size, user_agent=USER_AGENT)
        except ValueError as error:
            raise _mistake("KUBECONFIG", f"cannot be used: {error}") from None

    def _rest(self, fence: Callable[[float], None] | None) -> RestClient:
        return RestClient(
            self._api,
            call_seconds=self._config.call_seconds,
            fence=fence,
            host=self._api.host,
            metrics=self._metrics.rest,
            now=self._clock.now,
            monotonic=self._clock.monotonic,
        )

    def _make_elector(self) -> Election:
        config = self._config
        if not config.leader_elect:
            return NoElection(clock=self._clock, on_leading=lambda _term: None)
        return LeaderElector(
            LeaseLock(self._unfenced, config.lease_namespace, config.lease_name),
            new_identity(config.pod_name),
            Times.of(config),
            clock=self._clock,
            rng=self._rng,
            metrics=self._metrics.election,
            on_leading=lambda _term: _LOG.info("this replica leads"),
            on_lost=self._stop.lose,
        )

    # --- lldap -----------------------------------------------------------------------------

    def _connect_lldap(self) -> HttpTransport:
        config = self._config
        try:
            return HttpTransport(
                config.lldap_url,
                clock=self._clock,
                ca_file=config.lldap_ca_file,
                pool_size=config.workers + SPARE_CONNECTIONS,
            )
        except ValueError as error:
            raise _mistake("LLDAP_URL", f"cannot be used: {error}") from None
        except OSError as error:  # it could be read a moment ago
            raise _mistake("LLDAP_CA_FILE", f"cannot be used ({error.strerror})") from None

    def _own_credentials(self) -> OwnCredentials:
        credentials = Credentials(
            self._config, lambda password: self._redactor.register("password", password)
        )
        return OwnCredentials(
            lambda: LldapCredentials(credentials.username, credentials.password())
        )

    def _session(self, own: OwnCredentials) -> Session:
        return Session(
            self._lldap,
            own,
            clock=self._clock,
            call_seconds=self._config.call_seconds,
            before_write=self._elector.fence,
            metrics=self._metrics.lldap,
        )

    # --- the operator ------------------------------------------------------------------------

    def _reporting(self, cluster: str, recorder: EventRecorder) -> Operator:
        """An operator whose events give way to its work."""
        operator = self._operator(cluster, ObjectEvents(recorder))
        recorder.yield_to(lambda: operator.pool.busy)
        operator.pool.rest_with(recorder.work_rests)
        return operator

    def _operator(self, cluster: str, events: ObjectEvents) -> Operator:
        config = self._config
        own = self._own_credentials()
        session = self._session(own)
        parts = Parts(
            rules=Rules.of(config, cluster),
            rest=self._rest(self._elector.fence),
            session=session,
            passwords=Passwords(session, own, _opaque_clients()),
            hash_key=self._hash_key(),
            events=events,
            metrics=self._metrics,
            clock=self._clock,
            rng=self._rng,
            own_namespace=config.pod_namespace,
            max_deletions_per_minute=config.lldap_max_deletions_per_minute,
            resync_seconds=config.resync_seconds,
        )
        operator = Operator(parts)
        self._follow(operator)
        return operator

    def _hash_key(self) -> bytes | None:
        path = self._config.lldap_password_hash_key_file
        try:
            return None if path is None else read_hash_key(path)
        except ValueError as error:  # it could be read a moment ago
            raise _mistake("LLDAP_PASSWORD_HASH_KEY_FILE", str(error)) from None

    # --- metrics and probes ------------------------------------------------------------------

    def _follow(self, operator: Operator) -> None:
        instance, metrics = operator.instance, self._metrics
        for kind in KINDS:
            metrics.reconcile.workers(kind.kind, self._config.workers)
        metrics.lldap.follow(
            # On a replica that does not lead no work waits.
            gate_open=lambda: self._elector.term is None or instance.gate.is_open,
            mirror_age=lambda: math.nan if (age := instance.mirror.age) is None else age,
            dead_marks=lambda: count_dead_marks(instance),
        )
        metrics.objects.follow(
            states=operator.states, deletions_waiting=lambda: instance.brake.waiting
        )

    def _serve(self, liveness: Checks, readiness: Checks) -> list[HTTPServer]:
        config = self._config
        servers: list[HTTPServer] = []
        try:
            if config.metrics_address is not None:
                servers.append(self._metrics_server(config.metrics_address))
            if config.health_address is not None:
                routes = probe_routes(liveness, readiness)
                servers.append(self._listen("HEALTH_ADDRESS", config.health_address, routes))
        except ConfigError:
            for server in servers:
                server.close()
            raise
        return servers

    def _metrics_server(self, address: Address) -> HTTPServer:
        config = self._config
        return self._listen(
            "METRICS_ADDRESS",
            address,
            {"/metrics": self._metrics.serve},
            guard=TokenGuard(self._unfenced) if config.metrics_auth else admit_all,
            tls=_server_tls(config.metrics_tls_cert_file, config.metrics_tls_key_file),
        )

    def _listen(
        self,
        variable: str,
        address: Address,
        routes: dict[str, Handler],
        *,
        guard: Guard = admit_all,
        tls: ServerTLS | None = None,
    ) -> HTTPServer:
        try:
            return HTTPServer(address, routes, clock=self._clock, guard=guard, tls=tls)
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else type(error).__name__
            why = f"{address} cannot be listened on ({reason}). Name another, or 0 for none."
            raise _mistake(variable, why) from None


def _server_tls(certificate: Path | None, key: Path | None) -> ServerTLS | None:
    if certificate is None or key is None:
        return None
    try:
        return ServerTLS(certificate, key)
    except OSError as error:  # it could be used a moment ago
        why = f"cannot be used ({type(error).__name__})"
        raise _mistake("METRICS_TLS_CERT_FILE", why) from None


def _opaque_clients() -> list[Client]:
    return [ClientV07(random=os.urandom, stretch=Argon2(ARGON2_PERMITS)), ClientV40()]


def _mistake(variable: str, why: str) -> ConfigError:
    return ConfigError((Mistake(variable, why),))

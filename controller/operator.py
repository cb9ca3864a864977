"""The operator of one lldap, put together: every part, and what of it has a step()."""

import math
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from controller.api import DRY_RUN_ANNOTATION, KINDS, LLDAP_GROUP, RECONCILING, STALLED, Kind
from controller.clock import Clock
from controller.configuration.rules import Rules
from controller.connection import Connection
from controller.events.objectevents import ObjectEvents
from controller.harness.brake import Brake
from controller.harness.conditions import ready_of
from controller.harness.explain import explain, explain_probe, quiet_retries
from controller.harness.gate import Gate, WorkKey
from controller.harness.guard import UninstallGuard
from controller.harness.harness import Harness
from controller.harness.harnessconfig import ConditionStyle, HarnessConfig, ObservedGenPolicy
from controller.harness.kindcontroller import KindController
from controller.harness.locks import KeyedLocks
from controller.harness.reasons import CADENCES, PATIENCE, TAXONOMY, Reason
from controller.harness.reconcilelog import reported
from controller.harness.reconciler import Reconciler
from controller.harness.resource import Resource
from controller.harness.statuswriter import OnStatusWrite, StatusWriter
from controller.instance import Instance
from controller.kube import GROUP_PATH, Kube
from controller.metrics.metrics import Metrics
from controller.ownership.mark import owner_uid
from controller.ownership.markattribute import MarkAttribute
from controller.ownership.ownership import Ownership
from controller.ownership.seal import Sealer
from controller.ownership.servers import Servers
from controller.ownership.service import Service, metadata_only, service, stub_foreign
from controller.ownership.unrecorded import Unrecorded
from controller.reconcilers.attributes import AttributeDependencies
from controller.reconcilers.attributeschema import AttributeSchemaReconciler
from controller.reconcilers.group import GroupReconciler
from controller.reconcilers.membership import MembershipReconciler
from controller.reconcilers.user import UserReconciler
from controller.reconcilers.virtualgroups import VirtualGroupReconciler, VirtualGroups, is_virtual
from controller.watching.cache import Cache
from controller.watching.indexes import indexes
from controller.watching.ownwrites import OwnWrites
from controller.watching.queues import NAMED_FIRST, Queues
from controller.watching.resync import Resync
from controller.watching.watching import (
    PRIORITY_CHANGED,
    PRIORITY_LISTED,
    KindHandler,
    SecretHandler,
)
from controller.watching.worker import Controller, WorkerPool
from informers import Lister, ListWatch, RestClient, SharedInformer, by_namespace
from lldap import Client, Mirror, Session
from lldap.names import group_key
from lldap.passwords import Passwords
from workqueue import ItemExponential, RateLimitingQueue

SECRETS = "secrets"
GONE_SECONDS = 1.0  # before what is found gone in lldap is made anew


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What the operator is made of and does not make itself."""

    rules: Rules
    rest: RestClient
    session: Session
    passwords: Passwords
    hash_key: bytes | None
    events: ObjectEvents
    metrics: Metrics
    clock: Clock
    rng: random.Random
    own_namespace: str
    max_deletions_per_minute: int
    resync_seconds: float


class Operator:
    """Makes and holds the parts; starts nothing.

    `informers`, `gate`, `resync` and `pool` have the steps; a manager gives each a thread, a
    test calls them in turn.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.pool = WorkerPool(parts.clock)
        self.queues = self._make_queues()
        self.informers = {kind.kind: self._informer(kind) for kind in KINDS}
        self.secrets = self._secrets_informer()
        self.own_writes = OwnWrites()
        self.instance = self._make_instance()
        self.gate = self.instance.gate
        self.virtual_groups = VirtualGroups(self.instance)
        self.resync = Resync(
            self.instance.refresh,
            self.compare_all,
            self.gate,
            period=parts.resync_seconds,
            clock=parts.clock,
            random=parts.rng,
        )
        self._add_handlers()
        self._add_controllers()

    # --- queues and informers ----------------------------------------------------------------

    def _make_queues(self) -> Queues:
        parts = self._parts
        return Queues(
            {
                kind.kind: RateLimitingQueue[str](
                    clock=parts.clock,
                    limiter=ItemExponential(),
                    name=kind.kind,
                    metrics=parts.metrics.workqueue,
                    wake=self.pool.wake,
                )
                for kind in KINDS
            },
            parts.rng,
        )

    @property
    def _namespaces(self) -> list[str] | None:
        watched = self._parts.rules.namespaces
        return None if watched is None else sorted(watched)

    def _informer(self, kind: Kind) -> SharedInformer:
        def source(namespace: str | None) -> ListWatch:
            scope = "" if namespace is None else f"/namespaces/{namespace}"
            return ListWatch(
                self._parts.rest, f"{GROUP_PATH}{scope}/{kind.plural}", never_older=True
            )

        return SharedInformer(
            by_namespace(self._namespaces, source),
            clock=self._parts.clock,
            random=self._parts.rng,
            name=kind.plural,
            relist_seconds=self._parts.resync_seconds or math.inf,
            transform=stub_foreign(self._parts.rules.instance),
            indexers=indexes(kind, self._parts.rules.instance),
            metrics=self._parts.metrics.informers,
        )

    def _secrets_informer(self) -> SharedInformer:
        def source(namespace: str | None) -> ListWatch:
            scope = "" if namespace is None else f"/namespaces/{namespace}"
            path = f"/api/v1{scope}/{SECRETS}"
            return ListWatch(self._parts.rest, path, metadata_only=True, never_older=True)

        return SharedInformer(
            by_namespace(self._namespaces, source),
            clock=self._parts.clock,
            random=self._parts.rng,
            name=SECRETS,
            relist_seconds=self._parts.resync_seconds or math.inf,
            transform=metadata_only,
            metrics=self._parts.metrics.informers,
        )

    @property
    def all_informers(self) -> Sequence[SharedInformer]:
        """The four kinds' and the Secrets'."""
        return [*self.informers.values(), self.secrets]

    def has_synced(self) -> bool:
        """Whether every handler was told of the first lists."""
        return all(
            registration.has_synced()
            for informer in self.all_informers
            for registration in informer.registrations
        )

    # --- the instance ------------------------------------------------------------------------

    def _make_instance(self) -> Instance:
        parts, rules = self._parts, self._parts.rules
        client = Client(parts.session)
        mirror = Mirror(rules.own_user, owner_uid, clock=parts.clock)
        kube = Kube(parts.rest, self.own_writes)
        servers = Servers(kube, lambda: mirror.server_uuid)
        cache = Cache(self._listers(), self.secrets.lister)
        connection = Connection(parts.session, client, mirror, rules, cache.usernames)
        sealer, unrecorded = Sealer(parts.hash_key), Unrecorded()
        return Instance(
            rules=rules,
            client=client,
            mirror=mirror,
            passwords=parts.passwords,
            gate=Gate(
                connection.probe,
                connection.check,
                explain=explain_probe,
                opened=self._gate_opened,
                clock=parts.clock,
                random=parts.rng,
            ),
            locks=KeyedLocks(),
            cache=cache,
            kube=kube,
            status=StatusWriter(kube, _each(servers.note, unrecorded.note)),
            ownership=Ownership(rules, cache, kube, sealer, mirror),
            dependencies=AttributeDependencies(
                cache, mirror, required=rules.require_attribute_schema
            ),
            sealer=sealer,
            brake=Brake(parts.max_deletions_per_minute, parts.clock.monotonic),
            guard=UninstallGuard(kube, parts.own_namespace, parts.clock.monotonic),
            servers=servers,
            unrecorded=unrecorded,
            events=parts.events,
            metrics=parts.metrics.objects,
            lldap_metrics=parts.metrics.lldap,
            clock=parts.clock,
            prepare=MarkAttribute(client, mirror).ensure,
            refresh=connection.refresh,
            email_freed=self._email_freed,
            group_name_freed=self._group_name_freed,
            found_gone=self._found_gone,
        )

    def _listers(self) -> dict[str, Lister]:
        return {name: informer.lister for name, informer in self.informers.items()}

    def _email_freed(self, email: str) -> None:
        for user in self.instance.cache.users_waiting_for(email):
            self.queues.add(user.kind, user.key, PRIORITY_CHANGED)

    def _group_name_freed(self, name: str) -> None:
        for group in self.instance.cache.claimants(LLDAP_GROUP, group_key(name)):
            self.queues.add(group.kind, group.key, PRIORITY_CHANGED)

    def _found_gone(self, kind: Kind, name: str, finder: Resource) -> None:
        """Who claims it makes it anew, but for the finder, which is at it.

        Not at once: whoever deletes it again and again would have us make it as often.
        """
        for resource in self.instance.cache.claimants(kind, name):
            if resource.uid != finder.uid:
                self.queues.add_after(kind.kind, resource.key, GONE_SECONDS, PRIORITY_CHANGED)

    def _gate_opened(self, waiting: Collection[WorkKey]) -> None:
        """The mirror is new: what waited comes back, jittered; the rest is compared with it."""
        self.queues.add_waiting(waiting)
        self.compare_all(but=waiting)

    def compare_all(self, but: Collection[WorkKey] = ()) -> None:
        """Have every object compared with the mirror, behind whatever a person changed.

        The virtual groups are among them whether they are there or not: so they come to be.
        `but` those that come back by themselves.
        """
        for key in self.virtual_groups.keys:
            self.queues.add(LLDAP_GROUP.kind, key, PRIORITY_LISTED)
        self.queues.add_all(self.instance.cache, self.instance.rules.instance, but)

    def states(self) -> dict[tuple[str, str, str], int]:
        """How many objects have a kind, a status of Ready and a reason: for metrics."""
        counts: dict[tuple[str, str, str], int] = {}
        for kind in KINDS:
            for resource in self.instance.cache.all(kind):
                if service(resource, self.instance.rules.instance) is Service.FOREIGN:
                    continue
                ready = ready_of(resource.recorded)
                state = (
                    kind.kind,
                    str(ready.get("status", "Unknown")),
                    str(ready.get("reason", "")),
                )
                counts[state] = counts.get(state, 0) + 1
        return counts

    # --- handlers and controllers ------------------------------------------------------------

    def _add_handlers(self) -> None:
        cache = self.instance.cache
        for kind in KINDS:
            handler = KindHandler(
                kind,
                self.instance.rules.instance,
                cache=cache,
                own_writes=self.own_writes,
                enqueue=self.queues.add,
                wake=self.queues.wake,
                gone=self._forget,
                left=self.instance.unrecorded.forget,
            )
            self.informers[kind.kind].add_handler(handler)
        self.secrets.add_handler(SecretHandler(cache, self.queues.add))

    def _forget(self, uid: str) -> None:
        """The object is gone."""
        self.own_writes.forget(uid)
        self.instance.brake.forget(uid)
        self.instance.servers.forget(uid)

    def _harness(self) -> Harness[Instance]:
        instance = self.instance

        def resolve(resource: Resource) -> Instance:
            if not instance.mirror.loaded:
                instance.gate.check((resource.kind, resource.key))
            return instance

        def passing(resource: Resource, error: Exception) -> bool:
            failures = self.queues[resource.kind].num_requeues(resource.key)
            return failures < quiet_retries(error)

        return Harness(
            HarnessConfig(
                kube=instance.kube,
                status=instance.status,
                clock=instance.clock,
                resolve=resolve,
                taxonomy=TAXONOMY,
                explain=explain,
                patience=PATIENCE,
                passing=passing,
                resolve_failure_reason=Reason.LLDAP_UNAVAILABLE,
                failure_reason=Reason.INTERNAL_ERROR,
                cadences=CADENCES,
                conditions=ConditionStyle(emit_progressing=RECONCILING, emit_degraded=STALLED),
                uninstalling=lambda resource: instance.guard.uninstalling(_BY_NAME[resource.kind]),
                dry_run_annotation=DRY_RUN_ANNOTATION,
                dry_run_reason=Reason.DRY_RUN,
                observed_generation=ObservedGenPolicy.ON_EVERY_PASS,
                recorder=self._parts.events.record,
            )
        )

    def _reconciler(self, kind: Kind) -> Callable[[Resource], Reconciler]:
        instance = self.instance
        if kind is LLDAP_GROUP:
            group, virtual = GroupReconciler(instance), VirtualGroupReconciler(instance)
            return lambda resource: virtual if is_virtual(instance.rules, resource) else group
        only = _RECONCILERS[kind.kind](instance)
        return lambda _resource: only

    def _add_controllers(self) -> None:
        measured = self._parts.metrics.reconcile.measured
        harness = self._harness()
        for kind in NAMED_FIRST:
            gone = self.virtual_groups.ensure if kind is LLDAP_GROUP else _nothing
            controller = KindController(kind, self.instance, harness, self._reconciler(kind), gone)
            reconcile = measured(kind.kind, reported(kind.kind, controller.reconcile))
            self.pool.add(Controller(kind.kind, self.queues[kind.kind], reconcile))


def _each(*observers: OnStatusWrite) -> OnStatusWrite:
    """One observer for all of them."""

    def observe(resource: Resource, error: BaseException | None) -> None:
        for each in observers:
            each(resource, error)

    return observe


def _nothing(_key: str) -> None:
    """What there is to do for most keys whose object is gone."""


_BY_NAME = {kind.kind: kind for kind in KINDS}

_RECONCILERS: dict[str, Callable[[Instance], Reconciler]] = {
    reconciler.kind.kind: reconciler
    for reconciler in (UserReconciler, MembershipReconciler, AttributeSchemaReconciler)
}

"""One kind: from a key to a pass of the harness, or to letting the object go."""

import logging
from collections.abc import Callable

from controller.api import READY, Kind
from controller.cache import is_paused
from controller.conditions import set_condition
from controller.events import EventReason
from controller.explain import closes_gate, explain_probe
from controller.finalizers import ObjectGone, StaleObject, remove_finalizer
from controller.harness import Harness
from controller.instance import Instance
from controller.outcome import DONE, Result
from controller.reasons import BY_REASON, Reason
from controller.reconciler import Reconciler
from controller.resource import Resource
from controller.service import Service, service
from controller.statuswriter import is_ready
from informers import ApiFailure

_LOG = logging.getLogger("controller.kind")

HELD_SECONDS = 120.0  # after that a person is asked to release the object


class KindController:
    """Decides whose an object is, then runs the harness. Any thread, one thread a key.

    `choose` gives the reconciler of an object: virtual groups have one of their own. `gone` is
    told the keys of objects that are not there.
    """

    def __init__(
        self,
        kind: Kind,
        instance: Instance,
        harness: Harness[Instance],
        choose: Callable[[Resource], Reconciler],
        gone: Callable[[str], None] = lambda _key: None,
    ) -> None:
        self.kind = kind
        self._instance = instance
        self._harness = harness
        self._choose = choose
        self._gone = gone
        self._held_since: dict[str, float] = {}  # by uid; each key is in one thread at a time

    def reconcile(self, key: str) -> Result:
        """One pass over the object `namespace/name`."""
        namespace, _, name = key.partition("/")
        resource = self._instance.cache.get(self.kind, namespace, name)
        try:
            return self._forget(key) if resource is None else self._serve(resource)
        except ObjectGone:
            return DONE
        except (StaleObject, ApiFailure) as error:
            return Result(rate_limited=True, error=error)

    def _forget(self, key: str) -> Result:
        self._instance.gate.forget((self.kind.kind, key))
        self._instance.servers.forget(self.kind.kind, key)
        self._gone(key)
        return DONE

    def _serve(self, resource: Resource) -> Result:
        ownership = self._instance.ownership
        match service(resource, self._instance.rules.instance):
            case Service.FOREIGN:
                return DONE
            case Service.TO_RELEASE:
                return self._release(resource)
            case Service.HELD if not (resource.deleting or ownership.has_any(resource)):
                return self._show_held(resource)
        self._held_since.pop(resource.uid, None)
        if self._instance.servers.contested(resource):
            return self._show_contested(Resource(resource.raw))
        if is_paused(resource):
            return self._show(resource, Reason.PAUSED, f"{resource.key} is paused: nothing is done")
        return self._run(resource)

    def _run(self, resource: Resource) -> Result:
        gate = self._instance.gate
        if not self._instance.mirror.loaded and not resource.deleting and is_ready(resource.raw):
            gate.wait((self.kind.kind, resource.key))  # as far as it is known nothing is to do
            return DONE
        result = self._harness.run(resource, self._choose(resource))
        if closes_gate(result.error):
            assert isinstance(result.error, Exception)
            gate.close(explain_probe(result.error))
            gate.wait((self.kind.kind, resource.key))
        return result

    # --- objects of another instance -------------------------------------------------------

    def _show_held(self, resource: Resource) -> Result:
        now = self._instance.clock.monotonic()
        since = self._held_since.setdefault(resource.uid, now)
        holder = resource.recorded.get("instance")
        message = (
            f"the operator of instance {holder} has not let go of {resource.key}. If it is gone: "
            f"lldap-operator release --namespace {resource.namespace}"
        )
        if now - since >= HELD_SECONDS:
            self._instance.events.warning(resource, Reason.HELD_BY_OTHER_INSTANCE, message)
        return self._show(resource, Reason.HELD_BY_OTHER_INSTANCE, message)

    def _show_contested(self, resource: Resource) -> Result:
        """Say once that two operators serve the object, then leave it to the other."""
        if not self._instance.servers.tell_once(resource):
            return DONE
        message = (
            f"{resource.key} is served by another operator of instance "
            f"{self._instance.rules.instance} too, with another lldap: this one leaves it alone. "
            "Stop one of the two, then restart the other"
        )
        self._instance.events.warning(resource, Reason.CONFLICT, message)
        return self._show(resource, Reason.CONFLICT, message)

    def _release(self, resource: Resource) -> Result:
        """Leave lldap as it is but for our mark, then the finalizer, then the status."""
        handler = self._choose(resource)
        handler.let_go(resource)
        remove_finalizer(self._instance.kube, resource, self.kind.finalizer)
        self._instance.status.clear(resource)
        self._instance.events.normal(
            resource,
            EventReason.RELEASED,
            f"{resource.key} is no longer of instance {self._instance.rules.instance}; what it "
            "stood for stays in lldap",
        )
        return DONE

    def _show(self, resource: Resource, reason: Reason, message: str) -> Result:
        """A condition that the harness has no part in."""
        entry = BY_REASON[reason]
        set_condition(
            resource.status,
            READY,
            entry.ready,
            reason,
            message,
            generation=resource.generation,
            now=self._instance.clock.now(),
        )
        self._instance.status.persist(resource)
        return Result(requeue_after=entry.rule.seconds if entry.rule else None)

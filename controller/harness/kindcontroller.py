"""One kind: from a key to a pass of the harness, or to letting the object go."""

from collections.abc import Callable
from dataclasses import replace

from controller.api import LLDAP_GROUP, PAUSED_ANNOTATION, Kind
from controller.election.leadership import NotLeader
from controller.events.events import EventReason
from controller.harness.explain import GateEffect, effect_on_gate, explain_probe
from controller.harness.finalizers import remove_finalizer
from controller.harness.harness import Harness
from controller.harness.outcome import DONE, Result
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from controller.harness.reconcilelog import log_pass
from controller.harness.reconciler import Reconciler
from controller.harness.resource import Resource
from controller.harness.statuswriter import is_ready
from controller.instance import Instance
from controller.ownership.ownership import moved_command
from controller.ownership.service import Service, service
from controller.reconcilers.virtualgroups import is_virtual
from controller.watching.cache import in_dry_run, is_paused
from informers import ApiFailure

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
        self._held_since: dict[str, float] = {}  # by key; each is in one thread at a time

    def reconcile(self, key: str) -> Result:
        """One pass over the object `namespace/name`."""
        namespace, _, name = key.partition("/")
        resource = self._instance.cache.get(self.kind, namespace, name)
        if resource is None:
            return self._forget(key)
        result = self._harness.guarded(resource, lambda: self._serve(resource))
        log_pass(resource, result)
        return result if result.error is None else self._told_gate(key, result)

    def _forget(self, key: str) -> Result:
        self._held_since.pop(key, None)
        self._instance.gate.forget((self.kind.kind, key))
        self._instance.unrecorded.forget(self.kind.kind, key)
        try:
            self._gone(key)
        except (ApiFailure, NotLeader) as error:
            return Result(rate_limited=True, error=error)
        return DONE

    def _told_gate(self, key: str, result: Result) -> Result:
        """What an error says about lldap as a whole; who waits for the gate needs no other time."""
        gate = self._instance.gate
        match effect_on_gate(result.error):
            case GateEffect.LOOK:
                gate.look()
            case GateEffect.CLOSE:
                assert isinstance(result.error, Exception)
                gate.close(explain_probe(result.error))
                if gate.wait((self.kind.kind, key)):
                    return replace(result, requeue_after=None, rate_limited=False)
            case GateEffect.UNTOUCHED:
                pass
        return result

    def _serve(self, resource: Resource) -> Result:
        reconciler = self._choose(resource)
        if self._is_virtual(resource):  # ours by its name, whatever its label has become
            remove_finalizer(self._instance.kube, resource, self.kind.finalizer)
            return self._run(resource, reconciler)
        standing = service(resource, self._instance.rules.instance)
        if standing is Service.FOREIGN:
            return DONE
        if standing is Service.TO_RELEASE:
            return self._release(resource, reconciler)
        if is_paused(resource):
            return self._harness.hold(resource, Reason.PAUSED, _paused(resource))
        if standing is Service.HELD and not self._instance.ownership.has_any(resource):
            return self._held(resource)
        self._held_since.pop(resource.key, None)
        return self._run(resource, reconciler)

    def _is_virtual(self, resource: Resource) -> bool:
        return self.kind is LLDAP_GROUP and is_virtual(self._instance.rules, resource)

    def _run(self, resource: Resource, reconciler: Reconciler) -> Result:
        instance = self._instance
        if instance.servers.contested(resource):
            return self._leave_to_other(Resource(resource.raw))
        if not instance.mirror.loaded and not resource.deleting and is_ready(resource.raw):
            instance.gate.wait((self.kind.kind, resource.key))
            return DONE  # as far as it is known nothing is to do; all are compared when it opens
        return self._harness.run(resource, reconciler)

    # --- objects of another instance -------------------------------------------------------

    def _held(self, resource: Resource) -> Result:
        """Ours by label, but another instance has not let go of it, and nothing of it is here."""
        if not self._instance.mirror.loaded:
            self._instance.gate.wait((self.kind.kind, resource.key))
            return DONE
        if resource.deleting:
            return self._let_be(resource)
        now = self._instance.clock.monotonic()
        since = self._held_since.setdefault(resource.key, now)
        holder = str(resource.recorded.get("instance"))
        failure = fail(
            Reason.HELD_BY_OTHER_INSTANCE,
            f"the operator of instance {holder} has not let go of "
            f"{resource.key}: wait for it. If it is gone for good, run with LLDAP_URL set to its "
            f"lldap, so that its mark goes too: {moved_command(holder, resource)}",
        )
        return self._harness.refuse(resource, failure, told=now - since >= HELD_SECONDS)

    def _leave_to_other(self, resource: Resource) -> Result:
        """Another operator serves the object with another lldap: say so once, then do nothing."""
        if not self._instance.servers.tell_once(resource):
            return DONE
        failure = fail(
            Reason.CONFLICT,
            f"{resource.key} is served by another operator of instance "
            f"{self._instance.rules.instance} too, with another lldap: this one leaves it alone. "
            "Stop one of the two, then restart the other",
        )
        return self._harness.refuse(resource, failure, told=True)

    def _let_be(self, resource: Resource) -> Result:
        """Deleted before anybody released it: our lldap has nothing that is marked as its."""
        holder = resource.recorded.get("instance")
        self._held_since.pop(resource.key, None)
        if remove_finalizer(self._instance.kube, resource, self.kind.finalizer):
            self._instance.leave(
                self.kind,
                resource,
                Reason.HELD_BY_OTHER_INSTANCE,
                f"what {resource.key} stood for",
                f"it is in the lldap of instance {holder}, whose operator never let go of it",
            )
        return DONE

    def _release(self, resource: Resource, reconciler: Reconciler) -> Result:
        """Leave lldap as it is but for our mark, then the finalizer, then the status."""
        if is_paused(resource) or in_dry_run(resource):
            return DONE  # nothing is called; the new operator shows whose the object is
        reconciler.let_go(resource)
        remove_finalizer(self._instance.kube, resource, self.kind.finalizer)
        self._instance.events.normal(
            resource,
            EventReason.RELEASED,
            f"{resource.key} is no longer of instance {self._instance.rules.instance}; what it "
            "stood for stays in lldap",
        )
        self._instance.unrecorded.forget(resource.kind, resource.key)
        self._instance.status.clear(resource)
        return DONE


def _paused(resource: Resource) -> str:
    waits = ", and its deletion waits," if resource.deleting else ""
    return (
        f"{resource.key} is paused: nothing is done for it{waits} until the annotation "
        f"{PAUSED_ANNOTATION} is removed"
    )

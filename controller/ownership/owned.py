"""What users and groups have in common: the mark is written, given on, taken off; the record."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from controller.api import (
    MARK_ATTRIBUTE,
    RECONCILE_AT_ANNOTATION,
    DeletionPolicy,
    InvalidSpec,
    Kind,
)
from controller.configuration.credentials import CredentialsError
from controller.events.events import EventReason
from controller.harness.explain import closes_gate, explain_probe
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.instance import Instance
from controller.ownership.heirs import heir_of
from controller.ownership.mark import Mark, Origin
from controller.ownership.ownership import Standing, Target, recorded_origin
from controller.ownership.unrecorded import MadeAccount
from controller.reconcilers.password import forget as forget_password
from controller.reconcilers.userchange import OPTIONAL_FIELDS
from lldap import LldapError, NotFound, Refused
from lldap import Target as LldapTarget
from lldap.names import BUILT_IN_ATTRIBUTES

_LOG = logging.getLogger("controller.ownership.owned")

RECORD_LOST = (
    "the status is not as the operator left it, or the hash key is another: what was recorded "
    "there does not count; only what lldap says now does"
)

MarkValue = Mapping[str, tuple[str, ...]]


class _Spec(Protocol):
    @classmethod
    def parse(cls, obj: Mapping[str, Any]) -> Self: ...


S = TypeVar("S", bound=_Spec)


def read_spec(spec: type[S], resource: Resource) -> S:
    """The spec; raises ReasonedError InvalidSpec naming the field."""
    try:
        return spec.parse(resource.raw)
    except InvalidSpec as error:
        raise fail(Reason.INVALID_SPEC, f"{resource.key}: {error}") from None


def own_names(attributes: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """The names in `managed` for all that an account has."""
    by_attribute = {python: name for name, python in OPTIONAL_FIELDS.items()}
    built_in = BUILT_IN_ATTRIBUTES[LldapTarget.USER] | BUILT_IN_ATTRIBUTES[LldapTarget.GROUP]
    custom = frozenset(attributes) - built_in - {MARK_ATTRIBUTE}
    return custom | {by_attribute[name] for name in attributes if name in by_attribute}


def full_pass_asked(resource: Resource) -> bool:
    """Whether a person asked, by a new value of the annotation, to compare everything anew."""
    asked = resource.annotations.get(RECONCILE_AT_ANNOTATION)
    return asked is not None and asked != resource.status.get("reconcileAt")


def full_pass_served(resource: Resource) -> None:
    """Record the value of the annotation that this pass has served."""
    asked = resource.annotations.get(RECONCILE_AT_ANNOTATION)
    if asked is not None:
        resource.status["reconcileAt"] = asked


def void_if_other_account(resource: Resource, uuid: str, server: str | None) -> None:
    """Drop what was recorded of another account, or of another lldap."""
    recorded = resource.recorded
    other_account = recorded.get("uuid") not in (None, uuid)
    other_server = recorded.get("server") not in (None, server)
    if other_account or other_server:
        forget_password(resource.status)
        resource.status.pop("managed", None)


def record_account(instance: Instance, resource: Resource, uuid: str, target: Target) -> None:
    """Put into the status whose account it is, under seal."""
    status, rules, ownership = resource.status, instance.rules, instance.ownership
    sealed = ownership.sealed(resource)
    if sealed is False:
        instance.events.warning(resource, EventReason.RECORD_LOST, RECORD_LOST)
    status["instance"] = rules.instance
    status["server"] = instance.mirror.server_uuid
    status["uuid"] = uuid
    origin = ownership.origin(resource, target)
    if origin is not None:
        status["origin"] = origin.recorded
    if sealed and resource.recorded.get("uuid") == uuid and recorded_origin(resource) is origin:
        seal = resource.recorded["seal"]  # the one that would be made; the draft may be older
    else:
        seal = ownership.seal(resource, uuid, origin)
    status["seal"] = seal  # None, without a key, is left out when it is written


@dataclass(frozen=True, slots=True, kw_only=True)
class Goodbye:
    """One target whose object goes, read under its lock, and the calls that may be made for it.

    `writable`: this object's namespace may change the target.
    """

    claim: str
    target: Target
    writable: bool
    mark: Callable[[MarkValue], None]
    unmark: Callable[[], None]
    delete: Callable[[], None]
    forget: Callable[[], None]
    reread: Callable[[], object]


class Owned:
    """Steps that users and groups share. Any thread; callers hold the target's lock."""

    def __init__(self, instance: Instance, kind: Kind) -> None:
        self._instance = instance
        self._kind = kind

    # --- taking ----------------------------------------------------------------------------

    def standing(self, resource: Resource, claim: str, target: Target | None) -> Standing:
        """See Ownership.standing."""
        return self._instance.ownership.standing(self._kind, resource, claim, target)

    def new_mark(self, resource: Resource, origin: Origin) -> MarkValue:
        """The mark of this object as an attribute."""
        return {MARK_ATTRIBUTE: (str(self._instance.ownership.new_mark(resource, origin)),)}

    def mark_for(self, resource: Resource, target: Target, standing: Standing) -> MarkValue:
        """The mark with which a target that exists becomes this object's.

        What is put back or taken back keeps its origin.
        """
        origin = self._instance.ownership.origin(resource, target)
        if standing is Standing.TAKE_BACK and isinstance(target.mark, Mark):
            origin = target.mark.origin
        return self.new_mark(resource, origin or Origin.ADOPTED)

    def tell_taken(self, resource: Resource, target: Target, standing: Standing) -> None:
        """The event that goes with `mark_for`."""
        events = self._instance.events
        match standing:
            case Standing.UNMARKED:
                events.warning(
                    resource,
                    EventReason.MARK_RESTORED,
                    f"somebody removed the attribute {MARK_ATTRIBUTE} from {target.words} in "
                    "lldap; it was put back",
                )
            case Standing.TAKE_BACK:
                events.normal(
                    resource, EventReason.TAKEN_BACK, f"{target.words} was taken back in lldap"
                )
            case _:
                events.normal(resource, EventReason.ADOPTED, f"{target.words} was adopted in lldap")

    def record_managed_first(self, resource: Resource, names: frozenset[str], uuid: str) -> None:
        """Write new names into the status before they are applied.

        So a crash in between does not leave values that nobody knows to be ours.
        """
        if names <= frozenset(resource.recorded.get("managed") or ()):
            return
        resource.status["managed"] = sorted(names)
        resource.status["uuid"] = uuid
        self._instance.status.persist(resource)

    def made(self, resource: Resource, uuid: str, names: frozenset[str]) -> None:
        """Remember what was created with which names, should the status not be taken."""
        self._instance.unrecorded.made(resource, MadeAccount(uuid, names))

    def names_made(self, resource: Resource, uuid: str) -> frozenset[str] | None:
        """With which names this process created that very account, if no status says so yet."""
        fact = self._instance.unrecorded.of(resource)
        return fact.names if isinstance(fact, MadeAccount) and fact.uuid == uuid else None

    # --- letting go --------------------------------------------------------------------------

    def deletion_policy(self, resource: Resource, target: Target | None) -> DeletionPolicy:
        """What deleting the object means now.

        The spec's word; without one, Delete for what we created and Retain for the rest, by
        the mark. Where lldap does not say it, the status may say Retain; else it is Delete,
        which looks into lldap before it acts. In an uninstall everything is Retain.
        """
        policy = self._declared_policy(resource, target)
        if policy is DeletionPolicy.DELETE and self._instance.guard.lately(self._kind):
            return DeletionPolicy.RETAIN
        return policy

    def _declared_policy(self, resource: Resource, target: Target | None) -> DeletionPolicy:
        word = resource.spec.get("deletionPolicy")
        if word in set(DeletionPolicy):
            return DeletionPolicy(word)
        origin = self._instance.ownership.origin(resource, target) if target else None
        origin = origin or recorded_origin(resource)
        return DeletionPolicy.RETAIN if origin is Origin.ADOPTED else DeletionPolicy.DELETE

    def best_effort(
        self, resource: Resource, locks: list[tuple[str, str]], work: Callable[[], None]
    ) -> None:
        """Do under the target's lock what is done only if lldap answers: it holds nothing up.

        Nor does it hold up the next object: like any other failure it may close the gate.
        """
        instance = self._instance
        try:
            with instance.writing(self._kind, resource, locks):
                work()
        except (LldapError, CredentialsError, ReasonedError) as error:
            why = explain_probe(error)
            if closes_gate(error):
                instance.gate.close(why)
            _LOG.warning("%s %s: its mark stays: %s", self._kind.kind, resource.key, why.message)

    def undo(self, resource: Resource, goodbye: Goodbye, *, keep: bool) -> None:
        """Hand over, unmark or delete a target; with `keep` it is never deleted.

        Raises ReasonedError Deleting while the brake or the API server asks to wait.
        """
        ownership, target = self._instance.ownership, goodbye.target
        if not ownership.is_ours(resource, target):
            if not keep:
                self.leave(resource, _whose(target), target.words, _not_ours(target))
        elif not goodbye.writable:
            why = f"it {target.rights}, and this namespace may not change such an account"
            self.leave(resource, Reason.PROTECTED_ACCOUNT, target.words, why)
        elif not self._hand_over(resource, goodbye):
            self._keep_or_delete(resource, goodbye, keep=keep)

    def leave(self, resource: Resource, reason: Reason, what: str, why: str) -> None:
        """See Instance.leave."""
        self._instance.leave(self._kind, resource, reason, what, why)

    def _keep_or_delete(self, resource: Resource, goodbye: Goodbye, *, keep: bool) -> None:
        instance, target = self._instance, goodbye.target
        instance.brake.meet(resource)
        stays = keep or self._declared_policy(resource, target) is DeletionPolicy.RETAIN
        if stays or instance.guard.uninstalling(self._kind):
            self._retain(resource, goodbye)
            return
        instance.brake.pass_or_wait(resource.uid, target.words)
        self._delete(resource, goodbye)

    def _retain(self, resource: Resource, goodbye: Goodbye) -> None:
        if goodbye.target.mark is not None:
            goodbye.unmark()
            goodbye.reread()
        self._instance.events.normal(
            resource, EventReason.RETAINED, f"{goodbye.target.words} stays in lldap, unmanaged"
        )

    def _delete(self, resource: Resource, goodbye: Goodbye) -> None:
        try:
            goodbye.delete()
        except NotFound:
            pass  # somebody was faster: success
        except Refused:
            self.leave(resource, Reason.REFUSED, goodbye.target.words, "lldap guards it")
            return
        goodbye.forget()
        self._instance.events.normal(
            resource, EventReason.DELETED, f"{goodbye.target.words} was deleted in lldap"
        )

    # --- handing over ------------------------------------------------------------------------

    def _hand_over(self, resource: Resource, goodbye: Goodbye) -> bool:
        """Give the target to the oldest other object of this namespace that claims it."""
        heir = self._heir(resource, goodbye.claim)
        if heir is None:
            return False
        origin = self._instance.ownership.origin(resource, goodbye.target) or Origin.ADOPTED
        goodbye.mark(self.new_mark(heir, origin))
        if resource.recorded.get("uuid") == goodbye.target.uuid:
            names = frozenset(resource.recorded.get("managed") or ())
            self.made(heir, goodbye.target.uuid, names)  # what it does not declare is cleared
        goodbye.reread()
        note = f"{goodbye.target.words} was handed over from {resource.key} to {heir.key}"
        self._instance.events.normal(resource, EventReason.HANDED_OVER, note)
        self._instance.events.normal(heir, EventReason.HANDED_OVER, note)
        return True

    def _heir(self, resource: Resource, claim: str) -> Resource | None:
        rivals = self._instance.cache.claimants(self._kind, claim)
        others = [r for r in rivals if r.uid != resource.uid]
        here = [r for r in others if r.namespace == resource.namespace]
        return heir_of(self._instance, self._kind, claim, here)


def _whose(target: Target) -> Reason:
    return Reason.NOT_ADOPTED if target.mark is None else Reason.CONFLICT


def _not_ours(target: Target) -> str:
    mark = target.mark
    if mark is None:
        return "nothing in lldap says that it is this object's"
    return f'it is another\'s ("{mark}")'

"""What users and groups have in common: the mark is written, given on, taken off; the record."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

from controller.api import (
    MARK_ATTRIBUTE,
    RECONCILE_AT_ANNOTATION,
    DeletionPolicy,
    InvalidSpec,
    Kind,
)
from controller.cache import can_inherit
from controller.events import EventReason
from controller.instance import Instance
from controller.mark import Mark, Origin
from controller.ownership import Standing, Target
from controller.password import forget as forget_password
from controller.reasoned import ReasonedError, fail
from controller.reasons import Reason
from controller.resource import Resource
from controller.userchange import OPTIONAL_FIELDS
from lldap import LldapError, NotFound, Refused
from lldap import Target as LldapTarget
from lldap.names import BUILT_IN_ATTRIBUTES

_LOG = logging.getLogger("controller.owned")

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
    status, rules = resource.status, instance.rules
    status["instance"] = rules.instance
    status["server"] = instance.mirror.server_uuid
    status["uuid"] = uuid
    origin = instance.ownership.origin(resource, target)
    if origin is not None:
        status["origin"] = origin.recorded
    seal = instance.sealer.seal(resource.uid, rules.instance, [uuid])
    if seal is None:
        status.pop("seal", None)
    else:
        status["seal"] = seal


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
        """The mark with which a target that exists becomes this object's."""
        origin = None
        if standing is not Standing.ADOPT:  # put back or taken back: the origin stays
            origin = self._instance.ownership.origin(resource, target)
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

    # --- letting go --------------------------------------------------------------------------

    def deletion_policy(self, resource: Resource, target: Target | None) -> DeletionPolicy:
        """The spec's word; without one, Delete for what we created and Retain for the rest.

        Where nothing tells the origin it is Delete, which looks into lldap before it acts.
        """
        word = resource.spec.get("deletionPolicy")
        if word in set(DeletionPolicy):
            return DeletionPolicy(word)
        if self._instance.ownership.origin(resource, target) is Origin.ADOPTED:
            return DeletionPolicy.RETAIN
        return DeletionPolicy.DELETE

    @contextmanager
    def best_effort(self, resource: Resource, locks: list[tuple[str, str]]) -> Iterator[None]:
        """For what is done only if lldap answers: its failure holds nothing up."""
        try:
            with self._instance.writing(self._kind, resource, locks):
                yield
        except (LldapError, ReasonedError) as error:
            _LOG.warning("%s %s: its mark stays in lldap: %s", self._kind.kind, resource.key, error)
        finally:
            self._instance.gate.forget((self._kind.kind, resource.key))

    def undo(self, resource: Resource, goodbye: Goodbye, *, keep: bool) -> None:
        """Hand over, unmark or delete a target; with `keep` it is never deleted.

        Raises ReasonedError Deleting while the brake or the API server asks to wait.
        """
        ownership, target = self._instance.ownership, goodbye.target
        if not ownership.is_ours(resource, target):
            if ownership.recorded(resource, target.uuid):
                self._left_alone(resource, target, "its mark names another owner")
            return
        if not goodbye.writable:
            self._left_alone(
                resource, target, "it has rights in lldap that this namespace may not touch"
            )
            return
        if self._hand_over(resource, goodbye):
            return
        stays = keep or self.deletion_policy(resource, target) is DeletionPolicy.RETAIN
        if stays or self._instance.guard.uninstalling(self._kind):
            self._retain(resource, goodbye)
            return
        self._instance.brake.pass_or_wait(resource.uid, target.words)
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
            self._left_alone(resource, goodbye.target, "lldap guards it")
            return
        goodbye.forget()
        self._instance.events.normal(
            resource, EventReason.DELETED, f"{goodbye.target.words} was deleted in lldap"
        )

    def _hand_over(self, resource: Resource, goodbye: Goodbye) -> bool:
        """Give the target to the oldest other object of this namespace that claims it."""
        heir = self._heir(resource, goodbye.claim)
        if heir is None:
            return False
        ownership = self._instance.ownership
        origin = ownership.origin(resource, goodbye.target) or Origin.ADOPTED
        mark: Mark = ownership.new_mark(heir, origin)
        goodbye.mark({MARK_ATTRIBUTE: (str(mark),)})
        goodbye.reread()
        note = f"{goodbye.target.words} was handed over from {resource.key} to {heir.key}"
        self._instance.events.normal(resource, EventReason.HANDED_OVER, note)
        self._instance.events.normal(heir, EventReason.HANDED_OVER, note)
        return True

    def _heir(self, resource: Resource, claim: str) -> Resource | None:
        heirs = [
            rival
            for rival in self._instance.cache.claimants(self._kind, claim)
            if rival.namespace == resource.namespace
            and rival.uid != resource.uid
            and can_inherit(rival)
        ]
        return min(heirs, key=lambda r: (r.created, r.key), default=None)

    def _left_alone(self, resource: Resource, target: Target, why: str) -> None:
        self._instance.events.warning(
            resource,
            EventReason.LEFT_ALONE,
            f"{target.words} stays in lldap as it is: {why}",
        )

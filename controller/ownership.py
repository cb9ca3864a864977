"""Whose a target in lldap is: the mark, the claims and the rules of adoption."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from controller.api import Kind
from controller.cache import Cache
from controller.config_values import Adoption
from controller.kube import Kube
from controller.mark import AnyMark, Invitation, Mark, Origin, mark_of
from controller.reasoned import ReasonedError, fail
from controller.reasons import Reason
from controller.resource import Resource
from controller.rules import Rules
from controller.seal import Sealer
from informers import StatusError, StatusKind


class Standing(enum.Enum):
    """How an object stands to its target, when it may have it at all."""

    FREE = enum.auto()  # there is no such target: create it
    OURS = enum.auto()  # the mark is this object's
    UNMARKED = enum.auto()  # somebody took the mark off, the seal proves it ours: put it back
    TAKE_BACK = enum.auto()  # the mark of this very namespace/name before it was re-created
    ADOPT = enum.auto()  # nobody's, and the rules allow to take it over


@dataclass(frozen=True, slots=True)
class Target:
    """A user or a group of lldap as far as ownership goes.

    `privileged`: taking it over would hand out rights: a member of a built-in group, or a
    group that has members.
    """

    words: str
    uuid: str
    attributes: Mapping[str, tuple[str, ...]]
    privileged: bool

    @property
    def mark(self) -> AnyMark | None:
        """The mark that stands on it."""
        return mark_of(self.attributes)


class Ownership:
    """Decides; writes nothing. Any thread. May GET one object when it meets a foreign mark."""

    def __init__(self, rules: Rules, cache: Cache, kube: Kube, sealer: Sealer) -> None:
        self._rules = rules
        self._cache = cache
        self._kube = kube
        self._sealer = sealer

    # --- what is ours --------------------------------------------------------------------

    def new_mark(self, resource: Resource, origin: Origin) -> Mark:
        """The mark of this object."""
        rules = self._rules
        return Mark(
            origin, rules.cluster, rules.instance, resource.namespace, resource.name, resource.uid
        )

    def marked_ours(self, resource: Resource, target: Target) -> bool:
        """Whether the mark is this object's; what it says as its name does not matter."""
        mark = target.mark
        return (
            isinstance(mark, Mark)
            and mark.cluster == self._rules.cluster
            and mark.instance == self._rules.instance
            and mark.uid == resource.uid
        )

    def is_ours(self, resource: Resource, target: Target) -> bool:
        """Ours by the mark, or, where the mark was taken off, by the sealed record."""
        if target.mark is None:
            return self.recorded(resource, target.uuid)
        return self.marked_ours(resource, target)

    def recorded(self, resource: Resource, uuid: str) -> bool:
        """Whether the object's status says under seal that it had this very account."""
        status = resource.recorded
        return status.get("uuid") == uuid and self._sealer.holds(
            status.get("seal"), resource.uid, self._rules.instance, [uuid]
        )

    def origin(self, resource: Resource, target: Target | None) -> Origin | None:
        """How the target came to us: the mark's first word, else what the status says."""
        mark = target.mark if target else None
        if isinstance(mark, Mark):
            return mark.origin
        return {o.recorded: o for o in Origin}.get(str(resource.recorded.get("origin")))

    # --- what may become ours --------------------------------------------------------------

    def standing(
        self, kind: Kind, resource: Resource, claim: str, target: Target | None
    ) -> Standing:
        """How the object stands to `target`, the holder of the name that it claims.

        Raises ReasonedError: Conflict naming the holder, or NotAdopted.
        """
        if target is not None and self.marked_ours(resource, target):
            return Standing.OURS
        if target is not None and target.mark is None and self.recorded(resource, target.uuid):
            return Standing.UNMARKED
        self.yield_to_holder(kind, resource, claim, target)
        return Standing.FREE if target is None else self._unheld(kind, resource, target)

    def _unheld(self, kind: Kind, resource: Resource, target: Target) -> Standing:
        mark = target.mark
        if isinstance(mark, Mark) and self.dead(kind, mark):
            if mark.key == resource.key:
                return Standing.TAKE_BACK
        elif isinstance(mark, Invitation):
            if mark.instance == self._rules.instance and mark.key == resource.key:
                return Standing.ADOPT
        elif mark is not None:
            raise self._another(resource, target, mark)
        self._may_adopt(resource, target)
        return Standing.ADOPT

    def _may_adopt(self, resource: Resource, target: Target) -> None:
        adoption = self._rules.adoption
        if adoption is Adoption.ALWAYS:
            return
        trusted = resource.namespace == self._rules.virtual_group_namespace
        if adoption is Adoption.IF_UNPRIVILEGED and (trusted or not target.privileged):
            return
        invitation = f"invite {self._rules.instance} {resource.key}"
        why = "has rights or members" if adoption is Adoption.IF_UNPRIVILEGED else "exists"
        raise fail(
            Reason.NOT_ADOPTED,
            f"{target.words} {why} in lldap and no object manages it; LLDAP_ADOPTION={adoption} "
            f"does not take it over. To allow it for this object alone, let a lldap administrator "
            f'set the attribute kubernetes-owner there to "{invitation}"',
        )

    def _another(self, resource: Resource, target: Target, mark: AnyMark) -> ReasonedError:
        if isinstance(mark, Mark):
            whose = f"{mark.key} of cluster {mark.cluster}, instance {mark.instance}"
        else:
            whose = "an owner that this operator does not know"
        return fail(
            Reason.CONFLICT,
            f"{target.words} belongs to {whose}: {resource.key} leaves it alone. Delete one of "
            "the two objects, or let a lldap administrator remove the attribute kubernetes-owner",
        )

    # --- claims ------------------------------------------------------------------------------

    def yield_to_holder(
        self, kind: Kind, resource: Resource, claim: str, target: Target | None
    ) -> None:
        """Raise Conflict if another object of this instance has the better claim."""
        rivals = [r for r in self._cache.claimants(kind, claim) if r.uid != resource.uid]
        if not rivals:
            return
        holder = self._holder(rivals, target) or self._first([*rivals, resource], target)
        if holder is not None and holder.uid != resource.uid:
            raise fail(
                Reason.CONFLICT,
                f"{kind.kind} {holder.key} holds {claim.replace(chr(10), ' in ')}: "
                f"{resource.key} changes nothing. Delete one of the two objects",
            )

    def _holder(self, rivals: list[Resource], target: Target | None) -> Resource | None:
        """The rival that has the target already, one that is being deleted included."""
        if target is None:
            return None
        return next((r for r in rivals if self.is_ours(r, target)), None)

    def _first(self, contenders: list[Resource], target: Target | None) -> Resource | None:
        """While nobody holds: whom a dead mark names, else the oldest."""
        living = [r for r in contenders if not r.deleting]
        mark = target.mark if target else None
        named = mark.key if isinstance(mark, (Mark, Invitation)) else None
        return min(living, key=lambda r: (r.key != named, r.created, r.key), default=None)

    def dead(self, kind: Kind, mark: Mark) -> bool:
        """Whether the object that a mark names is gone, on the API server's own word."""
        rules = self._rules
        if mark.instance != rules.instance:
            return False
        if mark.cluster in rules.dead_clusters:
            return True
        if mark.cluster != rules.cluster or not rules.watches(mark.namespace):
            return False
        return not self._lives(kind, mark)

    def _lives(self, kind: Kind, mark: Mark) -> bool:
        try:
            found = self._kube.get(kind.kind, mark.namespace, mark.name)
        except StatusError as error:
            if error.kind is StatusKind.NOT_FOUND:
                return False
            raise
        return bool(found["metadata"]["uid"] == mark.uid)

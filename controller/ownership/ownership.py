"""Whose a target in lldap is: the mark, the claims and the rules of adoption."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from controller.api import Kind
from controller.configuration.rules import Rules
from controller.configuration.values import Adoption
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.kube import Kube
from controller.ownership.mark import AnyMark, Invitation, Mark, Origin, mark_of
from controller.ownership.seal import Sealer
from controller.ownership.service import Service, service
from controller.watching.cache import Cache, in_dry_run
from informers import StatusError, StatusKind
from lldap import Group, Mirror, User


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

    `rights` says in words why taking it over would hand out rights; empty if it would not.
    `mark` is the one that stands on it, read once: a pass asks for it again and again.
    """

    words: str
    uuid: str
    attributes: Mapping[str, tuple[str, ...]]
    rights: str = ""
    mark: AnyMark | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mark", mark_of(self.attributes))


class Ownership:
    """Decides; writes nothing. Any thread.

    May GET one object when it meets the mark of one that the informers do not have.
    """

    def __init__(
        self, rules: Rules, cache: Cache, kube: Kube, sealer: Sealer, mirror: Mirror
    ) -> None:
        self._rules = rules
        self._cache = cache
        self._kube = kube
        self._sealer = sealer
        self._mirror = mirror

    # --- what is ours --------------------------------------------------------------------

    def new_mark(self, resource: Resource, origin: Origin) -> Mark:
        """The mark of this object."""
        rules = self._rules
        return Mark(
            origin, rules.cluster, rules.instance, resource.namespace, resource.name, resource.uid
        )

    def marked_ours(self, resource: Resource, target: Target) -> bool:
        """Whether the mark is this object's; what it says as its name does not matter."""
        return self._is_mark_of(resource, target.mark)

    def _is_mark_of(self, resource: Resource, mark: AnyMark | None) -> bool:
        return isinstance(mark, Mark) and self._is_ours(mark) and mark.uid == resource.uid

    def _is_ours(self, mark: Mark) -> bool:
        return mark.cluster == self._rules.cluster and mark.instance == self._rules.instance

    def is_ours(self, resource: Resource, target: Target) -> bool:
        """Ours by the mark, or, where the mark was taken off, by the sealed record."""
        if target.mark is None:
            return self.recorded(resource, target.uuid)
        return self.marked_ours(resource, target)

    def has_any(self, resource: Resource) -> bool:
        """Whether some user or group of lldap, as last read, has this object's mark."""
        mirror, uid = self._mirror, resource.uid
        found: list[User | Group] = [*mirror.users_by_index(uid), *mirror.groups_by_index(uid)]
        return any(self._is_mark_of(resource, mark_of(each.attributes)) for each in found)

    def origin(self, resource: Resource, target: Target) -> Origin | None:
        """How a target of ours came to us: the mark's first word, else the sealed record's."""
        mark = target.mark
        if isinstance(mark, Mark):
            return mark.origin if self.marked_ours(resource, target) else None
        ours = mark is None and self.recorded(resource, target.uuid)
        return recorded_origin(resource) if ours else None

    # --- the record ------------------------------------------------------------------------

    def seal(self, resource: Resource, uuid: str, origin: Origin | None) -> str | None:
        """The seal over what is to be recorded of an account; None without a key.

        The origin is under it: a mark that was taken off is put back with it.
        """
        return self._sealer.seal(resource.uid, self._rules.instance, _sealed(uuid, origin))

    def recorded(self, resource: Resource, uuid: str) -> bool:
        """Whether the object's status says under seal that it had this very account."""
        status = resource.recorded
        return (
            status.get("uuid") == uuid
            and status.get("server") == self._mirror.server_uuid
            and self._seal_holds(resource)
        )

    def sealed(self, resource: Resource) -> bool | None:
        """Whether the seal of the record holds; None without one, False: somebody changed it."""
        return None if resource.recorded.get("seal") is None else self._seal_holds(resource)

    def _seal_holds(self, resource: Resource) -> bool:
        status = resource.recorded
        values = _sealed(status.get("uuid"), recorded_origin(resource))
        return self._sealer.holds(status.get("seal"), resource.uid, self._rules.instance, values)

    # --- what may become ours --------------------------------------------------------------

    def standing(
        self, kind: Kind, resource: Resource, claim: str, target: Target | None
    ) -> Standing:
        """How the object stands to `target`, the holder of the name that it claims.

        Raises ReasonedError: Conflict naming the holder, or NotAdopted; and what the REST client
        raises, if the API server did not say whether the holder lives.
        """
        if target is not None and self.marked_ours(resource, target):
            return Standing.OURS
        if target is not None and self.is_ours(resource, target):
            return Standing.UNMARKED
        if target is not None and target.mark is not None:
            self._yield_to_mark(kind, resource, target, target.mark)
        self.yield_to_holder(kind, resource, claim, target)
        return Standing.FREE if target is None else self._unheld(resource, target)

    def _yield_to_mark(self, kind: Kind, resource: Resource, target: Target, mark: AnyMark) -> None:
        """Raise Conflict unless the mark is dead, or invites this very object."""
        match mark:
            case Mark():
                if not self.dead(kind, mark):
                    raise self._belongs(kind, resource, target, mark)
            case Invitation():
                if not self._invited(resource, mark):
                    raise fail(
                        Reason.CONFLICT,
                        f"{target.words} is kept for {mark.key} of instance {mark.instance} by an "
                        f"invitation in lldap: {resource.key} changes nothing",
                    )
            case _:
                raise fail(
                    Reason.CONFLICT,
                    f"{target.words} has an owner that this operator does not know "
                    f'("{mark}"): {resource.key} changes nothing. If it has none, ask an lldap '
                    "administrator to remove the attribute kubernetes-owner",
                )

    def _invited(self, resource: Resource, mark: Invitation) -> bool:
        return mark.instance == self._rules.instance and mark.key == resource.key

    def _belongs(self, kind: Kind, resource: Resource, target: Target, mark: Mark) -> ReasonedError:
        foreign = mark.cluster != self._rules.cluster
        if mark.key == resource.key and not foreign:
            return _left_by_other_instance(resource, target, mark)
        gone = "; if that cluster is gone, name it in LLDAP_DEAD_CLUSTERS" if foreign else ""
        return fail(
            Reason.CONFLICT,
            f"{target.words} belongs to {kind.kind} {mark.key} of cluster {mark.cluster}, "
            f"instance {mark.instance}: {resource.key} changes nothing. Delete one of the two "
            f"objects{gone}",
        )

    def _unheld(self, resource: Resource, target: Target) -> Standing:
        mark = target.mark
        if isinstance(mark, Mark) and mark.key == resource.key:
            return Standing.TAKE_BACK
        if not isinstance(mark, Invitation):
            self._may_adopt(resource, target)
        return Standing.ADOPT

    def _may_adopt(self, resource: Resource, target: Target) -> None:
        rules = self._rules
        if rules.may_adopt(resource.namespace, privileged=bool(target.rights)):
            return
        invitation = Invitation(rules.instance, resource.namespace, resource.name)
        cautious = rules.adoption is Adoption.IF_UNPRIVILEGED
        why = target.rights if cautious else "is in lldap already"
        raise fail(
            Reason.NOT_ADOPTED,
            f"{target.words} {why} and no object manages it: LLDAP_ADOPTION={rules.adoption} "
            "leaves it. Run once with LLDAP_ADOPTION=Always, or ask an lldap administrator to set "
            f'its attribute kubernetes-owner to "{invitation}"',
        )

    # --- claims ------------------------------------------------------------------------------

    def yield_to_holder(
        self, kind: Kind, resource: Resource, claim: str, target: Target | None
    ) -> None:
        """Raise Conflict if another object of this instance has the better claim."""
        rivals = [r for r in self._cache.rivals(kind, claim) if r.uid != resource.uid]
        if not rivals:
            return
        holder = self._holder(rivals, target) or _first(rivals, resource, target)
        if holder is not resource:
            raise fail(
                Reason.CONFLICT,
                f"{kind.kind} {holder.key} holds {claim}: {resource.key} changes nothing. Delete "
                "one of the two objects",
            )

    def _holder(self, rivals: list[Resource], target: Target | None) -> Resource | None:
        """The rival that has the target already, be it going or in dry-run."""
        if target is None:
            return None
        return next((r for r in rivals if self.is_ours(r, target)), None)

    # --- dead marks ----------------------------------------------------------------------------

    def dead(self, kind: Kind, mark: Mark) -> bool:
        """Whether the object that a mark names is gone, on the API server's own word.

        Raises what the REST client raises: an answer that is not clear says nothing.
        """
        if self._may_be_dead(mark) and mark.cluster == self._rules.cluster:
            return self.seems_dead(kind, mark) and not self._lives(kind, mark)
        return self._may_be_dead(mark)

    def seems_dead(self, kind: Kind, mark: Mark) -> bool:
        """The same by what the informers have, which may be old: calls nothing, for a metric."""
        if self._may_be_dead(mark) and mark.cluster == self._rules.cluster:
            found = self._cache.get(kind, mark.namespace, mark.name)
            return found is None or not self._is_owner(found, mark)
        return self._may_be_dead(mark)

    def _may_be_dead(self, mark: Mark) -> bool:
        rules = self._rules
        if mark.instance != rules.instance:
            return False
        if mark.cluster == rules.cluster:
            return rules.watches(mark.namespace)
        return mark.cluster in rules.dead_clusters

    def _lives(self, kind: Kind, mark: Mark) -> bool:
        try:
            found = self._kube.get(kind.kind, mark.namespace, mark.name)
        except StatusError as error:
            if error.kind is StatusKind.NOT_FOUND:
                return False
            raise
        return self._is_owner(Resource(found), mark)

    def _is_owner(self, found: Resource, mark: Mark) -> bool:
        """Whether it is the object of the mark, and still of this instance.

        One that went to another instance while lldap was down has left its mark behind.
        """
        served = service(found, self._rules.instance) is not Service.FOREIGN
        return found.uid == mark.uid and served


def moved_command(instance: str, resource: Resource) -> str:
    """What frees objects of this one's namespace that left an instance whose operator is gone."""
    where = f"--lldap-instance {instance} --namespace {resource.namespace}"
    return f"lldap-operator release {where} --moved"


def _left_by_other_instance(resource: Resource, target: Target, mark: Mark) -> ReasonedError:
    """The mark is of an object of this very name, which then was another instance's."""
    return fail(
        Reason.CONFLICT,
        f"{target.words} still has the mark of instance {mark.instance} for {mark.key}: this "
        "object changes nothing. Unless an operator of that instance still serves it, take the "
        f"mark off, with LLDAP_URL set: {moved_command(mark.instance, resource)}",
    )


def recorded_origin(resource: Resource) -> Origin | None:
    """What the status says of the origin. Anybody may have written it."""
    return _BY_RECORD.get(str(resource.recorded.get("origin")))


_BY_RECORD: Final = {origin.recorded: origin for origin in Origin}


def _sealed(uuid: object, origin: Origin | None) -> list[object]:
    return [uuid, origin.recorded if origin else ""]


def _first(rivals: list[Resource], resource: Resource, target: Target | None) -> Resource:
    """While nobody holds: whom a dead mark or an invitation names, else the oldest."""
    claimants = [r for r in rivals if not r.deleting and not in_dry_run(r)]
    mark = target.mark if target else None
    named = mark.key if isinstance(mark, (Mark, Invitation)) else None
    return min([*claimants, resource], key=lambda r: (r.key != named, r.created, r.key))

"""Takes this instance's marks off the accounts and groups of lldap, and changes nothing else."""

from collections.abc import Callable, Collection, Iterator

from controller.api import INSTANCE_LABEL, LLDAP_GROUP, LLDAP_USER, MARK_ATTRIBUTE
from controller.configuration.rules import Rules
from controller.harness.explain import explain_probe
from controller.objects import listed
from controller.ownership.mark import Mark, mark_of, owner_uid
from informers import RestClient
from lldap import Client, Group, LldapError, Mirror, NotFound, Session, Unavailable, User
from lldap.clock import Clock


class MarkRemoval:
    """Removes marks of one instance of one cluster. One thread.

    `failed` counts marks that lldap did not let go of; `unreachable` says why lldap could not be
    worked with, if so: then the marks stay, and that holds up nothing.
    """

    def __init__(
        self, session: Session, rules: Rules, *, clock: Clock, say: Callable[[str], None]
    ) -> None:
        self.failed = 0
        self.unreachable: str | None = None
        self._client = Client(session)
        self._mirror = Mirror(rules.own_user, owner_uid, clock=clock)
        self._rules = rules
        self._say = say

    def run(
        self,
        namespace: str | None,
        *,
        dry_run: bool,
        only: Collection[tuple[str, str]] | None = None,
    ) -> int:
        """Remove the marks for objects of a namespace, or of all; how many.

        `only`: those of these objects, each by kind and `namespace/name`.
        """
        try:
            self._mirror.refresh(self._client)
        except Exception as error:  # noqa: BLE001 - its password file may be gone too
            self.unreachable = explain_probe(error).message
            return 0
        removed = 0
        for target, mark in self._marked(namespace):
            if only is not None and (_kind_of(target), mark.key) not in only:
                continue
            if self.unreachable is not None:
                break
            if dry_run or self._removed(target, mark):
                verb = "would lose" if dry_run else "lost"
                self._say(f"{words_of(target)} in lldap {verb} the mark of {mark.key}")
                removed += 1
        return removed

    def _marked(self, namespace: str | None) -> Iterator[tuple[User | Group, Mark]]:
        targets: list[User | Group] = [*self._mirror.users(), *self._mirror.groups()]
        for target in targets:
            mark = mark_of(target.attributes)
            if (
                isinstance(mark, Mark)
                and (mark.cluster, mark.instance) == (self._rules.cluster, self._rules.instance)
                and namespace in {None, mark.namespace}
            ):
                yield target, mark

    def _removed(self, target: User | Group, mark: Mark) -> bool:
        """Read the target again by itself, and write only if that mark still stands there."""
        try:
            if mark_of(self._read(target).attributes) != mark:
                return False
            if isinstance(target, User):
                self._client.update_user(target.id, remove=(MARK_ATTRIBUTE,))
            else:
                self._client.update_group(target.id, remove=(MARK_ATTRIBUTE,))
        except NotFound:
            return False
        except Unavailable as error:
            self.unreachable = explain_probe(error).message
            return False
        except LldapError as error:
            self.failed += 1
            self._say(f"{words_of(target)} in lldap keeps its mark: {explain_probe(error).message}")
            return False
        return True

    def _read(self, target: User | Group) -> User | Group:
        if isinstance(target, User):
            return self._client.user(target.id)
        return self._client.group(target.id)


def moved_objects(
    rest: RestClient, instance: str, namespace: str | None
) -> frozenset[tuple[str, str]]:
    """Users and groups, by kind and `namespace/name`, whose label does not name the instance.

    Raises what the REST client raises.
    """
    return frozenset(
        (kind.kind, each.key)
        for kind in (LLDAP_USER, LLDAP_GROUP)
        for each in listed(rest, kind, namespace)
        if each.labels.get(INSTANCE_LABEL) != instance
    )


def _kind_of(target: User | Group) -> str:
    return (LLDAP_USER if isinstance(target, User) else LLDAP_GROUP).kind


def words_of(target: User | Group) -> str:
    """What a person calls it."""
    return f"user {target.id}" if isinstance(target, User) else f"group {target.display_name}"

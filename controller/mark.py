"""The mark: the attribute by which lldap itself says which object an account belongs to.

It stands on users and groups, is written in the creating call or as the first write of an
adoption, and survives the loss of any status. Its value is
`<created|adopted> <cluster> <instance> <namespace>/<name> <uid>`; a lldap administrator may write
`invite <instance> <namespace>/<name>` by hand.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from controller.api.names import MARK_ATTRIBUTE


class Origin(enum.StrEnum):
    """How an account came under an object: the first word of the mark."""

    CREATED = "created"
    ADOPTED = "adopted"

    @property
    def recorded(self) -> str:
        """The word that status.origin uses."""
        return self.value.capitalize()


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark that an operator wrote."""

    origin: Origin
    cluster: str
    instance: str
    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        return f"{self.origin} {self.cluster} {self.instance} {self.key} {self.uid}"

    @property
    def key(self) -> str:
        """The object's `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def given_to(self, namespace: str, name: str, uid: str) -> Self:
        """The heir's mark: the origin stays, so that its deletion policy means the same."""
        return type(self)(self.origin, self.cluster, self.instance, namespace, name, uid)


@dataclass(frozen=True, slots=True)
class Invitation:
    """A mark set by hand: nobody's account, for one object alone."""

    instance: str
    namespace: str
    name: str

    @property
    def key(self) -> str:
        """The object's `namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class UnknownMark:
    """Something else stands where the mark belongs: it counts as another's."""

    text: str


AnyMark = Mark | Invitation | UnknownMark


def parse(text: str) -> AnyMark | None:
    """Read one value of the mark attribute; nothing is raised, the empty text is no mark."""
    if not text:
        return None
    words = text.split(" ")
    match words:
        case ["created" | "adopted" as origin, cluster, instance, key, uid] if uid and cluster:
            namespace, slash, name = key.partition("/")
            if slash and namespace and name:
                return Mark(Origin(origin), cluster, instance, namespace, name, uid)
        case ["invite", instance, key]:
            namespace, slash, name = key.partition("/")
            if slash and namespace and name:
                return Invitation(instance, namespace, name)
    return UnknownMark(text[:64])


def mark_of(attributes: Mapping[str, Sequence[str]]) -> AnyMark | None:
    """The mark among the attributes of a user or a group of lldap."""
    values = attributes.get(MARK_ATTRIBUTE)
    return parse(values[0]) if values else None


def owner_uid(attributes: Mapping[str, Sequence[str]]) -> str | None:
    """The uid in the mark: by it the mirror finds the target of an object."""
    values = attributes.get(MARK_ATTRIBUTE)
    if not values:
        return None
    mark = parse(values[0])
    return mark.uid if isinstance(mark, Mark) else None

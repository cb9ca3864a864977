"""The mark: the attribute by which lldap itself says which object an account belongs to.

It stands on users and groups, is written in the creating call or as the first write of an
adoption, and survives the loss of any status. Its value is
`<created|adopted> <cluster> <instance> <namespace>/<name> <uid>`; a lldap administrator may write
`invite <instance> <namespace>/<name>` by hand.
"""

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from controller.api.names import MARK_ATTRIBUTE

_WORD, _KEY = "([^/ ]+)", "([^/ ]+)/([^/ ]+)"
_MARK: Final = re.compile(f"(created|adopted) {_WORD} {_WORD} {_KEY} {_WORD}")
_INVITATION: Final = re.compile(f"invite {_WORD} {_KEY}")


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


@dataclass(frozen=True, slots=True)
class Invitation:
    """A mark set by hand: nobody's account, for one object alone."""

    instance: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"invite {self.instance} {self.key}"

    @property
    def key(self) -> str:
        """The object's `namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class UnknownMark:
    """Something else stands where the mark belongs: it counts as another's."""

    text: str

    def __str__(self) -> str:
        return self.text


AnyMark = Mark | Invitation | UnknownMark


def parse(text: str) -> AnyMark | None:
    """Read one value of the mark attribute; nothing is raised, the empty text is no mark.

    People type invitations: spaces too many do not count.
    """
    words = " ".join(text.split())
    if not words:
        return None
    if found := _MARK.fullmatch(words):
        origin, *rest = found.groups()
        return Mark(Origin(origin), *rest)
    if found := _INVITATION.fullmatch(words):
        return Invitation(*found.groups())
    return UnknownMark(words)


def mark_of(attributes: Mapping[str, Sequence[str]]) -> AnyMark | None:
    """The mark among the attributes of a user or a group of lldap."""
    values = attributes.get(MARK_ATTRIBUTE)
    return parse(values[0]) if values else None


def owner_uid(attributes: Mapping[str, Sequence[str]]) -> str | None:
    """The uid in the mark: by it the mirror finds the target of an object."""
    mark = mark_of(attributes)
    return mark.uid if isinstance(mark, Mark) else None

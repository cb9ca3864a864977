"""One user in one group of lldap: the pair that a membership stands for."""

from dataclasses import dataclass
from typing import Self

from controller.harness.resource import Object
from lldap import Group, User


@dataclass(frozen=True, slots=True)
class Edge:
    """Ids and uuids of the two ends, as lldap had them."""

    user_id: str
    user_uuid: str
    group_id: int
    group_uuid: str

    @classmethod
    def between(cls, user: User, group: Group) -> Self:
        """The edge from one to the other."""
        return cls(user.id, user.uuid, group.id, group.uuid)

    @classmethod
    def recorded(cls, status: Object) -> Self | None:
        """What a status says; None if it says nothing whole."""
        values = [status.get(name) for name in ("userId", "userUuid", "groupId", "groupUuid")]
        match values:
            case [str(user), str(user_uuid), int(group), str(group_uuid)]:
                return cls(user, user_uuid, group, group_uuid)
        return None

    def is_recorded(self, status: Object) -> bool:
        """Whether a status says it."""
        return Edge.recorded(status) == self

    def record(self, status: Object) -> None:
        """Write it into a status."""
        status["userId"], status["userUuid"] = self.user_id, self.user_uuid
        status["groupId"], status["groupUuid"] = self.group_id, self.group_uuid

    @property
    def sealed_values(self) -> list[object]:
        """What the seal covers."""
        return [self.user_uuid, self.group_id, self.group_uuid]

    def __str__(self) -> str:
        return f"{self.user_id} in group {self.group_id}"

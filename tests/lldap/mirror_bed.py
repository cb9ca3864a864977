"""A mirror of a lldap that shows what a test says."""

from collections.abc import Callable, Iterable

from lldap import (
    Attributes,
    AttributeSchema,
    AttributeType,
    Directory,
    Group,
    GroupWithMembers,
    Mirror,
    Schema,
    User,
)
from lldap.models import single
from tests.support.clock import FakeClock

ADMINS = GroupWithMembers(1, "lldap_admin", "server-uuid", "", {}, frozenset({"admin"}))
MAIL = AttributeSchema("mail", AttributeType.STRING)
PHONE = AttributeSchema("phone", AttributeType.STRING)


def user(name: str, **attributes: str) -> User:
    values = {key: (value,) for key, value in attributes.items()}
    return User(name, f"{name}@b.c", "", "", "", f"uuid-{name}", "", values)


def group(number: int, *members: str, name: str = "", **attributes: str) -> GroupWithMembers:
    values = {key: (value,) for key, value in attributes.items()}
    return GroupWithMembers(number, name or f"group-{number}", "", "", values, frozenset(members))


class Source:
    """A lldap that shows what a test says; `during` is done while it is read."""

    def __init__(self, *things: User | GroupWithMembers, schema: Schema | None = None) -> None:
        self.users = [thing for thing in things if isinstance(thing, User)]
        self.groups = [ADMINS, *(thing for thing in things if isinstance(thing, GroupWithMembers))]
        self.schema = schema or Schema({"mail": MAIL}, {})
        self.known: list[list[str]] = []
        self.during: Callable[[], object] = lambda: None

    def read_directory(self, known: Iterable[str] = ()) -> Directory:
        self.known.append(list(known))
        read = Directory(list(self.users), list(self.groups), self.schema)
        self.during()
        return read


def alone(group: GroupWithMembers) -> Group:
    """As a mirror shows it."""
    return Group(group.id, group.display_name, group.uuid, group.creation_date, group.attributes)


def mark(attributes: Attributes) -> str | None:
    return single(attributes, "mark")


def mirror_of(source: Source, clock: FakeClock | None = None) -> Mirror:
    mirror = Mirror("Admin", mark, clock=clock or FakeClock())
    mirror.refresh(source)
    return mirror

"""What of a user's fields differs from its spec."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from controller.api import Target, UserSpec
from controller.attributes import AttributeDependencies, Wanted, words_of
from lldap import User

OPTIONAL_FIELDS = {
    "displayName": "display_name",
    "firstName": "first_name",
    "lastName": "last_name",
}


@dataclass(frozen=True, slots=True)
class UserChange:
    """One updateUser. `fields` are lldap's fields by their names in Python."""

    fields: Mapping[str, str] = field(default_factory=dict)
    insert: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remove: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.fields or self.insert or self.remove)

    def words(self) -> list[str]:
        """For people: names only, no values."""
        fields = [f"set {', '.join(self.fields)}"] if self.fields else []
        return [*fields, *words_of(self.insert, self.remove)]


def declared_names(spec: UserSpec, wanted: Wanted) -> frozenset[str]:
    """What the object owns: each field that the spec declares, and its attributes."""
    fields = {name for name, python in OPTIONAL_FIELDS.items() if getattr(spec, python) is not None}
    return frozenset({"email", *fields}) | wanted.names


def user_change(
    spec: UserSpec,
    wanted: Wanted,
    user: User,
    managed: frozenset[str],
    dependencies: AttributeDependencies,
) -> UserChange:
    """The difference; empty when lldap has what the spec asks for.

    A field that the spec no longer declares is cleared if this object had set it.
    """
    fields = {}
    if spec.email != user.email:
        fields["email"] = spec.email
    for name, python in OPTIONAL_FIELDS.items():
        declared = getattr(spec, python)
        if declared is None and name in managed:
            declared = ""
        if declared is not None and declared != getattr(user, python):
            fields[python] = declared
    owned = managed - OPTIONAL_FIELDS.keys() - {"email"}
    insert, remove = dependencies.changes(Target.USER, wanted, user.attributes, owned)
    return UserChange(fields, insert, remove)

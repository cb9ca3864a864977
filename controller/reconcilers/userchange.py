"""What of a user's fields differs from its spec, and which of them its object owns."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from controller.api import MARK_ATTRIBUTE, PasswordPolicy, UserSpec
from controller.reconcilers.attributes import Wanted, words_of
from lldap import Target, User
from lldap.names import BUILT_IN_ATTRIBUTES

EMAIL = "email"
PASSWORD = "passwordSecretRef"  # noqa: S105 - in `managed`: the password is the object's business
OPTIONAL_FIELDS = {
    "displayName": "display_name",
    "firstName": "first_name",
    "lastName": "last_name",
}
PASS_SECONDS = 30.0
_FIELDS = frozenset({EMAIL, PASSWORD, *OPTIONAL_FIELDS})
_SPEC_NAMES = {EMAIL: EMAIL, **{python: name for name, python in OPTIONAL_FIELDS.items()}}
_NOT_CUSTOM = (BUILT_IN_ATTRIBUTES[Target.USER] | {MARK_ATTRIBUTE}) - {"avatar"}


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
        names = ", ".join(_SPEC_NAMES[python] for python in self.fields)
        fields = [f"set {names}"] if names else []
        return [*fields, *words_of(self.insert, self.remove)]


def user_change(spec: UserSpec, wanted: Wanted, user: User, managed: frozenset[str]) -> UserChange:
    """The difference; empty when lldap has what the spec asks for.

    What the spec no longer declares is cleared if this object had set it.
    """
    fields = {}
    if spec.email != user.email:
        fields[EMAIL] = spec.email
    for name, python in OPTIONAL_FIELDS.items():
        declared = getattr(spec, python)
        if declared is None and name in managed:
            declared = ""
        if declared is not None and declared != getattr(user, python):
            fields[python] = declared
    insert, remove = wanted.changes(user.attributes, _attributes_of(managed))
    return UserChange(fields, insert, remove)


# --- status.managed ------------------------------------------------------------------------


def declared_names(spec: UserSpec, wanted: Wanted) -> frozenset[str]:
    """What the object owns of the account: the fields that it declares and its attributes."""
    fields = [name for name, python in OPTIONAL_FIELDS.items() if getattr(spec, python) is not None]
    return frozenset([EMAIL, *fields, *managed_names(wanted.names)])


def password_name(spec: UserSpec) -> frozenset[str]:
    """The password, unless it is nobody's business."""
    return frozenset() if spec.password_policy is PasswordPolicy.IGNORE else frozenset({PASSWORD})


def managed_names(attributes: frozenset[str]) -> frozenset[str]:
    """The names of attributes in `managed`: one that is also a field's is told from it."""
    return frozenset(_PREFIX + name if name in _FIELDS else name for name in attributes)


_PREFIX = "attributes."  # no name of an attribute has a dot


def _attributes_of(managed: frozenset[str]) -> frozenset[str]:
    return frozenset(name.removeprefix(_PREFIX) for name in managed - _FIELDS)


def is_as_created(user: User) -> bool:
    """Whether nobody can have changed the account since our createUser, but for its password.

    Our own registration follows the creation within one pass. Somebody who changes the account
    and then its password leaves no more of a trace, but is not that quick.
    """
    modified = user.modified_date
    if modified is None:  # this lldap does not tell
        return False
    if modified == user.creation_date:
        return True
    quick = _seconds(user.creation_date, modified) <= PASS_SECONDS
    return modified == user.password_modified_date and quick


def _seconds(start: str, end: str) -> float:
    between = datetime.datetime.fromisoformat(end) - datetime.datetime.fromisoformat(start)
    return between.total_seconds()


def live_names(user: User) -> frozenset[str]:
    """What an object owns that has set all that the account has."""
    fields = [name for name, python in OPTIONAL_FIELDS.items() if getattr(user, python)]
    return frozenset([*fields, *managed_names(frozenset(user.attributes) - _NOT_CUSTOM)])

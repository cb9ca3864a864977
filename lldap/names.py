"""How lldap compares names, and the names that it has built in."""

from lldap.models import Target

LLDAP_ADMIN = "lldap_admin"
LLDAP_PASSWORD_MANAGER = "lldap_password_manager"  # noqa: S105  (the name of a group)
LLDAP_STRICT_READONLY = "lldap_strict_readonly"

BUILT_IN_GROUPS = frozenset({LLDAP_ADMIN, LLDAP_PASSWORD_MANAGER, LLDAP_STRICT_READONLY})

READ_ONLY_ATTRIBUTES = {
    Target.USER: frozenset(
        {"creation_date", "modified_date", "password_modified_date", "user_id", "uuid"}
    ),
    Target.GROUP: frozenset({"creation_date", "group_id", "modified_date", "uuid"}),
}

BUILT_IN_ATTRIBUTES = {
    Target.USER: READ_ONLY_ATTRIBUTES[Target.USER]
    | {"avatar", "display_name", "first_name", "last_name", "mail"},
    Target.GROUP: READ_ONLY_ATTRIBUTES[Target.GROUP] | {"display_name"},
}

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def user_key(user_id: str) -> str:
    """The user id as lldap stores it: only ASCII letters lose their case."""
    return user_id.translate(_ASCII_LOWER)


def attribute_key(name: str) -> str:
    """The attribute name as lldap stores it: only ASCII letters lose their case."""
    return name.translate(_ASCII_LOWER)


def group_key(display_name: str) -> str:
    """What lldap takes for the same group name: Unicode lower case.

    Python and Rust lower alike, final sigma and dotted I included. Rust knows newer letters (55
    that came after Unicode 14, the one of Python 3.11): names that differ in the case of those
    alone are different here and the same in lldap, which then refuses the second.
    """
    return display_name.lower()


def email_key(email: str) -> str:
    """What lldap takes for the same e-mail: Unicode lower case, as for `group_key`."""
    return email.lower()

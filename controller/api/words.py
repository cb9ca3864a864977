"""The words that enum fields take."""

from enum import StrEnum


class PasswordPolicy(StrEnum):
    """What the operator does with a user's password."""

    MANAGE = "Manage"
    INITIAL_ONLY = "InitialOnly"
    IGNORE = "Ignore"


class DeletionPolicy(StrEnum):
    """What becomes of the thing in lldap when its object is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"


class AttributeType(StrEnum):
    """The types of lldap's attributes."""

    STRING = "String"
    INTEGER = "Integer"
    JPEG_PHOTO = "JpegPhoto"
    DATE_TIME = "DateTime"


class Target(StrEnum):
    """Whose attribute it is."""

    USER = "User"
    GROUP = "Group"


class Origin(StrEnum):
    """Whether the operator made an account or found it."""

    CREATED = "Created"
    ADOPTED = "Adopted"

"""What the sandbox's lldap refuses, in lldap's own words."""

import enum


class RefusedError(Exception):
    """Refused by a resolver: GraphQL answers with exactly this text."""


class Kind(enum.Enum):
    """The errors of lldap's back end: text, and status where an HTTP end point shows it."""

    AUTHENTICATION = "Authentication error {}", 401
    NOT_FOUND = "Entity not found: `{}`", 400
    BASE64 = "Invalid base64: `{}`", 400
    CRYPTO = "Unknown crypto error: `{}`", 500
    INTERNAL = "Internal error: `{}`", 500
    DATABASE = "Database error: `{}`", 500
    TRANSACTION = "Database transaction error: `{}`", 500


class DomainError(RefusedError):
    """Refused by lldap's back end."""

    def __init__(self, kind: Kind, detail: object) -> None:
        text, self.status = kind.value
        super().__init__(text.format(detail))


NO_ROW = "None of the records are updated"


def unique(code: int, columns: str) -> str:
    """SQLite's report of a failed UNIQUE (2067) or PRIMARY KEY (1555) constraint."""
    return _sqlite(code, f"UNIQUE constraint failed: {columns}")


def foreign_key() -> str:
    """SQLite's report of a reference to a missing row; it does not say which."""
    return _sqlite(787, "FOREIGN KEY constraint failed")


def _sqlite(code: int, text: str) -> str:
    return f"Execution Error: error returned from database: (code: {code}) {text}"

"""What can go wrong with lldap, by what the caller may conclude from it.

    LldapError
    ├── Unavailable             nothing was learned about lldap's data: look again later
    │   ├── ConnectionFailed    the request was surely not sent
    │   └── OutcomeUnknown      it was sent: a write may have been carried out, or not
    │       ├── BadAnswer       the answer was not understood
    │       └── AnswerTooLarge  the answer was longer than the call allows
    ├── Transient               the database gave up on a lock: nothing was written, try again
    ├── Unclassified            an error text that is in no row of the table: try again
    ├── LoginRefused            user name or password of the operator's own account are wrong
    ├── Forbidden               the operator's own account may not do this
    │   └── NotAdmin            it is no member of lldap_admin
    ├── Unsupported             this lldap is too old
    └── Rejected                a final no: the same call gets the same answer
        ├── NotFound            what the call asked for is not there
        ├── ConstraintViolation the database said no: read back, then decide
        │   ├── UniqueViolation
        │   └── ForeignKeyViolation
        ├── InvalidValue        an attribute's value is not of the attribute's type
        ├── UnknownAttribute    the schema has no attribute of that name
        ├── Refused             lldap guards its own account, group or attributes
        └── Conflict            HTTP 409 with a code

Only `NotFound` says that something is absent, and only the thing that the call asked for. No
exception holds a body, a token or a password; `server_text` is what lldap said in a GraphQL error,
cut to 200 characters.
"""

# ruff: noqa: N818  (the names say what happened, as a caller reads them)

MAX_SERVER_TEXT = 200


class LldapError(Exception):
    """A call to lldap did not do what was asked."""

    def __init__(self, message: str, *, server_text: str = "") -> None:
        super().__init__(message)
        self.server_text = server_text[:MAX_SERVER_TEXT]


class Unavailable(LldapError):
    """lldap could not be asked. Says nothing about its data."""


class ConnectionFailed(Unavailable):
    """No connection came about: the request was surely not sent."""


class OutcomeUnknown(Unavailable):
    """The request was sent and no whole answer that was understood came back.

    A write may have been carried out: read back before anything else.
    """


class BadAnswer(OutcomeUnknown):
    """An answer came and was not understood, or was a server error."""


class AnswerTooLarge(OutcomeUnknown):
    """The answer was longer than the call allows, and was dropped."""


class Transient(LldapError):
    """The database rolled back because of a lock: nothing was written, try again."""


class Unclassified(LldapError):
    """lldap reported an error that the table does not know.

    It is no proof that something is absent or final: read back, try again.
    """


class LoginRefused(LldapError):
    """lldap refused the operator's own user name and password."""


class Forbidden(LldapError):
    """The operator's own account may not do this, with a token that is fresh."""


class NotAdmin(Forbidden):
    """lldap's own lists do not show the operator's account in lldap_admin."""


class Unsupported(LldapError):
    """lldap does not know a field or argument that is needed: it is older than 0.6.0."""


class Rejected(LldapError):
    """lldap said no, and will say no to the same call again."""


class NotFound(Rejected):
    """What the call asked for, by its name or id, is not in lldap."""


class ConstraintViolation(Rejected):
    """The database refused the row. Which constraint it names proves nothing: read back."""


class UniqueViolation(ConstraintViolation):
    """Something of that id, name, e-mail or pair is there, maybe another's."""


class ForeignKeyViolation(ConstraintViolation):
    """The user or the group is not there: lldap does not say which."""


class InvalidValue(Rejected):
    """The value of `attribute` is not one of the attribute's type."""

    def __init__(self, attribute: str, reason: str, *, server_text: str = "") -> None:
        super().__init__(f"attribute {attribute}: {reason}", server_text=server_text)
        self.attribute = attribute
        self.reason = reason


class UnknownAttribute(Rejected):
    """lldap's schema has no attribute `name`."""

    def __init__(self, name: str, *, server_text: str = "") -> None:
        super().__init__(f"attribute {name} is not in lldap's schema", server_text=server_text)
        self.name = name


class Refused(Rejected):
    """lldap guards its own account, its admin group or a read-only attribute."""


class Conflict(Rejected):
    """HTTP 409. `error_code` is lldap's word for it, None if it gave none."""

    def __init__(self, message: str, error_code: str | None) -> None:
        super().__init__(message)
        self.error_code = error_code

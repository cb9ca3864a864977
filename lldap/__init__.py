"""A client of lldap: session, operations, typed errors, values and a mirror.

- It knows nothing of Kubernetes, starts no threads and keeps no state outside its objects. Time,
  transport, credentials and metrics are handed in.
- `Session` logs in once for all threads, renews once when lldap says 401, and gives every call a
  deadline that holds to the last byte. A write is sent once, whatever happens.
- `Client` has lldap's queries and mutations, one request each, one mutation a request. What
  returns is confirmed by lldap; an answer of another shape is an error.
- Errors are classified in one table (`classify`). What is not known there is to be tried again,
  and never means that something is absent.
- `values` parses and compares values as lldap does, `names` compares names as lldap does.
- `Mirror` shows what was read plus our own confirmed changes, and never takes one of those back.
- No body, token or password is in an exception, a repr or a log.
- Passwords are in `lldap.passwords`.
"""

from lldap.clock import Clock, SystemClock
from lldap.errors import (
    AnswerTooLarge,
    BadAnswer,
    Conflict,
    ConnectionFailed,
    ConstraintViolation,
    Forbidden,
    ForeignKeyViolation,
    InvalidValue,
    LldapError,
    LoginRefused,
    NotAdmin,
    NotFound,
    OutcomeUnknown,
    Refused,
    Rejected,
    Transient,
    Unavailable,
    Unclassified,
    UniqueViolation,
    UnknownAttribute,
    Unsupported,
)
from lldap.login import Credentials, Login
from lldap.metrics import Metrics
from lldap.mirror import Mirror, Refreshed
from lldap.models import (
    Attributes,
    AttributeSchema,
    AttributeType,
    Directory,
    Group,
    GroupWithMembers,
    Schema,
    Target,
    User,
)
from lldap.operations import Client
from lldap.session import Session
from lldap.transport import Answer, HttpTransport, Transport

__all__ = [
    "Answer",
    "AnswerTooLarge",
    "AttributeSchema",
    "AttributeType",
    "Attributes",
    "BadAnswer",
    "Client",
    "Clock",
    "Conflict",
    "ConnectionFailed",
    "ConstraintViolation",
    "Credentials",
    "Directory",
    "Forbidden",
    "ForeignKeyViolation",
    "Group",
    "GroupWithMembers",
    "HttpTransport",
    "InvalidValue",
    "LldapError",
    "Login",
    "LoginRefused",
    "Metrics",
    "Mirror",
    "NotAdmin",
    "NotFound",
    "OutcomeUnknown",
    "Refreshed",
    "Refused",
    "Rejected",
    "Schema",
    "Session",
    "SystemClock",
    "Target",
    "Transient",
    "Transport",
    "Unavailable",
    "Unclassified",
    "UniqueViolation",
    "UnknownAttribute",
    "Unsupported",
    "User",
]

"""The errors of the API: every `Status` that is not a success, with the server's own texts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.apiserver.objects import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.apiserver.resources import Resource

TOO_OLD_LIST = "The resourceVersion for the provided list is too old."
TOO_OLD_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)
BLOCKED_RULES = (
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that is wrong, and where."""

    reason: str
    message: str
    field: str

    def as_dict(self) -> dict[str, str]:
        """The cause as `details.causes` holds it."""
        parts = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in parts.items() if value}


class StatusError(Exception):
    """An answer that is a `Status` of failure."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Value] | None = None,
        retry_after: int = 0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after
        self.metadata: dict[str, Value] = {}

    def status(self) -> dict[str, Value]:
        """The body of the answer."""
        body: dict[str, Value] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        return {**body, "code": self.code}


class DecodeError(ValueError):
    """A body that is no object of its kind: 400 for a whole object, 422 for a patched one."""


def quote(value: object) -> str:
    """A value as the server shows it in a message."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def invalid_value(field: str, value: object, message: str) -> Cause:
    """A value that is shown and refused."""
    return Cause("FieldValueInvalid", f"Invalid value: {quote(value)}: {message}", field)


def required(field: str, message: str = "") -> Cause:
    """A value that is missing."""
    return Cause("FieldValueRequired", "Required value" + (message and f": {message}"), field)


def forbidden_value(field: str, message: str) -> Cause:
    """A value that must not be there or change."""
    return Cause("FieldValueForbidden", f"Forbidden: {message}", field)


def unsupported(field: str, value: object, supported: Sequence[object]) -> Cause:
    """A value that is none of a few."""
    listed = ", ".join(quote(each) for each in supported)
    message = f"Unsupported value: {quote(value)}: supported values: {listed}"
    return Cause("FieldValueNotSupported", message, field)


def too_long(field: str, limit: int) -> Cause:
    """A text over its limit."""
    return Cause("FieldValueTooLong", f"Too long: may not be more than {limit} bytes", field)


def _details(
    name: str, group: str, kind: str, causes: Sequence[dict[str, str]] = ()
) -> dict[str, Value]:
    parts = {"name": name, "group": group, "kind": kind, "causes": list(causes)}
    return {key: value for key, value in parts.items() if value}


def _about(resource: Resource, name: str) -> str:
    return f"{resource.qualified} {quote(name)}" if name else resource.qualified


def bad_request(message: str) -> StatusError:
    """A 400."""
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    """A 401: a token that nobody knows."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: Resource, name: str, message: str) -> StatusError:
    """A 403."""
    details = _details(name, resource.group, resource.plural)
    return StatusError(
        403, "Forbidden", f"{_about(resource, name)} is forbidden: {message}", details
    )


def terminating(resource: Resource, name: str, namespace: str) -> StatusError:
    """A 403: nothing new in a namespace that is being deleted."""
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    error = forbidden(resource, name, why)
    assert error.details is not None
    message = f"namespace {namespace} is being terminated"
    error.details["causes"] = [
        Cause("NamespaceTerminating", message, "metadata.namespace").as_dict()
    ]
    return error


def not_found(resource: Resource, name: str) -> StatusError:
    """A 404 of an object."""
    details = _details(name, resource.group, resource.plural)
    return StatusError(404, "NotFound", f"{_about(resource, name)} not found", details)


def method_not_allowed(resource: Resource, verb: str) -> StatusError:
    """A 405."""
    message = f'{verb} is not supported on resources of kind "{resource.qualified}"'
    details = _details("", resource.group, resource.plural)
    return StatusError(405, "MethodNotAllowed", message, details)


def not_acceptable(message: str) -> StatusError:
    """A 406."""
    return StatusError(406, "NotAcceptable", message)


def already_exists(resource: Resource, name: str, *, deleting: bool) -> StatusError:
    """A 409 of a create."""
    prefix = "object is being deleted: " if deleting else ""
    details = _details(name, resource.group, resource.plural)
    message = f"{prefix}{_about(resource, name)} already exists"
    return StatusError(409, "AlreadyExists", message, details)


def conflict(resource: Resource, name: str, message: str, *, kind: bool = False) -> StatusError:
    """A 409; `kind` says that the server names the kind, not the resource."""
    word = resource.kind if kind else resource.plural
    about = f"{word}.{resource.group}" if resource.group else word
    text = f"Operation cannot be fulfilled on {about} {quote(name)}: {message}"
    return StatusError(409, "Conflict", text, _details(name, resource.group, word))


def modified(resource: Resource, name: str) -> StatusError:
    """A 409: the resourceVersion is not the live one."""
    message = (
        "the object has been modified; please apply your changes to the latest version and "
        "try again"
    )
    return conflict(resource, name, message)


def apply_conflict(message: str, causes: Sequence[Cause]) -> StatusError:
    """A 409: others own fields that an apply would change."""
    details = {"causes": [cause.as_dict() for cause in causes]}
    return StatusError(409, "Conflict", message, details)


def expired(message: str) -> StatusError:
    """A 410."""
    return StatusError(410, "Expired", message)


def too_large(limit: int) -> StatusError:
    """A 413."""
    message = f"Request entity too large: limit is {limit}"
    return StatusError(413, "RequestEntityTooLarge", message)


def unsupported_media_type(accepted: Sequence[str]) -> StatusError:
    """A 415."""
    listed = ", ".join(accepted)
    message = (
        f"the body of the request was in an unknown format - accepted media types include: {listed}"
    )
    return StatusError(415, "UnsupportedMediaType", message)


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> StatusError:
    """A 422 with every cause: in the message once, in the details as often as it was found."""
    told = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    listed = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
    about = f"{kind}.{group}" if group else kind
    details = _details(name, group, kind, [cause.as_dict() for cause in causes])
    return StatusError(422, "Invalid", f"{about} {quote(name)} is invalid: {listed}", details)


def invalid_options(kind: str, *causes: Cause) -> StatusError:
    """A 422 of the parameters of a call."""
    return invalid(kind, "meta.k8s.io", "", causes)


def unprocessable_patch() -> StatusError:
    """A 422: a JSON patch that does not fit."""
    message = "the server rejected our request due to an error in our request"
    return StatusError(422, "Invalid", message, {})


def reinitializing() -> StatusError:
    """A 429: a CRD was changed just now."""
    message = "storage is (re)initializing"
    details = {"retryAfterSeconds": 1}
    return StatusError(429, "TooManyRequests", message, details, retry_after=1)


def version_too_large(asked: int, current: int) -> StatusError:
    """A 504: a resourceVersion from the future."""
    cause = Cause("ResourceVersionTooLarge", "Too large resource version", "")
    details = {"causes": [cause.as_dict()], "retryAfterSeconds": 1}
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return StatusError(504, "Timeout", message, details, retry_after=1)

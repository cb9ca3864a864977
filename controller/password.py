"""A user's password: when the Secret is read, when lldap is asked, when one is registered."""

import base64
import binascii
from dataclasses import dataclass

from controller.api import PasswordPolicy, SecretKey, UserSpec
from controller.events import EventReason
from controller.instance import Instance
from controller.outcome import Outcome, progressing
from controller.reasoned import ReasonedError, fail
from controller.reasons import Reason
from controller.resource import Object, Resource
from informers import StatusError, StatusKind
from lldap import User
from lldap.passwords import PasswordRejected, check_password, password_warnings

NEXT_SECOND = 1.1  # seconds: then the second of a date without fractions is over

RECORD = ("passwordHash", "passwordSecret", "passwordModifiedDate")


@dataclass(frozen=True, slots=True)
class Request:
    """One look at a user's password. `created`: the account was made in this very pass."""

    resource: Resource
    spec: UserSpec
    user: User
    created: bool = False
    prove: bool = False  # a person asked for a full pass


def settled(instance: Instance, request: Request) -> bool:
    """Whether nothing has to be read, proved or registered; calls nothing."""
    status = request.resource.status
    date = request.user.password_modified_date
    match request.spec.password_policy:
        case PasswordPolicy.IGNORE:
            return not any(name in status for name in RECORD)
        case PasswordPolicy.INITIAL_ONLY:
            return status.get("passwordModifiedDate") is not None
        case PasswordPolicy.MANAGE:
            return (
                not request.prove
                and status.get("passwordHash") is not None
                and date == status.get("passwordModifiedDate")
                and _version(instance, request) == _recorded_version(status)
                and _recorded_version(status) is not None
            )


def settle(instance: Instance, request: Request) -> Outcome | None:
    """Make the password what the policy says; None, or what to wait for.

    The caller holds the account's lock, and `request.user` was read under it. Raises
    ReasonedError and what lldap raises; then the password may or may not be registered, and the
    next pass proves it.
    """
    if settled(instance, request):
        return None
    match request.spec.password_policy:
        case PasswordPolicy.IGNORE:
            forget(request.resource.status)
            return None
        case PasswordPolicy.INITIAL_ONLY:
            return _initial(instance, request)
        case PasswordPolicy.MANAGE:
            return _managed(instance, request)


def forget(status: Object) -> None:
    """Drop the record: the account is another one, or the password is nobody's business."""
    for name in RECORD:
        status.pop(name, None)


# --- Manage ------------------------------------------------------------------------------


def _managed(instance: Instance, request: Request) -> Outcome | None:
    secret = _read(instance, request)
    status, user = request.resource.status, request.user
    digest = instance.sealer.password_hash(request.resource.uid, secret.value)
    same = (
        digest == status.get("passwordHash")
        and user.password_modified_date == status.get("passwordModifiedDate")
        and not request.prove
    )
    if same or (not _never_set(request) and _proved(instance, request, secret.value)):
        _record(status, digest, secret, user.password_modified_date)
        return None
    user = _register(instance, request, secret.value)
    _record(status, digest, secret, user.password_modified_date)
    if _whole_seconds(user.password_modified_date):
        # Somebody could change it within the same second and leave the same date: the date
        # counts only with a proof after that second.
        status.pop("passwordModifiedDate")
        return progressing(
            Reason.PROGRESSING, f"the password of {user.id} is set; it is proved once more"
        ).after(NEXT_SECOND)
    return None


def _never_set(request: Request) -> bool:
    """Whether the account never had a password, as far as lldap tells."""
    user = request.user
    return request.created or user.password_modified_date == user.creation_date


def _proved(instance: Instance, request: Request, value: bytes) -> bool:
    return instance.passwords.has_password(request.user.id, value)


# --- InitialOnly ---------------------------------------------------------------------------


def _initial(instance: Instance, request: Request) -> Outcome | None:
    """One working registration for an account that we created; never for another."""
    status, user = request.resource.status, request.user
    if not _created_by_us(instance, request) or _was_settled_before(request):
        status["passwordModifiedDate"] = user.password_modified_date
        return None
    if not _never_set(request):
        return _finish_initial(instance, request)
    if request.created and _whole_seconds(user.creation_date):
        # In the same second the dates would stay equal, as if none had been set.
        return progressing(
            Reason.PROGRESSING, f"the password of {user.id} is set in the next second"
        ).after(NEXT_SECOND)
    return _register_initial(instance, request)


def _created_by_us(instance: Instance, request: Request) -> bool:
    target = instance.user_target(request.user)
    origin = instance.ownership.origin(request.resource, target)
    return origin is not None and origin.recorded == "Created"


def _was_settled_before(request: Request) -> bool:
    """Whether a pass under another policy ended well without a password for this account.

    A change of policy to InitialOnly registers nothing.
    """
    recorded = request.resource.recorded
    return (
        not request.created
        and recorded.get("uuid") == request.user.uuid
        and any(c.get("reason") == Reason.VERIFIED for c in recorded.get("conditions") or [])
    )


def _finish_initial(instance: Instance, request: Request) -> Outcome | None:
    """The account has a password and our record is lost: it is ours gone wrong, or a person's."""
    status, user = request.resource.status, request.user
    secret = _read_if_there(instance, request)
    if secret is not None and instance.passwords.is_misregistered(user.id, secret.value):
        return _register_initial(instance, request)
    status["passwordModifiedDate"] = user.password_modified_date
    return None


def _register_initial(instance: Instance, request: Request) -> Outcome | None:
    secret = _read(instance, request)
    digest = instance.sealer.password_hash(request.resource.uid, secret.value)
    user = _register(instance, request, secret.value)
    _record(request.resource.status, digest, secret, user.password_modified_date)
    return None


# --- common ----------------------------------------------------------------------------------


def _register(instance: Instance, request: Request, value: bytes) -> User:
    """Register, proved; the account as it is afterwards, with the new date."""
    user_id, resource = request.user.id, request.resource
    instance.refuse_privileged(resource, request.user)
    instance.passwords.set_password(user_id, value)
    for warning in password_warnings(value):
        instance.events.warning(
            resource, EventReason.PASSWORD_ODD, f"Secret {_where(request)}: {warning.value}"
        )
    instance.events.normal(
        resource, EventReason.PASSWORD_SET, f"the password of {user_id} was set and proved"
    )
    user = instance.read_user(user_id)
    if user is None:
        raise fail(Reason.PENDING, f"user {user_id} went away while its password was set")
    return user


def _record(status: Object, digest: str, secret: "Secret", date: str | None) -> None:
    status["passwordHash"] = digest
    status["passwordSecret"] = {"uid": secret.uid, "resourceVersion": secret.resource_version}
    status["passwordModifiedDate"] = date


def _whole_seconds(date: str | None) -> bool:
    return date is not None and "." not in date


# --- the Secret ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Secret:
    """A password as read just now. Never kept, never shown."""

    value: bytes
    uid: str
    resource_version: str

    def __repr__(self) -> str:
        return f"Secret({self.uid})"


def _version(instance: Instance, request: Request) -> tuple[str, str] | None:
    reference = _reference(request)
    return instance.cache.secret_version(request.resource.namespace, reference.name)


def _recorded_version(status: Object) -> tuple[str, str] | None:
    recorded = status.get("passwordSecret")
    if not isinstance(recorded, dict):
        return None
    return str(recorded.get("uid")), str(recorded.get("resourceVersion"))


def _reference(request: Request) -> SecretKey:
    reference = request.spec.password_secret
    assert reference is not None, "the spec was read with a rule that asks for it"
    return reference


def _where(request: Request) -> str:
    reference = _reference(request)
    return f"{request.resource.namespace}/{reference.name}, key {reference.key}"


def _read(instance: Instance, request: Request) -> Secret:
    """The value now. Raises ReasonedError for every way in which there is none."""
    reference = _reference(request)
    namespace = request.resource.namespace
    try:
        found = instance.kube.secret(namespace, reference.name)
    except StatusError as error:
        if error.kind is not StatusKind.NOT_FOUND:
            raise
        raise fail(
            Reason.SECRET_NOT_FOUND,
            f"Secret {namespace}/{reference.name} does not exist: create it with the key "
            f"{reference.key}",
        ) from None
    encoded = (found.get("data") or {}).get(reference.key)
    if encoded is None:
        raise fail(
            Reason.SECRET_KEY_NOT_FOUND,
            f"Secret {namespace}/{reference.name} has no key {reference.key}: add it, or correct "
            "spec.passwordSecretRef.key",
        )
    metadata = found["metadata"]
    value = _checked(_decoded(encoded), f"{namespace}/{reference.name}, key {reference.key}")
    return Secret(value, metadata["uid"], metadata["resourceVersion"])


def _read_if_there(instance: Instance, request: Request) -> Secret | None:
    try:
        return _read(instance, request)
    except ReasonedError:
        return None


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _checked(value: bytes, where: str) -> bytes:
    try:
        check_password(value)
    except PasswordRejected as error:
        raise fail(
            Reason.PASSWORD_REJECTED, f"Secret {where}: {error}. Put another password into it"
        ) from None
    return value

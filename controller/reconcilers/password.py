"""A user's password: when the Secret is read, when lldap is asked, when one is registered."""

import base64
from dataclasses import dataclass

from controller.api import PasswordPolicy, SecretKey
from controller.events.events import EventReason
from controller.harness.outcome import Outcome, progressing
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Object, Resource
from controller.instance import Instance
from controller.ownership.mark import Origin
from controller.reconcilers.userpass import UserPass
from controller.reconcilers.wholeseconds import WholeSeconds
from informers import StatusError, StatusKind
from lldap import User
from lldap.passwords import PasswordRejected, check_password, password_warnings

HASH, SECRET, DATE = RECORD = ("passwordHash", "passwordSecret", "passwordModifiedDate")


def forget(status: Object) -> None:
    """Drop the record: the account is another one, or the password is nobody's business."""
    for name in RECORD:
        status.pop(name, None)


def keep_by_policy(status: Object, policy: PasswordPolicy) -> None:
    """Drop of the record what the policy does not use, so that Manage proves before it relies.

    Ignore uses nothing; InitialOnly, once done, its date alone.
    """
    if policy is PasswordPolicy.IGNORE:
        forget(status)
    elif policy is PasswordPolicy.INITIAL_ONLY and status.get(DATE) is not None:
        _done(status, status[DATE])


class UserPasswords:
    """Makes passwords what the policies say. Any thread, one thread an object."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._seconds = WholeSeconds(instance.mirror, instance.clock.monotonic)

    def settled(self, this: UserPass, user: User) -> bool:
        """Whether nothing has to be read, proved or registered; calls nothing."""
        status = this.resource.status
        match this.spec.password_policy:
            case PasswordPolicy.IGNORE:
                return True
            case PasswordPolicy.INITIAL_ONLY:
                return status.get(DATE) is not None
            case PasswordPolicy.MANAGE:
                recorded = _recorded_version(status)
                return (
                    not this.asked
                    and status.get(HASH) is not None
                    and status.get(DATE) == _date(user)
                    and recorded is not None
                    and recorded == self._version(this)
                )

    def settle(self, this: UserPass, user: User) -> Outcome | None:
        """Make the password what the policy says; None, or what to wait for.

        The caller holds the account's lock, and `user` was read under it. Raises ReasonedError,
        what lldap and what the API server raise; then the password may or may not be registered,
        and the next pass proves it.
        """
        if self.settled(this, user):
            return None
        if this.spec.password_policy is PasswordPolicy.INITIAL_ONLY:
            return self._initial(this, user)
        return self._managed(this, user)

    # --- Manage ------------------------------------------------------------------------------

    def _managed(self, this: UserPass, user: User) -> Outcome | None:
        status, date = this.resource.status, _date(user)
        secret = self._read(this)
        same_date = date == status.get(DATE)
        # Looked at before the proof: what is proved within the date's own second may change
        # within it, and the date stays the same.
        left = 0.0 if same_date else self._seconds.left(this.resource.uid, date)
        if same_date and secret.digest == status.get(HASH) and not this.asked:
            return self._record(this, secret, date)  # only the Secret's version is another
        if this.created or not self._proved(user.id, secret.value):
            if secret.digest == status.get(HASH):
                this.drift.differs()
            date = self._register(this, user, secret)
            left = self._seconds.left(this.resource.uid, date)
        return self._record(this, secret, date, left)

    def _record(
        self, this: UserPass, secret: "_Secret", date: str, left: float = 0.0
    ) -> Outcome | None:
        """Write down what was proved; the date counts once its second is over."""
        status = this.resource.status
        status[HASH] = secret.digest
        status[SECRET] = {"uid": secret.uid, "resourceVersion": secret.resource_version}
        if left:
            status.pop(DATE, None)
            words = f"the password of {this.user_id} is set; it is proved once more"
            return progressing(Reason.PROGRESSING, words).after(left)
        status[DATE] = date
        return None

    # --- InitialOnly -------------------------------------------------------------------------

    def _initial(self, this: UserPass, user: User) -> Outcome | None:
        """One working registration for an account that we created; never for another."""
        if not self._is_due(this, user):
            _done(this.resource.status, _date(user))
            return None
        # In the second of the creation the dates would stay equal, as if none had been set.
        left = self._seconds.left(this.resource.uid, user.creation_date)
        if left:
            words = f"the password of {user.id} is set in the next second"
            return progressing(Reason.PROGRESSING, words).after(left)
        _done(this.resource.status, self._register(this, user, self._read(this)))
        return None

    def _is_due(self, this: UserPass, user: User) -> bool:
        target = self._instance.user_target(user)
        created = self._instance.ownership.origin(this.resource, target) is Origin.CREATED
        if not created or this.password_was_ignored or HASH in this.resource.status:
            return False
        never_set = user.password_modified_date == user.creation_date
        return never_set or self._went_wrong(this, user)

    def _went_wrong(self, this: UserPass, user: User) -> bool:
        """Whether the password that is set is ours, registered so that nobody can log in."""
        try:
            secret = self._read(this)
        except ReasonedError:
            return False  # nothing to compare with: somebody's password is left alone
        return self._instance.passwords.is_misregistered(user.id, secret.value)

    # --- lldap -------------------------------------------------------------------------------

    def _proved(self, user_id: str, value: bytes) -> bool:
        holds: bool | None = None
        try:
            holds = self._instance.passwords.has_password(user_id, value)
        finally:
            self._instance.lldap_metrics.proved(holds=holds)
        return holds

    def _register(self, this: UserPass, user: User, secret: "_Secret") -> str:
        """Register, proved; lldap's date of it, read before the proof."""
        resource = this.resource
        self._instance.refuse_privileged(resource, user)
        dates: list[str] = []
        outcome = "ok"
        try:
            self._instance.passwords.set_password(
                user.id, secret.value, registered=lambda: dates.append(self._date_now(this))
            )
        except Exception as error:
            outcome = type(error).__name__
            raise
        finally:
            self._instance.lldap_metrics.registered(outcome)
        for warning in password_warnings(secret.value):
            words = f"Secret {_where(this)}: {warning.value}"
            self._instance.events.warning(resource, EventReason.PASSWORD_ODD, words)
        words = f"the password of {user.id} was set and proved"
        self._instance.events.normal(resource, EventReason.PASSWORD_SET, words)
        return dates[-1]

    def _date_now(self, this: UserPass) -> str:
        user = self._instance.read_user(this.user_id, this.resource)
        if user is None:
            words = f"user {this.user_id} went away while its password was set: it comes back"
            raise fail(Reason.PENDING, words)
        return _date(user)

    # --- the Secret --------------------------------------------------------------------------

    def _version(self, this: UserPass) -> tuple[str, str] | None:
        return self._instance.cache.secret_version(this.resource.namespace, _reference(this).name)

    def _read(self, this: UserPass) -> "_Secret":
        """The password now. Raises ReasonedError for every way in which there is none."""
        reference, resource = _reference(this), this.resource
        found = self._get(resource, reference)
        encoded = (found.get("data") or {}).get(reference.key)
        if encoded is None:
            raise fail(
                Reason.SECRET_KEY_NOT_FOUND,
                f"Secret {resource.namespace}/{reference.name} has no key {reference.key}: add it, "
                "or correct spec.passwordSecretRef.key",
            )
        value = _checked(base64.b64decode(encoded), _where(this))
        digest = self._instance.sealer.password_hash(resource.uid, value)
        metadata = found["metadata"]
        return _Secret(value, digest, metadata["uid"], metadata["resourceVersion"])

    def _get(self, resource: Resource, reference: SecretKey) -> Object:
        try:
            return self._instance.kube.secret(resource.namespace, reference.name)
        except StatusError as error:
            if error.kind is not StatusKind.NOT_FOUND:
                raise
        raise fail(
            Reason.SECRET_NOT_FOUND,
            f"Secret {resource.namespace}/{reference.name} does not exist: create it with the key "
            f"{reference.key}",
        )


@dataclass(frozen=True, slots=True, repr=False)
class _Secret:
    """A password as read just now, and its digest for the status. Never kept, never shown."""

    value: bytes
    digest: str
    uid: str
    resource_version: str


def _done(status: Object, date: str) -> None:
    """Record that InitialOnly has nothing more to do, and nothing that Manage would rely on."""
    forget(status)
    status[DATE] = date


def _date(user: User) -> str:
    """When the password was changed last; the creation, where this lldap does not tell."""
    return user.password_modified_date or user.creation_date


def _recorded_version(status: Object) -> tuple[str, str] | None:
    recorded = status.get(SECRET)
    if not isinstance(recorded, dict):
        return None
    return str(recorded.get("uid")), str(recorded.get("resourceVersion"))


def _reference(this: UserPass) -> SecretKey:
    reference = this.spec.password_secret
    assert reference is not None, "the spec was read with a rule that asks for it"
    return reference


def _where(this: UserPass) -> str:
    reference = _reference(this)
    return f"{this.resource.namespace}/{reference.name}, key {reference.key}"


def _checked(value: bytes, where: str) -> bytes:
    try:
        check_password(value)
    except PasswordRejected as error:
        raise fail(
            Reason.PASSWORD_REJECTED, f"Secret {where}: {error}. Put another password into it"
        ) from None
    return value

"""LldapUser: an account of lldap, its fields, its attributes and its password."""

from dataclasses import dataclass

from controller import password
from controller.api import (
    LLDAP_USER,
    MARK_ATTRIBUTE,
    DeletionPolicy,
    PasswordPolicy,
    Target,
    UserSpec,
)
from controller.attributes import Wanted
from controller.events import EventReason
from controller.instance import Instance, attribute_lock, user_lock
from controller.mark import Origin
from controller.outcome import Outcome, converged
from controller.owned import (
    Goodbye,
    Owned,
    full_pass_asked,
    full_pass_served,
    own_names,
    read_spec,
    record_account,
    void_if_other_account,
)
from controller.ownership import Standing
from controller.ownership import Target as OwnedTarget
from controller.reasoned import fail
from controller.reasons import Reason
from controller.resource import Resource
from controller.userchange import UserChange, declared_names, user_change
from lldap import LldapError, NotFound, UniqueViolation, User
from lldap.names import user_key


@dataclass(slots=True)
class _Pass:
    """One pass over one object: what was read of it, and what is being done."""

    resource: Resource
    spec: UserSpec
    user_id: str
    wanted: Wanted
    created: bool = False

    @property
    def prove(self) -> bool:
        """Whether a person asked for a full pass, the password included."""
        return full_pass_asked(self.resource)

    @property
    def managed(self) -> frozenset[str]:
        return frozenset(self.resource.status.get("managed") or ())


class UserReconciler:
    """Makes accounts what their objects say. Any thread, one thread an object."""

    kind = LLDAP_USER
    finalizer = LLDAP_USER.finalizer

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._owned = Owned(instance, LLDAP_USER)

    # --- converge --------------------------------------------------------------------------

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler. What needs no call to lldap makes none, and takes no lock."""
        this = self._read(resource)
        user = instance.mirror.user(this.user_id)
        if user is not None and self._is_settled(this, user):
            self._record(this, user)
            return self._verified(this, user)
        names = [*this.wanted.values, *this.wanted.cleared]
        shared = [attribute_lock(Target.USER, name) for name in names]
        with instance.writing(LLDAP_USER, resource, [user_lock(this.user_id)], shared):
            return self._change(this, user)

    def _read(self, resource: Resource) -> _Pass:
        spec = read_spec(UserSpec, resource)
        user_id = user_key(spec.username)
        self._instance.refuse_own_account(user_id)
        wanted = self._instance.dependencies.wanted(Target.USER, spec.attributes)
        return _Pass(resource, spec, user_id, wanted)

    def _is_settled(self, this: _Pass, user: User) -> bool:
        target = self._instance.user_target(user)
        if not self._instance.ownership.marked_ours(this.resource, target):
            return False
        void_if_other_account(this.resource, user.uuid, self._instance.mirror.server_uuid)
        return (
            not this.prove
            and not this.wanted.missing
            and declared_names(this.spec, this.wanted) == this.managed
            and not self._difference(this, user)
            and password.settled(self._instance, self._request(this, user))
        )

    def _verified(self, this: _Pass, user: User) -> Outcome:
        this.wanted.refuse_missing(f"user {user.id}")
        full_pass_served(this.resource)
        return converged(Reason.VERIFIED, f"user {user.id} is in lldap as declared")

    def _change(self, this: _Pass, seen: User | None) -> Outcome:
        user = self._obtain(this, seen)
        void_if_other_account(this.resource, user.uuid, self._instance.mirror.server_uuid)
        user = self._update(this, user)
        self._record(this, user)
        waiting = password.settle(self._instance, self._request(this, user))
        return waiting or self._verified(this, user)

    def _request(self, this: _Pass, user: User) -> password.Request:
        return password.Request(this.resource, this.spec, user, this.created, this.prove)

    def _record(self, this: _Pass, user: User) -> None:
        record_account(self._instance, this.resource, user.uuid, self._instance.user_target(user))
        this.resource.status["userId"] = user.id

    # --- the account ---------------------------------------------------------------------

    def _obtain(self, this: _Pass, seen: User | None) -> User:
        """The account under our mark: found, created, adopted or taken back."""
        user = self._instance.read_user(this.user_id) if seen is not None else None
        if user is None:
            self._owned.standing(this.resource, this.user_id, None)
            user = self._create(this)
        return user if this.created else self._take(this, user)

    def _take(self, this: _Pass, user: User) -> User:
        target = self._instance.user_target(user)
        standing = self._owned.standing(this.resource, this.user_id, target)
        if standing is Standing.OURS:
            return user
        self._instance.refuse_privileged(this.resource, user)
        mark = self._owned.mark_for(this.resource, target, standing)
        self._instance.client.update_user(user.id, insert=mark)
        self._owned.tell_taken(this.resource, target, standing)
        if standing is not Standing.UNMARKED:
            # Another account's record: what we set on it is not known.
            this.resource.status.pop("managed", None)
        return self._again(this)

    def _again(self, this: _Pass) -> User:
        user = self._instance.read_user(this.user_id)
        if user is None:
            raise fail(
                Reason.PENDING, f"user {this.user_id} went away while it was changed in lldap"
            )
        return user

    def _create(self, this: _Pass) -> User:
        """Create the account; a refusal or a lost answer is read back before anything else.

        Without `this.created` afterwards it is one that stood in the way.
        """
        this.wanted.refuse_missing(f"user {this.user_id}")
        spec = this.spec
        mark = self._owned.new_mark(this.resource, Origin.CREATED)
        try:
            user = self._instance.client.create_user(
                this.user_id,
                email=spec.email,
                display_name=spec.display_name or None,
                first_name=spec.first_name or None,
                last_name=spec.last_name or None,
                attributes={**this.wanted.values, **mark},
            )
        except LldapError as error:
            found = self._instance.read_user(this.user_id)
            if found is None:
                raise self._not_created(this, error) from error
            target = self._instance.user_target(found)
            if not self._instance.ownership.marked_ours(this.resource, target):
                return found
            user = found  # ours: the answer was lost, not the account
        else:
            self._instance.mirror.put_user(user)
        this.created = True
        this.resource.status["managed"] = sorted(declared_names(spec, this.wanted))
        self._instance.events.normal(
            this.resource, EventReason.CREATED, f"user {user.id} was created in lldap"
        )
        return user

    def _not_created(self, this: _Pass, error: LldapError) -> Exception:
        if not isinstance(error, UniqueViolation):
            return error
        return self._email_taken(this) or fail(
            Reason.CONFLICT,
            f"lldap's database takes {this.user_id} or its e-mail for one that it has: choose "
            "another username or e-mail",
        )

    def _email_taken(self, this: _Pass) -> Exception | None:
        other = self._instance.client.find_user_by_email(this.spec.email)
        if other is None or other == this.user_id:
            return None
        return fail(
            Reason.EMAIL_CONFLICT,
            f"the e-mail of {this.user_id} belongs to user {other} in lldap: change one of the two",
        )

    # --- fields and attributes -----------------------------------------------------------

    def _difference(self, this: _Pass, user: User) -> UserChange:
        managed = self._managed(this, user)
        return user_change(this.spec, this.wanted, user, managed, self._instance.dependencies)

    def _managed(self, this: _Pass, user: User) -> frozenset[str]:
        """What this object set before.

        Without a record: all of an account that we created and nobody has changed since.
        """
        if "managed" in this.resource.status or this.created:
            return this.managed
        target = self._instance.user_target(user)
        dates = {user.creation_date, user.password_modified_date}
        if self._instance.ownership.origin(this.resource, target) is Origin.CREATED and (
            user.modified_date in dates
        ):
            return own_names(user.attributes)
        return frozenset()

    def _update(self, this: _Pass, user: User) -> User:
        """One updateUser with all that differs; before it, new names are recorded as ours."""
        change = self._difference(this, user)
        declared = declared_names(this.spec, this.wanted)
        if not change:
            this.resource.status["managed"] = sorted(declared | self._waiting(this))
            return user
        self._instance.refuse_privileged(this.resource, user)
        managed = self._managed(this, user)
        self._owned.record_managed_first(this.resource, managed | declared, user.uuid)
        self._send(this, user, change)
        this.resource.status["managed"] = sorted(declared | self._waiting(this))
        self._instance.events.normal(
            this.resource, EventReason.UPDATED, f"user {user.id}: {'; '.join(change.words())}"
        )
        return self._again(this)

    def _waiting(self, this: _Pass) -> frozenset[str]:
        """Attributes that wait for their schema stay ours if they were."""
        return this.managed & frozenset(this.wanted.missing)

    def _send(self, this: _Pass, user: User, change: UserChange) -> None:
        try:
            self._instance.client.update_user(
                user.id, **change.fields, insert=change.insert, remove=change.remove
            )
        except UniqueViolation as error:
            raise self._email_taken(this) or error from error
        except NotFound:
            self._instance.mirror.drop_user(user.id)
            raise

    # --- dry run ---------------------------------------------------------------------------

    def plan(self, resource: Resource, instance: Instance) -> list[str]:
        """See Handler."""
        this = self._read(resource)
        user = instance.mirror.user(this.user_id)
        if user is None:
            this.wanted.refuse_missing(f"user {this.user_id}")
            return [f"create user {this.user_id}", *self._planned_password(this, None)]
        target = instance.user_target(user)
        standing = self._owned.standing(resource, this.user_id, target)
        taking = [] if standing is Standing.OURS else [f"take over user {user.id}"]
        change = self._difference(this, user).words()
        return [*taking, *change, *self._planned_password(this, user)]

    def _planned_password(self, this: _Pass, user: User | None) -> list[str]:
        if this.spec.password_policy is PasswordPolicy.IGNORE:
            return []
        if user is not None and password.settled(self._instance, self._request(this, user)):
            return []
        return ["compare the password with the Secret and set it if it differs"]

    # --- deletion --------------------------------------------------------------------------

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider: without a word, what we created goes and the rest stays."""
        return self._owned.deletion_policy(resource, self._target(resource))

    def owns(self, resource: Resource) -> bool:
        """See DryRunDeletion."""
        target = self._target(resource)
        return target is not None and self._instance.ownership.is_ours(resource, target)

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: deletes, hands over, or leaves alone what is not ours."""
        with instance.writing(LLDAP_USER, resource, [user_lock(_id_of(resource))]):
            self._undo(resource, keep=False)

    def cleanup(self, resource: Resource) -> None:
        """See CleanupHandler: what stays loses our mark."""
        if self.deletion_policy(resource) is DeletionPolicy.RETAIN:
            self.let_go(resource)

    def let_go(self, resource: Resource) -> None:
        """See Reconciler."""
        with self._owned.best_effort(resource, [user_lock(_id_of(resource))]):
            self._undo(resource, keep=True)

    def _target(self, resource: Resource) -> OwnedTarget | None:
        user = self._instance.mirror.user(_id_of(resource))
        return None if user is None else self._instance.user_target(user)

    def _undo(self, resource: Resource, *, keep: bool) -> None:
        user_id = _id_of(resource)
        if user_id == self._instance.rules.own_user:
            if not keep:
                why = "it is the operator's own account"
                self._owned.leave(resource, Reason.PROTECTED_ACCOUNT, f"user {user_id}", why)
            return
        user = self._instance.read_user(user_id)
        if user is None:
            return
        client, mirror = self._instance.client, self._instance.mirror
        may_write = self._instance.rules.may_write_privileged(resource.namespace)
        goodbye = Goodbye(
            claim=user_id,
            target=self._instance.user_target(user),
            writable=may_write or not self._instance.is_privileged(user),
            mark=lambda mark: client.update_user(user_id, insert=mark),
            unmark=lambda: client.update_user(user_id, remove=(MARK_ATTRIBUTE,)),
            delete=lambda: client.delete_user(user_id),
            forget=lambda: mirror.drop_user(user_id),
            reread=lambda: self._instance.read_user(user_id),
        )
        self._owned.undo(resource, goodbye, keep=keep)


def _id_of(resource: Resource) -> str:
    return user_key(str(resource.spec.get("username", "")))

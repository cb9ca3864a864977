"""LldapUser: an account of lldap, its fields, its attributes and its password."""

from controller.api import (
    LLDAP_USER,
    MARK_ATTRIBUTE,
    DeletionPolicy,
    PasswordPolicy,
    Target,
    UserSpec,
)
from controller.events.events import EventReason
from controller.harness.outcome import Outcome, converged
from controller.harness.reasoned import fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.instance import Instance, attribute_lock, user_lock
from controller.ownership.mark import Origin
from controller.ownership.owned import (
    Goodbye,
    Owned,
    full_pass_asked,
    full_pass_served,
    read_spec,
    record_account,
    void_if_other_account,
)
from controller.ownership.ownership import Standing
from controller.ownership.ownership import Target as OwnedTarget
from controller.reconcilers.attributelearning import AttributeLearning
from controller.reconcilers.drift import Drift
from controller.reconcilers.password import UserPasswords, keep_by_policy
from controller.reconcilers.userchange import UserChange, is_as_created, live_names, user_change
from controller.reconcilers.userpass import UserPass
from lldap import (
    ConstraintViolation,
    LldapError,
    Unclassified,
    UniqueViolation,
    User,
)
from lldap.names import user_key


class UserReconciler:
    """Makes accounts what their objects say. Any thread, one thread an object."""

    kind = LLDAP_USER
    finalizer = LLDAP_USER.finalizer

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._owned = Owned(instance, LLDAP_USER)
        self._passwords = UserPasswords(instance)
        self._learning = AttributeLearning(instance, Target.USER)

    # --- converge --------------------------------------------------------------------------

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler. What needs no call to lldap makes none, and takes no lock."""
        this = self._read(resource)
        user = instance.mirror.user(this.user_id)
        if user is not None and self._is_settled(this, user):
            return self._verified(this)
        attributes = [attribute_lock(Target.USER, name) for name in this.spec.attributes]
        with instance.writing(LLDAP_USER, resource, [user_lock(this.user_id)], attributes):
            return self._learning.with_attributes(this, lambda: self._bring_about(this, user))

    def _read(self, resource: Resource) -> UserPass:
        spec = read_spec(UserSpec, resource)
        user_id = user_key(spec.username)
        self._instance.refuse_own_account(user_id)
        wanted = self._instance.dependencies.wanted(Target.USER, spec.attributes)
        keep_by_policy(resource.status, spec.password_policy)
        drift = Drift(resource, self._instance.metrics)
        return UserPass(resource, spec, user_id, wanted, drift, asked=full_pass_asked(resource))

    def _is_settled(self, this: UserPass, user: User) -> bool:
        """Whether the mirror shows nothing to do; then the record is brought up to date."""
        target = self._instance.user_target(user)
        if not self._instance.ownership.marked_ours(this.resource, target):
            return False
        self._remember(this, user)
        settled = (
            not this.asked
            and not self._learning.may_have_appeared(this)
            and this.before == this.owned
            and not self._difference(this, user)
            and self._passwords.settled(this, user)
        )
        if settled:
            self._record(this, user, target)
        return settled

    def _remember(self, this: UserPass, user: User) -> None:
        """The record counts for this very account of this very lldap alone."""
        void_if_other_account(this.resource, user.uuid, self._instance.mirror.server_uuid)
        managed = this.resource.status.get("managed")
        this.before = None if managed is None or this.created else frozenset(managed)

    def _verified(self, this: UserPass) -> Outcome:
        this.drift.repaired()
        this.wanted.refuse_missing(f"user {this.user_id}")
        full_pass_served(this.resource)
        return converged(Reason.VERIFIED, f"user {this.user_id} is in lldap as declared")

    def _bring_about(self, this: UserPass, seen: User | None) -> Outcome:
        user = self._obtain(this, seen)
        self._remember(this, user)
        self._record(this, user, self._instance.user_target(user))
        user = self._update(this, user)
        waiting = self._passwords.settle(this, user)
        this.resource.status["managed"] = sorted(this.owned)
        return waiting or self._verified(this)

    def _record(self, this: UserPass, user: User, target: OwnedTarget) -> None:
        record_account(self._instance, this.resource, user.uuid, target)
        this.resource.status["userId"] = user.id

    # --- the account ---------------------------------------------------------------------

    def _obtain(self, this: UserPass, seen: User | None) -> User:
        """The account under our mark: found, created, adopted or taken back."""
        user = self._instance.read_user(this.user_id, this.resource) if seen is not None else None
        if user is None:
            self._owned.standing(this.resource, this.user_id, None)
            user = self._create(this)
        return user if this.created else self._take(this, user)

    def _take(self, this: UserPass, user: User) -> User:
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

    def _again(self, this: UserPass) -> User:
        user = self._instance.read_user(this.user_id, this.resource)
        if user is None:
            words = f"user {this.user_id} went away while it was changed in lldap: it comes back"
            raise fail(Reason.PENDING, words)
        return user

    def _create(self, this: UserPass) -> User:
        """Create the account; a refusal or a lost answer is read back before anything else.

        Without `this.created` afterwards it is one that stood in the way.
        """
        this.wanted.refuse_missing(f"user {this.user_id}")
        this.drift.differs()
        try:
            user = self._send_new(this)
        except LldapError as error:
            found = self._instance.read_user(this.user_id, this.resource)
            if found is None:
                raise self._refused(this, error) from error
            target = self._instance.user_target(found)
            if not self._instance.ownership.marked_ours(this.resource, target):
                return found
            user = found  # ours: the answer was lost, not the account
        else:
            self._instance.mirror.put_user(user)
        this.created = True
        self._owned.made(this.resource, user.uuid, this.declared)
        self._instance.events.normal(
            this.resource, EventReason.CREATED, f"user {user.id} was created in lldap"
        )
        return user

    def _send_new(self, this: UserPass) -> User:
        spec, mark = this.spec, self._owned.new_mark(this.resource, Origin.CREATED)
        return self._instance.client.create_user(
            this.user_id,
            email=spec.email,
            display_name=spec.display_name or None,
            first_name=spec.first_name or None,
            last_name=spec.last_name or None,
            attributes={**this.wanted.values, **mark},
        )

    def _refused(self, this: UserPass, error: LldapError) -> Exception:
        """What a refusal means, by what lldap has now: the database's words do not decide."""
        if not isinstance(error, (ConstraintViolation, Unclassified)):
            return error
        other = self._instance.client.find_user_by_email(this.spec.email)
        if other not in (None, this.user_id):
            return fail(
                Reason.EMAIL_CONFLICT,
                f"the e-mail of {this.user_id} belongs to user {other} in lldap: change one of "
                "the two; to swap two addresses, give one of the users a temporary one first",
            )
        if not isinstance(error, UniqueViolation):
            return error
        return fail(
            Reason.CONFLICT,
            f"lldap's database takes {this.user_id} or its e-mail for one that it has: choose "
            "another username or e-mail",
        )

    # --- fields and attributes -----------------------------------------------------------

    def _difference(self, this: UserPass, user: User) -> UserChange:
        return user_change(this.spec, this.wanted, user, self._applied(this, user))

    def _applied(self, this: UserPass, user: User) -> frozenset[str]:
        """What this object set before.

        Without a record: what this process knows to have set, or all of an account that we
        created and nobody has changed since.
        """
        if this.before is not None:
            return this.before
        made = self._owned.names_made(this.resource, user.uuid)
        if made is not None:
            return made
        target = self._instance.user_target(user)
        ours = self._instance.ownership.origin(this.resource, target) is Origin.CREATED
        return live_names(user) if ours and is_as_created(user) else frozenset()

    def _update(self, this: UserPass, user: User) -> User:
        """One updateUser with all that differs; before it, new names are recorded as ours."""
        change = self._difference(this, user)
        if change:
            self._instance.refuse_privileged(this.resource, user)
            this.drift.differs()
            names = self._applied(this, user) | this.begun
            self._owned.record_managed_first(this.resource, names, user.uuid)
            self._send(this, change)
            reason = EventReason.DRIFT if this.drift.is_found else EventReason.UPDATED
            words = f"user {user.id}: {'; '.join(change.words())}"
            self._instance.events.normal(this.resource, reason, words)
            user = self._again(this)
        this.resource.status["managed"] = sorted(this.begun)
        return user

    def _send(self, this: UserPass, change: UserChange) -> None:
        try:
            self._instance.client.update_user(
                this.user_id, **change.fields, insert=change.insert, remove=change.remove
            )
        except (ConstraintViolation, Unclassified) as error:
            raise self._refused(this, error) from error

    # --- dry run ---------------------------------------------------------------------------

    def plan(self, resource: Resource, instance: Instance) -> list[str]:
        """See Handler."""
        this = self._read(resource)
        user = instance.mirror.user(this.user_id)
        if user is None:
            self._owned.standing(resource, this.user_id, None)
            this.wanted.refuse_missing(f"user {this.user_id}")
            return [f"create user {this.user_id}", *self._planned_password(this, None)]
        standing = self._owned.standing(resource, this.user_id, instance.user_target(user))
        taking = [] if standing is Standing.OURS else [f"take over user {user.id}"]
        self._remember(this, user)
        change = self._difference(this, user).words()
        steps = [*taking, *change, *self._planned_password(this, user)]
        if steps:
            instance.refuse_privileged(resource, user)
        missing = ", ".join(this.wanted.missing)
        return [*steps, f"wait for a schema of {missing}"] if missing else steps

    def _planned_password(self, this: UserPass, user: User | None) -> list[str]:
        if this.spec.password_policy is PasswordPolicy.IGNORE:
            return []
        if user is not None and self._passwords.settled(this, user):
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
        locks = [user_lock(_id_of(resource))]
        self._owned.best_effort(resource, locks, lambda: self._undo(resource, keep=True))

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
        user = self._instance.read_user(user_id, resource)
        if user is None:
            return
        client = self._instance.client
        may_write = self._instance.rules.may_write_privileged(resource.namespace)
        goodbye = Goodbye(
            claim=user_id,
            target=self._instance.user_target(user),
            writable=may_write or not self._instance.is_privileged(user),
            mark=lambda mark: client.update_user(user_id, insert=mark),
            unmark=lambda: client.update_user(user_id, remove=(MARK_ATTRIBUTE,)),
            delete=lambda: client.delete_user(user_id),
            forget=lambda: self._instance.drop_user(user_id, resource),
            reread=lambda: self._instance.read_user(user_id, resource),
        )
        self._owned.undo(resource, goodbye, keep=keep)


def _id_of(resource: Resource) -> str:
    return user_key(str(resource.spec.get("username", "")))

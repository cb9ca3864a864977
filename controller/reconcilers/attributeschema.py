"""LldapAttributeSchema: a custom attribute of lldap's users or groups."""

import contextlib
from collections.abc import Iterable

from controller.api import (
    LLDAP_ATTRIBUTE_SCHEMA,
    AttributeSchemaSpec,
    DeletionPolicy,
    Target,
)
from controller.events.events import EventReason
from controller.harness.outcome import Outcome, converged
from controller.harness.reasoned import ReasonedError, fail
from controller.harness.reasons import Reason
from controller.harness.resource import Resource
from controller.instance import Instance, attribute_lock
from controller.ownership.owned import full_pass_asked, full_pass_served, read_spec
from controller.ownership.unrecorded import MadeAttribute
from controller.reconcilers.drift import Drift
from controller.reconcilers.schemashape import declares, lldap_target, shape_of, type_word
from controller.watching.cache import can_inherit
from lldap import AttributeSchema, LldapError, NotFound
from lldap import Target as LldapTarget

SHOWN_HOLDERS = 3


class AttributeSchemaReconciler:
    """Makes attributes that lldap lacks; never changes one. Any thread, one thread an object."""

    kind = LLDAP_ATTRIBUTE_SCHEMA
    finalizer = LLDAP_ATTRIBUTE_SCHEMA.finalizer

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    # --- converge --------------------------------------------------------------------------

    def converge(self, resource: Resource, instance: Instance) -> Outcome:
        """See Handler. An attribute that is there in that shape makes no call."""
        spec = self._claimed(resource)
        live = self._live(spec)
        if live is not None and not full_pass_asked(resource):
            return self._compared(resource, spec, live)
        locks = [attribute_lock(target, spec.attribute_name) for target in Target]
        with instance.writing(LLDAP_ATTRIBUTE_SCHEMA, resource, locks):
            self._refuse_other_type(spec)
            known = self._read_again(spec) if live is not None else None
            live = known or self._add(resource, spec)
        return self._compared(resource, spec, live)

    def _live(self, spec: AttributeSchemaSpec) -> AttributeSchema | None:
        return self._instance.mirror.attribute(lldap_target(spec.target), spec.attribute_name)

    def _claimed(self, resource: Resource) -> AttributeSchemaSpec:
        """The spec, if the object may have its attribute; raises ReasonedError."""
        spec = self._read(resource)
        holder = self._first([r for r in self._rivals(resource, spec) if not r.deleting], spec)
        if holder is not None and self._first([holder, resource], spec) is holder:
            raise fail(
                Reason.CONFLICT,
                f"LldapAttributeSchema {holder.key} already declares the attribute "
                f"{spec.attribute_name} of {spec.target}s: delete one of the two objects",
            )
        self._refuse_other_type(spec)
        return spec

    def _read(self, resource: Resource) -> AttributeSchemaSpec:
        return read_spec(AttributeSchemaSpec, resource)

    def _rivals(self, resource: Resource, spec: AttributeSchemaSpec) -> list[Resource]:
        """The other objects that declare it, whatever their shape."""
        schemas = self._instance.cache.schemas(spec.target, spec.attribute_name)
        return [r for r in schemas if r.uid != resource.uid]

    def _first(self, contenders: list[Resource], spec: AttributeSchemaSpec) -> Resource | None:
        """Who has the attribute: whoever declares what lldap has, the older before the younger."""
        live = self._live(spec)
        return min(
            contenders,
            key=lambda r: (live is not None and not declares(r, live), r.created, r.key),
            default=None,
        )

    def _refuse_other_type(self, spec: AttributeSchemaSpec) -> None:
        """Lldap's LDAP side knows one type a name."""
        other = Target.GROUP if spec.target is Target.USER else Target.USER
        twin = self._instance.mirror.attribute(lldap_target(other), spec.attribute_name)
        if twin is not None and twin.attribute_type != shape_of(spec).attribute_type:
            raise fail(
                Reason.SCHEMA_MISMATCH,
                f"attribute {spec.attribute_name} of {other}s has another type in lldap "
                f"({type_word(twin.attribute_type)}, not {spec.attribute_type}): choose another "
                "attributeName or the same type",
            )

    def _compared(
        self, resource: Resource, spec: AttributeSchemaSpec, live: AttributeSchema
    ) -> Outcome:
        wanted = shape_of(spec)
        if live != wanted:
            raise fail(
                Reason.SCHEMA_MISMATCH,
                f"attribute {wanted.name} of {spec.target}s is in lldap with "
                f"{', '.join(_differences(wanted, live))}: declare what is there or choose another "
                "attributeName; lldap cannot change an attribute",
            )
        status, instance = resource.status, self._instance
        status["instance"] = instance.rules.instance
        status["server"] = instance.mirror.server_uuid
        full_pass_served(resource)
        return converged(
            Reason.VERIFIED, f"lldap has the attribute {wanted.name} of {spec.target}s as declared"
        )

    def _read_again(self, spec: AttributeSchemaSpec) -> AttributeSchema | None:
        """The attribute as lldap has it now; the mirror learns of it and of its twin."""
        schema, mirror = self._instance.client.schema(), self._instance.mirror
        for target in LldapTarget:
            live = schema.of(target).get(spec.attribute_name)
            if live is None:
                mirror.drop_attribute(target, spec.attribute_name)
            else:
                mirror.put_attribute(target, live)
        return self._live(spec)

    def _add(self, resource: Resource, spec: AttributeSchemaSpec) -> AttributeSchema:
        """Add it; a refusal or a lost answer is read back before anything else."""
        instance, target, wanted = self._instance, lldap_target(spec.target), shape_of(spec)
        drift = Drift(resource, instance.metrics)
        drift.differs()
        try:
            instance.client.add_attribute(target, wanted)
        except LldapError:
            found = self._read_again(spec)
            if found is None:
                self._refuse_other_type(spec)
                raise
            return found
        instance.mirror.put_attribute(target, wanted)
        instance.unrecorded.made(resource, MadeAttribute(instance.mirror.server_uuid))
        drift.repaired()
        reason = EventReason.DRIFT if drift.is_found else EventReason.CREATED
        instance.events.normal(resource, reason, f"{_words(spec)} was added to lldap")
        return wanted

    # --- dry run and deletion ----------------------------------------------------------------

    def plan(self, resource: Resource, _instance: Instance) -> list[str]:
        """See Handler."""
        spec = self._claimed(resource)
        live = self._live(spec)
        if live is None:
            return [f"add the attribute {spec.attribute_name} of {spec.target}s"]
        self._compared(resource, spec, live)
        return []

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider: Retain, unless the spec says Delete: values go with it."""
        delete = resource.spec.get("deletionPolicy") == DeletionPolicy.DELETE
        if delete and not self._instance.guard.lately(LLDAP_ATTRIBUTE_SCHEMA):
            return DeletionPolicy.DELETE
        return DeletionPolicy.RETAIN

    def let_go(self, resource: Resource) -> None:
        """See Reconciler: nothing in lldap says whose it is."""

    def owns(self, resource: Resource) -> bool:
        """See DryRunDeletion."""
        spec = self._legible(resource)
        if spec is None or self._heir(resource, spec) is not None:
            return False
        return self._has(resource, spec) and self._live(spec) == shape_of(spec)

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: only an attribute that is this object's, and that nobody uses or claims."""
        spec = self._legible(resource)
        if spec is None:
            return
        heir = self._heir(resource, spec)
        if heir is not None:
            note = f"{_words(spec)} was handed over from {resource.key} to {heir.key}"
            instance.events.normal(resource, EventReason.HANDED_OVER, note)
        elif self._has(resource, spec):
            self._delete(resource, spec)
        elif self._live(spec) is not None:
            self._leave(resource, spec, Reason.CONFLICT, "it never was this object's")

    def _legible(self, resource: Resource) -> AttributeSchemaSpec | None:
        try:
            return self._read(resource)
        except ReasonedError:
            return None

    def _heir(self, resource: Resource, spec: AttributeSchemaSpec) -> Resource | None:
        """Who takes it over in place: the oldest of those that declare the very same."""
        shape = shape_of(spec)
        rivals = self._rivals(resource, spec)
        return self._first([r for r in rivals if can_inherit(r) and declares(r, shape)], spec)

    def _has(self, resource: Resource, spec: AttributeSchemaSpec) -> bool:
        """Whether the attribute is this object's: it comes first, and was Ready with this lldap.

        A status that says the latter may be forged: then the former still has to be true.
        """
        made = MadeAttribute(self._instance.mirror.server_uuid)
        was_made = self._instance.unrecorded.of(resource) == made
        if not was_made and not made.is_recorded(resource.recorded):
            return False
        return self._first([*self._rivals(resource, spec), resource], spec) is resource

    def _delete(self, resource: Resource, spec: AttributeSchemaSpec) -> None:
        if self._live(spec) == shape_of(spec):
            self._refuse_while_used(spec)  # as far as is known: what waits makes no calls
        lock = attribute_lock(spec.target, spec.attribute_name)
        with self._instance.writing(LLDAP_ATTRIBUTE_SCHEMA, resource, [lock]):
            live = self._read_again(spec)
            if live == shape_of(spec):
                self._remove_unused(resource, spec)
            elif live is not None:
                self._leave(resource, spec, Reason.SCHEMA_MISMATCH, "it is not as declared")

    def _leave(
        self, resource: Resource, spec: AttributeSchemaSpec, reason: Reason, why: str
    ) -> None:
        self._instance.leave(LLDAP_ATTRIBUTE_SCHEMA, resource, reason, _words(spec), why)

    def _remove_unused(self, resource: Resource, spec: AttributeSchemaSpec) -> None:
        instance = self._instance
        instance.brake.meet(resource)
        if instance.guard.uninstalling(LLDAP_ATTRIBUTE_SCHEMA):
            return
        instance.brake.pass_or_wait(resource.uid, _words(spec))
        instance.refresh()  # somebody may have set a value since the last bulk read
        self._refuse_while_used(spec)
        self._remove(resource, spec)

    def _refuse_while_used(self, spec: AttributeSchemaSpec) -> None:
        holders = self._holders(spec)
        if holders:
            raise fail(
                Reason.ATTRIBUTE_IN_USE,
                f"{_words(spec)} stays in lldap while {_shown(holders)} it: remove it there, or "
                "set deletionPolicy Retain",
            )

    def _holders(self, spec: AttributeSchemaSpec) -> list[str]:
        instance, name = self._instance, spec.attribute_name
        named = instance.cache.naming_attribute(spec.target, name)
        live = instance.mirror.holders(lldap_target(spec.target), name)
        words = spec.target.lower()
        return [f"{r.kind} {r.key}" for r in named if not r.deleting] + [
            f"{words} {each} of lldap" for each in live
        ]

    def _remove(self, resource: Resource, spec: AttributeSchemaSpec) -> None:
        target, name = lldap_target(spec.target), spec.attribute_name
        with contextlib.suppress(NotFound):  # somebody was faster: success
            self._instance.client.delete_attribute(target, name)
        self._instance.mirror.drop_attribute(target, name)
        self._instance.events.normal(
            resource,
            EventReason.DELETED,
            f"{_words(spec)} was deleted in lldap",
        )


def _words(spec: AttributeSchemaSpec) -> str:
    return f"attribute {spec.attribute_name} of {spec.target}s"


def _differences(wanted: AttributeSchema, live: AttributeSchema) -> list[str]:
    """What lldap has and what is declared, for each property that differs."""
    words = {
        "attributeType": (type_word(live.attribute_type), type_word(wanted.attribute_type)),
        "isList": (_word(live.is_list), _word(wanted.is_list)),
        "isVisible": (_word(live.is_visible), _word(wanted.is_visible)),
        "isEditable": (_word(live.is_editable), _word(wanted.is_editable)),
        "built-in flags": (_word(live.is_hardcoded or live.is_readonly), "false"),
    }
    return [f"{name} {has}, not {asked}" for name, (has, asked) in words.items() if has != asked]


def _word(flag: bool) -> str:
    return "true" if flag else "false"


def _shown(holders: Iterable[str]) -> str:
    """Who has or names it, as a subject and its verbs."""
    names = list(holders)
    if len(names) == 1:
        return f"{names[0]} has or names"
    more = len(names) - SHOWN_HOLDERS
    if more > 0:
        names = [*names[:SHOWN_HOLDERS], f"{more} more"]
    return f"{', '.join(names[:-1])} and {names[-1]} have or name"

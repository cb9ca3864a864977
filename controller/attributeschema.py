"""LldapAttributeSchema: a custom attribute of lldap's users or groups."""

import contextlib
from collections.abc import Iterable

from controller.api import (
    GROUP_BUILT_IN,
    LLDAP_ATTRIBUTE_SCHEMA,
    MARK_ATTRIBUTE,
    USER_BUILT_IN,
    AttributeSchemaSpec,
    DeletionPolicy,
    Target,
)
from controller.cache import can_inherit
from controller.events import EventReason
from controller.indexes import attribute_claim
from controller.instance import Instance, attribute_lock
from controller.outcome import Outcome, converged
from controller.owned import full_pass_asked, full_pass_served, read_spec
from controller.reasoned import ReasonedError, fail
from controller.reasons import Reason
from controller.resource import Resource
from controller.schemashape import lldap_target, shape_of
from lldap import AttributeSchema, LldapError, NotFound

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
        spec = self._read(resource)
        live = instance.mirror.attribute(lldap_target(spec.target), spec.attribute_name)
        if live is not None and not full_pass_asked(resource):
            return self._compared(resource, spec, live)
        lock = attribute_lock(spec.target, spec.attribute_name)
        with instance.writing(LLDAP_ATTRIBUTE_SCHEMA, resource, [lock]):
            live = self._read_again(spec) or self._add(resource, spec)
        return self._compared(resource, spec, live)

    def _read(self, resource: Resource) -> AttributeSchemaSpec:
        spec = read_spec(AttributeSchemaSpec, resource)
        built_in = USER_BUILT_IN if spec.target is Target.USER else GROUP_BUILT_IN
        if spec.attribute_name in built_in or spec.attribute_name == MARK_ATTRIBUTE:
            raise fail(
                Reason.BUILT_IN_CONFLICT,
                f"{spec.attribute_name} is lldap's or the operator's own attribute: choose "
                "another attributeName",
            )
        self._yield_to_holder(resource, spec)
        self._refuse_other_type(spec)
        return spec

    def _yield_to_holder(self, resource: Resource, spec: AttributeSchemaSpec) -> None:
        claim = attribute_claim(spec.target, spec.attribute_name)
        rivals = self._instance.cache.claimants(LLDAP_ATTRIBUTE_SCHEMA, claim)
        living = [r for r in rivals if not r.deleting]
        first = min(living, key=lambda r: (r.created, r.key), default=resource)
        if first.uid != resource.uid:
            raise fail(
                Reason.CONFLICT,
                f"LldapAttributeSchema {first.key} already declares the attribute "
                f"{spec.attribute_name} of {spec.target}s: delete one of the two objects",
            )

    def _refuse_other_type(self, spec: AttributeSchemaSpec) -> None:
        """Lldap's LDAP side knows one type a name."""
        other = Target.GROUP if spec.target is Target.USER else Target.USER
        twin = self._instance.mirror.attribute(lldap_target(other), spec.attribute_name)
        if twin is not None and twin.attribute_type != shape_of(spec).attribute_type:
            raise fail(
                Reason.SCHEMA_MISMATCH,
                f"attribute {spec.attribute_name} of {other}s has another type "
                f"({twin.attribute_type.name}): choose another attributeName or the same type",
            )

    def _compared(
        self, resource: Resource, spec: AttributeSchemaSpec, live: AttributeSchema
    ) -> Outcome:
        wanted = shape_of(spec)
        if live != wanted:
            raise fail(
                Reason.SCHEMA_MISMATCH,
                f"attribute {wanted.name} of {spec.target}s is in lldap with other "
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
        """The attribute as lldap has it now; the mirror learns of it."""
        target, name = lldap_target(spec.target), spec.attribute_name
        live = self._instance.client.schema().of(target).get(name)
        if live is None:
            self._instance.mirror.drop_attribute(target, name)
        else:
            self._instance.mirror.put_attribute(target, live)
        return live

    def _add(self, resource: Resource, spec: AttributeSchemaSpec) -> AttributeSchema:
        """Add it; a refusal or a lost answer is read back before anything else."""
        instance, target, wanted = self._instance, lldap_target(spec.target), shape_of(spec)
        try:
            instance.client.add_attribute(target, wanted)
        except LldapError:
            found = self._read_again(spec)
            if found is None:
                raise
            return found
        instance.mirror.put_attribute(target, wanted)
        instance.events.normal(
            resource,
            EventReason.CREATED,
            f"attribute {wanted.name} of {spec.target}s was added to lldap",
        )
        return wanted

    # --- dry run and deletion ----------------------------------------------------------------

    def plan(self, resource: Resource, instance: Instance) -> list[str]:
        """See Handler."""
        spec = self._read(resource)
        live = instance.mirror.attribute(lldap_target(spec.target), spec.attribute_name)
        if live is None:
            return [f"add the attribute {spec.attribute_name} of {spec.target}s"]
        self._compared(resource, spec, live)
        return []

    def deletion_policy(self, resource: Resource) -> DeletionPolicy:
        """See DeletionPolicyProvider: Retain, unless the spec says Delete: values go with it."""
        delete = resource.spec.get("deletionPolicy") == DeletionPolicy.DELETE
        return DeletionPolicy.DELETE if delete else DeletionPolicy.RETAIN

    def let_go(self, resource: Resource) -> None:
        """See Reconciler: nothing in lldap says whose it is."""

    def owns(self, resource: Resource) -> bool:
        """See DryRunDeletion."""
        return self._held(resource) is not None

    def delete(self, resource: Resource, instance: Instance) -> None:
        """See Handler: only an attribute of the declared shape that nobody uses or claims."""
        spec = self._held(resource)
        if spec is None:
            return
        lock = attribute_lock(spec.target, spec.attribute_name)
        with instance.writing(LLDAP_ATTRIBUTE_SCHEMA, resource, [lock]):
            if self._read_again(spec) != shape_of(spec):
                return
            self._refuse_while_used(spec)
            if not instance.guard.uninstalling(LLDAP_ATTRIBUTE_SCHEMA):
                words = f"attribute {spec.attribute_name} of {spec.target}s"
                instance.brake.pass_or_wait(resource.uid, words)
                self._remove(resource, spec)

    def _held(self, resource: Resource) -> AttributeSchemaSpec | None:
        """The spec, if the object holds the attribute and no other can take it over in place."""
        try:
            spec = self._read(resource)
        except ReasonedError:
            return None
        claim = attribute_claim(spec.target, spec.attribute_name)
        rivals = self._instance.cache.claimants(LLDAP_ATTRIBUTE_SCHEMA, claim)
        heirs = any(r.uid != resource.uid and can_inherit(r) for r in rivals)
        return None if heirs else spec

    def _refuse_while_used(self, spec: AttributeSchemaSpec) -> None:
        holders = self._holders(spec)
        if not holders:  # somebody may have set a value since the last bulk read
            self._instance.refresh()
            holders = self._holders(spec)
        if holders:
            raise fail(
                Reason.ATTRIBUTE_IN_USE,
                f"attribute {spec.attribute_name} of {spec.target}s stays in lldap while "
                f"{_shown(holders)} has or names it: remove it there, or set deletionPolicy Retain",
            )

    def _holders(self, spec: AttributeSchemaSpec) -> list[str]:
        instance, name = self._instance, spec.attribute_name
        named = instance.cache.naming_attribute(spec.target, name)
        live = instance.mirror.holders(lldap_target(spec.target), name)
        return [f"{r.kind} {r.key}" for r in named if not r.deleting] + live

    def _remove(self, resource: Resource, spec: AttributeSchemaSpec) -> None:
        target, name = lldap_target(spec.target), spec.attribute_name
        with contextlib.suppress(NotFound):  # somebody was faster: success
            self._instance.client.delete_attribute(target, name)
        self._instance.mirror.drop_attribute(target, name)
        self._instance.events.normal(
            resource,
            EventReason.DELETED,
            f"attribute {name} of {spec.target}s was deleted in lldap",
        )


def _differences(wanted: AttributeSchema, live: AttributeSchema) -> list[str]:
    words = {
        "type": (wanted.attribute_type, live.attribute_type),
        "isList": (wanted.is_list, live.is_list),
        "isVisible": (wanted.is_visible, live.is_visible),
        "isEditable": (wanted.is_editable, live.is_editable),
        "built-in flags": (False, live.is_hardcoded or live.is_readonly),
    }
    return [name for name, (first, second) in words.items() if first != second]


def _shown(holders: Iterable[str]) -> str:
    names = list(holders)
    more = len(names) - SHOWN_HOLDERS
    shown = ", ".join(names[:SHOWN_HOLDERS])
    return f"{shown} and {more} more" if more > 0 else shown

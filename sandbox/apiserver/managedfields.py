"""managedFields: who owns which field, and server-side apply that goes by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import orjson

from sandbox.apiserver.errors import Cause, StatusError, apply_conflict
from sandbox.apiserver.fieldset import (
    EMPTY,
    FieldSet,
    Path,
    compare,
    cut,
    display_order,
    field_set,
    from_fields_v1,
    merge,
    render,
    to_fields_v1,
    with_named_fields,
)
from sandbox.apiserver.objects import Object, Value, with_metadata
from sandbox.apiserver.schema import Node

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
NEVER_OWNED: FieldSet = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        ("f:metadata", "f:name"),
        ("f:metadata", "f:namespace"),
        ("f:metadata", "f:uid"),
        ("f:metadata", "f:resourceVersion"),
        ("f:metadata", "f:generation"),
        ("f:metadata", "f:creationTimestamp"),
        ("f:metadata", "f:deletionTimestamp"),
        ("f:metadata", "f:deletionGracePeriodSeconds"),
        ("f:metadata", "f:managedFields"),
        ("f:metadata", "f:selfLink"),
    }
)


class Manager(NamedTuple):
    """Who owns fields: the same name has an entry for each operation and subresource."""

    operation: str
    name: str
    api_version: str
    subresource: str

    def shown(self) -> str:
        """The manager as a conflict shows it."""
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return text + (f" using {self.api_version}" if self.operation == "Update" else "")


@dataclass(frozen=True, slots=True)
class Owned:
    """What a manager owns, and when it last changed that."""

    fields: FieldSet
    time: str | None


Managed = dict[Manager, Owned]


def decode(entries: Value) -> Managed:
    """Read `metadata.managedFields`; what cannot be read counts as nothing."""
    managed: Managed = {}
    for entry in entries if isinstance(entries, list) else ():
        try:
            manager = Manager(
                entry["operation"],
                entry.get("manager", ""),
                entry["apiVersion"],
                entry.get("subresource", ""),
            )
            fields = frozenset(from_fields_v1(entry.get("fieldsV1") or {}))
        except (KeyError, TypeError, AttributeError):
            return {}
        managed[manager] = Owned(fields, entry.get("time"))
    return managed


def encode(managed: Managed) -> list[Object]:
    """Write `metadata.managedFields`: applies first, then by time, then by name."""
    ordered = sorted(
        managed.items(), key=lambda item: (item[0].operation, item[1].time or "", item[0])
    )
    return [_entry(manager, owned) for manager, owned in ordered]


def _entry(manager: Manager, owned: Owned) -> Object:
    entry: Object = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": manager.api_version,
        "time": owned.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": to_fields_v1(owned.fields),
        "subresource": manager.subresource,
    }
    return {key: value for key, value in entry.items() if value is not None and value != ""}


def with_managed(obj: Object, managed: Managed) -> Object:
    """Return the object with `managed` written into it."""
    metadata = {**obj["metadata"], "managedFields": encode(managed)}
    if not managed:
        del metadata["managedFields"]
    return {**obj, "metadata": metadata}


def _bare(obj: Mapping[str, Value]) -> Object:
    metadata = dict(obj.get("metadata", {}))
    metadata.pop("managedFields", None)
    return {**obj, "metadata": metadata}


def _without(managed: Managed, taken: FieldSet, spared: Manager | None) -> Managed:
    """Take fields from all managers but one; who has none left goes."""
    left = {}
    for manager, owned in managed.items():
        fields = owned.fields if manager == spared else owned.fields - taken
        if fields or manager == spared:
            left[manager] = replace(owned, fields=fields)
    return left


@dataclass(frozen=True, slots=True)
class FieldManager:
    """Does what a write means for the ownership of fields. Any thread.

    `split_status`: the kind has a status subresource, so the main resource owns no status.
    """

    schema: Node
    manager: Manager
    now: str
    split_status: bool

    def _mine(self, paths: FieldSet) -> FieldSet:
        """The fields that this write can own: by /status those of status, else all others."""
        owned = paths - NEVER_OWNED
        if not self.split_status:
            return owned
        in_status = self.manager.subresource == "status"
        return frozenset(path for path in owned if (path[0] == "f:status") == in_status)

    def update(self, live: Object, new: Object, managed: Managed) -> Object:
        """A create, PUT or plain patch: what it changed is the manager's, and nobody else's."""
        if not managed and "uid" in live["metadata"]:
            return with_managed(new, managed)  # nobody keeps track of this object
        difference = compare(self.schema, _bare(live), _bare(new))
        taken = self._mine(frozenset(difference.added | difference.modified))
        managed = _without(managed, taken | self._mine(frozenset(difference.removed)), None)
        if taken:
            before = managed.get(self.manager, Owned(EMPTY, None))
            managed[self.manager] = Owned(before.fields | taken, self.now)
        return with_managed(new, managed)

    def apply(self, live: Object, applied: Object, managed: Managed, *, force: bool) -> Object:
        """A server-side apply. Raises StatusError for a conflict."""
        bare = _bare(live)
        fields = self._mine(frozenset(field_set(self.schema, applied)))
        last = managed.get(self.manager, Owned(EMPTY, None))
        managed = {**managed, self.manager: replace(last, fields=fields)}
        merged = merge(self.schema, bare, applied)
        new = self._prune(merged, managed, last.fields)
        difference = compare(self.schema, bare, new)
        changed = self._mine(frozenset(difference.added | difference.modified))
        conflicts = self._conflicts(managed, changed)
        if conflicts and not force and not self._upgrades(live, conflicts):
            raise _conflict_error(conflicts)
        lost = changed | self._mine(frozenset(difference.removed))
        managed = _without(managed, lost, self.manager)
        if not fields:
            del managed[self.manager]
        elif with_metadata(new) != with_metadata(bare):
            managed[self.manager] = replace(managed[self.manager], time=self.now)
        return with_managed(self._with_last_applied(new, applied), managed)

    def _prune(self, merged: Object, managed: Managed, last: FieldSet) -> Object:
        """Take out what the manager no longer sends, unless somebody else owns it."""
        root = self.schema

        def fields(obj: Object | None) -> FieldSet:
            return with_named_fields(root, field_set(root, obj or {}))

        if not last:
            return merged
        sent_before = with_named_fields(root, last)
        # Whoever applies sends at least a name, though nobody owns it: so metadata stays.
        everybody = NEVER_OWNED.union(*(owned.fields for owned in managed.values()))
        gone = fields(merged) - fields(cut(root, merged, sent_before))
        gone -= with_named_fields(root, everybody)
        gone = (fields(merged) - fields(cut(root, merged, gone))) & sent_before
        result: Object = cut(root, merged, gone)
        return result

    def _conflicts(self, managed: Managed, changed: FieldSet) -> list[tuple[Manager, Path]]:
        return [
            (manager, path)
            for manager in sorted(managed, key=lambda each: (each.name, *each))
            if manager != self.manager
            for path in display_order(managed[manager].fields & changed)
        ]

    def _with_last_applied(self, new: Object, applied: Object) -> Object:
        """Keep kubectl's own annotation true, if there is one, for who goes back from here."""
        annotations = new["metadata"].get("annotations") or {}
        if self.manager.name != "kubectl" or not annotations.get(LAST_APPLIED):
            return new
        text = orjson.dumps(applied, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
        return with_metadata(new, annotations={**annotations, LAST_APPLIED: text.decode()})

    def _upgrades(self, live: Object, conflicts: list[tuple[Manager, Path]]) -> bool:
        """Whether kubectl takes over from its own client-side apply: it may, without force."""
        text = live["metadata"].get("annotations", {}).get(LAST_APPLIED)
        if self.manager.name != "kubectl" or not text:
            return False
        applied = orjson.loads(text)
        difference = compare(self.schema, applied, _bare(live))
        changed = difference.added | difference.modified | difference.removed
        allowed = frozenset(field_set(self.schema, applied)) - changed
        return all(path in allowed for _, path in conflicts)


def _conflict_error(conflicts: list[tuple[Manager, Path]]) -> StatusError:
    causes = [
        Cause("FieldManagerConflict", f"conflict with {manager.shown()}", render(path))
        for manager, path in conflicts
    ]
    if len(causes) == 1:
        message = f"Apply failed with 1 conflict: {causes[0].message}: {causes[0].field}"
        return apply_conflict(message, causes)
    lines = []
    for cause in causes:
        heading = cause.message.replace("conflict", "conflicts", 1) + ":"
        if heading not in lines:
            lines.append(heading)
        lines.append(f"- {cause.field}")
    listed = "\n".join(lines)
    return apply_conflict(f"Apply failed with {len(causes)} conflicts: {listed}", causes)

"""What stands in a bed's lldap: read, and changed behind everybody's back."""

import copy
from typing import Any

from controller.api import MARK_ATTRIBUTE
from sandbox.lldap.store import BUILT_IN_GROUPS
from sandbox.lldap.tables import Attribute, Row
from tests.support.bed import CLUSTER, Bed

DUMPED = ("columns", "attributes", "links", "password")


class Directory:
    """One bed's lldap as its administrator sees it."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed

    # --- read ------------------------------------------------------------------------------

    def user(self, user_id: str) -> Row | None:
        with self._bed.lldap.database() as store:
            return copy.deepcopy(store.state.users.rows.get(user_id))

    def group(self, name: str) -> Row | None:
        with self._bed.lldap.database() as store:
            key = store.state.groups.keys.get(name.lower())
            return None if key is None else copy.deepcopy(store.state.groups.rows[key])

    def has_user(self, user_id: str) -> bool:
        return self.user(user_id) is not None

    def has_group(self, name: str) -> bool:
        return self.group(name) is not None

    def uuid(self, user_id: str) -> str:
        row = self.user(user_id)
        assert row is not None
        return row.columns["uuid"]

    def group_uuid(self, name: str) -> str:
        row = self.group(name)
        assert row is not None
        return row.columns["uuid"]

    def mark(self, user_id: str) -> str | None:
        """The user's mark; None without one, or without the user."""
        return _mark_on(self.user(user_id))

    def group_mark(self, name: str) -> str | None:
        return _mark_on(self.group(name))

    def members(self, name: str) -> set[str]:
        row = self.group(name)
        assert row is not None
        return {str(member) for member in row.links}

    def dump(self) -> dict[str, Any]:
        """Everything, plain and comparable: rows with their dates, and both schemas."""
        with self._bed.lldap.database() as store:
            state = copy.deepcopy(store.state)
        tables = {"user": state.users, "group": state.groups}
        return {
            **{
                f"{entity} {key}": {part: getattr(row, part) for part in DUMPED}
                for entity, table in tables.items()
                for key, row in table.rows.items()
            },
            **{
                f"{entity} attribute {name}": attribute
                for entity, table in tables.items()
                for name, attribute in table.stored.items()
            },
        }

    # --- change ----------------------------------------------------------------------------

    def make_user(self, user_id: str, *groups: str, mark: str = "", **attributes: str) -> None:
        """A user made by hand, in these groups."""
        values = {name: [value] for name, value in attributes.items()}
        if mark:
            self._add_mark_attribute()
            values[MARK_ATTRIBUTE] = [mark]
        with self._bed.lldap.database() as store:
            store.create_user(user_id, f"{user_id}@by-hand.example", f"{user_id}'s name", values)
        for group in groups:
            self.add(user_id, group)
        self._bed.lldap.set_password(user_id, f"{user_id}'s own password")

    def make_group(self, name: str, *members: str, mark: str = "") -> None:
        values = {}
        if mark:
            self._add_mark_attribute()
            values[MARK_ATTRIBUTE] = [mark]
        with self._bed.lldap.database() as store:
            store.create_group(name, values)
        for member in members:
            self.add(member, name)

    def make_attribute(self, name: str, *, group: bool = False) -> None:
        with self._bed.lldap.database() as store:
            tables = (store.state.groups, store.state.users)
            first, second = tables if group else tables[::-1]
            first.add_attribute(Attribute(name, is_editable=False), second)

    def add(self, user_id: str, group: str) -> None:
        with self._bed.lldap.database() as store:
            store.add_member(user_id, int(store.state.groups.keys[group.lower()]))

    def remove(self, user_id: str, group: str) -> None:
        with self._bed.lldap.database() as store:
            store.remove_member(user_id, int(store.state.groups.keys[group.lower()]))

    def set_mark(self, user_id: str, mark: str | None) -> None:
        """Write another mark, or take it off as a plain user can from itself."""
        with self._bed.lldap.database() as store:
            table = store.state.users
            _set_mark(store.state.users.row(user_id), mark)
            table.update(user_id, {"modified_date": store.now()}, [], {})

    def set_group_mark(self, name: str, mark: str | None) -> None:
        with self._bed.lldap.database() as store:
            key = store.state.groups.keys[name.lower()]
            _set_mark(store.state.groups.row(key), mark)

    def set_attribute(self, user_id: str, name: str, value: str) -> None:
        with self._bed.lldap.database() as store:
            store.update(store.state.users, user_id, columns={}, remove=[], insert={name: [value]})

    def delete_user(self, user_id: str) -> None:
        with self._bed.lldap.database() as store:
            store.delete_user(user_id)

    def delete_group(self, name: str) -> None:
        with self._bed.lldap.database() as store:
            store.delete_group(int(store.state.groups.keys[name.lower()]))

    def _add_mark_attribute(self) -> None:
        shape = Attribute(MARK_ATTRIBUTE, is_visible=False, is_editable=False)
        with self._bed.lldap.database() as store:
            for table in (store.state.users, store.state.groups):
                table.stored.setdefault(MARK_ATTRIBUTE, shape)


def _mark_on(row: Row | None) -> str | None:
    values = None if row is None else row.attributes.get(MARK_ATTRIBUTE)
    return values[0] if values else None


def _set_mark(row: Row, mark: str | None) -> None:
    row.attributes.pop(MARK_ATTRIBUTE, None)
    if mark is not None:
        row.attributes = dict(sorted({**row.attributes, MARK_ATTRIBUTE: [mark]}.items()))


def mark(
    uid: str,
    name: str,
    namespace: str = "team-a",
    *,
    origin: str = "created",
    cluster: str = CLUSTER,
    instance: str = "default",
) -> str:
    """The text of a mark."""
    return f"{origin} {cluster} {instance} {namespace}/{name} {uid}"


BUILT_IN = BUILT_IN_GROUPS

"""What lldap keeps in its database."""

import copy
import datetime
import uuid
from dataclasses import dataclass, field
from typing import Protocol

from sandbox.lldap import tables
from sandbox.lldap.errors import DomainError, Kind, foreign_key, unique
from sandbox.lldap.opaque import PasswordRecord
from sandbox.lldap.tables import Key, Row, Table, Values
from sandbox.lldap.values import timestamp

BUILT_IN_GROUPS = ("lldap_admin", "lldap_password_manager", "lldap_strict_readonly")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime.datetime:
        """The time of day, with a zone."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""


@dataclass(slots=True)
class State:
    """A whole database: a plain value that can be copied, compared and pickled."""

    users: Table = field(default_factory=tables.users)
    groups: Table = field(default_factory=tables.groups)
    last_group_id: int = 0
    issued_tokens: dict[str, str] = field(default_factory=dict)
    revoked_tokens: set[str] = field(default_factory=set)
    refresh_tokens: dict[str, tuple[str, float]] = field(default_factory=dict)


class Store:
    """The database. Caller holds lldap's lock.

    Every method checks everything before it changes anything, so each is a transaction. User ids
    and attribute names come in lower-case. Dates strictly grow, as on a real server, unless
    `whole_seconds` cuts them as MariaDB does.
    """

    def __init__(self, clock: Clock, *, whole_seconds: bool = False) -> None:
        self._clock = clock
        self._whole_seconds = whole_seconds
        self._last = 0
        self.state = State()
        for name in BUILT_IN_GROUPS:
            self.create_group(name)

    def snapshot(self) -> State:
        """Return a copy of the whole database."""
        return copy.deepcopy(self.state)

    def restore(self, state: State) -> None:
        """Go back to a copy; it can be restored again."""
        self.state = copy.deepcopy(state)

    def create_user(
        self,
        user_id: str,
        email: str,
        display_name: str | None = None,
        attributes: Values | None = None,
    ) -> Row:
        """Add a user."""
        columns = {"user_id": user_id, "mail": email}
        if display_name:
            columns["display_name"] = display_name
        return self._insert(self.state.users, user_id, user_id, columns, attributes or {})

    def create_group(self, display_name: str, attributes: Values | None = None) -> Row:
        """Add a group; a failed attempt uses up no id."""
        group_id = self.state.last_group_id + 1
        columns = {"group_id": str(group_id), "display_name": display_name}
        row = self._insert(self.state.groups, group_id, display_name, columns, attributes or {})
        self.state.last_group_id = group_id
        return row

    def update(
        self,
        table: Table,
        key: Key,
        *,
        columns: dict[str, str | None],
        remove: list[str],
        insert: Values,
    ) -> None:
        """Change a user or a group: None unsets a column, removals come before insertions."""
        table.update(key, {**columns, "modified_date": self.now()}, remove, insert)

    def set_password(self, user_id: str, password: PasswordRecord) -> None:
        """Store what a registration produced."""
        user, now = self.state.users.row(user_id), self.now()
        user.password = password
        user.columns |= {"modified_date": now, "password_modified_date": now}

    def delete_user(self, user_id: str) -> None:
        """Remove a user with memberships and sessions."""
        state = self.state
        for group_id in state.users.delete(user_id).links:
            state.groups.rows[group_id].links.discard(user_id)
        state.issued_tokens = {t: o for t, o in state.issued_tokens.items() if o != user_id}
        state.refresh_tokens = {t: o for t, o in state.refresh_tokens.items() if o[0] != user_id}

    def delete_group(self, group_id: int) -> None:
        """Remove a group with its memberships."""
        for user_id in self.state.groups.delete(group_id).links:
            self.state.users.rows[user_id].links.discard(group_id)

    def add_member(self, user_id: str, group_id: int) -> None:
        """Put a user into a group; being in it already is an error."""
        user = self.state.users.rows.get(user_id)
        group = self.state.groups.rows.get(group_id)
        if user is None or group is None:
            raise DomainError(Kind.TRANSACTION, foreign_key())
        if user_id in group.links:
            columns = "memberships.user_id, memberships.group_id"
            raise DomainError(Kind.TRANSACTION, unique(2067, columns))
        user.links.add(group_id)
        group.links.add(user_id)
        group.columns["modified_date"] = self.now()

    def remove_member(self, user_id: str, group_id: int) -> None:
        """Take a user out of a group."""
        group = self.state.groups.rows.get(group_id)
        if group is None or user_id not in group.links:
            raise DomainError(Kind.NOT_FOUND, f"No such membership: '{user_id}' -> {group_id}")
        self.state.users.rows[user_id].links.discard(group_id)
        group.links.discard(user_id)
        group.columns["modified_date"] = self.now()

    def now(self) -> str:
        """The date of a change made now."""
        return self._stored(self._tick())

    def _tick(self) -> int:
        """Nanoseconds since the epoch, more than ever before."""
        elapsed = (self._clock.now() - _EPOCH) // _MICROSECOND * 1000
        self._last = max(elapsed, self._last + 1)
        return self._last

    def _stored(self, tick: int) -> str:
        return timestamp(tick // 10**9 * 10**9 if self._whole_seconds else tick)

    def _insert(
        self, table: Table, key: Key, name: str, columns: dict[str, str], attributes: Values
    ) -> Row:
        tick = self._tick()
        identity = uuid.uuid3(uuid.NAMESPACE_X500, name + timestamp(tick))
        dates = [column.name for column in table.columns if column.kind == "DATE_TIME"]
        columns |= {"uuid": str(identity), **dict.fromkeys(dates, self._stored(tick))}
        row = Row(columns, attributes)
        table.insert(key, row)
        return row

"""The state: objects by resource and name, one revision counter, a history to watch from."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from sandbox.apiserver.objects import Object

HISTORY = 10_000  # changes kept of each resource


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `new` is None when the object went; `old` is None when it came."""

    revision: int
    key: str
    new: Object | None
    old: Object | None


@dataclass(slots=True)
class _Table:
    objects: dict[str, Object] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    compacted: int = 0  # changes up to this revision are no longer known


class TooOldError(Exception):
    """The asked revision lies before the kept history, which begins after `oldest`."""

    def __init__(self, oldest: int) -> None:
        super().__init__(oldest)
        self.oldest = oldest


class Store:
    """Any thread may call it. Objects that went in or come out are shared: nobody changes them.

    With a folder, every write is appended to a log there, and a new store on it starts from it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._lock = threading.Lock()  # guards everything below
        self._tables: dict[str, _Table] = {}
        self._revision = 0
        self._listeners: list[Callable[[], None]] = []
        self._log = None if folder is None else folder / "objects.jsonl"
        if self._log is not None and self._log.exists():
            self._load(self._log)

    def _load(self, log: Path) -> None:
        """Read the log and write it anew without what was overwritten."""
        for line in log.read_bytes().splitlines():
            resource, key, obj, self._revision = orjson.loads(line)
            objects = self._tables.setdefault(resource, _Table(compacted=self._revision)).objects
            if obj is None:
                objects.pop(key, None)
            else:
                objects[key] = obj
        lines = [
            orjson.dumps([resource, key, obj, self._revision], option=orjson.OPT_APPEND_NEWLINE)
            for resource, table in self._tables.items()
            for key, obj in table.objects.items()
        ]
        for table in self._tables.values():
            table.compacted = self._revision
        log.write_bytes(b"".join(lines))

    @property
    def revision(self) -> int:
        """The revision of the last write."""
        with self._lock:
            return self._revision

    def advance(self, revision: int) -> None:
        """Let the counter go on to `revision`, as if others had written."""
        with self._lock:
            self._revision = max(self._revision, revision)

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every write, in the writer's thread, without the lock.

        Returns what to call when it shall not be called any more.
        """
        with self._lock:
            self._listeners.append(listener)

        def forget() -> None:
            with self._lock:
                self._listeners.remove(listener)

        return forget

    def get(self, resource: str, key: str) -> Object | None:
        """Return the object, or None."""
        with self._lock:
            table = self._tables.get(resource)
            return table.objects.get(key) if table else None

    def count(self, resource: str) -> int:
        """Return how many objects of a resource there are."""
        with self._lock:
            table = self._tables.get(resource)
            return len(table.objects) if table else 0

    def write(
        self, resource: str, key: str, old: Object | None, new: Object | None
    ) -> Object | None:
        """Put `new` in the place of `old` (None: there is none) and give it its resourceVersion.

        Returns what is stored now, for a deletion the last state with the deletion's
        resourceVersion; None if another write came in between.
        """
        with self._lock:
            table = self._tables.setdefault(resource, _Table())
            if table.objects.get(key) is not old:
                return None
            self._revision += 1
            stored = _with_version(old if new is None else new, self._revision)
            if new is None:
                del table.objects[key]
            else:
                table.objects[key] = stored
            change = Change(self._revision, key, None if new is None else stored, old)
            self._remember_locked(resource, table, change)
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()
        return stored

    def _remember_locked(self, resource: str, table: _Table, change: Change) -> None:
        table.changes.append(change)
        if len(table.changes) > 2 * HISTORY:
            table.compacted = table.changes[HISTORY - 1].revision
            del table.changes[:HISTORY]
        if self._log is not None:
            line = orjson.dumps(
                [resource, change.key, change.new, change.revision],
                option=orjson.OPT_APPEND_NEWLINE,
            )
            with self._log.open("ab") as log:
                log.write(line)

    def compact(self, resource: str, revision: int | None = None) -> None:
        """Forget the history of a resource up to a revision (None: all of it).

        Watches and pages from before are too old then.
        """
        with self._lock:
            table = self._tables.setdefault(resource, _Table())
            table.compacted = self._revision if revision is None else revision
            table.changes = _after(table, table.compacted)

    def snapshot(self, resource: str, revision: int | None = None) -> tuple[list[Object], int]:
        """All objects in order of their keys, now or at an earlier revision, and that revision.

        Raises TooOldError.
        """
        with self._lock:
            table = self._tables.get(resource) or _Table()
            objects = dict(table.objects)
            now = self._revision
            changes = [] if revision is None else _after(table, revision)
        for change in reversed(changes):
            if change.old is None:
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.old
        ordered = [objects[key] for key in sorted(objects)]
        return ordered, now if revision is None else revision

    def changes(self, resource: str, revision: int) -> tuple[list[Change], int]:
        """What happened to a resource after `revision`, and up to which revision that is told.

        Raises TooOldError.
        """
        with self._lock:
            table = self._tables.get(resource)
            found = _after(table, revision) if table else []
            return found, max(self._revision, revision)


def _after(table: _Table, revision: int) -> list[Change]:
    if revision < table.compacted:
        raise TooOldError(table.compacted)
    start = bisect_right(table.changes, revision, key=lambda change: change.revision)
    return table.changes[start:]


def _with_version(obj: Object | None, revision: int) -> Object:
    assert obj is not None, "neither an old nor a new state"
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}

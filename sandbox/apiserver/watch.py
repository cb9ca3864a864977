"""Watches: what happens to the objects of a resource, from a revision on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import orjson

from sandbox.apiserver import errors
from sandbox.apiserver.listing import ListOptions, Selection, row_object
from sandbox.apiserver.negotiation import PARTIAL, PARTIAL_LIST, TABLE, Form
from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.registry import Clock
from sandbox.apiserver.store import Change, Store, TooOldError
from sandbox.apiserver.table import partial, table

BOOKMARK_SECONDS = 60.0
BEFORE_END_SECONDS = 2.0  # the last bookmark comes this long before the watch times out
INITIAL_EVENTS_END = "k8s.io/initial-events-end"

Event = tuple[str, Object]


def deleted_state(change: Change) -> Object:
    """The last state before a deletion, with the deletion's own resourceVersion."""
    assert change.old is not None
    metadata = {**change.old["metadata"], "resourceVersion": str(change.revision)}
    return {**change.old, "metadata": metadata}


class Watch:
    """One watch. One thread reads; any may close.

    `is_current` says whether the resource is still served as it was: else the watch ends.
    """

    def __init__(
        self,
        store: Store,
        selection: Selection,
        options: ListOptions,
        form: Form,
        *,
        clock: Clock,
        is_current: Callable[[], bool],
    ) -> None:
        """Raises StatusError for a selector that is none."""
        self._store = store
        self._selection = selection
        self._form = form
        self._clock = clock
        self._is_current = is_current
        self._matches = selection.matcher() or (lambda _: True)
        self._bookmarks = options.bookmarks
        self._pending: list[Event] = []
        self._ended = False
        self._columns_told = False
        self._started = clock.monotonic()
        self._timeout = float(options.timeout) if options.timeout else None
        self._next_bookmark = self._bookmark_after(self._started)
        self._revision = self._begin(options)
        self._told = self._revision

    def _begin(self, options: ListOptions) -> int:
        """Queue what is told first; returns the revision from which the rest follows."""
        if options.version and not options.initial_events:
            return options.version
        current = self._store.revision
        if (options.version or 0) > current:
            error = errors.version_too_large(options.version or 0, current)
            self._pending.append(("ERROR", error.status()))
            self._ended = True
            return current
        objects, revision = self._store.snapshot(self._selection.resource.storage)
        self._pending += [("ADDED", obj) for obj in objects if self._selects(obj)]
        if options.initial_events and options.bookmarks:
            self._pending.append(self._bookmark(revision, {INITIAL_EVENTS_END: "true"}))
        return revision

    def _selects(self, obj: Object | None) -> bool:
        return obj is not None and self._selection.contains(obj) and self._matches(obj)

    def read(self) -> bytes | None:
        """See Stream."""
        if self._ended and not self._pending:
            return b""
        if not self._is_current():
            self._ended = True
        if not self._ended:
            self._collect()
        lines = [self._encode(event) for event in self._pending if self._is_told(event)]
        self._pending.clear()
        if lines:
            return b"".join(lines)
        return b"" if self._ended else None

    def close(self) -> None:
        """See Stream."""
        self._ended = True

    def _collect(self) -> None:
        try:
            changes, self._revision = self._store.changes(
                self._selection.resource.storage, self._revision
            )
        except TooOldError as error:
            message = f"too old resource version: {self._revision} ({error.oldest})"
            self._pending.append(("ERROR", errors.expired(message).status()))
            self._ended = True
            return
        for change in changes:
            self._pending += self._events(change)
        self._tick()

    def _events(self, change: Change) -> Iterator[Event]:
        """What a change is for who watches a selection: leaving it is a deletion."""
        was, now = self._selects(change.old), self._selects(change.new)
        if now and change.new is not None:
            yield ("MODIFIED" if was else "ADDED"), change.new
        elif was:
            yield "DELETED", deleted_state(change)

    def _tick(self) -> None:
        """Bookmarks and the end of the time."""
        now = self._clock.monotonic()
        if self._next_bookmark is not None and now >= self._next_bookmark:
            if self._bookmarks and self._revision > self._told:
                self._pending.append(self._bookmark(self._revision, {}))
            self._next_bookmark = self._bookmark_after(now)
        if self._timeout is not None and now >= self._started + self._timeout:
            self._ended = True

    def _bookmark_after(self, now: float) -> float | None:
        following = now + BOOKMARK_SECONDS
        if self._timeout is None:
            return following
        last = self._started + self._timeout - BEFORE_END_SECONDS
        return None if now >= last else min(following, last)

    def _bookmark(self, revision: int, annotations: dict[str, str]) -> Event:
        metadata: Object = {"resourceVersion": str(revision)}
        if annotations:
            metadata["annotations"] = annotations
        resource = self._selection.resource
        return "BOOKMARK", {
            "kind": resource.kind,
            "apiVersion": resource.api_version,
            "metadata": metadata,
        }

    def _is_told(self, event: Event) -> bool:
        """Asked for the metadata of a list, the server sends nothing: it is not made for it."""
        return event[0] == "ERROR" or self._form.shown_as != PARTIAL_LIST

    def _encode(self, event: Event) -> bytes:
        kind, obj = event
        shown = obj if kind == "ERROR" else self._show(kind, obj)
        return orjson.dumps({"type": kind, "object": shown}, option=orjson.OPT_APPEND_NEWLINE)

    def _show(self, kind: str, obj: Object) -> Value:
        selection = self._selection
        if self._form.shown_as == PARTIAL:
            return partial(obj)
        if self._form.shown_as == TABLE:
            metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            rows = [] if kind == "BOOKMARK" else [obj]
            columns, self._columns_told = not self._columns_told, True
            return table(
                selection.resource,
                rows,
                metadata,
                self._clock.now(),
                row_object(selection),
                columns=columns,
            )
        return obj if kind == "BOOKMARK" else selection.strategy.load(selection.resource, obj)

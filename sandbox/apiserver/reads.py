"""Reads: get, list and watch."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.apiserver import errors, listing
from sandbox.apiserver.answers import encode
from sandbox.apiserver.crd import ServedResources
from sandbox.apiserver.listing import ListOptions, Selection
from sandbox.apiserver.messages import Request, Response
from sandbox.apiserver.negotiation import negotiate
from sandbox.apiserver.objects import key_of
from sandbox.apiserver.registry import Clock
from sandbox.apiserver.store import Store
from sandbox.apiserver.watch import Watch


class Reads:
    """Any thread. `may_watch` raises StatusError for a resource that cannot be watched just now."""

    def __init__(
        self,
        store: Store,
        served: ServedResources,
        clock: Clock,
        may_watch: Callable[[str], None],
    ) -> None:
        self._store = store
        self._served = served
        self._clock = clock
        self._may_watch = may_watch

    def get(self, request: Request, selection: Selection, name: str) -> Response:
        """Raises StatusError."""
        form = negotiate(request.headers.get("accept", ""))
        version = listing.parse_number(request.query.get("resourceVersion", ""), "resourceVersion")
        if version > self._store.revision:
            raise errors.version_too_large(version, self._store.revision)
        resource = selection.resource
        stored = self._store.get(resource.storage, key_of(selection.namespace, name))
        if stored is None:
            raise errors.not_found(resource, name)
        live = selection.strategy.load(resource, stored)
        shown = listing.show_object(selection, live, form, self._clock.now())
        return encode(200, shown, form.media_type)

    def list(self, request: Request, selection: Selection) -> Response:
        """Raises StatusError."""
        form = negotiate(request.headers.get("accept", ""))
        options = ListOptions.parse(request, watch=False)
        page, metadata = listing.read_page(self._store, selection, options)
        body = listing.show_list(selection, page, metadata, form, self._clock.now())
        return encode(200, body, form.media_type)

    def watch(self, request: Request, selection: Selection) -> Response:
        """Raises StatusError."""
        form = negotiate(request.headers.get("accept", ""), watch=True)
        resource = selection.resource
        self._may_watch(resource.storage)
        options = ListOptions.parse(request, watch=True)

        def is_current() -> bool:
            found = self._served.find(resource.group, resource.version, resource.plural)
            return found is resource

        watch = Watch(
            self._store, selection, options, form, clock=self._clock, is_current=is_current
        )
        return Response(200, stream=watch)

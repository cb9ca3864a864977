"""How one kind is listed and watched."""

from typing import Final, NamedTuple, Protocol

from informers.errors import UnexpectedAnswer
from informers.objects import Object
from informers.rest import JSON, METADATA_LIST, METADATA_ONE, RestClient
from informers.watchstream import RestWatchStream, WatchEvent

LIST_SECONDS: Final = 65.0
"""The server itself gives a request up after 60."""

WATCH_MARGIN_SECONDS: Final = 15.0
"""How much later than announced the server may end a watch before it counts as gone."""


class ListPage(NamedTuple):
    """One page of a list; `continue_token` is "" on the last one."""

    items: list[Object]
    resource_version: str
    continue_token: str


class WatchStream(Protocol):
    """The events of one watch. `close`: any thread; `next`: one thread."""

    def next(self) -> WatchEvent | None:
        """The next event; None: nothing now (a source without a socket).

        Raises EndOfStream, StreamClosed, GarbledStream, ConnectionFailed, DeadlineExceeded.
        """
        ...

    def close(self) -> None:
        """End it; a `next` that waits in another thread ends promptly."""
        ...


class ListerWatcher(Protocol):
    """A source of objects. One thread. Raises ApiFailure."""

    def list(self, resource_version: str, limit: int, continue_token: str) -> ListPage:
        """`resource_version` "" is the latest, "0" any; `limit` 0 is all.

        With a `continue_token` the server takes the version from it and refuses another.
        """
        ...

    def watch(self, resource_version: str, timeout_seconds: int) -> WatchStream:
        """What happens after `resource_version`, with bookmarks; the server ends it in time."""
        ...


class ListWatch:
    """Lists and watches one path of an API server: a kind, in one namespace or in all.

    With `metadata_only` the server sends PartialObjectMetadata (RBAC asks for the same rights).
    With `never_older` a list of any version is one of the latest: an API server that lags behind
    would show a process that starts again what was before it ended, such as objects that it has
    let go since.
    """

    def __init__(
        self,
        client: RestClient,
        path: str,
        *,
        metadata_only: bool = False,
        never_older: bool = False,
        label_selector: str = "",
        field_selector: str = "",
    ) -> None:
        self._client = client
        self._path = path
        self._never_older = never_older
        self._accept_list = METADATA_LIST if metadata_only else JSON
        self._accept_watch = METADATA_ONE if metadata_only else JSON
        selectors = [("labelSelector", label_selector), ("fieldSelector", field_selector)]
        self._selectors = [(name, value) for name, value in selectors if value]

    def list(self, resource_version: str, limit: int, continue_token: str) -> ListPage:
        """See ListerWatcher."""
        query = [*self._selectors]
        if limit:
            query.append(("limit", str(limit)))
        if continue_token:
            query.append(("continue", continue_token))
        elif resource_version and not (self._never_older and resource_version == "0"):
            query.append(("resourceVersion", resource_version))
        answer = self._client.get(
            self._path, query=query, accept=self._accept_list, timeout=LIST_SECONDS
        )
        return _page(answer, self._path)

    def watch(self, resource_version: str, timeout_seconds: int) -> RestWatchStream:
        """See ListerWatcher."""
        query = [
            *self._selectors,
            ("watch", "true"),
            ("resourceVersion", resource_version),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(timeout_seconds)),
        ]
        read_timeout = timeout_seconds + WATCH_MARGIN_SECONDS
        return RestWatchStream(
            self._client.stream(
                self._path, query=query, accept=self._accept_watch, read_timeout=read_timeout
            )
        )


def _page(answer: Object, path: str) -> ListPage:
    metadata = answer.get("metadata")
    items = answer.get("items")
    if items is None and "items" in answer and str(answer.get("kind")).endswith("List"):
        items = []  # null is how Go writes a list that was never filled
    if not isinstance(metadata, dict) or not isinstance(items, list):
        raise UnexpectedAnswer(f"GET {path}: the answer is no list")
    version = metadata.get("resourceVersion")
    token = metadata.get("continue")
    return ListPage(
        items,
        version if isinstance(version, str) else "",
        token if isinstance(token, str) else "",
    )

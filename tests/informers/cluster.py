"""A small API server of one kind, for model tests: versions, a log that is compacted, streams."""

import copy

from informers import EndOfStream, ListPage, Object, StatusError, StreamClosed, WatchEvent
from tests.informers.scripted import EXPIRED, TOO_LARGE, bookmark, obj


class Cluster:
    """Objects of all namespaces and the log of what happened to them."""

    def __init__(self) -> None:
        self.version = 10
        self.compacted = 0
        self.objects: dict[str, Object] = {}
        self.log: list[tuple[int, WatchEvent]] = []
        self.streams: list[ClusterStream] = []
        self.failures: list[StatusError] = []
        self.page_size = 500
        self._uids = 0
        self._states = 0
        self._used = {self.version}
        self.schema = 0
        self.back_up()
        self._highest = 0  # the version before a backup was restored

    def put(self, namespace: str, name: str) -> None:
        if not self._next_version():
            return
        key = f"{namespace}/{name}"
        old = self.objects.get(key)
        self._uids += old is None
        uid = old["metadata"]["uid"] if old else f"uid-{self._uids}"
        self._states += 1
        item = obj(name, self.version, uid=uid, namespace=namespace, state=self._states)
        self.objects[key] = item
        self._record("MODIFIED" if old else "ADDED", item)

    def remove(self, namespace: str, name: str) -> None:
        key = f"{namespace}/{name}"
        if key not in self.objects or not self._next_version():
            return
        item = self.objects.pop(key)
        last = copy.deepcopy(item)
        last["metadata"]["resourceVersion"] = str(self.version)
        self._record("DELETED", last)

    def drop_streams(self, error: Exception | None = None) -> None:
        for stream in self.streams:
            stream.error = error or EndOfStream("dropped")
        self.streams.clear()

    def compact(self) -> None:
        self.compacted = self.version
        self.log.clear()

    def change_schema(self) -> None:
        """A new default: all objects differ, at their old versions; every watch must start anew."""
        if self._next_version():
            self.schema += 1
            self.drop_streams()
            self.compact()

    def back_up(self) -> None:
        self._backup = (self.version, dict(self.objects), self.schema)

    def restore_backup(self) -> None:
        """Back to an older state and version: clients' versions may lie in the future. Once."""
        if self._highest:
            return
        self._highest = self.version
        self.version, objects, self.schema = self._backup
        self.objects = dict(objects)
        self.drop_streams()
        self.compact()

    def now(self, namespace: str | None = None) -> dict[str, Object]:
        """What a client that knows everything has: defaults are filled in on reading."""
        return {
            key: self.defaulted(item)
            for key, item in sorted(self.objects.items())
            if namespace in {None, item["metadata"]["namespace"]}
        }

    def defaulted(self, item: Object) -> Object:
        return copy.deepcopy(item) | {"default": self.schema}

    def _next_version(self) -> bool:
        """Take a version that no client can have seen for something else; False if there is none.

        A server that has caught up with a client's version after a restore cannot be found out.
        """
        step = 1 if self._highest else 10
        version = self.version + step
        while version in self._used:
            version += 1
        if version >= self._highest > 0:
            return False
        self._used.add(version)
        self.version = version
        return True

    def _record(self, kind: str, item: Object) -> None:
        event = WatchEvent(kind, self.defaulted(item))
        self.log.append((self.version, event))
        for stream in self.streams:
            stream.offer(event)

    def fail(self) -> None:
        if self.failures:
            raise self.failures.pop()


class ClusterStream:
    def __init__(self, namespace: str | None, backlog: list[WatchEvent]) -> None:
        self.namespace = namespace
        self.pending: list[WatchEvent] = []
        self.error: Exception | None = None
        self.closed = False
        for event in backlog:
            self.offer(event)

    def offer(self, event: WatchEvent) -> None:
        if self.namespace in {None, event.object["metadata"].get("namespace", self.namespace)}:
            self.pending.append(WatchEvent(event.type, copy.deepcopy(event.object)))

    def next(self) -> WatchEvent | None:
        if self.closed:
            raise StreamClosed("closed")
        if self.pending:
            return self.pending.pop(0)
        if self.error:
            raise self.error
        return None

    def close(self) -> None:
        self.closed = True


class ClusterListWatch:
    """One namespace of a cluster, or all of it."""

    def __init__(self, cluster: Cluster, namespace: str | None = None) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self._snapshots: dict[str, tuple[int, list[Object]]] = {}

    def list(self, resource_version: str, limit: int, continue_token: str) -> ListPage:
        cluster = self.cluster
        cluster.fail()
        if resource_version.isdigit() and int(resource_version) > cluster.version:
            raise TOO_LARGE
        if continue_token:
            version, rest = self._snapshots.pop(continue_token)
            if version < cluster.compacted:
                raise EXPIRED
        else:
            version, rest = cluster.version, list(cluster.now(self.namespace).values())
        size = min(limit, cluster.page_size) if limit else len(rest)
        token = ""
        if rest[size:]:
            token = f"{version}-{len(rest)}"
            self._snapshots[token] = (version, rest[size:])
        return ListPage(rest[:size], str(version), token)

    def watch(self, resource_version: str, timeout_seconds: int) -> ClusterStream:
        cluster = self.cluster
        cluster.fail()
        version = int(resource_version)
        stream = ClusterStream(self.namespace, [e for v, e in cluster.log if v > version])
        if version < cluster.compacted:
            stream.pending = [
                WatchEvent("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
            ]
            stream.error = EndOfStream("expired")
        elif version <= cluster.version:
            stream.pending.append(bookmark(cluster.version))
            cluster.streams.append(stream)
        return stream

"""The versions of objects that this process wrote itself, so that their echo makes no work."""

import threading

from controller.harness.resource import Object

KEPT = 4  # versions an object: a pass makes at most three writes


class OwnWrites:
    """Remembers a written version until its event comes. Any thread.

    An event that is faster than the answer to its write is not recognized: one pass too many,
    which finds nothing to do.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _versions
        self._versions: dict[str, tuple[str, ...]] = {}

    def note(self, obj: Object) -> None:
        """The server's answer to a write of ours."""
        metadata = obj["metadata"]
        uid, version = metadata["uid"], metadata["resourceVersion"]
        gone = "deletionTimestamp" in metadata and not metadata.get("finalizers")
        with self._lock:
            if gone:  # by this very write: no event of it comes but DELETED, which may be past
                self._versions.pop(uid, None)
            else:
                self._versions[uid] = (*self._versions.get(uid, ())[1 - KEPT :], version)

    def is_echo(self, obj: Object) -> bool:
        """Whether the object is as this process wrote it; what is older is forgotten."""
        metadata = obj["metadata"]
        uid, version = metadata["uid"], metadata["resourceVersion"]
        with self._lock:
            known = self._versions.get(uid, ())
            if version not in known:
                return False
            rest = known[known.index(version) + 1 :]
            if rest:
                self._versions[uid] = rest
            else:
                del self._versions[uid]
            return True

    def forget(self, uid: str) -> None:
        """The object is gone."""
        with self._lock:
            self._versions.pop(uid, None)

    def __len__(self) -> int:
        with self._lock:
            return len(self._versions)

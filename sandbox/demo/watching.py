"""The objects of the examples on their way to Ready."""

from collections.abc import Callable, Iterable

from controller.api import KINDS, READY
from sandbox.demo.manifests import Cluster, Document, key_of


class Watching:
    """Looks at the objects and says what has changed. One thread."""

    def __init__(
        self, cluster: Cluster, wanted: Iterable[Document], say: Callable[[str], None]
    ) -> None:
        kinds = {kind.kind for kind in KINDS}
        self._cluster = cluster
        self._say = say
        self._known: dict[str, str] = {
            key_of(document): "" for document in wanted if document["kind"] in kinds
        }

    def step(self) -> bool:
        """Look once; whether all are Ready. Raises ApiFailure."""
        for kind in KINDS:
            for obj in self._cluster.list(kind):
                self._see(key_of({**obj, "kind": kind.kind}), _state(obj))
        return all(state == READY for state in self._known.values())

    def missing(self) -> str:
        """What is not Ready, a line each."""
        return "\n".join(
            f"  {key}: {state or 'not looked at'}"
            for key, state in self._known.items()
            if state != READY
        )

    def _see(self, key: str, state: str) -> None:
        if key in self._known and state not in {"", self._known[key]}:
            self._known[key] = state
            self._say(f"  {key}: {state}")


def _state(obj: Document) -> str:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    ready = next((c for c in conditions if c["type"] == READY), None)
    if ready is None:
        return ""
    return READY if ready["status"] == "True" else f"{ready['reason']}: {ready['message']}"

"""One object as a reconciler sees it."""

from typing import Any

Object = dict[str, Any]

_OFF = frozenset({"", "0", "f", "false", "n", "no", "off"})


class Resource:
    """What the lister holds of one object, and a draft of the status to write for it.

    `raw` and `metadata` are shared with the lister and never changed. `status` is this pass's own:
    its values are replaced, never edited in place, so a shallow copy is enough. One thread.
    """

    __slots__ = ("metadata", "raw", "status")

    def __init__(self, raw: Object) -> None:
        self.raw = raw
        self.metadata: Object = raw["metadata"]
        self.status: Object = dict(raw.get("status") or {})

    def refreshed(self, raw: Object) -> None:
        """Take over the server's answer to a write; the draft of the status stays."""
        self.raw = raw
        self.metadata = raw["metadata"]

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.metadata.get("namespace", ""))

    @property
    def name(self) -> str:
        """Its name there."""
        return str(self.metadata["name"])

    @property
    def key(self) -> str:
        """`namespace/name`, as the queues have it."""
        return f"{self.namespace}/{self.name}"

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self.raw.get("kind", ""))

    @property
    def uid(self) -> str:
        """Tells it from a namesake."""
        return str(self.metadata["uid"])

    @property
    def generation(self) -> int:
        """Counts the changes of its spec."""
        return int(self.metadata.get("generation", 0))

    @property
    def resource_version(self) -> str:
        """Opaque."""
        return str(self.metadata["resourceVersion"])

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        return self.metadata.get("labels") or {}

    @property
    def annotations(self) -> dict[str, str]:
        """Its annotations."""
        return self.metadata.get("annotations") or {}

    @property
    def finalizers(self) -> list[str]:
        """Everybody's finalizers."""
        return self.metadata.get("finalizers") or []

    @property
    def deleting(self) -> bool:
        """Whether somebody has deleted it and finalizers still hold it."""
        return "deletionTimestamp" in self.metadata

    @property
    def created(self) -> str:
        """RFC 3339 in whole seconds, so that texts sort as times do."""
        return str(self.metadata.get("creationTimestamp", ""))

    @property
    def recorded(self) -> Object:
        """The status as the server has it."""
        return self.raw.get("status") or {}

    @property
    def spec(self) -> Object:
        """The spec as it stands there, unchecked."""
        return self.raw.get("spec") or {}

    def asks_for(self, annotation: str) -> bool:
        """See `is_on`."""
        return is_on(self.annotations.get(annotation))

    def __repr__(self) -> str:
        return f"Resource({self.kind} {self.key})"


def is_on(word: str | None) -> bool:
    """Whether an annotation that is a switch is on: so is one with a word that says neither.

    Both switches hold the operator back, and whoever wrote "yes" meant that.
    """
    return word is not None and word.strip().casefold() not in _OFF

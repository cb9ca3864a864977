"""What a kind is, apart from its fields' content."""

from dataclasses import dataclass
from typing import Literal

from controller.api.fields import Object
from controller.api.names import API_VERSION, GROUP


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of `kubectl get`; one of priority 1 is shown with `-o wide` only."""

    name: str
    path: str
    type: Literal["string", "integer", "date"] = "string"
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """One of the four kinds. There is one Kind object a kind: compare by identity."""

    kind: str
    plural: str
    short: str
    finalizer: str
    description: str
    spec: Object
    status: Object
    columns: tuple[Column, ...]

    @property
    def singular(self) -> str:
        """The kind in lower case."""
        return self.kind.lower()

    @property
    def crd_name(self) -> str:
        """The name of its CustomResourceDefinition."""
        return f"{self.plural}.{GROUP}"

    @property
    def api_version(self) -> str:
        """Group and version, as objects carry them."""
        return API_VERSION

    def __repr__(self) -> str:
        return f"<Kind {self.kind}>"


def columns(*own: Column) -> tuple[Column, ...]:
    """Return the columns of a kind: its own, and those that all have."""
    return (
        *own,
        Column(name="Ready", path=_ready("status")),
        Column(name="Reason", path=_ready("reason")),
        Column(name="Age", path=".metadata.creationTimestamp", type="date"),
        Column(name="Message", path=_ready("message"), priority=1),
    )


def _ready(field: str) -> str:
    return f'.status.conditions[?(@.type=="Ready")].{field}'

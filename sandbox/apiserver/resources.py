"""Resources: what is served under which path, and how its objects look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import yaml

from sandbox.apiserver.objects import Object, Value
from sandbox.apiserver.schema import Node, compile_schema

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
STATUS_VERBS = ("get", "patch", "update")
TYPE_META = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}


@dataclass(frozen=True, kw_only=True)
class Resource:
    """One resource in one version. Never changed; any thread."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    list_kind: str
    namespaced: bool
    custom: bool
    schema: Node
    columns: tuple[Mapping[str, Value], ...] = ()
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = VERBS
    subresources: Mapping[str, Sequence[str]]
    has_generation: bool

    @cached_property
    def api_version(self) -> str:
        """Group and version, as objects have them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def qualified(self) -> str:
        """The resource as messages call it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @cached_property
    def storage(self) -> str:
        """What the store knows its objects by: both kinds of events are one there."""
        return "events" if self.plural == "events" and not self.custom else self.qualified

    @cached_property
    def has_status(self) -> bool:
        """Whether status is written through a subresource only."""
        return "status" in self.subresources


def _metadata() -> dict[str, Value]:
    found: dict[str, Value] = _builtin()["metadata"]
    return found


@cache
def _builtin() -> dict[str, Value]:
    """What the package says of the built-in kinds. Shared: nobody changes it."""
    text = files(__package__).joinpath("builtin.yaml").read_text()
    found: dict[str, Value] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


def complete_schema(source: Mapping[str, Value], metadata: Mapping[str, Value]) -> Node:
    """Compile the schema of a kind, with what every object has."""
    properties = {**source.get("properties", {}), **TYPE_META, "metadata": metadata}
    return compile_schema({**source, "type": "object", "properties": properties})


def builtin_resources() -> list[Resource]:
    """The kinds that are served without a CRD."""
    document = _builtin()
    return [_builtin_resource(each, document["metadata"]) for each in document["kinds"]]


def _builtin_resource(source: Mapping[str, Value], metadata: Mapping[str, Value]) -> Resource:
    return Resource(
        group=source["group"],
        version=source["version"],
        plural=source["plural"],
        singular=source["kind"].lower(),
        kind=source["kind"],
        list_kind=source["kind"] + "List",
        namespaced=source["namespaced"],
        custom=False,
        schema=complete_schema(source["schema"], metadata),
        columns=tuple(source["columns"]),
        short_names=tuple(source.get("shortNames", ())),
        verbs=tuple(source.get("verbs", VERBS)),
        subresources=source.get("subresources", {}),
        has_generation=source.get("hasGeneration", False),
    )


def custom_resources(crd: Object) -> list[Resource]:
    """What a CRD serves. Raises ValueError when a pattern or a rule does not compile."""
    metadata = _metadata()
    spec = crd["spec"]
    return [_custom_resource(spec, each, metadata) for each in spec["versions"] if each["served"]]


def _custom_resource(
    spec: Mapping[str, Value], version: Mapping[str, Value], metadata: Mapping[str, Value]
) -> Resource:
    names = spec["names"]
    has_status = "status" in version.get("subresources", {})
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    return Resource(
        group=spec["group"],
        version=version["name"],
        plural=names["plural"],
        singular=names["singular"],
        kind=names["kind"],
        list_kind=names["listKind"],
        namespaced=spec["scope"] == "Namespaced",
        custom=True,
        schema=complete_schema(version["schema"]["openAPIV3Schema"], metadata),
        columns=tuple(version.get("additionalPrinterColumns") or [age]),
        short_names=tuple(names.get("shortNames", ())),
        categories=tuple(names.get("categories", ())),
        verbs=CUSTOM_VERBS,
        subresources={"status": STATUS_VERBS} if has_status else {},
        has_generation=True,
    )

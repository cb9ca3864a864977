"""CustomResourceDefinitions: what the server makes of one, and the resources that are served."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from sandbox.apiserver.errors import Cause, invalid_value, unsupported
from sandbox.apiserver.objects import Object, is_deleting, meta
from sandbox.apiserver.resources import Resource, builtin_resources, custom_resources
from sandbox.apiserver.strategy import BlindlessStrategy

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


class CrdStrategy(BlindlessStrategy):
    """CRDs: names filled in, accepted at once, refused when something does not compile."""

    deletion_finalizers = (CLEANUP,)

    def prepare(self, new: Object, old: Object | None) -> Object:
        """See Strategy."""
        spec = new.get("spec", {})
        names = spec.get("names", {})
        kind = names.get("kind", "")
        filled = {"singular": kind.lower(), "listKind": f"{kind}List", **names}
        new = {**new, "spec": {"conversion": {"strategy": "None"}, **spec, "names": filled}}
        if old is not None:
            return {**new, "status": old["status"]}
        stored = [each["name"] for each in spec.get("versions", ()) if each.get("storage")]
        established = [_condition(each) for each in ("NamesAccepted", "Established")]
        status = {"conditions": established, "acceptedNames": filled, "storedVersions": stored}
        return {**new, "status": status}

    def check(self, new: Object, old: Object | None) -> Iterator[Cause]:
        """See Strategy."""
        del old
        spec = new["spec"]
        wanted = f"{spec['names'].get('plural', '')}.{spec.get('group', '')}"
        if meta(new).get("name") != wanted:
            message = 'must be spec.names.plural+"."+spec.group'
            yield invalid_value("metadata.name", meta(new).get("name", ""), message)
        elif spec.get("scope") not in {"Namespaced", "Cluster"}:
            yield unsupported("spec.scope", spec.get("scope", ""), ("Cluster", "Namespaced"))
        else:
            try:
                custom_resources(new)
            except (ValueError, KeyError) as error:
                yield invalid_value("spec.versions[0].schema.openAPIV3Schema", "", str(error))


def _condition(name: str) -> Object:
    return {"type": name, "status": "True", "reason": "InitialNamesAccepted"}


class ServedResources:
    """All resources by group, version and plural. Any thread; a reader sees a whole state."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the replacement of _served
        self._served = {
            (each.group, each.version, each.plural): each for each in builtin_resources()
        }

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return the resource of a path, or None."""
        return self._served.get((group, version, plural))

    def all(self) -> list[Resource]:
        """Return every resource."""
        return list(self._served.values())

    def serve(self, crd: Object) -> None:
        """Take up a CRD or what changed in it. Raises ValueError."""
        resources = custom_resources(crd)
        with self._lock:
            others = self._others(crd)
            new = {(each.group, each.version, each.plural): each for each in resources}
            self._served = {**others, **new}

    def withdraw(self, crd: Object) -> None:
        """Let a CRD go."""
        with self._lock:
            self._served = self._others(crd)

    def _others(self, crd: Object) -> dict[tuple[str, str, str], Resource]:
        name = crd["metadata"]["name"]
        return {key: each for key, each in self._served.items() if each.qualified != name}


def storage_of(crd: Object) -> str:
    """What the store knows the objects of a CRD by."""
    return f"{crd['spec']['names']['plural']}.{crd['spec']['group']}"


def same_schema(crd: Object, old: Object) -> bool:
    """Whether a changed CRD serves as it did: else its watches end."""
    return bool(crd["spec"] == old["spec"]) and is_deleting(crd) == is_deleting(old)

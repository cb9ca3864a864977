"""OpenAPI v3: as much as `kubectl apply`, `edit`, `create` and `explain` read."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.apiserver.discovery import groups_of
from sandbox.apiserver.objects import Object
from sandbox.apiserver.resources import Resource

METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def index(resources: Iterable[Resource]) -> Object:
    """The answer of /openapi/v3."""
    paths = [
        _path(group, version)
        for group, versions in groups_of(resources).items()
        for version in versions
    ]
    return {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}"} for path in paths}}


def document(resources: Iterable[Resource], path: str) -> Object | None:
    """The answer of /openapi/v3/PATH, None for a group version that is not served."""
    found = [each for each in resources if _path(each.group, each.version) == path]
    if not found:
        return None
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.37.2"},
        "paths": dict(_operations(each) for each in found),
        "components": {"schemas": {METADATA: _metadata(found[0]), **_schemas(found)}},
    }


def _gvk(resource: Resource) -> Object:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _operations(resource: Resource) -> tuple[str, Object]:
    """One path with its patch: where kubectl looks whether fields can be validated."""
    scope = "/namespaces/{namespace}" if resource.namespaced else ""
    path = f"/{_path(resource.group, resource.version)}{scope}/{resource.plural}/{{name}}"
    names = ("dryRun", "fieldManager", "fieldValidation", "force")
    parameters = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in names]
    patch = {"parameters": parameters, "x-kubernetes-group-version-kind": _gvk(resource)}
    return path, {"patch": patch}


def _schemas(resources: Iterable[Resource]) -> Object:
    schemas = {}
    for resource in resources:
        name = ".".join((*reversed(resource.group.split(".")), resource.version, resource.kind))
        source = dict(resource.schema.source)
        reference = {"allOf": [{"$ref": f"#/components/schemas/{METADATA}"}]}
        source["properties"] = {**source["properties"], "metadata": reference}
        source["x-kubernetes-group-version-kind"] = [_gvk(resource)]
        schemas[name.lstrip(".")] = source
    return schemas


def _metadata(resource: Resource) -> Object:
    return resource.schema.properties["metadata"].source

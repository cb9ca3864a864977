"""Discovery: which groups, versions and resources there are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from sandbox.apiserver.objects import Object
from sandbox.apiserver.resources import Resource

# The release whose answers are emulated; its build is nobody's business.
VERSION: Object = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.2",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "",
}


def groups_of(resources: Iterable[Resource]) -> dict[str, dict[str, list[Resource]]]:
    """Resources by group and version, in order."""
    ordered = sorted(resources, key=lambda each: (each.group, each.version, each.plural))
    found: dict[str, dict[str, list[Resource]]] = {}
    for (group, version), each in groupby(ordered, key=lambda one: (one.group, one.version)):
        found.setdefault(group, {})[version] = list(each)
    return found


def api_versions() -> Object:
    """The answer of /api."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def _group(name: str, versions: Iterable[str]) -> Object:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[-1]}


def api_group(resources: Iterable[Resource], name: str) -> Object | None:
    """The answer of /apis/GROUP."""
    versions = groups_of(resources).get(name)
    if not name or versions is None:
        return None
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def api_group_list(resources: Iterable[Resource]) -> Object:
    """The answer of /apis."""
    groups = [_group(name, versions) for name, versions in groups_of(resources).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_resource_list(resources: Iterable[Resource], group: str, version: str) -> Object | None:
    """The answer of /apis/GROUP/VERSION."""
    found = groups_of(resources).get(group, {}).get(version)
    if found is None:
        return None
    listed = [entry for resource in found for entry in _entries(resource)]
    group_version = f"{group}/{version}" if group else version
    head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version}
    return {**head, "resources": listed}


def _entries(resource: Resource) -> list[Object]:
    main = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
        **_names(resource),
    }
    below = [
        {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(verbs),
        }
        for name, verbs in resource.subresources.items()
    ]
    return [main, *below]


def _names(resource: Resource) -> Object:
    names = {"shortNames": list(resource.short_names), "categories": list(resource.categories)}
    return {key: value for key, value in names.items() if value}


def aggregated(resources: Iterable[Resource], *, core: bool) -> Object:
    """The answer of /api (`core`) or /apis to who asks for all at once."""
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {
                    "version": version,
                    "resources": [_discovered(each) for each in found],
                    "freshness": "Current",
                }
                for version, found in versions.items()
            ],
        }
        for group, versions in groups_of(resources).items()
        if (group == "") == core
    ]
    head = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}}
    return {**head, "items": items}


def _discovered(resource: Resource) -> Object:
    group = {"group": resource.group, "version": resource.version} if resource.custom else {}
    kind = {"group": "", "version": "", **group, "kind": resource.kind}
    subresources = [
        {"subresource": name, "responseKind": kind, "verbs": list(verbs)}
        for name, verbs in resource.subresources.items()
    ]
    return {
        "resource": resource.plural,
        "responseKind": kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
        **_names(resource),
        **({"subresources": subresources} if subresources else {}),
    }

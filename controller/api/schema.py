"""Writes the kinds as the API server wants them: as CustomResourceDefinitions."""

from typing import Any

from controller.api.fields import Array, Boolean, Field, Integer, Object, Rule, String, Type
from controller.api.kinds import Column, Kind
from controller.api.names import CATEGORY, GROUP, VERSION

Schema = dict[str, Any]

# Removing a CRD deletes every object of its kind: tools that prune or uninstall leave it.
KEEP = {
    "argocd.argoproj.io/sync-options": "Delete=false,Prune=false",
    "helm.sh/resource-policy": "keep",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}


def custom_resource_definition(kind: Kind) -> Schema:
    """Return the CustomResourceDefinition of `kind`."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.crd_name, "annotations": dict(KEEP)},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.singular,
                "shortNames": [kind.short],
                "categories": [CATEGORY],
            },
            "versions": [_version(kind)],
        },
    }


def _version(kind: Kind) -> Schema:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [_column(column) for column in kind.columns],
        "schema": {"openAPIV3Schema": _root(kind)},
    }


def _column(column: Column) -> Schema:
    found: Schema = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.priority:
        found["priority"] = column.priority
    return found


def _root(kind: Kind) -> Schema:
    spec = {"description": "What should be so in lldap.", **schema(kind.spec)}
    status = {
        "description": "What the operator found and did; written by the operator alone.",
        **schema(kind.status),
    }
    return {
        "description": kind.description,
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    }


def schema(kind: Type) -> Schema:
    """Return the OpenAPI v3 schema of a type."""
    match kind:
        case String():
            return _string(kind)
        case Boolean():
            return {"type": "boolean"}
        case Integer():
            return _present(type="integer", format=kind.format, minimum=kind.minimum)
        case Array():
            return _array(kind)
        case Object():
            return _object(kind)


def _present(**words: object) -> Schema:
    """Drop what is not said. A minimum of 0 is said, a minLength of 0 says nothing."""
    return {name: value for name, value in words.items() if value is not None and value != ""}


def _string(kind: String) -> Schema:
    return _present(
        type="string",
        format=kind.format,
        enum=[str(word) for word in kind.enum] or None,
        minLength=kind.min_length or None,
        maxLength=kind.max_length,
        pattern=kind.pattern,
    )


def _array(kind: Array) -> Schema:
    found = _present(type="array", maxItems=kind.max_items)
    found["x-kubernetes-list-type"] = "map" if kind.key else "atomic"
    if kind.key:
        found["x-kubernetes-list-map-keys"] = [kind.key]
    return {**found, "items": schema(kind.items)}


def _object(kind: Object) -> Schema:
    found = _present(
        type="object",
        required=[f.name for f in kind.fields if f.required] or None,
        properties={f.name: _field(f) for f in kind.fields},
    )
    rules = [_immutable(f) for f in kind.fields if f.immutable] + [_rule(r) for r in kind.rules]
    if rules:
        found["x-kubernetes-validations"] = rules
    return found


def _field(field: Field) -> Schema:
    found = {"description": field.description, **schema(field.type)}
    if field.nullable:
        found["nullable"] = True
    if field.default is not None:
        found["default"] = field.default
    return found


def _rule(rule: Rule) -> Schema:
    return {
        "rule": rule.expression,
        "fieldPath": f".{rule.field}",
        "reason": rule.reason,
        "message": rule.message,
    }


def _immutable(field: Field) -> Schema:
    return {
        "rule": f"self.{field.name} == oldSelf.{field.name}",
        "fieldPath": f".{field.name}",
        "reason": "FieldValueForbidden",
        "message": f"{field.name} cannot be changed: {field.immutable}",
    }

"""Objects of the four kinds for tests of the API."""

from collections.abc import Callable, Mapping
from typing import Any

from controller.api import (
    LLDAP_ATTRIBUTE_SCHEMA,
    LLDAP_GROUP,
    LLDAP_MEMBERSHIP,
    LLDAP_USER,
    AttributeSchemaSpec,
    GroupSpec,
    Kind,
    MembershipSpec,
    UserSpec,
)
from tests.support.envtest import Api, Key, manifest

SPECS: dict[Kind, dict[str, Any]] = {
    LLDAP_USER: {"username": "alice", "email": "alice@example.org", "passwordPolicy": "Ignore"},
    LLDAP_GROUP: {"displayName": "Engineers"},
    LLDAP_MEMBERSHIP: {"userName": "alice", "groupName": "Engineers"},
    LLDAP_ATTRIBUTE_SCHEMA: {
        "attributeName": "department",
        "attributeType": "String",
        "target": "User",
    },
}
PARSERS: dict[Kind, Callable[[Mapping[str, Any]], object]] = {
    LLDAP_USER: UserSpec.parse,
    LLDAP_GROUP: GroupSpec.parse,
    LLDAP_MEMBERSHIP: MembershipSpec.parse,
    LLDAP_ATTRIBUTE_SCHEMA: AttributeSchemaSpec.parse,
}
LEFT_OUT = object()
DRY_RUN = Key("default", "never-stored")


def changed(kind: Kind, changes: Mapping[str, Any]) -> dict[str, Any]:
    spec = SPECS[kind] | dict(changes)
    return {name: value for name, value in spec.items() if value is not LEFT_OUT}


def attributes(*names: str) -> dict[str, Any]:
    return {"attributes": [{"name": name, "value": ["x"]} for name in names]}


SECRET = {"name": "passwords", "key": "alice"}


def case_id(value: object) -> str | None:
    if isinstance(value, Kind):
        return value.short
    if isinstance(value, dict):
        return ascii({k: "-" if v is LEFT_OUT else v for k, v in value.items()})[:60]
    return value[:60] if isinstance(value, str) else None


def created(admin: Api, kind: Kind, key: Key, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    answer = admin.create(kind, manifest(kind, key, spec))
    assert answer.status == 201, answer.body
    return answer.body

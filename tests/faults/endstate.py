"""The end of a run, field by field, with what differs from run to run told by its meaning."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from controller.api import MARK_ATTRIBUTE
from sandbox.lldap.tables import Row
from tests.faults.stores import SEALER, Object, key_of, sealed_edge
from tests.faults.stores import sealed_account as sealed

if TYPE_CHECKING:
    from tests.faults.bed import FaultBed

_DATES = {"creation_date", "modified_date", "password_modified_date", "uuid"}

EndState = dict[str, Any]


def end_state(bed: "FaultBed") -> EndState:
    """Everything in both stores that people can see."""
    meaning = _Meaning(bed)
    return {**meaning.lldap(), **meaning.kubernetes()}


def differences(expected: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> list[str]:
    """Where two ends differ, in words."""
    different: list[str] = []
    for key in sorted(expected.keys() | found.keys()):
        a, b, where = expected.get(key), found.get(key), f"{path}{key}"
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            different += differences(a, b, f"{where}: ")
        elif a != b:
            different.append(f"{where}: {b!r} instead of {a!r}")
    return different


class _Meaning:
    """Replaces uuids, uids, dates and hashes by what they stand for."""

    def __init__(self, bed: "FaultBed") -> None:
        self._stores = bed.safety.stores
        state = self._stores.state
        self._words = {
            row.columns["uuid"]: f"uuid of {entity} {name}"
            for entity, table, column in (
                ("user", state.users, "user_id"),
                ("group", state.groups, "display_name"),
            )
            for row in table.rows.values()
            for name in [row.columns[column]]
        }
        self._words |= {
            obj["metadata"]["uid"]: f"uid of {obj['kind']} {key_of(obj)}"
            for obj in self._stores.everything()
        }
        self._live_server = state.groups.rows[1].columns["uuid"]

    # --- lldap -------------------------------------------------------------------------------

    def lldap(self) -> EndState:
        state = self._stores.state
        users = {f"lldap user {key}": self._user(row) for key, row in state.users.rows.items()}
        groups = {
            f"lldap group {row.columns['display_name']}": self._row(row)
            for row in state.groups.rows.values()
        }
        schema = {
            f"lldap {table.entity} attribute {name}": str(attribute)
            for table in (state.users, state.groups)
            for name, attribute in table.stored.items()
            if name != MARK_ATTRIBUTE  # it is made when something may be marked soon
        }
        return {**users, **groups, **schema}

    def _user(self, row: Row) -> EndState:
        groups = self._stores.state.groups.rows
        return {
            **self._row(row),
            "links": sorted(groups[key].columns["display_name"] for key in row.links),
            "password": self._stores.password_of(row.columns["user_id"]),
        }

    def _row(self, row: Row) -> EndState:
        columns = {k: v for k, v in row.columns.items() if k not in _DATES and k != "group_id"}
        attributes = {k: list(v) for k, v in row.attributes.items()}
        if MARK_ATTRIBUTE in attributes:
            *rest, uid = attributes[MARK_ATTRIBUTE][0].split(" ")
            attributes[MARK_ATTRIBUTE] = [*rest, self._words.get(uid, "uid of nobody")]
        return {**columns, "attributes": attributes, "links": sorted(map(str, row.links))}

    # --- the API server ----------------------------------------------------------------------

    def kubernetes(self) -> EndState:
        return {f"{o['kind']} {key_of(o)}": self._object(o) for o in self._stores.everything()}

    def _object(self, obj: Object) -> EndState:
        metadata = obj["metadata"]
        return {
            "labels": metadata.get("labels"),
            "annotations": metadata.get("annotations"),
            "finalizers": metadata.get("finalizers"),
            "deleting": "deletionTimestamp" in metadata,
            "spec": obj.get("spec"),
            "status": self._status(obj),
        }

    def _status(self, obj: Object) -> EndState:
        status: Object = obj.get("status") or {}
        told = {name: self._value(name, value, obj) for name, value in status.items()}
        generation = obj["metadata"].get("generation")
        told["observedGeneration"] = status.get("observedGeneration") == generation
        told["conditions"] = {
            c["type"]: (
                c["status"],
                c["reason"],
                c["message"],
                c.get("observedGeneration") == generation,
            )
            for c in status.get("conditions") or []
        }
        return told

    def _value(self, name: str, value: Any, obj: Object) -> Any:
        tell = _TOLD.get(name)
        return value if tell is None else tell(self, value, obj)

    def _uuid(self, value: str, _obj: Object) -> str:
        return self._words.get(value, "another uuid")

    def _server(self, value: str, _obj: Object) -> str:
        return "this lldap" if value == self._live_server else "another lldap"

    def _group_id(self, value: int, _obj: Object) -> str:
        row = self._stores.group(value)
        return row.columns["display_name"] if row else "another group"

    def _seal(self, _value: str, obj: Object) -> bool:
        uuid = (obj.get("status") or {}).get("uuid", "")
        return sealed(obj, uuid) or sealed_edge(obj) is not None

    def _password_hash(self, value: str, obj: Object) -> str:
        secret = self._stores.secret_value(obj)
        uid = obj["metadata"]["uid"]
        good = secret is not None and SEALER.password_hash(uid, secret) == value
        return "of the Secret" if good else "of something else"

    def _password_secret(self, value: Object, obj: Object) -> str:
        name = (obj["spec"].get("passwordSecretRef") or {}).get("name", "")
        secret = self._stores.secret(obj["metadata"]["namespace"], name)
        current = secret and {k: secret["metadata"][k] for k in ("uid", "resourceVersion")}
        return "current" if value == current else "another"

    def _password_date(self, value: str, obj: Object) -> str:
        row = self._stores.user(obj["spec"]["username"])
        same = row is not None and row.columns["password_modified_date"] == value
        return "as in lldap" if same else "another"


_TOLD: dict[str, Callable[[_Meaning, Any, Object], Any]] = {
    "uuid": _Meaning._uuid,
    "userUuid": _Meaning._uuid,
    "groupUuid": _Meaning._uuid,
    "server": _Meaning._server,
    "groupId": _Meaning._group_id,
    "seal": _Meaning._seal,
    "passwordHash": _Meaning._password_hash,
    "passwordSecret": _Meaning._password_secret,
    "passwordModifiedDate": _Meaning._password_date,
}
"""The fields of a status that differ from run to run."""

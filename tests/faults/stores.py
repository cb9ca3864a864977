"""What stands in the two stores, read behind the operator's back."""

import base64
from typing import Any

from controller.api import INSTANCE_LABEL, KINDS, MARK_ATTRIBUTE
from controller.ownership.mark import AnyMark, mark_of
from controller.ownership.seal import Sealer
from lldap.names import group_key, user_key
from sandbox.lldap.store import State
from sandbox.lldap.tables import Row
from tests.support.bed import HASH_KEY, Bed

Object = dict[str, Any]

GROUP = "lldap-operator.lukidoescode.com"
_STORAGE = {kind.kind: f"{kind.plural}.{GROUP}" for kind in KINDS}
SEALER = Sealer(HASH_KEY)


class Stores:
    """Both stores of one bed as they are now. What it gives out is read, never changed."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self._passwords: dict[int, tuple[Any, str | None]] = {}

    # --- the API server ----------------------------------------------------------------------

    def objects(self, kind: str) -> list[Object]:
        """All objects of a kind."""
        return self._bed.api.store.snapshot(_STORAGE[kind])[0]

    def object(self, kind: str, key: str) -> Object | None:
        """One object by `namespace/name`."""
        return self._bed.api.store.get(_STORAGE[kind], key)

    def everything(self) -> list[Object]:
        """All objects of all kinds."""
        return [{**obj, "kind": kind} for kind in _STORAGE for obj in self.objects(kind)]

    def by_uid(self, uid: str) -> Object | None:
        """The object with that uid."""
        return next((o for o in self.everything() if o["metadata"]["uid"] == uid), None)

    def secret(self, namespace: str, name: str) -> Object | None:
        """A Secret."""
        return self._bed.api.store.get("secrets", f"{namespace}/{name}")

    def secret_value(self, obj: Object) -> bytes | None:
        """What the Secret of a user's object holds."""
        reference = obj["spec"].get("passwordSecretRef")
        if not reference:
            return None
        secret = self.secret(obj["metadata"]["namespace"], reference["name"])
        encoded = ((secret or {}).get("data") or {}).get(reference["key"])
        return None if encoded is None else base64.b64decode(encoded)

    def goes(self, storage: str, key: str) -> bool:
        """Whether a CRD or a namespace is gone or being deleted."""
        found = self._bed.api.store.get(storage, key)
        return found is None or "deletionTimestamp" in found["metadata"]

    def uninstalling(self, kind: str) -> bool:
        """Whether every deletion counts as Retain."""
        crds = "customresourcedefinitions.apiextensions.k8s.io"
        return self.goes(crds, _STORAGE[kind]) or self.goes("namespaces", "lldap-system")

    # --- lldap -------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The database. The bed has one thread, so nobody changes it meanwhile."""
        with self._bed.lldap.database() as store:
            return store.state

    def user(self, user_id: str) -> Row | None:
        return self.state.users.rows.get(user_key(user_id))

    def group(self, group_id: int) -> Row | None:
        return self.state.groups.rows.get(group_id)

    def group_named(self, name: str) -> tuple[int, Row] | None:
        for key, row in self.state.groups.rows.items():
            if group_key(row.columns["display_name"]) == group_key(name):
                return int(key), row
        return None

    def password_of(self, user_id: str) -> str | None:
        """Which of the passwords of this run logs the user in; None if none does."""
        row = self.user(user_id)
        if row is None or row.password is None:
            return None
        known = self._passwords.get(id(row.password))
        if known is None:
            tried = (p for p in sorted(self._candidates()) if self._logs_in(user_id, p))
            known = self._passwords[id(row.password)] = (row.password, next(tried, None))
        return known[1]

    def logs_in(self, user_id: str, password: bytes) -> bool:
        """Whether the user can log in with that password."""
        return self.password_of(user_id) == password.decode(errors="replace")

    def _logs_in(self, user_id: str, password: str) -> bool:
        return self._bed.login(user_id, password) == 200

    def _candidates(self) -> set[str]:
        found = {"admin-password-1"}
        for secret in self._bed.api.store.changes("secrets", 0)[0]:
            for value in ((secret.new or {}).get("data") or {}).values():
                found.add(base64.b64decode(value).decode(errors="replace"))
        return found | {f"{user}'s own password" for user in self.state.users.rows}


def labelled(obj: Object, instance: str = "default") -> bool:
    """Whether the object is of that instance."""
    return (obj["metadata"].get("labels") or {}).get(INSTANCE_LABEL) == instance


def key_of(obj: Object) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"


def deleting(obj: Object) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def annotated(obj: Object, name: str) -> bool:
    annotations = obj["metadata"].get("annotations") or {}
    return annotations.get(f"lldap-operator.lukidoescode.com/{name}") == "true"


def mark(row: Row) -> AnyMark | None:
    return mark_of(row.attributes)


def custom(row: Row) -> dict[str, list[str]]:
    """Attributes without the mark."""
    return {name: list(v) for name, v in row.attributes.items() if name != MARK_ATTRIBUTE}


def sealed_account(obj: Object, uuid: str) -> bool:
    """Whether the object's status says under seal that it has this very account."""
    status = obj.get("status") or {}
    values = [status.get("uuid"), status.get("origin", "")]
    return status.get("uuid") == uuid and SEALER.holds(
        status.get("seal"), obj["metadata"]["uid"], "default", values
    )


def sealed_edge(obj: Object) -> tuple[str, int] | None:
    """The edge that a membership's status records under seal."""
    status = obj.get("status") or {}
    values = [status.get(name) for name in ("userUuid", "groupId", "groupUuid")]
    holds = SEALER.holds(status.get("seal"), obj["metadata"]["uid"], "default", values)
    return (status["userId"], status["groupId"]) if holds else None

"""Tenant safety: every field of every kind, set to hostile values, changes nothing of others.

The list is docs/reference/tenant-safety.md; the values are in tests/support/hostile.py.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.api import INSTANCE_LABEL, KINDS, Kind
from controller.configuration.values import Adoption
from controller.harness.resource import Object
from informers import StatusError
from tests.support.directory import BUILT_IN, Directory
from tests.support.hostile import (
    ADOPTABLE,
    AIMED,
    AIMED_NAMES,
    ATTEMPTS,
    OTHERS_GROUPS,
    TENANT,
    VICTIMS,
    VIRTUAL,
    bases,
    fields,
    others,
    world,
)

PAGE = Path(__file__).parents[2] / "docs/reference/tenant-safety.md"
NAMESPACES = (TENANT, VICTIMS, VIRTUAL)
ADOPTIONS = (Adoption.NEVER, Adoption.IF_UNPRIVILEGED)
KIND = {kind.kind: kind for kind in KINDS}


def listed() -> dict[str, list[str]]:
    """The fields that the page lists, by kind."""
    found: dict[str, list[str]] = {}
    kind = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line.removeprefix("## ")
        elif row := re.match(r"\| `([a-zA-Z.\[\]]+)` \| .+ \| .+ \|", line):
            found.setdefault(kind, []).append(row[1])
    return found


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_the_page_lists_every_field_and_every_field_is_tried(kind: Kind) -> None:
    assert listed()[kind.kind] == list(fields(kind))
    assert set(ATTEMPTS[kind.kind]) == set(fields(kind))
    assert all(ATTEMPTS[kind.kind].values())


class Tenant:
    """Somebody who may write one namespace, and perhaps the statuses there."""

    def __init__(self, adoption: Adoption, namespace: str, *, status: bool) -> None:
        self.bed = world(adoption)
        self.namespace = namespace
        self.status = status
        self._adoption = adoption
        self._start = self.bed.lldap.snapshot()
        self._number = 0
        self.bed.secret("mallorys", b"mallorys-password", namespace)
        self._seals: dict[str, str] = {}

    # --- one attempt -----------------------------------------------------------------------

    def tries(self, kind: str, field: str, value: Any, **spec: Any) -> None:
        """Make the objects, set the field, let time pass, delete all; others stay as they are.

        `spec` is what else the object says.
        """
        self._number += 1
        but = self._handed_out(kind, field, value)
        before = others(self.bed, but)
        self.bed.clear_logs()
        made = list(self._make(kind, field, value, spec))
        what = f"{kind} {field} = {str(value)[:60]!r}"
        self._pass_time()
        assert others(self.bed, but) == before, what
        for each in reversed(made):
            self._delete(each)
        self._pass_time()
        for each in made:
            assert not self.bed.exists(each, self._name(each), self.namespace), f"{what}: {each}"
        assert others(self.bed, but) == before, f"{what}, after the deletion"
        self._check_secrets()
        self._clean_up(but)

    def _pass_time(self) -> None:
        for _ in range(2):
            self.bed.settle()
            self.bed.clock.advance(35)
        self.bed.settle()

    def _name(self, kind: str) -> str:
        return f"{kind.lower()}-{self._number}"

    def _make(self, kind: str, field: str, value: Any, spec: dict[str, Any]) -> Iterator[str]:
        """The tenant's objects; a refused one is not there."""
        specs = bases(str(self._number))
        specs[kind] |= spec
        wanted = ["LldapUser", "LldapGroup"] if kind == "LldapMembership" else []
        for each in [*wanted, kind]:
            body = self._object(each, specs[each])
            if each == kind and not field.startswith("status"):
                _set(body, field, value)
            if self._create(each, body):
                yield each
                self.bed.settle()
        if self.status and self.bed.exists(kind, self._name(kind), self.namespace):
            self._forge(kind, field, value)

    def _object(self, kind: str, spec: dict[str, Any]) -> Object:
        return {
            "apiVersion": KIND[kind].api_version,
            "kind": kind,
            "metadata": {
                "name": self._name(kind),
                "namespace": self.namespace,
                "labels": {INSTANCE_LABEL: "default"},
            },
            "spec": dict(spec),
        }

    def _create(self, kind: str, body: Object) -> bool:
        try:
            self.bed.admin.post(self.bed.path(kind, self.namespace), body)
        except StatusError as error:
            if error.code not in {400, 422, 500}:
                raise
            return False
        return True

    # --- a forged status -------------------------------------------------------------------

    def _forge(self, kind: str, field: str, value: Any) -> None:
        """One field, or, where the attempt is in the spec, a whole record of what it is after."""
        live = self.bed.get(kind, self._name(kind), self.namespace)
        seal = (live.get("status") or {}).get("seal")
        self._seals.setdefault(kind, seal or "0" * 64)
        if field.startswith("status."):
            name, _, rest = field.removeprefix("status.").partition(".")
            del rest
            status = {name.removesuffix("[]"): self._meant(kind, value)}
        else:
            status = self._record(kind, live)
        known = {each.name for each in KIND[kind].status.fields}
        status = {name: each for name, each in status.items() if name in known}
        try:
            self.bed.forge(kind, self._name(kind), status, self.namespace)
        except StatusError as error:
            if error.code not in {400, 422, 500}:
                raise

    def _meant(self, kind: str, value: Any) -> Any:
        if value == "stolen":
            return self._seals[kind]
        if isinstance(value, str) and value.startswith("uuid of "):
            return self._uuid(value.removeprefix("uuid of "))
        return value

    def _uuid(self, name: str) -> str:
        directory = Directory(self.bed)
        if directory.has_user(name):
            return directory.uuid(name)
        return directory.group_uuid(name) if directory.has_group(name) else ""

    def _record(self, kind: str, live: Object) -> dict[str, Any]:
        """As if the operator had recorded what the spec names as the object's own."""
        spec = live["spec"]
        user = str(spec.get("username") or spec.get("userName") or "").lower()
        group = str(spec.get("displayName") or spec.get("groupName") or "").lower()
        row = Directory(self.bed).group(group)
        return {
            "instance": "default",
            "server": self.bed.operator.instance.mirror.server_uuid,
            "uuid": self._uuid(user if kind == "LldapUser" else group),
            "origin": "Created",
            "userId": user,
            "userUuid": self._uuid(user),
            "groupId": 1 if row is None else int(row.columns["group_id"]),
            "groupUuid": self._uuid(group),
            "managed": ["email", "displayName", "salary", "costcenter"],
            "passwordHash": "0" * 64,
            "seal": self._seals[kind],
            "observedGeneration": live["metadata"]["generation"],
        }

    # --- the end ---------------------------------------------------------------------------

    def _delete(self, kind: str) -> None:
        name = self._name(kind)
        if not self.bed.exists(kind, name, self.namespace):
            return
        self.bed.delete(kind, name, self.namespace)
        self.bed.settle()
        if self.bed.exists(kind, name, self.namespace):
            self._let_it_go(kind, name)

    def _let_it_go(self, kind: str, name: str) -> None:
        """Take back what holds it by design.

        An annotation, a label, a forged server, Delete for an attribute that is in use.
        """
        self.bed.admin.patch(
            self.bed.path(kind, self.namespace, name),
            {
                "metadata": {"annotations": None, "labels": {INSTANCE_LABEL: "default"}},
                "spec": {"deletionPolicy": "Retain"} if kind == "LldapAttributeSchema" else {},
            },
            content_type="application/merge-patch+json",
        )
        if self.status:
            self.bed.forge(kind, name, {"server": None, "instance": None}, self.namespace)
        live = self.bed.get(kind, name, self.namespace)["metadata"].get("finalizers") or []
        self.bed.admin.patch(
            self.bed.path(kind, self.namespace, name),
            {"metadata": {"finalizers": [each for each in live if each == KIND[kind].finalizer]}},
            content_type="application/merge-patch+json",
        )

    def _check_secrets(self) -> None:
        for answered in self.bed.api_transport.calls:
            path = answered.call.path
            if "/secrets/" in path:
                assert path.startswith(f"/api/v1/namespaces/{self.namespace}/secrets/")
                assert ".." not in path

    def _clean_up(self, but: set[str]) -> None:
        """Where something was handed out by design lldap goes back to the start."""
        if but:
            self.bed.lldap.restore(self._start)
            self.bed.start()
            self.bed.settle()

    # --- what is handed out by design --------------------------------------------------------

    def _handed_out(self, kind: str, field: str, value: Any) -> set[str]:
        found = set()
        name = str(value).lower()
        claims = field in {"spec.username", "spec.displayName"} and kind != "LldapMembership"
        if claims and self._adoption is Adoption.IF_UNPRIVILEGED:
            found |= ADOPTABLE[self.namespace] & {name}
        if kind == "LldapMembership":
            found |= self._of_memberships(field, name)
        return found | self._tied_to(found)

    def _tied_to(self, names: set[str]) -> set[str]:
        """The groups of these users and the members of these groups: they change with them."""
        directory = Directory(self.bed)
        groups = {name for name in OTHERS_GROUPS if directory.members(name) & names}
        members = [directory.members(name) for name in names if directory.has_group(name)]
        return groups.union(*members)

    def _of_memberships(self, field: str, name: str) -> set[str]:
        """Members of groups of the same namespace, and of built-in ones in the virtual groups'."""
        own = {VICTIMS: {"victim", "victims"}, VIRTUAL: {*BUILT_IN, "peer"}, TENANT: set[str]()}
        return (
            own[self.namespace] & {name} if field in {"spec.userName", "spec.groupName"} else set()
        )


def _set(body: Object, path: str, value: Any) -> None:
    """Set the field; of a list the whole list is given, of metadata the whole map."""
    *parents, last = [part for part in path.split(".") if part]
    for index, part in enumerate(parents):
        if part.endswith("[]"):
            last, parents = part.removesuffix("[]"), parents[:index]
            break
    place: Any = body
    for part in parents:
        place[part] = dict(place.get(part) or {})
        place = place[part]
    place[last] = value


CELLS = [
    pytest.param(
        kind.kind,
        namespace,
        adoption,
        status,
        id=f"{kind.kind}-{namespace}-{adoption}-{'status' if status else 'spec'}",
    )
    for kind in KINDS
    for namespace in NAMESPACES
    for adoption in ADOPTIONS
    for status in (False, True)
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "namespace", "adoption", "status"), CELLS)
def test_no_field_reaches_what_is_anothers(
    kind: str, namespace: str, adoption: Adoption, status: bool
) -> None:
    tenant = Tenant(adoption, namespace, status=status)
    for field, values in ATTEMPTS[kind].items():
        if field.startswith("status.") and not status:
            continue
        for value in values:
            tenant.tries(kind, field, value)
    assert tenant.bed.login("victim", "victims-password") == 200
    for name in ("ceo", "root", "svc", "pwm", "far", "beside"):
        assert tenant.bed.login(name, f"{name}'s own password") == 200


@pytest.mark.slow
@pytest.mark.parametrize("status", [False, True])
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_no_other_shape_reaches_an_attribute_of_others(namespace: str, status: bool) -> None:
    kind = "LldapAttributeSchema"
    tenant = Tenant(Adoption.IF_UNPRIVILEGED, namespace, status=status)
    for name in AIMED_NAMES:
        for field in AIMED:
            for value in ATTEMPTS[kind][field]:
                tenant.tries(kind, field, value, attributeName=name)

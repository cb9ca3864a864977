"""Cases from the field that take more than one reconciler, or that no other module is about."""

import random

import pytest

from controller.harness.resource import Object
from informers import StatusError
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from tests.support.accounts import attributes, calls_of, reference, registrations
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.groups import VERIFIED
from tests.support.migration import picture

LOCKED = "Database error: `Execution Error: error returned from database: (code: 5) database is "
LOCKED += "locked`"
USERS = 50


@pytest.mark.parametrize("first", [[""], ["42"]], ids=["at the creation", "by an edit"])
def test_A07_one_empty_value_means_no_value_on_a_group_too(first: list[str]) -> None:
    bed = Bed()
    bed.schema("department", "Group")
    bed.group("Team", attributes=attributes(department=first))
    bed.settle()
    bed.group("Team", attributes=attributes(department=[""]))
    bed.settle()
    assert bed.ready("LldapGroup", "team") == VERIFIED
    row = Directory(bed).group("Team")
    assert row is not None
    assert "department" not in row.attributes
    assert len(calls_of(bed, "updateGroup")) == (first != [""])
    bed.clear_logs()
    bed.run(1400, step=200)
    assert bed.mutations() == []


class Locked:
    """Every third change meets a database that somebody else has locked."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.met = 0

    def __call__(self, call: Call, forward: Forward) -> Response:
        writes = call.operation.startswith(("create", "update", "add", "remove"))
        if not writes or self._random.random() > 0.3:
            return forward(call)
        self.met += 1
        errors = [{"message": LOCKED, "path": [call.operation]}]
        return Response.of_json(200, {"data": None, "errors": errors})


@pytest.mark.parametrize("seed", range(3))
def test_C04_fifty_users_at_once_come_through_a_database_that_is_often_locked(seed: int) -> None:
    bed = Bed()
    locked = Locked(seed)
    bed.lldap.hooks.append(locked)
    bed.secret("pw", b"a good password")
    bed.group("Team")
    for number in range(USERS):
        name = f"user-{number}"
        bed.user(name, passwordPolicy="Manage", passwordSecretRef=reference())
        bed.membership(name, "Team")
    bed.run(30)
    assert locked.met > 20
    for number in range(USERS):
        assert bed.ready("LldapUser", f"user-{number}") == VERIFIED
        assert bed.ready("LldapMembership", f"user-{number}-team") == VERIFIED
    assert registrations(bed) == USERS
    assert len(Directory(bed).members("Team")) == USERS
    assert {"Conflict", "InvalidValue"}.isdisjoint(bed.events.reasons())


def avatar(size: int) -> Object:
    return {
        "username": "alice",
        "email": "a@b.org",
        "attributes": attributes(avatar=[picture(size)]),
    }


def test_K06_a_big_picture_is_applied_by_the_server_and_never_copied() -> None:
    bed = Bed()
    bed.apply("LldapUser", "alice", {**avatar(300_000), "passwordPolicy": "Ignore"})
    bed.settle()
    assert bed.ready("LldapUser", "alice") == VERIFIED
    obj = bed.get("LldapUser", "alice")
    assert len(str(obj["status"])) + len(str(obj["metadata"])) < 10_000
    bed.clear_logs()
    bed.start()
    bed.run(1400, step=200)
    assert bed.mutations() == []
    assert bed.api_writes() == []


def test_K06_a_big_picture_in_the_annotation_of_a_client_side_apply_is_refused() -> None:
    bed = Bed()
    applied = str(avatar(300_000))
    notes = {"kubectl.kubernetes.io/last-applied-configuration": applied}
    with pytest.raises(StatusError, match=r"metadata\.annotations") as refused:
        bed.user("alice", annotations=notes)
    assert refused.value.code == 422
    assert not bed.exists("LldapUser", "alice")

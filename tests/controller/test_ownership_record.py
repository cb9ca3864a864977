"""The recorded status is input: it may make the operator do less, never more."""

from typing import Any

import pytest

from controller.api import KINDS, MARK_ATTRIBUTE
from controller.configuration.values import Adoption
from informers import StatusError
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.hostile import ATTEMPTS, VICTIMS, world

LOST = "RecordLost"
OBJECTS = {
    "LldapUser": "victim",
    "LldapGroup": "victims",
    "LldapMembership": "victim-victims",
    "LldapAttributeSchema": "costcenter",
}


def lost(bed: Bed) -> list[str]:
    return [who for who, _, reason, _ in bed.events.seen if reason == LOST]


@pytest.mark.parametrize(
    "change",
    [{"seal": "0" * 64}, {"seal": "ä"}, {"uuid": "another"}, {"origin": "Adopted"}],
    ids=str,
)
@pytest.mark.parametrize(("kind", "name"), [("LldapUser", "alice"), ("LldapGroup", "devs")])
def test_a_record_that_somebody_changed_is_reported_once_and_written_anew(
    bed: Bed, kind: str, name: str, change: dict[str, str]
) -> None:
    bed.user("alice")
    bed.group("devs")
    bed.settle()
    before = bed.get(kind, name)["status"]
    bed.clear_logs()
    bed.forge(kind, name, change)
    bed.run(700)
    assert lost(bed) == [f"{kind} {name}"]
    assert bed.get(kind, name)["status"] == before
    assert bed.mutations() == []


def test_a_record_without_a_seal_is_no_news(bed: Bed) -> None:
    """As it is when a hash key is given for the first time."""
    bed.start(hash_key=None)
    bed.user("alice")
    bed.settle()
    assert "seal" not in bed.get("LldapUser", "alice")["status"]
    bed.start()
    bed.settle()
    assert "seal" in bed.get("LldapUser", "alice")["status"]
    assert lost(bed) == []


@pytest.mark.parametrize("key", [b"l" * 32, None])
def test_another_key_loses_the_record_and_nothing_in_lldap(bed: Bed, key: bytes | None) -> None:
    bed.secret("pw", b"first-password")
    reference = {"name": "pw", "key": "password"}
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef=reference)
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.settle()
    before = Directory(bed).dump()
    bed.clear_logs()
    bed.start(hash_key=key)
    bed.run(700)
    assert bed.mutations() == []
    assert Directory(bed).dump() == before
    assert sorted(lost(bed)) == ["LldapGroup devs", "LldapUser alice"]
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


@pytest.mark.parametrize(
    "change", [{"seal": None}, {"seal": "0" * 64}, {"server": "another"}, {"uuid": None}], ids=str
)
def test_a_lost_record_puts_no_mark_back(change: dict[str, Any]) -> None:
    bed = Bed(adoption=Adoption.NEVER)
    directory = Directory(bed)
    bed.user("alice")
    bed.settle()
    bed.start()  # and not the process that wrote it
    directory.set_mark("alice", None)
    bed.forge("LldapUser", "alice", change)
    bed.run(700)
    assert directory.mark("alice") is None
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    bed.delete("LldapUser", "alice")
    bed.settle()
    assert directory.has_user("alice")
    assert not bed.exists("LldapUser", "alice")


def test_a_seal_of_one_object_does_not_hold_for_another() -> None:
    bed = Bed(adoption=Adoption.NEVER)
    directory = Directory(bed)
    bed.user("alice")
    bed.settle()
    record = bed.get("LldapUser", "alice")["status"]
    bed.delete("LldapUser", "alice")
    bed.settle()
    directory.make_user("alice")
    with bed.lldap.database() as store:  # as if it were the very same account
        store.state.users.rows["alice"].columns["uuid"] = record["uuid"]
    bed.user("alice")
    bed.settle()
    forged = {name: record[name] for name in ("uuid", "server", "origin", "seal", "userId")}
    bed.forge("LldapUser", "alice", forged)
    bed.run(700)
    assert bed.ready("LldapUser", "alice") == ("False", "NotAdopted")
    assert directory.mark("alice") is None


def test_an_unsealed_membership_record_removes_nothing(bed: Bed) -> None:
    bed.user("alice")
    bed.user("bob")
    bed.group("devs")
    bed.membership("alice", "devs")
    bed.membership("bob", "devs")
    bed.settle()
    directory = Directory(bed)
    bob = bed.get("LldapMembership", "bob-devs")["status"]
    bed.forge(
        "LldapMembership",
        "alice-devs",
        {name: bob[name] for name in ("userId", "userUuid", "seal")},
    )
    bed.delete("LldapMembership", "alice-devs")
    bed.settle()
    assert directory.members("devs") == {"bob"}


@pytest.mark.slow
@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_no_forged_field_makes_the_operator_change_anything(kind: Any, restarted: bool) -> None:
    """On an object at rest: lldap stays as it is, whatever its status says."""
    bed = world(Adoption.IF_UNPRIVILEGED)
    before = Directory(bed).dump()
    name = OBJECTS[kind.kind]
    live = bed.get(kind.kind, name, VICTIMS)["status"]
    for field, values in ATTEMPTS[kind.kind].items():
        if not field.startswith("status.") or field == "status.managed":
            continue
        for value in values:
            key = field.removeprefix("status.").partition(".")[0].removesuffix("[]")
            try:
                bed.forge(kind.kind, name, {key: value}, VICTIMS)
            except StatusError as error:
                if error.code != 422:
                    raise
                continue
            if restarted:
                bed.start()
            bed.settle()
            bed.clock.advance(35)
            bed.settle()
            what = f"{kind} {field} = {str(value)[:60]!r}"
            assert bed.mutations() == [], what
            assert Directory(bed).dump() == before, what
            bed.forge(kind.kind, name, {each: None for each in (key,) if each not in live}, VICTIMS)
            bed.forge(
                kind.kind, name, {each: live[each] for each in (key,) if each in live}, VICTIMS
            )
            bed.settle()


def test_forged_names_in_managed_clear_what_the_object_may_set_and_nothing_else(bed: Bed) -> None:
    directory = Directory(bed)
    directory.make_attribute("salary")
    bed.user("alice", displayName="Alice")
    bed.settle()
    directory.set_attribute("alice", "salary", "9")
    before = directory.user("alice")
    names = ["email", "uuid", "user_id", "mail", "creation_date", "display_name", MARK_ATTRIBUTE]
    bed.forge("LldapUser", "alice", {"managed": names})
    bed.run(700)
    assert directory.user("alice") == before

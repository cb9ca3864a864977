"""What is unique, what dates do, and how tests turn the database back."""

import json
import pickle
import threading

import pytest

from sandbox.lldap.errors import DomainError
from sandbox.lldap.store import Store
from tests.sandbox.lldap_session import log_in, new_lldap
from tests.support.clock import FakeClock

DATES = ("creation_date", "modified_date", "password_modified_date")


def test_dates_grow_even_when_the_clock_stands_still() -> None:
    admin = log_in(new_lldap())
    admin.create_user("alice")
    created = admin.attributes("alice")
    assert len({created[date][0] for date in DATES}) == 1
    admin.update_user("alice", displayName="A")
    changed = admin.attributes("alice")
    assert changed["modified_date"] > created["modified_date"]
    assert changed["password_modified_date"] == created["creation_date"]
    admin.register("alice", "password")
    registered = admin.attributes("alice")
    assert registered["password_modified_date"] == registered["modified_date"]
    assert registered["password_modified_date"] > changed["modified_date"]


def test_whole_seconds_hide_a_registration_in_the_second_of_the_creation() -> None:
    clock = FakeClock()
    admin = log_in(new_lldap(clock, whole_seconds=True))
    uuid = admin.create_user("alice")["uuid"]
    assert uuid != admin.create_user("bob")["uuid"]
    admin.register("alice", "password")
    shown = admin.attributes("alice")
    assert (
        shown["password_modified_date"] == shown["creation_date"] == ["2030-01-01T00:00:00+00:00"]
    )
    clock.advance(1.5)
    admin.register("alice", "password")
    assert admin.attributes("alice")["password_modified_date"] == ["2030-01-01T00:00:01+00:00"]


@pytest.mark.parametrize(
    ("user_id", "email", "constraint"),
    [
        ("alice", "other@example.com", "users.user_id"),
        ("other", "alice@EXAMPLE.com", "users.lowercase_email"),
        ("alice", "alice@example.com", "users.lowercase_email"),
        ("other", "É@example.com", "users.lowercase_email"),
    ],
)
def test_a_user_that_clashes_is_refused_and_nothing_is_left(
    user_id: str, email: str, constraint: str
) -> None:
    store = Store(FakeClock())
    store.create_user("alice", "alice@example.com")
    store.create_user("é", "é@example.com")
    before = store.snapshot()
    with pytest.raises(DomainError, match=f"UNIQUE constraint failed: {constraint}"):
        store.create_user(user_id, email)
    assert store.state == before


def test_a_failed_group_uses_up_no_id_and_a_deleted_one_does() -> None:
    store = Store(FakeClock())
    store.create_group("Developers")
    with pytest.raises(DomainError, match=r"groups\.lowercase_display_name"):
        store.create_group("developers")
    store.delete_group(4)
    assert store.create_group("developers").columns["group_id"] == "5"


def test_deleting_a_user_takes_its_memberships_along() -> None:
    store = Store(FakeClock())
    store.create_user("alice", "alice@example.com")
    store.add_member("alice", 2)
    store.delete_user("alice")
    store.create_user("alice", "alice@example.com")
    assert not store.state.groups.rows[2].links
    assert not store.state.users.rows["alice"].links


def test_a_failed_update_changes_nothing() -> None:
    admin = log_in(new_lldap())
    admin.create_user("alice", displayName="A")
    admin.create_user("bob")
    before = admin.attributes("alice")
    for refused in (
        {"displayName": "B", "email": "BOB@example.com"},
        {"displayName": "B", "removeAttributes": ["nosuch"]},
        {"displayName": "B", "insertAttributes": [{"name": "nosuch", "value": ["1"]}]},
    ):
        assert admin.update_user("alice", **refused)
        assert admin.attributes("alice") == before


def test_a_snapshot_is_a_plain_value_that_can_be_restored_twice() -> None:
    lldap = new_lldap()
    admin = log_in(lldap)
    admin.create_user("alice")
    kept = pickle.loads(pickle.dumps(lldap.snapshot()))
    for _ in range(2):
        admin.create_user("bob")
        admin.update_user("alice", displayName="A")
        lldap.restore(kept)
        assert admin.data("{users{id displayName}}")["users"] == [
            {"id": "admin", "displayName": "Administrator"},
            {"id": "alice", "displayName": ""},
        ]


def test_after_a_restore_newer_tokens_are_valid_and_revoked_ones_come_back() -> None:
    lldap = new_lldap()
    log_in(lldap)
    old = log_in(lldap)
    kept = lldap.snapshot()
    lldap.handle("GET", "/auth/logout", {"refresh-token": old.refresh_token}, b"")
    new = log_in(lldap)
    assert old.send("{apiVersion}").body == b"JWT was logged out"
    lldap.restore(kept)
    assert new.data("{apiVersion}")
    assert old.data("{apiVersion}")


def test_a_new_installation_has_other_uuids_and_knows_no_old_token() -> None:
    clock = FakeClock()
    lldap = new_lldap(clock)
    admin = log_in(lldap)
    admin.create_user("alice")
    before = admin.data("{groups{uuid}}")
    clock.advance(60)
    lldap.reinstall()
    assert admin.send("{apiVersion}").body == b"Invalid JWT"
    again = log_in(lldap)
    assert again.data("{users{id}}") == {"users": [{"id": "admin"}]}
    assert again.data("{groups{uuid}}") != before


def test_a_demoted_operator_keeps_its_rights_until_the_next_login() -> None:
    lldap = new_lldap()
    admin = log_in(lldap)
    with lldap.database() as store:
        store.remove_member("admin", 1)
    admin.create_user("alice")
    demoted = log_in(lldap)
    assert demoted.error("{users{id}}") == "Unauthorized access to user list"


def test_deleting_an_attribute_wipes_everybodys_values() -> None:
    admin = log_in(new_lldap())
    admin.add_attribute("tags", isList=True)
    admin.create_user("alice", attributes=[{"name": "TAGS", "value": ["b", "a"]}])
    assert admin.attributes("alice")["tags"] == ["b", "a"]
    admin.data('mutation{deleteUserAttribute(name:"tags"){ok}}')
    admin.add_attribute("tags")
    assert "tags" not in admin.attributes("alice")


def test_one_failed_alias_makes_the_whole_answer_null_and_ends_the_request() -> None:
    admin = log_in(new_lldap())
    query = """mutation{
        a: createUser(user: {id: "m1", email: "m1"}) {id}
        b: createUser(user: {id: "admin", email: "m2"}) {id}
        c: createUser(user: {id: "m3", email: "m3"}) {id}}"""
    answer = json.loads(admin.send(query).body)
    assert answer["data"] is None
    assert [error["path"] for error in answer["errors"]] == [["b"]]
    assert admin.data("{users{id}}") == {"users": [{"id": "admin"}, {"id": "m1"}]}


def test_calls_from_many_threads_lose_nothing() -> None:
    lldap = new_lldap()
    admin = log_in(lldap)

    def create(prefix: str) -> None:
        for number in range(30):
            admin.create_user(f"{prefix}{number}")
            admin.add_member(f"{prefix}{number}", 3)

    threads = [threading.Thread(target=create, args=(prefix,)) for prefix in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    users = admin.data("{users{creationDate groups{id}}}")["users"]
    assert len(users) == 1 + 4 * 30
    assert len({user["creationDate"] for user in users}) == len(users)
    assert len(admin.data("{group(groupId:3){users{id}}}")["group"]["users"]) == 4 * 30

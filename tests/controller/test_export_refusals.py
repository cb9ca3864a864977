"""What `lldap-operator export` cannot carry over, and what happens while it reads."""

import re
from collections import Counter

import pytest

from controller.api import MARK_ATTRIBUTE
from controller.migrate.fit import LARGEST_OBJECT
from lldap import AttributeSchema, AttributeType, NotAdmin, Target
from lldap.models import LARGE_VALUE
from sandbox.lldap.exchange import Call, Response
from sandbox.lldap.faults import Forward
from sandbox.lldap.tables import Attribute
from tests.support.bed import Bed
from tests.support.directory import Directory, mark
from tests.support.migration import (
    PLACE,
    VIRTUAL,
    apply_text,
    built_in_id,
    client_of,
    declare,
    exported,
    picture,
    small,
)


@pytest.mark.parametrize("user", ["", "a b", "a,b=c", "jörg", "..", "x" * 65, "-\x1b[31m"])
def test_a_user_id_that_no_manifest_can_name_is_reported_and_the_rest_exported(user: str) -> None:
    bed = Bed()
    small(bed)
    client_of(bed).create_user(user, "odd@example.org")
    client_of(bed).add_user_to_group(user, built_in_id(bed, "devs"))
    run = exported(bed)
    assert "alice" in run.of("LldapUser")
    assert len(run.left_out) == 1
    assert "lldap cannot rename an account" in run.left_out[0]
    assert "\x1b" not in run.said
    assert "note: 1 membership of what was not carried over: left out with it" in run.notes


@pytest.mark.parametrize(
    "email", ["", "not-an-email", "root@localhost", "a@b@example.org", "a b@example.org"]
)
def test_an_e_mail_that_no_manifest_can_have_is_reported(email: str) -> None:
    bed = Bed()
    client_of(bed).update_user("admin", email="admin@example.org")  # the empty one is its own
    client_of(bed).create_user("odd", email)
    run = exported(bed)
    assert run.of("LldapUser") == {}
    assert len(run.left_out) == 1
    assert run.left_out[0].startswith('not carried over: user "odd": its e-mail must have one @')


def test_a_group_name_that_is_too_long_is_reported() -> None:
    bed = Bed()
    client_of(bed).create_group_with_details("x" * 129)
    run = exported(bed)
    assert run.of("LldapGroup") == {}
    assert "rename it" in run.left_out[0]


def test_a_name_too_long_for_its_field_stays_in_lldap_and_the_user_is_exported() -> None:
    bed = Bed()
    client_of(bed).create_user("alice", "a@example.org", display_name="x" * 256, last_name="A")
    run = exported(bed)
    assert run.spec("LldapUser", "alice") == {
        "username": "alice",
        "email": "a@example.org",
        "lastName": "A",
        "passwordPolicy": "Ignore",
    }
    (line,) = run.left_out
    assert line.startswith('not carried over: displayName of user "alice": spec.displayName must')


@pytest.mark.parametrize("name", ["-x", "x" * 65])
def test_an_attribute_that_no_manifest_can_declare_is_reported_with_its_holders(name: str) -> None:
    bed = Bed()
    client = client_of(bed)
    client.add_attribute(Target.USER, AttributeSchema(name, AttributeType.STRING))
    client.create_user("alice", "a@example.org", attributes={name: ["v"]})
    run = exported(bed)
    assert run.of("LldapAttributeSchema") == {}
    assert "attributes" not in run.spec("LldapUser", "alice")
    assert len(run.left_out) == 1
    assert "of users, and what 1 user has in it: its name must be" in run.left_out[0]


def test_one_name_of_two_types_is_left_out_on_both_sides() -> None:
    bed = Bed()
    client = client_of(bed)
    client.add_attribute(Target.USER, AttributeSchema("x", AttributeType.STRING))
    client.create_user("alice", "a@example.org", attributes={"x": ["v"]})
    with bed.lldap.database() as store:  # lldap itself refuses the second
        store.state.groups.stored["x"] = Attribute("x", "INTEGER")
    run = exported(bed)
    assert run.of("LldapAttributeSchema") == {}
    assert "attributes" not in run.spec("LldapUser", "alice")
    assert len(run.left_out) == 2


def test_a_value_that_lldap_itself_would_not_take_is_left_where_it_is() -> None:
    bed = Bed()
    client = client_of(bed)
    declare(client)
    client.create_user("alice", "a@example.org", attributes={"size": ["2"]})
    with bed.lldap.database() as store:
        store.state.users.row("alice").attributes |= {"size": ["two"]}
    run = exported(bed)
    assert "attributes" not in run.spec("LldapUser", "alice")
    assert len(run.left_out) == 1
    assert "two" not in run.said.replace("two letter", "")
    apply_text(bed, run.text)
    bed.start()
    bed.settle()
    row = Directory(bed).user("alice")
    assert row is not None
    assert row.attributes["size"] == ["two"]


def test_empty_texts_are_no_values_and_stay_where_they_are() -> None:
    """bootstrap.sh creates everybody with an empty text for each name and picture not given."""
    bed = Bed()
    client = client_of(bed)
    declare(client)
    empty = {"avatar": [""], "first_name": [""], "last_name": [""], "phone": [""]}
    client.create_user("alice", "a@example.org", attributes=empty)
    run = exported(bed)
    assert run.left_out == []
    spec = run.spec("LldapUser", "alice")
    assert spec.keys() == {"username", "email", "passwordPolicy"}
    apply_text(bed, run.text)
    bed.start()
    bed.settle()
    assert bed.ready("LldapUser", "alice", VIRTUAL) == ("True", "Verified")
    alice = Directory(bed).user("alice")
    assert alice is not None
    assert {name: alice.attributes[name] for name in empty} == empty
    assert alice.attributes.keys() == {*empty, MARK_ATTRIBUTE}


def test_more_than_64_attributes_are_reported_one_by_one() -> None:
    bed = Bed()
    client = client_of(bed)
    for number in range(66):
        client.add_attribute(Target.USER, AttributeSchema(f"a{number:02}", AttributeType.STRING))
    values = {f"a{number:02}": ["v"] for number in range(66)}
    client.create_user("alice", "a@example.org", attributes=values)
    run = exported(bed)
    assert len(run.spec("LldapUser", "alice")["attributes"]) == 64
    assert [re.findall('"a(..)"', line) for line in run.left_out] == [["65"], ["64"]]


def test_a_picture_too_large_for_kubernetes_is_reported_and_the_rest_of_the_user_exported() -> None:
    bed = Bed()
    client = client_of(bed)
    large = picture(LARGEST_OBJECT)
    client.create_user("alice", "a@example.org", attributes={"avatar": [large]})
    client.create_user("bob", "b@example.org", attributes={"avatar": [picture()]})
    run = exported(bed)
    assert "attributes" not in run.spec("LldapUser", "alice")
    assert len(run.left_out) == 1
    assert "make the picture smaller" in run.left_out[0]
    assert run.spec("LldapUser", "bob")["attributes"] == [{"name": "avatar", "value": [picture()]}]


# --- while it reads ------------------------------------------------------------------------------


def test_long_values_are_read_one_account_at_a_time_and_no_others() -> None:
    bed = Bed()
    client = client_of(bed)
    declare(client)
    client.create_user("alice", "a@example.org", attributes={"avatar": [picture()]})
    client.create_user("bob", "b@example.org", attributes={"phone": ["1" * LARGE_VALUE]})
    client.create_user("carol", "c@example.org", attributes={"phone": ["1" * (LARGE_VALUE + 1)]})
    bed.clear_logs()
    run = exported(bed)
    asked = Counter(entry.call.operation for entry in bed.lldap.log)
    assert asked["user"] == 2
    assert run.spec("LldapUser", "carol")["attributes"][0]["value"] == ["1" * (LARGE_VALUE + 1)]


def test_who_is_deleted_meanwhile_is_left_out_with_a_note() -> None:
    bed = Bed()
    client = client_of(bed)
    client.create_user("alice", "a@example.org", attributes={"avatar": [picture()]})

    def delete_first(call: Call, forward: Forward) -> Response:
        if call.operation == "user":
            Directory(bed).delete_user("alice")
        return forward(call)

    bed.lldap.hooks.append(delete_first)
    run = exported(bed)
    assert run.of("LldapUser") == {}
    assert 'note: user "alice" was deleted in lldap meanwhile' in run.notes


def test_an_account_that_may_not_see_everything_is_refused() -> None:
    bed = Bed()
    small(bed)
    with bed.lldap.database() as store:
        store.remove_member("admin", 1)
        store.add_member("admin", int(store.state.groups.keys["lldap_strict_readonly"]))
    with pytest.raises(NotAdmin, match="admin is not in lldap_admin"):
        exported(bed)


def test_what_another_object_holds_is_noted() -> None:
    bed = Bed()
    small(bed)
    Directory(bed).make_user("dave", mark=mark("u-1", "dave", namespace="elsewhere"))
    Directory(bed).make_group("ops", mark="something else")
    run = exported(bed)
    assert any("managed already, by LldapUser elsewhere/dave of cluster" in n for n in run.notes)
    assert any('has an owner that no operator knows ("something else")' in n for n in run.notes)
    apply_text(bed, run.text)
    bed.start()
    bed.settle()
    assert bed.ready("LldapGroup", "ops", VIRTUAL) == ("False", "Conflict")


def test_an_invitation_is_nobody_s_and_not_noted() -> None:
    bed = Bed()
    Directory(bed).make_user("dave", mark=f"invite default {VIRTUAL}/dave")
    run = exported(bed, PLACE)
    assert len(run.notes) == 1

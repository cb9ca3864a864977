"""`lldap-operator export` on a live lldap: what it writes, and that applying it changes nothing."""

import base64
from collections import Counter
from typing import Any

import pytest

from controller.api import MARK_ATTRIBUTE
from controller.configuration.values import Adoption
from controller.migrate.place import Place
from tests.support.bed import Bed
from tests.support.directory import Directory
from tests.support.migration import (
    VIRTUAL,
    apply_text,
    built_in_id,
    client_of,
    declare,
    exported,
    picture,
    small,
)

ELSEWHERE = Place("default", "team-a", VIRTUAL)


def populate(bed: Bed, users: int, groups: int) -> int:
    """Users in groups, with attributes, pictures and letters of many scripts; memberships made."""
    client = client_of(bed)
    declare(client)
    since = {"since": ["2024-02-29T12:00:00.5+02:00"]}
    names = [f"Größe {number} 部署" if number % 2 else f"team-{number}" for number in range(groups)]
    ids = [client.create_group_with_details(name, since).id for name in names]
    ids.append(built_in_id(bed, "lldap_strict_readonly"))
    edges = 0
    for number in range(users):
        user = f"user_{number}" if number % 3 else f"user.{number}"
        client.create_user(
            user,
            f"Üser{number}@Example.org" if number % 5 else f"user{number}@example.org",
            display_name=f"Jörg №{number}\u2028 'x': # \\ \U0001f600" if number % 2 else None,
            first_name="yes" if number % 7 == 0 else None,
            attributes={
                "phone": ["1", "", "1"] if number % 2 else [],
                "size": ["-007"],
                **({"avatar": [picture()]} if number % 50 == 0 else {}),
            },
        )
        for group in {number % len(ids), number * 7 % len(ids)}:
            client.add_user_to_group(user, ids[group])
            edges += 1
    bed.clear_logs()
    return edges


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_applying_the_export_of_500_users_changes_nothing_but_one_mark_an_account_and_group() -> (
    None
):
    bed = Bed()
    edges = populate(bed, users=500, groups=40)
    directory = Directory(bed)
    before = directory.dump()
    run = exported(bed)
    assert directory.dump() == before, "the export itself changed something"
    assert not run.left_out

    apply_text(bed, run.text)
    bed.start()
    bed.settle(rounds=2000)

    assert Counter(bed.mutations()) == {
        "updateUser": 500,
        "updateGroup": 40,
        "addUserAttribute": 1,  # the mark's own attribute
        "addGroupAttribute": 1,
    }
    assert bed.operator.states() == {
        ("LldapUser", "True", "Verified"): 500,
        ("LldapGroup", "True", "Verified"): 40,
        ("LldapGroup", "True", "BuiltIn"): 3,
        ("LldapMembership", "True", "Verified"): edges,
        ("LldapAttributeSchema", "True", "Verified"): 3,
    }
    assert without_marks(directory.dump()) == without_marks(before)
    assert exported(bed).text == run.text, "an export of what is managed differs"

    bed.clear_logs()
    apply_text(bed, run.text)
    bed.start()
    bed.run(700.0, step=70.0)
    assert bed.mutations() == []


def without_marks(dump: dict[str, Any]) -> dict[str, Any]:
    """All but the mark, its attribute, and the date of the last change, which it moves."""
    dump = {key: value for key, value in dump.items() if not key.endswith(MARK_ATTRIBUTE)}
    for value in dump.values():
        if isinstance(value, dict):
            value["attributes"].pop(MARK_ATTRIBUTE, None)
            value["columns"].pop("modified_date", None)
    return dump


def test_the_operator_takes_over_in_another_namespace_too_if_told_to_adopt_always() -> None:
    bed = Bed(adoption=Adoption.ALWAYS)
    small(bed)
    apply_text(bed, exported(bed, ELSEWHERE).text)
    bed.start()
    bed.settle()
    assert bed.ready("LldapGroup", "devs") == ("True", "Verified")
    assert bed.ready("LldapMembership", "alice--devs") == ("True", "Verified")


def test_it_says_which_groups_need_always_and_that_the_default_does_not_take_them() -> None:
    bed = Bed()
    small(bed)
    run = exported(bed, ELSEWHERE)
    assert "1 group with members outside of lldap-system" in run.said
    assert "LLDAP_ADOPTION=Always" in run.said
    assert "LLDAP_ADOPTION=Always" not in exported(bed).said
    apply_text(bed, run.text)
    bed.start()
    bed.settle()
    assert bed.ready("LldapGroup", "devs") == ("False", "NotAdopted")
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_passwords_stay_what_they_are() -> None:
    bed = Bed()
    small(bed)
    bed.lldap.set_password("alice", "her own password")
    run = exported(bed)
    assert {user["spec"]["passwordPolicy"] for user in run.of("LldapUser").values()} == {"Ignore"}
    assert run.of("Secret") == {}
    apply_text(bed, run.text)
    bed.start()
    bed.settle()
    assert bed.login("alice", "her own password") == 200


def test_with_secrets_each_user_has_one_to_fill_in_and_applying_it_again_keeps_its_data() -> None:
    bed = Bed()
    small(bed)
    run = exported(bed, secrets=True)
    secret = run.of("Secret")["alice-password"]
    assert secret.keys() == {"apiVersion", "kind", "metadata", "type"}
    spec = run.spec("LldapUser", "alice")
    assert spec["passwordPolicy"] == "Ignore"
    assert spec["passwordSecretRef"] == {"name": "alice-password", "key": "password"}

    apply_text(bed, run.text)
    bed.secret("alice-password", b"filled in by hand", namespace=VIRTUAL)
    apply_text(bed, run.text)
    path = f"/api/v1/namespaces/{VIRTUAL}/secrets/alice-password"
    assert (
        bed.admin.get(path)["data"]["password"] == base64.b64encode(b"filled in by hand").decode()
    )

    managed = {"metadata": {}, "spec": {"passwordPolicy": "Manage"}}
    bed.admin.patch(
        bed.path("LldapUser", VIRTUAL, "alice"),
        managed,
        content_type="application/merge-patch+json",
    )
    bed.start()
    bed.run(3)
    assert bed.login("alice", "filled in by hand") == 200


def test_the_mark_and_what_is_built_in_are_never_exported() -> None:
    bed = Bed()
    small(bed)
    text = exported(bed).text
    apply_text(bed, text)
    bed.start()
    bed.settle()
    assert Directory(bed).mark("alice")
    run = exported(bed)
    assert MARK_ATTRIBUTE not in run.text
    assert run.of("LldapAttributeSchema") == {}
    assert not any(name.startswith("lldap") for name in run.of("LldapGroup"))


def test_who_logged_in_is_left_out_with_a_note() -> None:
    bed = Bed()
    run = exported(bed)
    assert run.text == ""
    assert len(run.notes) == 1
    assert run.notes[0].startswith('note: user "admin" is the account that logged in')
    assert run.left_out == []


def test_the_same_lldap_gives_the_same_text_whatever_the_order_of_its_answers() -> None:
    bed = Bed()
    small(bed)
    first = exported(bed).text
    with bed.lldap.database() as store:
        for table in (store.state.users, store.state.groups):
            table.rows = dict(reversed(table.rows.items()))
    assert exported(bed).text == first


def test_one_more_user_adds_lines_and_changes_none() -> None:
    bed = Bed()
    small(bed)
    before = exported(bed).text.splitlines()
    client_of(bed).create_user("a_new", "new@example.org")
    after = exported(bed).text.splitlines()
    rest = iter(after)
    assert all(line in rest for line in before)
    assert len(after) > len(before)


# --- built-in groups --------------------------------------------------------------------------


def privileged(bed: Bed) -> None:
    """alice is an admin too."""
    small(bed)
    client_of(bed).add_user_to_group("alice", 1)


def test_memberships_of_built_in_groups_and_their_users_go_to_the_virtual_namespace() -> None:
    bed = Bed()
    privileged(bed)
    run = exported(bed, ELSEWHERE)
    namespaces = {
        (each.kind, each.name): each.namespace
        for each in run.manifests
        if each.namespace == VIRTUAL
    }
    assert namespaces.keys() == {
        ("LldapUser", "alice"),
        ("LldapMembership", "alice--lldap-admin"),
    }
    assert len(run.left_out) == 1
    assert run.left_out[0].startswith('not carried over: user "alice" in group "devs": ')
    assert "--namespace lldap-system" in run.left_out[0]


def test_in_the_virtual_namespace_an_admin_s_memberships_are_all_there() -> None:
    bed = Bed()
    privileged(bed)
    run = exported(bed)
    assert not run.left_out
    apply_text(bed, run.text)
    bed.start()
    bed.settle()
    for name in ("alice--lldap-admin", "alice--devs"):
        assert bed.ready("LldapMembership", name, VIRTUAL) == ("True", "Verified")


# --- selection ----------------------------------------------------------------------------------


def names(run: Any) -> set[str]:
    return {f"{each.kind.removeprefix('Lldap')} {each.name}" for each in run.manifests}


def test_a_user_comes_with_its_groups_and_memberships() -> None:
    bed = Bed()
    small(bed)
    client_of(bed).create_group_with_details("ops")
    run = exported(bed, users=["ALICE"])
    assert names(run) == {"User alice", "Group devs", "Membership alice--devs"}


def test_a_group_comes_with_its_members() -> None:
    bed = Bed()
    small(bed)
    run = exported(bed, groups=["de*"])
    assert names(run) == {
        "Group devs",
        "User alice",
        "User bob",
        "Membership alice--devs",
        "Membership bob--devs",
    }


def test_users_and_groups_together_come_with_the_memberships_between_them() -> None:
    bed = Bed()
    small(bed)
    run = exported(bed, users=["alice", "carol"], groups=["devs"])
    assert names(run) == {"User alice", "User carol", "Group devs", "Membership alice--devs"}


def test_a_built_in_group_can_be_selected() -> None:
    bed = Bed()
    privileged(bed)
    assert names(exported(bed, groups=["lldap_admin"])) == {
        "User alice",
        "Membership alice--lldap-admin",
    }


def test_a_built_in_group_without_members_is_none_that_is_misspelt() -> None:
    assert exported(Bed(), groups=["lldap_password_manager"]).left_out == []


def test_an_attribute_comes_with_its_values_and_no_other() -> None:
    bed = Bed()
    client = client_of(bed)
    declare(client)
    client.create_user("alice", "a@example.org", attributes={"phone": ["1"], "size": ["2"]})
    run = exported(bed, attributes=["Phone"])
    assert names(run) == {"AttributeSchema user-phone", "User alice"}
    assert run.spec("LldapUser", "alice")["attributes"] == [{"name": "phone", "value": ["1"]}]


def test_only_attributes_in_use_come_with_a_selection_of_users() -> None:
    bed = Bed()
    client = client_of(bed)
    declare(client)
    client.create_user("alice", "a@example.org", attributes={"phone": ["1"]})
    client.create_user("bob", "b@example.org", attributes={"size": ["1"]})
    assert names(exported(bed, users=["alice"])) == {"AttributeSchema user-phone", "User alice"}


def test_a_pattern_that_matches_nothing_is_reported() -> None:
    bed = Bed()
    small(bed)
    run = exported(bed, users=["alcie"])
    assert run.left_out == [
        'not carried over: user "alcie": lldap has none of this name: correct it'
    ]

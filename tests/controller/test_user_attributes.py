"""Custom attributes of an account: values compared as values, schemas that must be Ready."""

import base64

import pytest

from controller.api import InvalidSpec, UserSpec
from controller.harness.conditions import find
from sandbox.lldap.tables import Attribute
from tests.support.accounts import (
    account,
    attributes,
    has_account,
    resync,
    sent_users,
    settled_user,
    status,
)
from tests.support.bed import Bed
from tests.support.directory import Directory

# The smallest image that lldap takes for a JPEG: one grey dot.
JPEG = (
    "ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c"
    "1912130f141d1a1f1e1d1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc000"
    "0b080001000101011100ffc40014000100000000000000000000000000000003ffc400141001000000000000000000"
    "00000000000000ffda0008010100003f0037ffd9"
)


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    bed.schema("text")
    bed.schema("number", kind="Integer")
    bed.schema("moment", kind="DateTime")
    bed.schema("texts", isList=True)
    bed.schema("numbers", kind="Integer", isList=True)
    bed.settle()
    return bed


def apply(bed: Bed, **values: list[str]) -> None:
    bed.user("alice", attributes=attributes(**values))
    bed.settle()


# --- values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("moment", "2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00+00:00"),
        ("moment", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00+00:00"),
        ("moment", "2024-05-01T10:00:00.500Z", "2024-05-01T10:00:00.500+00:00"),
        ("number", "007", "7"),
        ("number", "+5", "5"),
        ("number", "-0", "0"),
        ("number", "9223372036854775807", "9223372036854775807"),
        ("text", " as it is ", " as it is "),
        ("text", "ß İ K \u0301", "ß İ K \u0301"),
    ],
)
@pytest.mark.parametrize("there", [False, True], ids=["created", "updated"])
def test_A05_A06_a_value_that_lldap_prints_anew_is_written_once(
    bed: Bed, name: str, value: str, stored: str, there: bool
) -> None:
    if there:
        apply(bed)
    bed.clear_logs()
    apply(bed, **{name: [value]})
    resync(bed, 5)
    assert bed.mutations() == ["updateUser" if there else "createUser"]
    assert account(bed)[name] == [stored]
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("moment", ["2024-05-01"]),
        ("number", ["9223372036854775808"]),
        ("number", ["1e3"]),
        ("number", [" 5"]),
        ("text", []),
        ("text", ["a", "b"]),
        ("numbers", ["1", "x"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_A06_A10_a_wrong_value_is_refused_before_any_call_and_as_a_whole(
    bed: Bed, name: str, value: list[str], there: bool
) -> None:
    if there:
        settled_user(bed, policy="Ignore", displayName="Al")
    bed.clear_logs()
    bed.user("alice", displayName="Ann", attributes=attributes(**{name: value}))
    bed.run(300, step=10)
    assert bed.operations() == []
    assert bed.ready("LldapUser", "alice") == ("False", "InvalidValue")
    assert f"attribute {name}" in bed.message("LldapUser", "alice")
    assert find(status(bed), "Stalled") is not None
    assert has_account(bed) is there
    apply(bed, text=["right"])
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed)["text"] == ["right"]


def test_the_message_about_a_wrong_value_does_not_quote_it(bed: Bed) -> None:
    apply(bed, number=["a-canary"])
    assert "canary" not in str(bed.get("LldapUser", "alice")["status"])
    assert "canary" not in str(bed.events.seen)


@pytest.mark.parametrize("name", ["text", "number", "moment", "texts"])
@pytest.mark.parametrize("there", [False, True], ids=["created", "updated"])
def test_A07_one_empty_value_means_no_value(bed: Bed, name: str, there: bool) -> None:
    values = {"text": "a", "number": "1", "moment": "2024-05-01T10:00:00Z", "texts": "a"}
    if there:
        apply(bed, **{name: [values[name]]})
        assert name in account(bed)
    bed.clear_logs()
    apply(bed, **{name: [""]})
    resync(bed, 5)
    assert bed.mutations() == ["updateUser" if there else "createUser"]
    assert name not in account(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


def test_A10_an_empty_list_is_a_value(bed: Bed) -> None:
    apply(bed, texts=[])
    bed.clear_logs()
    resync(bed, 5)
    assert account(bed)["texts"] == []
    assert bed.mutations() == []


def test_a_list_keeps_order_and_duplicates(bed: Bed) -> None:
    apply(bed, texts=["b", "a", "b"])
    assert account(bed)["texts"] == ["b", "a", "b"]
    bed.clear_logs()
    apply(bed, texts=["a", "b", "b"])
    assert account(bed)["texts"] == ["a", "b", "b"]
    assert bed.mutations() == ["updateUser"]


def test_names_of_attributes_have_no_letter_case(bed: Bed) -> None:
    apply(bed, TEXT=["a"])
    bed.clear_logs()
    apply(bed, Text=["a"])
    resync(bed, 2)
    assert bed.mutations() == []
    assert status(bed)["managed"] == ["email", "text"]
    apply(bed)
    assert "text" not in account(bed)


def test_a_photo_is_written_once_and_cleared(bed: Bed) -> None:
    photo = base64.b64encode(bytes.fromhex(JPEG)).decode()
    apply(bed, avatar=[photo])
    assert account(bed)["avatar"] == [photo]
    bed.clear_logs()
    resync(bed, 2)
    assert bed.mutations() == []
    apply(bed)
    assert "avatar" not in account(bed)


def test_many_changes_go_in_one_call(bed: Bed) -> None:
    apply(bed, text=["a"], number=["1"])
    bed.clear_logs()
    apply(bed, text=["b"], texts=["c"])
    assert sent_users(bed, "updateUser") == [
        {
            "id": "alice",
            "insertAttributes": [
                {"name": "text", "value": ["b"]},
                {"name": "texts", "value": ["c"]},
            ],
            "removeAttributes": ["number"],
        }
    ]


@pytest.mark.parametrize(
    "name", ["uuid", "creation_date", "mail", "display_name", "kubernetes-owner"]
)
def test_A13_C07_no_attribute_that_is_lldaps_or_a_fields_own(bed: Bed, name: str) -> None:
    """The CRD refuses it; so does the operator, if the object is older than the rule."""

    spec = {
        "username": "alice",
        "email": "a@example.org",
        "passwordPolicy": "Ignore",
        "attributes": [{"name": name, "value": ["x"]}],
    }
    with pytest.raises(InvalidSpec):
        UserSpec.parse({"spec": spec})


# --- schemas -------------------------------------------------------------------------------


def test_A14_creation_waits_for_the_schema_and_goes_on_at_once(bed: Bed) -> None:
    bed.user("alice", displayName="Al", attributes=attributes(department=["it"]))
    bed.run(10)
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")
    assert "department" in bed.message("LldapUser", "alice")
    assert not has_account(bed)
    bed.schema("department")
    bed.settle()  # no time passes
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed)["department"] == ["it"]


def test_an_account_that_is_there_waits_with_that_attribute_alone(bed: Bed) -> None:
    settled_user(bed, policy="Ignore", displayName="Al")
    bed.secret("pw", b"the password")
    bed.user(
        "alice",
        displayName="Ann",
        attributes=attributes(department=["it"], text=["a"]),
        passwordPolicy="Manage",
        passwordSecretRef={"name": "pw", "key": "password"},
    )
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")
    found = account(bed)
    assert (found["display_name"], found["text"]) == ("Ann", ["a"])
    assert bed.login("alice", "the password") == 200
    bed.schema("department")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed)["department"] == ["it"]


def test_waiting_for_a_schema_costs_lldap_nothing(bed: Bed) -> None:
    settled_user(bed, policy="Ignore")
    bed.user("alice", attributes=attributes(department=["it"]))
    bed.settle()
    bed.clear_logs()
    bed.run(300, step=10)
    assert bed.operations() == []
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")


def test_a_value_stays_ours_while_its_schema_is_away(bed: Bed) -> None:
    settled_user(bed, policy="Ignore", attributes=attributes(text=["a"]))
    bed.delete("LldapAttributeSchema", "user-text")  # Retain: the attribute stays in lldap
    bed.settle()
    resync(bed)
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")
    assert account(bed)["text"] == ["a"]
    assert status(bed)["managed"] == ["email", "text"]
    apply(bed)
    assert "text" not in account(bed)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


@pytest.mark.parametrize(
    "shape",
    [{"kind": "INTEGER"}, {"is_list": True}, {"is_editable": True}, {"is_visible": True}],
    ids=str,
)
def test_an_attribute_of_another_shape_than_declared_does_not_count(
    bed: Bed, shape: dict[str, object]
) -> None:
    flags = {"is_visible": False, "is_editable": False, **shape}
    with bed.lldap.database() as store:
        users, groups = store.state.users, store.state.groups
        users.add_attribute(Attribute("department", **flags), groups)  # type: ignore[arg-type]
    resync(bed)
    bed.schema("department")
    bed.user("alice", attributes=attributes(department=["1"]))
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")
    assert not has_account(bed)


def test_an_attribute_made_by_hand_counts_only_where_no_schema_is_required() -> None:
    for required, state in ((True, "DependencyNotReady"), (False, "Verified")):
        bed = Bed(require_attribute_schema=required)
        bed.settle()
        Directory(bed).make_attribute("department")  # the mirror does not know it
        bed.user("alice", attributes=attributes(department=["it"]))
        bed.settle()
        assert bed.ready("LldapUser", "alice")[1] == state


def test_without_a_required_schema_a_missing_attribute_is_looked_for_again() -> None:
    bed = Bed(require_attribute_schema=False)
    bed.user("alice", attributes=attributes(department=["it"]))
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")
    Directory(bed).make_attribute("department")
    bed.run(31)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_A14_an_unknown_attribute_has_the_schema_read_again_before_giving_up(
    bed: Bed, there: bool
) -> None:
    if there:
        settled_user(bed, policy="Ignore")
    bed.clear_logs()
    with bed.lldap.database() as store:
        store.state.users.delete_attribute("text")  # by hand: the mirror still has it
    bed.user("alice", displayName="Ann", attributes=attributes(text=["a"]))
    bed.settle()
    assert "schema" in bed.operations()
    assert bed.ready("LldapUser", "alice") == ("False", "DependencyNotReady")
    assert "LldapAttributeSchema" in bed.message("LldapUser", "alice")
    if there:
        assert account(bed)["display_name"] == "Ann"
    resync(bed)
    bed.run(31)
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert account(bed)["text"] == ["a"]


def test_a_deleted_mark_attribute_is_made_anew_before_the_account(bed: Bed) -> None:
    with bed.lldap.database() as store:
        store.state.users.delete_attribute("kubernetes-owner")
    bed.user("alice", displayName="Al")
    bed.settle()
    assert bed.ready("LldapUser", "alice") == ("True", "Verified")
    assert (Directory(bed).mark("alice") or "").startswith("created ")

"""What an admin, a password manager, a reader and a plain user may do."""

import pytest

from tests.sandbox.lldap_session import Session, log_in, new_lldap

GROUPS = {"manager": 2, "reader": 3}
MUTATIONS = {
    'createUser(user:{id:"x",email:"x"}){id}': "user creation",
    'createGroup(name:"x"){id}': "group creation",
    'createGroupWithDetails(request:{displayName:"x"}){id}': "group creation",
    "updateGroup(group:{id:4}){ok}": "group update",
    'addUserToGroup(userId:"plain",groupId:1){ok}': "group membership modification",
    'removeUserFromGroup(userId:"admin",groupId:1){ok}': "group membership modification",
    'deleteUser(userId:"other"){ok}': "user deletion",
    "deleteGroup(groupId:1){ok}": "group deletion",
    'deleteUserAttribute(name:"mail"){ok}': "attribute deletion",
    'addGroupAttribute(name:"x",attributeType:STRING,isList:false,isVisible:true,isEditable:true)'
    "{ok}": "attribute creation",
    'updateUser(user:{id:"other",displayName:"x"}){ok}': "user update",
}


@pytest.fixture(name="admin")
def _admin() -> Session:
    admin = log_in(new_lldap())
    for name, visible, editable in (
        ("own", True, True),
        ("fixed", True, False),
        ("hidden", False, True),
    ):
        admin.add_attribute(name, isVisible=visible, isEditable=editable)
    for user_id in ("manager", "reader", "plain", "other"):
        attributes = [{"name": name, "value": ["1"]} for name in ("own", "fixed", "hidden")]
        admin.create_user(user_id, attributes=attributes)
        admin.register(user_id, "password")
    for user_id, group_id in GROUPS.items():
        admin.add_member(user_id, group_id)
    return admin


def as_user(admin: Session, user_id: str) -> Session:
    return log_in(admin.lldap, user_id, "password")


@pytest.mark.parametrize("user_id", ["manager", "reader", "plain"])
@pytest.mark.parametrize(("mutation", "what"), MUTATIONS.items())
def test_only_an_admin_changes_others(
    admin: Session, user_id: str, mutation: str, what: str
) -> None:
    before = admin.lldap.snapshot()
    session = as_user(admin, user_id)
    assert session.error(f"mutation{{{mutation}}}") == f"Unauthorized {what}"
    after = admin.lldap.snapshot()
    assert (after.users, after.groups) == (before.users, before.groups)


@pytest.mark.parametrize("user_id", ["admin", "manager", "reader"])
def test_who_may_read_sees_everybody_and_everything(admin: Session, user_id: str) -> None:
    session = admin if user_id == "admin" else as_user(admin, user_id)
    assert len(session.data("{users{id}}")["users"]) == 5
    assert len(session.data("{groups{id users{id}}}")["groups"]) == 3
    assert "hidden" in session.attributes("other")
    assert "hidden" in str(session.data("{schema{userSchema{attributes{name}}}}"))


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("{users{id}}", "access to user list"),
        ("{groups{id}}", "access to group list"),
        ("{group(groupId:1){id}}", "access to group data"),
        ('{user(userId:"other"){id}}', "access to user data"),
        ('{user(userId:"nobody"){id}}', "access to user data"),
    ],
)
def test_a_plain_user_reads_nobody_else(admin: Session, query: str, what: str) -> None:
    assert as_user(admin, "plain").error(query) == f"Unauthorized {what}"


def test_a_plain_user_sees_itself_without_what_is_hidden(admin: Session) -> None:
    admin.add_member("plain", 3)
    admin.data('mutation{removeUserFromGroup(userId:"plain",groupId:3){ok}}')
    group = admin.data('mutation{createGroup(name:"team"){id}}')["createGroup"]["id"]
    admin.add_member("plain", group)
    session = as_user(admin, "plain")
    query = '{user(userId:"PLAIN"){id groups{displayName}}}'
    assert session.data(query) == {"user": {"id": "plain", "groups": [{"displayName": "team"}]}}
    assert {"own", "fixed"} < set(session.attributes("plain"))
    assert "hidden" not in session.attributes("plain")
    assert "hidden" not in str(session.data("{schema{userSchema{attributes{name}}}}"))
    members = '{user(userId:"plain"){groups{users{id}}}}'
    assert session.error(members) == "Unauthorized access to group data"


def test_a_plain_user_changes_its_own_editable_attributes_only(admin: Session) -> None:
    session = as_user(admin, "plain")

    def insert(name: str) -> str:
        return session.update_user("plain", insertAttributes=[{"name": name, "value": ["2"]}])

    assert session.update_user("plain", displayName="Me", email="me@example.com") == ""
    assert insert("own") == ""
    assert insert("hidden") == ""
    refused = "Permission denied: Attribute fixed is not editable by regular users"
    assert insert("fixed") == refused
    shown = admin.attributes("plain")
    assert (shown["own"], shown["fixed"], shown["hidden"]) == (["2"], ["1"], ["2"])


def test_a_plain_user_can_remove_what_it_cannot_set(admin: Session) -> None:
    session = as_user(admin, "plain")
    assert session.update_user("plain", removeAttributes=["fixed"]) == ""
    assert "fixed" not in admin.attributes("plain")


@pytest.mark.parametrize(
    ("caller", "target", "status"),
    [
        ("admin", "admin", 200),
        ("admin", "plain", 200),
        ("manager", "plain", 200),
        ("manager", "manager", 200),
        ("manager", "admin", 401),
        ("reader", "plain", 401),
        ("plain", "plain", 200),
        ("plain", "other", 401),
        ("plain", "nobody", 400),
    ],
)
def test_who_may_register_whose_password(
    admin: Session, caller: str, target: str, status: int
) -> None:
    session = admin if caller == "admin" else as_user(admin, caller)
    assert session.register(target, "new")[0] == status


def test_no_admin_removes_itself(admin: Session) -> None:
    assert admin.error('mutation{deleteUser(userId:"ADMIN"){ok}}') == "Cannot delete current user"
    refused = admin.error('mutation{removeUserFromGroup(userId:"Admin",groupId:1){ok}}')
    assert refused == "Cannot remove admin rights for current user"

"""`lldap-operator import-bootstrap`: what becomes of the folder of lldap's bootstrap.sh."""

import base64
import json
from pathlib import Path

import pytest

from controller.migrate.bootstrap.folder import FolderError
from tests.support.bed import Bed
from tests.support.bootstrapfolder import Bootstrap
from tests.support.directory import Directory
from tests.support.migration import VIRTUAL, Outcome, apply_text, jpeg

CANARY = "S3cr3t-CANARY"


@pytest.fixture
def folder(tmp_path: Path) -> Bootstrap:
    return Bootstrap(tmp_path)


def test_users_groups_schemas_and_memberships_become_manifests(folder: Bootstrap) -> None:
    folder.schema("phone", "STRING", isList=True)
    folder.schema("badge", "INTEGER", isEditable=True, isVisible=False)
    folder.schema("picture", "JPEG_PHOTO")
    folder.schema("since", "DATE_TIME", "group-schemas")
    folder.group("devs", since="2024-02-29T12:00:00Z")
    folder.user(
        "alice",
        displayName="Älice",
        firstName="Al",
        lastName="Ice",
        phone=["1", 2],
        badge=7,
        groups=["devs"],
    )
    run = folder.run()
    assert run.left_out == []
    assert run.spec("LldapUser", "alice") == {
        "username": "alice",
        "email": "alice@example.org",
        "displayName": "Älice",
        "firstName": "Al",
        "lastName": "Ice",
        "attributes": [{"name": "badge", "value": ["7"]}, {"name": "phone", "value": ["1", "2"]}],
        "passwordPolicy": "Ignore",
    }
    assert run.spec("LldapGroup", "devs") == {
        "displayName": "devs",
        "attributes": [{"name": "since", "value": ["2024-02-29T12:00:00Z"]}],
    }
    assert run.spec("LldapMembership", "alice--devs") == {"userName": "alice", "groupName": "devs"}
    types = {
        each["spec"]["attributeName"]: each["spec"]["attributeType"]
        for each in run.of("LldapAttributeSchema").values()
    }
    assert types == {
        "phone": "String",
        "badge": "Integer",
        "picture": "JpegPhoto",
        "since": "DateTime",
    }
    badge = run.spec("LldapAttributeSchema", "user-badge")
    assert (badge["isList"], badge["isVisible"], badge["isEditable"]) == (False, False, True)


def test_they_become_people_who_can_log_in_and_the_password_is_registered_once(
    folder: Bootstrap,
) -> None:
    """Fault 6: bootstrap.sh registers every password anew each time that it runs."""
    folder.group("devs")
    folder.user("alice", password="alice's password", groups=["devs", "lldap_strict_readonly"])
    text = folder.run(passwords=True).text
    bed = Bed()
    for _ in range(2):
        apply_text(bed, text)
        bed.run(5)
    assert bed.ready("LldapUser", "alice", VIRTUAL) == ("True", "Verified")
    assert bed.login("alice", "alice's password") == 200
    assert Directory(bed).members("devs") == {"alice"}
    assert Directory(bed).members("lldap_strict_readonly") == {"alice"}
    assert bed.mutations().count("/auth/opaque/register/finish") == 1


# --- the faults of bootstrap.sh ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["first", "group", "url", "file", "i", "pass", "display"])
def test_fault_1_an_attribute_named_like_a_part_of_a_standard_name_is_carried_over(
    folder: Bootstrap, name: str
) -> None:
    folder.schema(name)
    folder.user("alice", **{name: "value"})
    run = folder.run()
    assert run.left_out == []
    assert run.spec("LldapUser", "alice")["attributes"] == [{"name": name, "value": ["value"]}]
    assert any(f'never set the attribute "{name}" of users' in note for note in run.notes)


def test_fault_1_of_groups_too_and_no_note_for_names_that_bootstrap_sh_has_right(
    folder: Bootstrap,
) -> None:
    folder.schema("am", part="group-schemas")
    folder.schema("colour", part="group-schemas")
    folder.group("devs", am="v", colour="v")
    run = folder.run()
    assert len(run.spec("LldapGroup", "devs")["attributes"]) == 2
    assert len(run.notes) == 1


def test_fault_1_mail_is_a_field_of_its_own_and_avatar_the_picture(folder: Bootstrap) -> None:
    picture = base64.b64encode(jpeg()).decode()
    folder.user("alice", mail="other@example.org", avatar=picture)
    run = folder.run()
    assert run.spec("LldapUser", "alice")["attributes"] == [{"name": "avatar", "value": [picture]}]
    (line,) = run.left_out
    assert line.startswith('not carried over: attribute "mail" of user "alice": ')
    assert "set spec.email" in line


def test_fault_2_what_is_wrong_shows_in_the_exit_code(folder: Bootstrap) -> None:
    folder.user("alice")
    assert command(folder).code == 0
    folder.user("a b")
    found = command(folder)
    assert found.code == 1
    assert found.kinds == ["LldapUser"]
    assert 'user "a b"' in found.said


def test_fault_2_a_file_that_is_no_json_is_named_with_its_line_and_the_others_count(
    folder: Bootstrap,
) -> None:
    folder.user("alice")
    folder.write("user-configs/broken.json", '{"id": "bob",\n "email": S3cr3t}')
    run = folder.run()
    assert list(run.of("LldapUser")) == ["alice"]
    (line,) = run.left_out
    assert '"user-configs/broken.json": line 2, column 11' in line
    assert "S3cr3t" not in line


def test_fault_3_a_thousand_users_ask_nobody_anything(
    folder: Bootstrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = (json.dumps({"id": f"u{n}", "email": f"u{n}@example.org"}) for n in range(1000))
    folder.write("user-configs/all.json", "\n".join(users))
    monkeypatch.delattr("socket.socket")
    assert len(folder.run().of("LldapUser")) == 1000


@pytest.mark.parametrize("fields", [{}, {"displayName": None, "firstName": None, "avatar": None}])
def test_fault_4_what_is_absent_or_null_is_not_declared_and_so_left_alone(
    folder: Bootstrap, fields: dict[str, None]
) -> None:
    folder.user("alice", **fields)
    run = folder.run()
    assert run.left_out == []
    assert run.spec("LldapUser", "alice").keys() == {"username", "email", "passwordPolicy"}


def test_fault_5_two_schemas_of_one_name_are_reported_unless_they_are_the_same(
    folder: Bootstrap,
) -> None:
    folder.schema("phone", isList=True)
    folder.schema("Phone", isList=True)
    assert folder.run().left_out == []
    folder.schema("phone", isList=False)
    run = folder.run()
    assert run.spec("LldapAttributeSchema", "user-phone")["isList"] is True
    assert "the first counts, as with bootstrap.sh" in run.left_out[0]


def test_fault_5_an_attribute_of_another_type_in_lldap_is_not_taken_for_the_declared_one(
    folder: Bootstrap,
) -> None:
    folder.schema("phone", "INTEGER", isVisible=False)
    bed = Bed()
    Directory(bed).make_attribute("phone")
    apply_text(bed, folder.run().text)
    bed.start()
    bed.settle()
    found = bed.ready("LldapAttributeSchema", "user-phone", VIRTUAL)
    assert found == ("False", "SchemaMismatch")


def test_fault_5_an_attribute_that_is_dropped_from_the_folder_goes_from_lldap(
    folder: Bootstrap,
) -> None:
    folder.schema("phone")
    folder.user("alice", phone="1")
    bed = Bed()
    apply_text(bed, folder.run().text)
    bed.run(5)
    folder.write("user-configs/002.json", '{"id": "alice", "email": "alice@example.org"}')
    apply_text(bed, folder.run().text)
    bed.run(5)
    row = Directory(bed).user("alice")
    assert row is not None
    assert "phone" not in row.attributes


# --- folder and command -----------------------------------------------------------------------


def test_files_that_bash_does_not_see_are_not_read(folder: Bootstrap) -> None:
    folder.user("alice")
    folder.write("user-configs/.hidden.json", "{")
    folder.write("user-configs/readme.txt", "{")
    folder.write("user-configs/deeper/x.json", "{")
    (folder.path / "user-configs/folder.json").mkdir()
    run = folder.run()
    assert list(run.of("LldapUser")) == ["alice"]
    assert run.left_out == []


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="none of group-schemas, user-schemas, group-configs"):
        Bootstrap(tmp_path).run()


def command(folder: Bootstrap, *arguments: str, **environ: str) -> Outcome:
    given = {"LLDAP_VIRTUAL_GROUP_NAMESPACE": VIRTUAL, **environ}
    return Outcome("import-bootstrap", str(folder.path), *arguments, **given)


def test_the_command_prints_documents_or_writes_files(folder: Bootstrap, tmp_path: Path) -> None:
    folder.user("alice", password=CANARY)
    found = command(folder, "--passwords")
    assert found.code == 0
    assert found.kinds == ["Secret", "LldapUser"]
    found = command(folder, "--passwords", f"--output={tmp_path / 'out'}", "--namespace=team-a")
    assert found.code == 0
    assert found.out.getvalue() == ""
    file = tmp_path / "out/team-a/secrets/alice-password.yaml"
    assert file.stat().st_mode & 0o077 == 0


def test_the_command_has_exit_codes_for_mistakes(folder: Bootstrap, tmp_path: Path) -> None:
    assert command(folder).code == 2  # there is nothing in it
    folder.user("alice", password=CANARY)
    assert command(folder).code == 1
    assert command(folder, LLDAP_VIRTUAL_GROUP_NAMESPACE="").code == 2
    (tmp_path / "file").write_text("")
    assert command(folder, f"--output={tmp_path / 'file'}").code == 3


def test_the_operators_account_can_be_named(folder: Bootstrap) -> None:
    folder.user("robot")
    assert command(folder, "--lldap-admin-username=robot").kinds == []
    assert command(folder, LLDAP_ADMIN_USERNAME="Robot").kinds == []
    assert command(folder).kinds == ["LldapUser"]


def test_a_dry_run_writes_nothing_and_reports_the_same(folder: Bootstrap, tmp_path: Path) -> None:
    folder.user("alice", password=CANARY)
    dry = command(folder, "--dry-run", f"--output={tmp_path / 'out'}")
    assert dry.code == 1
    assert not (tmp_path / "out").exists()
    assert "password of user" in dry.said


def test_links_that_lead_nowhere_are_reported(folder: Bootstrap) -> None:
    configs = folder.path / "user-configs"
    configs.mkdir(parents=True, exist_ok=True)
    (configs / "gone.json").symlink_to("../nowhere.json")
    (folder.path / "group-schemas").symlink_to("nowhere")
    done = command(folder, "--namespace", "team-a")
    assert done.code == 1
    said = done.err.getvalue()
    words = "it is a link to what is not there: put that there, or correct the link"
    assert f"user-configs/gone.json: {words}" in said.replace('"', "")
    assert f"group-schemas: {words}" in said

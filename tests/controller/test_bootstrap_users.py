"""Users of a bootstrap folder: groups, passwords, pictures."""

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from controller.migrate.place import Place
from tests.support.bed import Bed
from tests.support.bootstrapfolder import Bootstrap
from tests.support.migration import VIRTUAL, Run, apply_text, jpeg

CANARY = "S3cr3t-CANARY"
ELSEWHERE = Place("default", "team-a", VIRTUAL)


@pytest.fixture
def folder(tmp_path: Path) -> Bootstrap:
    return Bootstrap(tmp_path)


# --- users ------------------------------------------------------------------------------------


def test_a_file_may_hold_many_objects_one_after_the_other(folder: Bootstrap) -> None:
    folder.write(
        "user-configs/all.json",
        '\ufeff{"id":"a","email":"a@example.org"}{"id":"b","email":"b@example.org"}\n\n'
        ' {"id":"c","email":"c@example.org"}\n',
    )
    assert list(folder.run().of("LldapUser")) == ["a", "b", "c"]


def test_of_two_objects_for_one_user_the_later_counts_and_the_other_is_reported(
    folder: Bootstrap,
) -> None:
    folder.user("alice", displayName="first", groups=["one"])
    folder.user("ALICE", displayName="second", groups=["two"])
    run = folder.run()
    assert run.spec("LldapUser", "alice")["displayName"] == "second"
    assert list(run.of("LldapMembership")) == ["alice--two"]
    (line,) = run.left_out
    assert '"user-configs/001.json", object 1' in line
    assert '"user-configs/002.json", object 1 has it again' in line


@pytest.mark.parametrize(
    "fields", [{"email": None}, {"email": ["x"]}, {"id": None}, {"id": {}}, {"id": True}]
)
def test_a_user_without_id_or_e_mail_is_reported(folder: Bootstrap, fields: dict[str, Any]) -> None:
    folder.add("user-configs", {"id": "alice", "email": "alice@example.org", **fields})
    run = folder.run()
    assert run.of("LldapUser") == {}
    assert run.left_out


@pytest.mark.parametrize("value", ["x", 3, [{"id": "alice", "email": "a@example.org"}], None])
def test_what_is_no_object_is_reported(folder: Bootstrap, value: Any) -> None:
    folder.add("user-configs", value)
    assert "it is not an object" in folder.run().left_out[0]


def test_the_operators_own_account_is_reported(folder: Bootstrap) -> None:
    folder.user("Admin", groups=["devs"])
    run = folder.run()
    assert run.manifests == []
    assert 'user "admin": it is the operator\'s own account' in run.left_out[0]


def test_groups_that_are_declared_nowhere_are_noted(folder: Bootstrap) -> None:
    folder.user("alice", groups=["devs", "lldap_admin", ""])
    run = folder.run()
    assert sorted(run.of("LldapMembership")) == ["alice--devs", "alice--lldap-admin"]
    assert len(run.notes) == 1
    assert 'group "devs" is in no group file' in run.notes[0]


@pytest.mark.parametrize("groups", ["devs", {"a": 1}, [None], [["devs"]]])
def test_groups_that_are_no_names_are_reported(folder: Bootstrap, groups: Any) -> None:
    folder.user("alice", groups=groups)
    run = folder.run()
    assert run.of("LldapMembership") == {}
    assert run.left_out[0].startswith('not carried over: groups of user "alice": ')


def test_built_in_groups_are_nobody_s_objects(folder: Bootstrap) -> None:
    folder.group("LLDAP_Admin", colour="red")
    run = folder.run()
    assert run.manifests == []
    assert "it is built into lldap" in run.left_out[0]


def test_who_is_in_a_built_in_group_goes_to_the_virtual_namespace(folder: Bootstrap) -> None:
    folder.user("alice", groups=["lldap_admin"])
    folder.user("bob")
    run = folder.run(ELSEWHERE)
    assert {each.name: each.namespace for each in run.manifests} == {
        "alice": VIRTUAL,
        "alice--lldap-admin": VIRTUAL,
        "bob": "team-a",
    }


# --- passwords --------------------------------------------------------------------------------


def test_without_the_flag_no_password_is_read_or_written(folder: Bootstrap) -> None:
    folder.user("alice", password=CANARY)
    folder.user("bob", password_file="/nowhere")
    run = folder.run()
    assert run.of("Secret") == {}
    assert CANARY not in run.text + run.said
    assert len(run.left_out) == 2
    assert "with --passwords only" in run.left_out[0]
    spec = run.spec("LldapUser", "alice")
    assert spec["passwordPolicy"] == "Manage"
    assert spec["passwordSecretRef"] == {"name": "alice-password", "key": "password"}


def written(run: Run, name: str = "alice-password") -> bytes:
    return base64.b64decode(run.of("Secret")[name]["data"]["password"])


def test_with_it_the_exact_password_becomes_a_secret_and_is_not_said(folder: Bootstrap) -> None:
    folder.user("alice", password=f" {CANARY} ü\n")
    run = folder.run(passwords=True)
    assert written(run) == f" {CANARY} ü\n".encode()
    assert run.left_out == []
    assert CANARY not in run.said


def test_a_file_wins_over_an_inline_password_and_loses_its_line_ends(folder: Bootstrap) -> None:
    folder.write("secrets/alice", f"{CANARY}\n\n")
    folder.user("alice", password="other", password_file="/bootstrap/secrets/alice")
    assert written(folder.run(passwords=True)) == CANARY.encode()


@pytest.mark.parametrize("path", ["secrets/alice", "/bootstrap/secrets/alice", "{}/secrets/alice"])
def test_a_file_is_found_where_the_container_has_it_and_beside(
    folder: Bootstrap, path: str
) -> None:
    folder.write("secrets/alice", CANARY)
    folder.user("alice", password_file=path.format(folder.path))
    assert written(folder.run(passwords=True)) == CANARY.encode()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\n", "1 to 4096 bytes"),
        (b"x" * 4097, "1 to 4096 bytes"),
        (b"S3cr3t-\xff", "not UTF-8"),
        (None, "is not here"),
    ],
)
def test_a_file_that_holds_no_password_is_reported(
    folder: Bootstrap, content: bytes | None, says: str
) -> None:
    if content is not None:
        folder.write("alice", content)
    folder.user("alice", password_file="alice")
    run = folder.run(passwords=True)
    assert run.of("Secret") == {}
    assert says in run.left_out[0]
    assert "S3cr3t" not in run.said


def test_a_fifo_does_not_hold_it_up(folder: Bootstrap, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    folder.user("alice", password_file="pipe", avatar_file="pipe")
    assert len(folder.run(passwords=True).left_out) == 2


# --- pictures ---------------------------------------------------------------------------------


def test_a_jpeg_becomes_the_avatar(folder: Bootstrap) -> None:
    folder.write("pictures/alice.jpg", jpeg())
    folder.user("alice", avatar_file="/bootstrap/pictures/alice.jpg")
    run = folder.run()
    assert run.left_out == []
    (entry,) = run.spec("LldapUser", "alice")["attributes"]
    assert entry == {"name": "avatar", "value": [base64.b64encode(jpeg()).decode()]}
    bed = Bed()
    apply_text(bed, run.text)
    bed.run(3)
    assert bed.ready("LldapUser", "alice", VIRTUAL) == ("True", "Verified")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"avatar_file": "picture.png"}, "it is no JPEG"),
        ({"avatar_file": "large.jpg"}, "make the picture smaller"),
        ({"avatar_file": "nowhere.jpg"}, "is not here"),
        ({"avatar_file": "a\0b"}, "the file that it names"),
        ({"avatar_file": 3.5, "avatar_url": None}, "is not here"),
        ({"avatar_file": []}, "it is no text"),
        ({"avatar_url": "https://example.org/a.jpg"}, "avatar_url would be downloaded"),
        ({"gravatar_avatar": "true"}, "gravatar_avatar would be downloaded"),
        ({"gravatar_avatar": True, "avatar_file": "a.jpg"}, "gravatar_avatar would be downloaded"),
    ],
)
def test_other_pictures_are_reported(folder: Bootstrap, fields: dict[str, Any], says: str) -> None:
    folder.write("picture.png", b"\x89PNG")
    folder.write("large.jpg", jpeg(800_000))
    folder.user("alice", **fields)
    run = folder.run()
    assert "attributes" not in run.spec("LldapUser", "alice")
    (line,) = run.left_out
    assert says in line


@pytest.mark.parametrize("fields", [{"gravatar_avatar": False}, {"weserv_avatar": True}])
def test_flags_that_ask_for_no_picture_are_none(folder: Bootstrap, fields: dict[str, Any]) -> None:
    folder.user("alice", **fields)
    assert folder.run().left_out == []

"""The command `export`: flags and variables, streams, files and exit codes."""

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.migrate.manifests import Manifest
from controller.migrate.output import Folder, OutputError, print_documents
from controller.migrate.progress import Progress
from sandbox.lldap.http import LldapServer
from tests.support.bed import ADMIN_PASSWORD, Bed
from tests.support.migration import Outcome, client_of

NOWHERE = "http://127.0.0.1:1"


@pytest.fixture
def bed() -> Bed:
    bed = Bed()
    client = client_of(bed)
    client.create_user("alice", "alice@example.org", display_name="Älice")
    client.create_group_with_details("devs")
    return bed


@pytest.fixture
def url(bed: Bed) -> Iterator[str]:
    with LldapServer(bed.lldap) as server:
        yield server.url


def exported(url: str, *arguments: str, **environ: str) -> Outcome:
    given = {
        "LLDAP_URL": url,
        "LLDAP_ADMIN_PASSWORD": ADMIN_PASSWORD,
        "POD_NAMESPACE": "lldap-operator",
    }
    return Outcome("export", *arguments, **(given | environ))


def test_it_prints_documents_and_says_the_rest_on_standard_error(url: str) -> None:
    found = exported(url)
    assert found.code == 0
    assert found.kinds == ["LldapGroup", "LldapUser"]
    assert "namespace: lldap-operator\n" in found.out.getvalue()
    assert "Älice" in found.out.getvalue()
    assert "manifests: 1 group, 1 user" in found.said
    assert ADMIN_PASSWORD not in found.said + found.out.getvalue()


def test_flags_win_over_variables(url: str) -> None:
    found = exported(
        NOWHERE,
        f"--lldap-url={url}",
        "--lldap-instance=second",
        "--lldap-virtual-group-namespace=there",
        LLDAP_INSTANCE="first",
    )
    assert found.code == 0
    assert "lldap-instance: second" in found.out.getvalue()
    assert "namespace: there" in found.out.getvalue()


def test_what_cannot_be_a_manifest_makes_the_exit_code_1_and_the_rest_is_written(
    bed: Bed, url: str
) -> None:
    client_of(bed).create_user("a b", "ab@example.org")
    found = exported(url)
    assert found.code == 1
    assert found.kinds == ["LldapGroup", "LldapUser"]
    assert 'not carried over: user "a b": ' in found.said


def test_mistakes_in_the_configuration_are_named_with_exit_code_2(url: str) -> None:
    assert exported("").code == 2
    assert "LLDAP_URL: is not set" in exported("").said
    wrong = exported(url, "--namespace=No", LLDAP_INSTANCE="No")
    assert wrong.code == 2
    assert "LLDAP_INSTANCE: " in wrong.said
    assert exported(url, "--namespace=No").said.startswith("The configuration has mistakes:\n  --n")


def test_outside_of_a_pod_the_operators_namespace_is_not_guessed(url: str) -> None:
    found = exported(url, POD_NAMESPACE="")
    assert found.code == 2
    assert "LLDAP_VIRTUAL_GROUP_NAMESPACE: is not set" in found.said


def test_a_password_on_the_command_line_is_refused_and_not_repeated(url: str) -> None:
    found = exported(url, "--lldap-admin-password=S3cr3t")
    assert found.code == 2
    assert "S3cr3t" not in found.said


def test_a_refused_login_is_a_mistake_and_an_lldap_that_is_down_a_failure(url: str) -> None:
    wrong = exported(url, LLDAP_ADMIN_PASSWORD="S3cr3t-wrong")
    assert wrong.code == 2
    assert "S3cr3t" not in wrong.said
    down = exported(NOWHERE)
    assert down.code == 3
    assert down.out.getvalue() == ""


def test_ctrl_c_ends_it_without_a_traceback(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("controller.migrate.commands.print_documents", interrupted)
    found = exported(url)
    assert found.code == 130
    assert "stopped" in found.said


def test_a_dry_run_writes_nothing(url: str, tmp_path: Path) -> None:
    found = exported(url, "--dry-run")
    assert found.code == 0
    assert found.out.getvalue() == ""
    assert "manifests: 1 group, 1 user" in found.said
    found = exported(url, "--dry-run", f"--output={tmp_path / 'out'}")
    assert found.code == 0
    assert "2 new files and 0 changed files to write" in found.said
    assert not (tmp_path / "out").exists()


def test_a_folder_gets_one_file_an_object_and_only_what_differs_is_written(
    bed: Bed, url: str, tmp_path: Path
) -> None:
    output = f"--output={tmp_path}"
    assert exported(url, output).code == 0
    alice = tmp_path / "lldap-operator/users/alice.yaml"
    group = tmp_path / "lldap-operator/groups/devs.yaml"
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {alice, group}
    before = group.stat().st_mtime_ns

    client_of(bed).update_user("alice", display_name="Alice")
    found = exported(url, output)
    assert "0 new files and 1 changed file written, 1 as they were" in found.said
    assert "displayName: Alice" in alice.read_text()
    assert group.stat().st_mtime_ns == before


def test_files_of_what_is_gone_are_named_and_left(bed: Bed, url: str, tmp_path: Path) -> None:
    exported(url, f"--output={tmp_path}")
    client_of(bed).delete_user("alice")
    found = exported(url, f"--output={tmp_path}")
    assert found.code == 0
    assert "note: 1 file there that this run does not make" in found.said
    assert (tmp_path / "lldap-operator/users/alice.yaml").exists()


def test_an_output_that_is_no_folder_is_a_failure_that_names_it(url: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = exported(url, f"--output={tmp_path / 'file'}")
    assert found.code == 3
    assert str(tmp_path / "file") in found.said


@pytest.mark.parametrize("flag", ["--output", "--user", "--help"])
def test_the_help_names_every_flag_but_no_secret_s(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        Outcome("export", "--help")
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert flag in shown
    assert "Exit codes: 0 all was carried over, 1 " in shown
    assert "--lldap-admin-password VALUE" not in shown


# --- parts ------------------------------------------------------------------------------------


def secret(name: str = "pw") -> Manifest:
    metadata = {"name": name, "namespace": "team-a"}
    return Manifest({"kind": "Secret", "metadata": metadata, "data": {"password": "c2VjcmV0"}})


def no_progress() -> Progress:
    return Progress(io.StringIO(), lambda: 0.0)


def test_a_secret_s_file_is_its_owner_s_alone_also_where_one_was_everybody_s(
    tmp_path: Path,
) -> None:
    path = tmp_path / "team-a/secrets/pw.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("old")
    path.chmod(0o644)
    Folder(tmp_path).write([secret()], no_progress())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == secret().text()


def test_a_manifest_does_not_show_its_password() -> None:
    assert "c2VjcmV0" not in repr(secret())


def test_a_write_that_fails_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left on device"):
        Folder(tmp_path).write([secret()], no_progress())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_reader_that_goes_away_is_a_failure_without_a_traceback() -> None:
    readable, writable = os.pipe()
    os.close(readable)
    with os.fdopen(writable, "w") as stream, pytest.raises(OutputError, match="has closed it"):
        print_documents([secret(str(number)) for number in range(5000)], stream)


def test_progress_is_told_every_two_seconds_at_most() -> None:
    stream, now = io.StringIO(), 0.0
    progress = Progress(stream, lambda: now)
    for done in range(50):
        now += 0.5
        progress.at("users with pictures read", done, 50)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "users with pictures read: 3 of 50"
    assert len(lines) == 12


def test_a_place_where_no_files_can_be_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    Folder(tmp_path / "not" / "yet").check()
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file: File exists"):
        Folder(tmp_path / "file").check()
    with pytest.raises(OutputError, match="file/below: Not a directory"):
        Folder(tmp_path / "file" / "below").check()
    with pytest.raises(OutputError, match="/proc/x: No such file or directory"):
        Folder(Path("/proc/x")).check()

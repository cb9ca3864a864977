"""The real API server that tests use: it starts, tells its users apart, and leaves nothing."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes import client

from controller.api import KINDS, LLDAP_USER
from sandbox.controlplane import ASSETS_VARIABLE, ControlPlane, InstallError, StartError, User
from tests.controller.crd_samples import SPECS
from tests.support.envtest import (
    ROOT,
    Api,
    Key,
    drop_finalizers,
    end_namespace,
    manifest,
)


def running(pid: int) -> bool:
    """Tell whether a process is there and more than a zombie that nobody has read yet."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def listening(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.envtest
def test_it_tells_its_users_apart(control_plane: ControlPlane) -> None:
    names = {}
    for user in (control_plane.admin, control_plane.operator, control_plane.tenant):
        with control_plane.client(user) as api:
            review = client.AuthenticationV1Api(api).create_self_subject_review({})
            names[review.status.user_info.username] = set(review.status.user_info.groups)
    assert "system:masters" in names["admin"]
    operator = "system:serviceaccount:lldap-operator:lldap-operator"
    assert "system:serviceaccounts:lldap-operator" in names[operator]
    assert names["tenant"] == {"system:authenticated"}


@pytest.mark.envtest
def test_only_the_administrator_may_do_anything(control_plane: ControlPlane) -> None:
    for user, status in ((control_plane.admin, 200), (control_plane.tenant, 403)):
        with control_plane.session(user) as session:
            url = f"{control_plane.url}/api/v1/namespaces"
            assert session.get(url, timeout=5).status_code == status


@pytest.mark.envtest
def test_a_kubeconfig_names_user_and_server_and_is_the_owners_only(
    control_plane: ControlPlane,
) -> None:
    path = control_plane.write_kubeconfig(control_plane.operator)
    assert path.stat().st_mode & 0o777 == 0o600
    config = json.loads(path.read_text())
    assert config["clusters"][0]["cluster"]["server"] == control_plane.url
    assert config["users"][0]["user"]["token"] == control_plane.operator.token
    assert Path(config["clusters"][0]["cluster"]["certificate-authority"]).exists()


def test_a_user_does_not_show_its_token() -> None:
    assert "t0ken" not in repr(User("alice", "t0ken"))


@pytest.mark.envtest
@pytest.mark.slow
def test_nothing_is_left_behind() -> None:
    with ControlPlane(Path(os.environ[ASSETS_VARIABLE])) as plane:
        pids = [server.pid for server in plane._servers.values()]
        assert plane._watchdog
        pids.append(plane._watchdog.pid)
        assert len(pids) == 3
        assert all(map(running, pids))
        assert listening(plane.url)
    assert not any(map(running, pids))
    assert not listening(plane.url)
    assert not plane.folder.exists()


@pytest.mark.envtest
@pytest.mark.slow
def test_its_programs_may_be_named_from_where_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assets = Path(os.environ[ASSETS_VARIABLE])
    monkeypatch.chdir(assets.parent)
    with ControlPlane(Path(assets.name)) as plane:
        assert listening(plane.url)


@pytest.mark.envtest
@pytest.mark.slow
def test_nothing_is_left_behind_by_a_process_that_is_killed() -> None:
    code = """
        import os, sys
        from pathlib import Path
        from sandbox.controlplane import ASSETS_VARIABLE, ControlPlane
        with ControlPlane(Path(os.environ[ASSETS_VARIABLE])) as plane:
            print(plane.folder, *(s.pid for s in plane._servers.values()), flush=True)
            sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        folder, *pids = process.stdout.readline().split()
        assert all(running(int(pid)) for pid in pids)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: not any(running(int(pid)) for pid in pids))
    wait_until(lambda: not Path(folder).exists())


def test_a_server_that_ends_at_once_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    for program in ("etcd", "kube-apiserver"):
        file = tmp_path / program
        file.write_text(f"#!/bin/sh\necho {program} has no space left\nexit 3\n")
        file.chmod(0o755)
    plane = ControlPlane(tmp_path)
    with pytest.raises(StartError, match=r"ended with 3\n.* has no space left"):
        plane.__enter__()
    assert not plane.folder.exists()


def test_a_server_that_is_never_ready_is_an_error_in_time(tmp_path: Path) -> None:
    for program in ("etcd", "kube-apiserver"):
        file = tmp_path / program
        file.write_text("#!/bin/sh\necho still waiting\nexec sleep 600\n")
        file.chmod(0o755)
    plane = ControlPlane(tmp_path, start_seconds=0.3)
    with pytest.raises(StartError, match=r"apiserver was not ready after 0.3 s\nstill waiting"):
        plane.__enter__()
    assert not plane.folder.exists()
    assert not plane._servers


def test_a_missing_program_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path)
    with pytest.raises(FileNotFoundError, match="etcd"):
        plane.__enter__()
    assert not plane.folder.exists()


@pytest.mark.envtest
def test_a_manifest_with_a_field_that_the_server_does_not_know_is_not_installed(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "misspelt"},
        "ruls": [],
    }
    (tmp_path / "role.yaml").write_text(json.dumps(role))
    with pytest.raises(InstallError, match=r"ClusterRole misspelt: .*ruls"):
        control_plane.install(tmp_path)


@pytest.mark.envtest
def test_a_namespace_ends_with_all_that_is_in_it(crds: ControlPlane, admin: Api) -> None:
    with crds.client(crds.admin) as api:
        core = client.CoreV1Api(api)
        core.create_namespace({"metadata": {"name": "ending"}})
        core.create_namespaced_secret("ending", {"metadata": {"name": "passwords"}})
        for kind in KINDS:
            assert admin.create(kind, manifest(kind, Key("ending", "x"), SPECS[kind])).ok
        end_namespace(api, "ending")
        assert admin.call("GET", "/api/v1/namespaces/ending").status == 404
        for kind in KINDS:
            assert admin.get(kind, "ending", "x").status == 404
        assert admin.call("GET", "/api/v1/namespaces/ending/secrets/passwords").status == 404


@pytest.mark.envtest
def test_a_namespace_waits_for_finalizers_and_names_what_holds_it(
    crds: ControlPlane, admin: Api
) -> None:
    with crds.client(crds.admin) as api:
        client.CoreV1Api(api).create_namespace({"metadata": {"name": "held"}})
        obj = manifest(
            LLDAP_USER, Key("held", "x"), SPECS[LLDAP_USER], finalizers=[LLDAP_USER.finalizer]
        )
        assert admin.create(LLDAP_USER, obj).ok
        with pytest.raises(TimeoutError, match="held: LldapUser x"):
            end_namespace(api, "held", seconds=0.1)
        answer = admin.create(LLDAP_USER, manifest(LLDAP_USER, Key("held", "y"), SPECS[LLDAP_USER]))
        assert answer.status == 403  # as in a real cluster
        drop_finalizers(api, "held")
        end_namespace(api, "held")
        assert admin.call("GET", "/api/v1/namespaces/held").status == 404

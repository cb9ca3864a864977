"""`make demo`: it works, it cleans up however it ends, and it says why it did not work."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from sandbox.apiserver.authorization import Attributes
from sandbox.controlplane import ASSETS_VARIABLE
from sandbox.demo.failure import DemoError
from sandbox.demo.manifests import OPERATOR, RIGHTS, documents, key_of
from sandbox.demo.progress import table
from sandbox.demo.rights import rules_of
from tests.support import examples
from tests.support.examples import path_of
from tests.support.kustomize import KUBECTL, NO_KUBECTL

ROOT = Path(__file__).parents[2]
SECONDS = 60.0


class Running:
    """The demo as a process, with what it says in a file."""

    def __init__(self, process: "subprocess.Popen[bytes]", out: Path, temporary: Path) -> None:
        self.process = process
        self.temporary = temporary
        self._out = out

    @property
    def text(self) -> str:
        return self._out.read_text()

    def wait_said(self, text: str) -> None:
        deadline = time.monotonic() + SECONDS
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            assert self.process.poll() is None, self.text
            time.sleep(0.02)

    def found(self, pattern: str) -> str:
        match = re.search(pattern, self.text)
        assert match, self.text
        return match[1]

    def assert_nothing_is_left(self) -> None:
        """No folder; nor a process that knows it: the operator's command line names it."""
        deadline = time.monotonic() + SECONDS
        while left := [*self.temporary.iterdir(), *processes_of(str(self.temporary))]:
            assert time.monotonic() < deadline, left
            time.sleep(0.05)


def processes_of(word: str) -> Iterator[str]:
    """Command lines that have `word` in them."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in command:
            yield f"{entry.parent.name} {command}"


@contextmanager
def demo(folder: Path, **environ: str) -> Iterator[Running]:
    temporary = folder / "tmp"
    temporary.mkdir()
    out = folder / "out"
    with (
        out.open("wb") as stream,
        subprocess.Popen(
            [sys.executable, "-m", "sandbox.demo"],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "TMPDIR": str(temporary),
                **environ,
            },
            cwd=folder,
            stdout=stream,
            stderr=stream,
        ) as process,
    ):
        try:
            yield Running(process, out, temporary)
        finally:
            process.kill()


def assert_shown(text: str) -> None:
    assert "alice logs in with the password of the Secret alice-password" in text
    assert re.search(r"\ndefault +alice +alice +alice@example.org +True +Verified", text)
    assert re.search(r"\ndefault +developers +developers +4 +True +Verified", text)
    assert re.search(r"\nlldap-operator +helpdesk-password-manager +helpdesk .* True", text)
    assert re.search(r"\ndefault +user-cost-center +cost-center +Integer +User +True", text)


@pytest.mark.slow
def test_it_ends_with_a_person_who_can_log_in_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with demo(tmp_path) as running:
        assert running.process.wait(SECONDS) == 0, running.text
        assert_shown(running.text)
        running.assert_nothing_is_left()


@pytest.mark.slow
@pytest.mark.envtest
def test_on_a_real_api_server_the_operator_works_with_the_rights_of_deploy(
    tmp_path: Path,
) -> None:
    with demo(tmp_path, **{ASSETS_VARIABLE: os.environ[ASSETS_VARIABLE]}) as running:
        assert running.process.wait(SECONDS) == 0, running.text
        assert "the API server (kube-apiserver of " in running.text
        assert_shown(running.text)
        running.assert_nothing_is_left()


@pytest.mark.slow
@pytest.mark.envtest
def test_on_a_real_api_server_the_examples_go_in_any_order_and_leave_nothing_behind(
    tmp_path: Path,
) -> None:
    with demo(tmp_path, KEEP="1", **{ASSETS_VARIABLE: os.environ[ASSETS_VARIABLE]}) as running:
        running.wait_said("Try, in another terminal:")
        config = yaml.safe_load(Path(running.found(r"kubeconfig +(\S+)")).read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        with requests.Session() as session:
            session.trust_env = False
            session.verify = cluster["certificate-authority"]
            session.headers["Authorization"] = f"Bearer {user['token']}"
            left = [cluster["server"] + path_of(document) for document in examples.documents()]
            random.Random(11).shuffle(left)
            for url in left:
                assert session.delete(url, timeout=10).ok
            deadline = time.monotonic() + SECONDS
            while left := [url for url in left if session.get(url, timeout=10).ok]:
                assert time.monotonic() < deadline, left
                time.sleep(0.2)
        found = ask_lldap(
            running, "{users{id} groups{displayName} schema{userSchema{attributes{name}}}}"
        )
        assert found["users"] == [{"id": "admin"}]
        assert len(found["groups"]) == 3
        names = {attribute["name"] for attribute in found["schema"]["userSchema"]["attributes"]}
        assert "kubernetes-owner" in names
        assert "cost-center" not in names
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(SECONDS) == 0, running.text


def ask_lldap(running: Running, query: str) -> Any:
    """What lldap's administrator sees."""
    url, password = running.found(r"lldap +(http://\S+)"), running.found(r"password in (\S+)\)")
    body = {"username": "admin", "password": Path(password).read_text()}
    token = requests.post(f"{url}/auth/simple/login", json=body, timeout=10).json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = requests.post(f"{url}/api/graphql", json={"query": query}, headers=headers, timeout=10)
    return answer.json()["data"]


@pytest.mark.slow
def test_keep_leaves_all_running_until_ctrl_c(tmp_path: Path) -> None:
    with demo(tmp_path, KEEP="1") as running:
        running.wait_said("Try, in another terminal:")
        assert_shown(running.text)
        kubeconfig = Path(running.found(r"kubeconfig +(\S+)"))
        server = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        assert server == running.found(r"API server +(http\S+)")
        probes = running.found(r"probes +(\S+)")
        assert requests.get(probes, timeout=5).text.endswith("ok\n")
        metrics = requests.get(running.found(r"metrics +(\S+)"), timeout=5).text
        assert "lldap_operator_build_info" in metrics
        assert "INFO    working" in Path(running.found(r"  log +(\S+)")).read_text()
        commands = re.findall(r"^  (kubectl|curl) ", running.text, re.MULTILINE)
        assert len(commands) == 5
        change_password_and_log_in(running, server)
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(SECONDS) == 0, running.text
        running.assert_nothing_is_left()


def change_password_and_log_in(running: Running, server: str) -> None:
    """What the printed commands do."""
    path = "/api/v1/namespaces/default/secrets/alice-password"
    answer = requests.patch(
        server + path,
        json={"stringData": {"password": "a new password"}},
        headers={"Content-Type": "application/strategic-merge-patch+json"},
        timeout=5,
    )
    assert answer.status_code == 200
    url = running.found(r"lldap +(http://\S+)")
    body = {"username": "alice", "password": "a new password"}
    deadline = time.monotonic() + SECONDS
    while requests.post(f"{url}/auth/simple/login", json=body, timeout=5).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(not KUBECTL, reason=NO_KUBECTL)
def test_the_commands_that_keep_prints_do_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kubectl").symlink_to(KUBECTL)
    with demo(tmp_path, KEEP="1") as running:
        running.wait_said("Try, in another terminal:")
        environ = {
            "KUBECONFIG": running.found(r"export KUBECONFIG=(\S+)"),
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
        }
        said = [
            said_by(command, environ)
            for command in re.findall(r"^  ((?:kubectl|curl) .*)", running.text, re.MULTILINE)
        ]
        table, description, patched, login, memberships = said
        assert re.search(r"lldapuser\S*/alice +alice +alice@example.org +True +Verified", table)
        assert re.search(r"Normal +UserCreated|Normal +Created", description)
        assert "secret/alice-password patched" in patched
        assert "HTTP/1.1 200 OK" in login
        assert "deleted" in memberships
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(SECONDS) == 0, running.text


def said_by(command: str, environ: dict[str, str]) -> str:
    """What a command says; again while lldap refuses a login whose password is on its way."""
    deadline = time.monotonic() + 20.0
    while True:
        ran = subprocess.run(
            ["/bin/sh", "-c", command],
            env=environ,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
        if " 401 " not in ran.stdout or time.monotonic() > deadline:
            return ran.stdout
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("an API server starts", signal.SIGINT),
        ("the operator starts", signal.SIGINT),
        ("is applied", signal.SIGTERM),
    ],
)
def test_an_interruption_stops_and_removes_everything(
    tmp_path: Path, said: str, number: int
) -> None:
    with demo(tmp_path) as running:
        running.wait_said(said)
        running.process.send_signal(number)
        assert running.process.wait(SECONDS) == 130, running.text
        assert "interrupted: everything is stopped and removed" in running.text
        assert "Traceback" not in running.text
        running.assert_nothing_is_left()


BETWEEN = """
import sys
from sandbox.apiserver.http import ApiServerHttp
from sandbox.demo import __main__
from sandbox.lldap.http import LldapServer
enter = {0}.__enter__
def interrupted(self):
    enter(self)
    raise KeyboardInterrupt
{0}.__enter__ = interrupted
sys.exit(__main__.main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("server", ["ApiServerHttp", "LldapServer"])
def test_an_interruption_right_after_a_server_s_start_stops_it_too(
    tmp_path: Path, server: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BETWEEN.format(server)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 130, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_demo_that_is_killed_takes_the_operator_with_it(tmp_path: Path) -> None:
    with demo(tmp_path, KEEP="1") as running:
        running.wait_said("All of it runs until Ctrl-C")
        assert len(list(processes_of("operator.kubeconfig"))) >= 1
        running.process.kill()
        running.process.wait(SECONDS)
        running.assert_nothing_is_left()


FAILURE = """
import sys
from pathlib import Path
from sandbox.demo import __main__, demo
demo.READY_SECONDS = 6.0
demo.EXAMPLES = Path(sys.argv[1])
sys.exit(__main__.main())
"""


@pytest.mark.slow
def test_a_failure_says_what_is_not_ready_and_the_operators_last_words(tmp_path: Path) -> None:
    examples = tmp_path / "examples"
    examples.mkdir()
    user = (ROOT / "docs/examples/user.yaml").read_text()
    (examples / "user.yaml").write_text(user)  # and no schema of its attribute
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FAILURE, str(examples)],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(temporary),
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "FAILED: not after 6 s: all examples are Ready" in done.stdout
    assert re.search(r"LldapUser default/alice: DependencyNotReady: .*cost-center", done.stdout)
    assert "the operator's last words:" in done.stdout
    assert "INFO    working" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert list(temporary.iterdir()) == []


# --- parts -----------------------------------------------------------------------------------


def test_a_table_is_printed_as_kubectl_prints_it() -> None:
    answer = {
        "columnDefinitions": [
            {"name": "Name"},
            {"name": "Ready", "priority": 0},
            {"name": "Message", "priority": 1},
        ],
        "rows": [
            {"cells": ["alice", "True", "all"], "object": {"metadata": {"namespace": "team-a"}}},
            {"cells": ["robert", None, ""], "object": {"metadata": {"namespace": "b"}}},
        ],
    }
    assert table(answer) == (
        "NAMESPACE   NAME     READY\n"  # as kubectl: three blanks between columns
        "team-a      alice    True\n"
        "b           robert"
    )


def test_the_rights_of_deploy_are_the_sandboxs_rules() -> None:
    rules = rules_of(role for prefix in RIGHTS for role in documents(OPERATOR, prefix))
    group = "lldap-operator.lukidoescode.com"

    def may(verb: str, group: str, resource: str, namespace: str, name: str = "") -> bool:
        wanted = Attributes(
            verb=verb, group=group, resource=resource, namespace=namespace, name=name
        )
        return any(rule.allows(wanted) for rule in rules)

    assert may("patch", group, "lldapusers", "team-a")
    assert not may("delete", group, "lldapusers", "team-a")
    assert may("get", "", "secrets", "team-a")
    assert not may("update", "", "secrets", "team-a")
    leases = "coordination.k8s.io"
    assert may("create", leases, "leases", "lldap-operator")
    assert not may("create", leases, "leases", "team-a")
    assert may("update", leases, "leases", "lldap-operator", "lldap-operator-default")
    assert not may("update", leases, "leases", "lldap-operator", "another")


def test_a_folder_without_manifests_says_where_the_demo_runs(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="the demo runs in a checkout"):
        list(documents(tmp_path))


def test_objects_are_named_for_people() -> None:
    assert key_of({"kind": "Namespace", "metadata": {"name": "x"}}) == "Namespace x"
    named = {"kind": "Secret", "metadata": {"name": "x", "namespace": "y"}}
    assert key_of(named) == "Secret y/x"

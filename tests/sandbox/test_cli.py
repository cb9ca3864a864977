"""`lldap-operator-sandbox`: two servers, addresses on the screen, a clean end."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
import yaml

from controller.version import VERSION

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SECONDS = 20.0
USERS = "/apis/lldap-operator.lukidoescode.com/v1alpha1/namespaces/default/lldapusers"
USER = {
    "apiVersion": "lldap-operator.lukidoescode.com/v1alpha1",
    "kind": "LldapUser",
    "metadata": {"name": "alice"},
    "spec": {"username": "alice", "email": "alice@example.org", "passwordPolicy": "Ignore"},
}


class Sandbox:
    def __init__(self, process: "subprocess.Popen[bytes]", out: Path) -> None:
        self.process = process
        self._out = out

    @property
    def lines(self) -> list[str]:
        return self._out.read_text().splitlines()

    def wait_started(self) -> None:
        deadline = time.monotonic() + SECONDS
        while "Ctrl-C ends it." not in self.lines:
            assert time.monotonic() < deadline, self.lines
            assert self.process.poll() is None, self.lines
            time.sleep(0.02)

    def said(self, begin: str) -> str:
        return next(line for line in self.lines if line.startswith(begin))

    def url_of(self, what: str) -> str:
        return next(word for word in self.said(what).split() if word.startswith("http://"))

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@contextmanager
def sandbox(folder: Path, *arguments: str) -> Iterator[Sandbox]:
    out = folder / "out"
    with (
        out.open("wb") as stream,
        subprocess.Popen(
            [sys.executable, "-m", "sandbox.cli", *arguments],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            stdout=stream,
            stderr=stream,
        ) as process,
    ):
        try:
            yield Sandbox(process, out)
        finally:
            process.kill()


def test_both_servers_say_where_they_are_and_end_cleanly(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    with sandbox(tmp_path, "--kubeconfig", str(kubeconfig)) as both:
        both.wait_started()
        url = both.url_of("API server")
        assert yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"] == url
        assert kubeconfig.stat().st_mode & 0o077 == 0
        assert requests.get(f"{url}{USERS}", timeout=5).status_code in {200, 404}
        password = Path(both.said("lldap").split()[-1])
        assert password.stat().st_mode & 0o077 == 0
        answer = requests.post(
            f"{both.url_of('lldap')}/auth/simple/login",
            json={"username": "admin", "password": password.read_text()},
            timeout=10,
        )
        assert answer.status_code == 200
        assert both.stop() == 0
    assert not password.exists()  # its folder was a temporary one


@pytest.mark.parametrize(("what", "other"), [("api-server", "lldap"), ("lldap", "API server")])
def test_one_server_alone_on_a_port_of_ones_choice(tmp_path: Path, what: str, other: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with sandbox(tmp_path, what, f"--{what}-port={port}") as one:
        one.wait_started()
        assert not any(line.startswith(other) for line in one.lines)
        assert f"http://127.0.0.1:{port}" in one.lines[0]
        assert one.stop(signal.SIGINT) == 0


def test_a_folder_keeps_what_the_api_server_holds(tmp_path: Path) -> None:
    for found in (404, 200):
        with sandbox(tmp_path, "api-server", "--folder", str(tmp_path / "state")) as server:
            server.wait_started()
            url = server.url_of("API server")
            served(url)
            assert requests.get(f"{url}{USERS}/alice", timeout=5).status_code == found
            if found == 404:
                assert requests.post(f"{url}{USERS}", json=USER, timeout=5).status_code == 201
            assert server.stop() == 0


def served(url: str) -> None:
    """Wait for the kinds: a CRD is served two seconds after it was made."""
    deadline = time.monotonic() + SECONDS
    while requests.get(f"{url}{USERS}", timeout=5).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("what", ["api-server", "lldap"])
def test_a_port_that_is_taken_is_an_error_for_people(tmp_path: Path, what: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with sandbox(tmp_path, what, f"--{what}-port={port}") as server:
            assert server.process.wait(SECONDS) == 1
            said = "\n".join(server.lines)
    assert said.startswith("lldap-operator-sandbox: ")
    assert "address already in use" in said
    assert "Traceback" not in said


def test_help_and_version() -> None:
    for flag, expected in (("--help", "everything"), ("--version", VERSION)):
        done = subprocess.run(
            [sys.executable, "-m", "sandbox.cli", flag],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        assert expected in done.stdout

"""The command line, as a person meets it."""

import os
import re
import socket
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest
import urllib3
import yaml

from controller.cluster import api_client
from controller.configuration.config import configuration_table
from controller.version import VERSION

ROOT = Path(__file__).parents[2]


def run(
    *arguments: str, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "controller", *arguments],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **(environ or {})},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def usable(tmp_path: Path) -> dict[str, str]:
    """An environment without a mistake; its API server is not there."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
    }
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    return {
        "KUBECONFIG": str(tmp_path / "kubeconfig"),
        "LLDAP_URL": "http://127.0.0.1:1",
        "LLDAP_ADMIN_PASSWORD": "a password that nobody sees",
        "METRICS_ADDRESS": "0",
        "HEALTH_ADDRESS": "0",
    }


def test_help_says_what_it_is_and_which_commands_there_are() -> None:
    done = run("--help")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "attributes of lldap from Kubernetes objects" in said
    assert "run serve the objects of one instance" in said


def test_help_of_run_has_every_variable_but_the_password() -> None:
    done = run("run", "--help")
    assert done.returncode == 0
    rows = configuration_table()
    assert [row.variable for row in rows if row.flag == ""] == ["LLDAP_ADMIN_PASSWORD"]
    missing = [row.flag for row in rows if row.flag not in done.stdout]
    assert not missing
    assert "--lldap-admin-password VALUE" not in done.stdout
    assert "Exit codes: 0 after SIGTERM" in done.stdout


def test_the_version_is_one_line() -> None:
    assert run("--version").stdout == f"{VERSION}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["walk"], ["run", "--bogus"], ["run", "--lldap-ur=http://x"]]
)
def test_a_command_line_that_is_none_ends_with_2_and_one_line(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(r"lldap-operator( run)?: .*; see lldap-operator( run)? --help", line)
    assert "Traceback" not in done.stderr


def test_mistakes_are_named_all_at_once_and_nothing_is_quoted_that_could_be_secret() -> None:
    done = run(
        "run",
        "--workers=many",
        "--lldap-admin-password=hunter2222",
        environ={"LLDAP_URL": "ldap://nowhere", "LLDAP_INSTANC": "x"},
    )
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0] == "The configuration has mistakes:"
    named = {line.split(":")[0].strip() for line in lines[1:]}
    assert named >= {"LLDAP_URL", "WORKERS", "LLDAP_ADMIN_PASSWORD", "LLDAP_INSTANC"}
    assert "hunter2222" not in done.stderr


@pytest.mark.parametrize("variable", ["METRICS_ADDRESS", "HEALTH_ADDRESS"])
def test_an_address_that_somebody_listens_on_is_a_mistake(
    usable: dict[str, str], variable: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("run", environ={**usable, variable: address})
    assert done.returncode == 2
    assert f"{variable}: {address} cannot be listened on (Address already in use)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_kubeconfig_that_leads_nowhere_is_a_mistake(usable: dict[str, str]) -> None:
    done = run("run", environ={**usable, "KUBECONFIG": "/nowhere"})
    assert done.returncode == 2
    assert "KUBECONFIG: names /nowhere, where no file is" in done.stderr


def test_a_proxy_that_cannot_be_used_is_a_mistake(usable: dict[str, str]) -> None:
    file = Path(usable["KUBECONFIG"])
    config = yaml.safe_load(file.read_text())
    config["clusters"][0]["cluster"]["proxy-url"] = "socks5://127.0.0.1:1"
    file.write_text(yaml.safe_dump(config))
    done = run("run", environ=usable)
    assert done.returncode == 2
    assert "KUBECONFIG: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"), [(["doctor"], 1), (["--help"], 0), (["run", "--help"], 0)]
)
def test_a_reader_that_goes_away_changes_neither_the_end_nor_the_exit_code(
    usable: dict[str, str], arguments: list[str], code: int
) -> None:
    readable, writable = os.pipe()
    os.close(readable)
    with os.fdopen(writable, "wb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "controller", *arguments],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **usable},
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (code, "")


def test_an_api_server_that_is_not_verified_is_told_of_in_one_line(
    usable: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    file = Path(usable["KUBECONFIG"])
    config = yaml.safe_load(file.read_text())
    config["clusters"][0]["cluster"] = {
        "server": "https://127.0.0.1:1",
        "insecure-skip-tls-verify": True,
    }
    file.write_text(yaml.safe_dump(config))
    with warnings.catch_warnings(record=True) as caught:
        api_client(str(file)).close()
        warnings.warn("once a request", urllib3.exceptions.InsecureRequestWarning, stacklevel=1)
    assert caught == []
    (line,) = caplog.messages
    assert line.startswith("the kubeconfig says insecure-skip-tls-verify")

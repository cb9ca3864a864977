"""The Dockerfile: its rules, and its build stage done in an empty folder. No image is built."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from benchmarks.contestants import IMAGE
from controller.version import VERSION
from tests.support.dockerfile import Stage, instructions
from tests.support.envtest import ROOT
from tests.support.kustomize import build, one

HADOLINT = Path(sysconfig.get_path("scripts")) / "hadolint"
SECONDS = 60.0


def texts(word: str) -> list[str]:
    return [each.text for each in instructions() if each.word == word]


def test_hadolint_finds_nothing() -> None:
    ran = subprocess.run(
        [str(HADOLINT), str(ROOT / "Dockerfile")],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.stdout == ""
    assert ran.returncode == 0


def test_there_are_two_stages_on_one_base_that_is_pinned_by_digest() -> None:
    (base,) = texts("ARG")
    assert re.fullmatch(r"PYTHON=python:3\.\d+-slim@sha256:[0-9a-f]{64}", base)
    assert texts("FROM") == ["${PYTHON} AS build", "${PYTHON}"]


def test_the_last_stage_only_copies_and_runs_as_nobody() -> None:
    last = [each for each in instructions() if each.stage == 2]
    assert not [each for each in last if each.word in {"RUN", "ADD"}]
    copies = [each.text for each in last if each.word == "COPY"]
    assert copies == ["--from=build /opt/lldap-operator /opt/lldap-operator"]
    (user,) = [each.text for each in last if each.word == "USER"]
    pod = one(build("operator"), "Deployment")["spec"]["template"]["spec"]["securityContext"]
    assert user == f"{pod['runAsUser']}:{pod['runAsGroup']}"


FAULTS = """
import resource
from lldap.opaque import Argon2
Argon2(1)(b"x" * 64)  # whatever is loaded by the first
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
Argon2(1)(b"x" * 64)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(environment: dict[str, str]) -> int:
    command = [sys.executable, "-c", FAULTS]
    ran = subprocess.run(
        command,
        env={**os.environ, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    return int(ran.stdout)


def test_with_the_image_s_environment_argon2_takes_its_memory_in_large_pages() -> None:
    (environment,) = [each.text for each in instructions() if (each.stage, each.word) == (2, "ENV")]
    pairs = dict(pair.split("=", 1) for pair in environment.split())
    tunables = {"GLIBC_TUNABLES": pairs["GLIBC_TUNABLES"]}
    assert tunables == IMAGE
    small, large = faults({"GLIBC_TUNABLES": ""}), faults(tunables)
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    asked = enabled.exists() and "[madvise]" in enabled.read_text()
    assert large < small / 4 if asked else large <= small * 2


def test_what_is_run_and_exposed_is_what_the_deployment_expects() -> None:
    (entry,), (command,), (ports,) = texts("ENTRYPOINT"), texts("CMD"), texts("EXPOSE")
    (container,) = one(build("operator"), "Deployment")["spec"]["template"]["spec"]["containers"]
    assert json.loads(entry) == ["lldap-operator"]
    assert json.loads(command) == container["args"] == ["run"]
    assert [int(port) for port in ports.split()] == [
        each["containerPort"] for each in container["ports"]
    ]


def test_everything_from_a_registry_is_taken_by_hash() -> None:
    runs = [step for text in texts("RUN") for step in text.split(" && ") if " install " in step]
    assert len(runs) == 3
    for step in runs:
        assert "--require-hashes" in step or "--no-index" in step


def test_only_what_is_copied_is_sent_to_the_builder_and_the_sandbox_is_not() -> None:
    ignored = [line for line in (ROOT / ".dockerignore").read_text().split("\n") if line[:1] == "!"]
    sent = {line.removeprefix("!") for line in ignored}
    copied = {
        source
        for each in instructions()
        if each.word == "COPY" and each.stage == 1
        for source in each.text.split()[:-1]
    }
    assert sent == copied
    assert "sandbox" not in sent
    assert all((ROOT / source).exists() for source in copied)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The build stage, done; takes a minute and asks a package registry."""
    stage = Stage(tmp_path_factory.mktemp("root"))
    for each in instructions():
        if each.stage == 1:
            stage.do(each)
    return stage


def run(stage: Stage, *command: str) -> subprocess.CompletedProcess[str]:
    """Run something of the image as the image would, as far as this machine can."""
    home = stage.root / "opt" / "lldap-operator"
    return subprocess.run(
        [str(home / "bin" / command[0]), *command[1:]],
        cwd="/",
        env={"PATH": str(home / "bin"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
class TestBuildStage:
    def test_the_command_is_there_and_says_its_version(self, stage: Stage) -> None:
        assert run(stage, "lldap-operator", "--version").stdout.strip() == VERSION
        ran = run(stage, "lldap-operator", "run")
        assert ran.returncode == 2
        assert "LLDAP_URL: is not set" in ran.stderr

    def test_every_module_can_be_imported_and_none_of_the_sandbox(self, stage: Stage) -> None:
        names = [
            ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            for package in ("workqueue", "informers", "lldap", "controller")
            for file in sorted((ROOT / package).rglob("*.py"))
            if file.stem != "__main__"
        ]
        program = f"import importlib\nfor name in {names}: importlib.import_module(name)"
        ran = run(stage, "python", "-c", program)
        assert ran.returncode == 0, ran.stderr
        assert run(stage, "python", "-c", "import sandbox").returncode == 1

    def test_what_is_not_needed_to_run_is_not_there(self, stage: Stage) -> None:
        home = stage.root / "opt" / "lldap-operator"
        (packages,) = home.glob("lib/python3.*/site-packages")
        for name in ("pip", "setuptools", "pytest", "sandbox"):
            assert not (packages / name).exists()
        assert not list((home / "bin").glob("*sandbox*"))
        size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
        assert size < 220 * 1024 * 1024  # compiled byte code included

    def test_the_packages_are_those_of_the_lock(self, stage: Stage) -> None:
        program = (
            "from importlib import metadata\n"
            "for each in metadata.distributions(): print(f'{each.name}=={each.version}')"
        )
        installed = {
            line.lower().replace("_", "-")
            for line in run(stage, "python", "-c", program).stdout.split()
        }
        lock = (ROOT / "requirements" / "run.lock").read_text()
        locked = {
            name.lower().replace("_", "-")
            for name in re.findall(r"^([a-zA-Z0-9._-]+==[^\s;\\]+)", lock, re.MULTILINE)
        }
        assert installed - locked == {f"lldap-operator=={VERSION}"}

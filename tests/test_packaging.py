"""What people install: the wheel has every module and all data, and works without the checkout."""

import ast
import configparser
import importlib.metadata
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.version import VERSION
from tests.support.process import OperatorProcess, servers_in

ROOT = Path(__file__).parent.parent
PRODUCT = ("controller", "informers", "lldap", "workqueue")
PACKAGES = (*PRODUCT, "sandbox")
SECONDS = 120.0


def modules() -> set[str]:
    """Every module of the packages in the checkout."""
    return {
        path.relative_to(ROOT)
        .with_suffix("")
        .as_posix()
        .replace("/", ".")
        .removesuffix(".__init__")
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
    }


def run(*command: str | Path, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), **environ},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built offline from a copy of what the repository holds."""
    source, dist = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    copy_sources(source)
    done = run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index",
        "--wheel-dir", dist, source, cwd=dist,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (built,) = dist.glob("*.whl")
    return built


def copy_sources(target: Path) -> None:
    """Copy what a wheel is built from, and nothing that a build has left behind."""
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        (target / name).write_bytes((ROOT / name).read_bytes())
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = target / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The python of an environment that has the wheel, and the locked dependencies by path."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (site / "dependencies").mkdir()
    for entry in locked():
        (site / "dependencies" / entry.name).symlink_to(entry)
    (site / "dependencies.pth").write_text("dependencies\n")
    return folder / "bin" / "python"


def locked() -> Iterator[Path]:
    """What the running environment has installed, but for the project itself."""
    for path in {Path(entry) for entry in sys.path if entry.endswith("site-packages")}:
        for entry in path.iterdir():
            if "lldap_operator" not in entry.name and entry.suffix != ".pth":
                yield entry


@pytest.mark.slow
def test_K09_the_wheel_has_every_module_and_all_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
        scripts = archive.read(next(n for n in names if n.endswith("entry_points.txt"))).decode()
    found = {
        name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for name in names
        if name.endswith(".py")
    }
    assert found == modules()
    data = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in {".json", ".yaml", ".typed"}
    }
    assert "sandbox/lldap/introspection.json" in data
    assert data <= names
    assert not [name for name in names if name.startswith(("tests", "deploy", "docs"))]
    assert f"\nVersion: {VERSION}\n" in metadata
    assert "lldap-operator = controller.__main__:main" in scripts
    assert "lldap-operator-sandbox = sandbox.cli:main" in scripts


IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    assert "site-packages" in module.__file__, module.__file__
print(len(sys.argv) - 1)
"""


@pytest.mark.slow
def test_K09_every_module_can_be_imported_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    wanted = sorted(name for name in modules() if not name.endswith("__main__"))
    done = run(installed, "-W", "error", "-c", IMPORT_ALL, *wanted, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(wanted)}\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"),
    [("controller", "lldap-operator"), ("sandbox.cli", "lldap-operator-sandbox")],
)
def test_K09_the_commands_say_what_they_are(
    installed: Path, tmp_path: Path, module: str, name: str
) -> None:
    done = run(installed, "-m", module, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: {name} ")
    assert run(installed, "-m", module, "--version", cwd=tmp_path).stdout == f"{VERSION}\n"


@pytest.mark.slow
def test_K09_the_installed_operator_makes_a_person_who_can_log_in(
    installed: Path, tmp_path: Path
) -> None:
    with servers_in(tmp_path) as servers:
        servers.user_with_password("alice", b"correct horse")
        operator = OperatorProcess(servers, {}, {"PYTHONPATH": ""}, python=installed, cwd=tmp_path)
        try:
            servers.wait_ready("LldapUser", "alice")
            assert operator.stop()[0] == 0, operator.log
        finally:
            operator.kill()
        assert servers.login("alice", "correct horse") == 200


# --- declared dependencies -------------------------------------------------------------------


def imported(*packages: str) -> set[str]:
    """Top-level modules that the packages import and that are not the standard library's."""
    found = set()
    for package in packages:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    found |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found.add(node.module)
    top = {name.partition(".")[0] for name in found}
    return top - sys.stdlib_module_names - set(PACKAGES) - {"_typeshed"}


def wanted(*extras: str) -> set[str]:
    """Names of the distributions that setup.cfg asks for."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    texts = [config["options"]["install_requires"]]
    texts += [config["options.extras_require"][extra] for extra in extras]
    lines = "\n".join(texts).split()
    return {_normal(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in lines}


def declared(*extras: str) -> set[str]:
    """Modules of those distributions."""
    names = wanted(*extras)
    return {
        module
        for module, distributions in importlib.metadata.packages_distributions().items()
        if names & {_normal(name) for name in distributions}
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_the_product_imports_is_what_it_asks_for() -> None:
    assert imported(*PRODUCT) - declared() == set()


def test_what_the_sandbox_imports_is_what_its_extra_asks_for() -> None:
    assert imported("sandbox") - declared("sandbox") == set()


@pytest.mark.parametrize(("file", "extras"), [("run.lock", ()), ("dev.lock", ("sandbox",))])
def test_every_declared_dependency_is_locked_with_hashes(file: str, extras: tuple[str]) -> None:
    text = (ROOT / "requirements" / file).read_text()
    pinned = {_normal(name) for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}
    assert wanted(*extras) <= pinned
    assert text.count("--hash=sha256:") >= len(pinned)

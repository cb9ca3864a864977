"""The programs for tests: where they are kept, and what is said where they cannot be had."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.envtest import ROOT
from tests.tools import cache, debian, gomodules
from tests.tools.failure import ToolError

GO = """#!/bin/sh
echo "$CGO_ENABLED $*" >> "$LOG"
while [ "$1" != -o ]; do shift; done
test -z "$FAIL" && echo program > "$2"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache and a PATH of the test's own."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def program(home: Path, name: str, text: str) -> None:
    path = home / "bin" / name
    path.write_text(text)
    path.chmod(0o755)


def make(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.tools", *arguments],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )


@pytest.fixture
def go(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for Go; the file that has what was asked of it."""
    program(home, "go", GO)
    monkeypatch.setenv("LOG", str(home / "asked"))
    return home / "asked"


def test_without_go_it_says_what_to_do(home: Path) -> None:
    made = make("envtest")
    assert made.returncode == 1
    assert made.stdout == ""
    assert "there is no go on PATH" in made.stderr
    assert "install Go 1." in made.stderr
    assert "KUBEBUILDER_ASSETS" in made.stderr
    assert not (home / "cache").exists()


def test_both_programs_are_built_once_as_locked_and_the_export_line_is_printed(go: Path) -> None:
    made = make("envtest")
    assert made.returncode == 0, made.stderr
    found = re.fullmatch(r"export KUBEBUILDER_ASSETS=(\S+)\n", made.stdout)
    assert found
    assert {file.name for file in Path(found[1]).iterdir()} == {"etcd", "kube-apiserver"}
    asked = go.read_text().splitlines()
    assert [line.split()[-1] for line in asked] == [
        "go.etcd.io/etcd/server/v3",
        "k8s.io/kubernetes/cmd/kube-apiserver",
    ]
    version = gomodules.version("kube-apiserver")
    assert f"-X k8s.io/component-base/version.gitVersion=v{version} " in asked[1]
    for line in asked:
        assert line.startswith("0 build -C ")
        assert "-mod=readonly" in line
    assert make("envtest").stdout == made.stdout
    assert go.read_text().splitlines() == asked


def test_a_build_that_fails_leaves_no_program(
    go: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(ToolError, match=r"go did not build etcd 3\.\d+\.\d+ \(exit code 1\)"):
        gomodules.envtest(lambda _text: None)
    assert not [file for file in (home / "cache").rglob("*") if file.is_file()]


def test_the_staging_modules_are_those_of_the_kubernetes_that_is_locked() -> None:
    major, minor_and_patch = gomodules.version("kube-apiserver").split(".", 1)
    assert major == "1"
    text = (gomodules.LOCKED / "kube-apiserver" / "go.mod").read_text()
    replaced = re.findall(r"^\t(k8s\.io/\S+) => (\S+) v(\S+)$", text, re.MULTILINE)
    assert len(replaced) > 20
    assert {(old == new, version) for old, new, version in replaced} == {
        (True, f"0.{minor_and_patch}")
    }


def test_without_apt_it_says_what_is_missing() -> None:
    with pytest.raises(ToolError, match="prometheus and libfaketime"):
        debian.unpack(lambda _text: None)


def test_of_each_package_one_file_is_kept(home: Path) -> None:
    program(home, "apt-get", '#!/bin/sh\ntest "$1" = download && : > "$2.deb"\n')
    files = " ".join(debian.FILES.values())
    program(
        home,
        "dpkg-deb",
        f"#!/bin/sh\nPATH=/usr/bin:/bin\nfor file in {files} usr/bin/other; do\n"
        'mkdir -p "$(dirname "$3/$file")"; echo "$2" > "$3/$file"; done\n',
    )
    debian.unpack(lambda _text: None)
    for package, path in debian.FILES.items():
        assert cache.debian(path).read_text().endswith(f"/{package}.deb\n")
    assert not cache.debian("usr/bin/other").exists()
    assert cache.promtool() == str(cache.debian(cache.PROMTOOL))


def test_a_package_that_cannot_be_fetched_is_named(home: Path) -> None:
    program(home, "apt-get", "#!/bin/sh\nexit 100\n")
    program(home, "dpkg-deb", "#!/bin/sh\n")
    with pytest.raises(ToolError, match="apt-get cannot fetch prometheus"):
        debian.unpack(lambda _text: None)
    assert cache.promtool() == ""


def test_what_is_on_path_comes_first(home: Path) -> None:
    program(home, "promtool", "#!/bin/sh\n")
    assert cache.promtool() == str(home / "bin" / "promtool")

"""etcd and kube-apiserver, built from their Go modules as the files in modules/ lock them."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.tools.cache import folder
from tests.tools.failure import ToolError

LOCKED = Path(__file__).parent / "modules"
MODULES = {"etcd": "go.etcd.io/etcd/server/v3", "kube-apiserver": "k8s.io/kubernetes"}
NO_GO = (
    "there is no go on PATH, and etcd and kube-apiserver are built with it: install Go {wanted} "
    "or later, or point KUBEBUILDER_ASSETS to a folder that has both programs. Without them the "
    "tests that need a real API server are skipped, and pytest says how many."
)
NOT_BUILT = "go did not build {name} {version} (exit code {code}); what it said is above"


def envtest(say: Callable[[str], None]) -> Path:
    """Build what is not there yet; the folder for KUBEBUILDER_ASSETS. Raises ToolError."""
    assets = folder("envtest", "-".join(f"{name}-{version(name)}" for name in MODULES))
    for name in MODULES:
        if not (assets / name).exists():
            _build(name, assets / name, say)
    return assets


def version(name: str) -> str:
    """The version of a program that is locked, without its v."""
    return _locked(name, rf"\t?(?:require )?{re.escape(MODULES[name])} v(\S+)")


def _locked(name: str, line: str) -> str:
    found = re.search(f"^{line}", (LOCKED / name / "go.mod").read_text(), re.MULTILINE)
    assert found, f"{name}/go.mod has no line {line}"
    return found[1]


def _version_flags(name: str) -> str:
    """What tells the API server its version, which Kubernetes' own build does likewise."""
    if name != "kube-apiserver":
        return ""
    found = version(name)
    major, minor, _ = found.split(".")
    values = {"gitVersion": f"v{found}", "gitMajor": major, "gitMinor": minor}
    place = "k8s.io/component-base/version"
    return " ".join(f"-X {place}.{variable}={value}" for variable, value in values.items())


def _build(name: str, target: Path, say: Callable[[str], None]) -> None:
    go = shutil.which("go")
    if go is None:
        raise ToolError(NO_GO.format(wanted=_locked(name, r"go (\S+)")))
    say(f"go builds {name} {version(name)}; the first time takes minutes")
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(f".{os.getpid()}")
    linker = f"-s -w {_version_flags(name)}"
    flags = ["-trimpath", "-mod=readonly", f"-ldflags={linker}", "-o", str(unfinished)]
    built = subprocess.run(
        [go, "build", "-C", str(LOCKED / name), *flags, _locked(name, r"tool (\S+)")],
        env={**os.environ, "CGO_ENABLED": "0"},
        check=False,
    )
    if built.returncode:
        text = NOT_BUILT.format(name=name, version=version(name), code=built.returncode)
        raise ToolError(text)
    unfinished.rename(target)

"""What the folders of deploy/ come to, as kubectl builds them."""

import functools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def _kubectl() -> str:
    """The one on PATH; some vendors' only finds out which of those beside it to run."""
    found = shutil.which("kubectl.1.32") or shutil.which("kubectl") or ""
    beside = Path(found).resolve().with_name("kubectl.1.32")
    return str(beside) if found and beside.exists() else found


KUBECTL = _kubectl()
NO_KUBECTL = "needs kubectl on PATH"
SECONDS = 60.0

Manifest = dict[str, Any]

FOLDERS = sorted(
    str(file.parent.relative_to(DEPLOY))
    for pattern in ("kustomization.yaml", "Kustomization")
    for file in DEPLOY.rglob(pattern)
    if yaml.safe_load(file.read_text())["kind"] == "Kustomization"
)
"""Every folder that can be applied; components are parts of others."""


def build(folder: Path | str) -> list[Manifest]:
    """The manifests of a folder, in kubectl's order. Skips the test where there is no kubectl."""
    return [dict(each) for each in yaml.safe_load_all(_built(DEPLOY / folder)) if each]


@functools.cache
def _built(folder: Path) -> str:
    if not KUBECTL:
        pytest.skip(NO_KUBECTL)
    # No proxy and no home: nothing is fetched and no cluster is asked.
    built = subprocess.run(
        [KUBECTL, "kustomize", str(folder)],
        env={"HOME": "/nonexistent", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert not built.stderr, f"kustomize warns: {built.stderr}"
    return built.stdout


def overlay(folder: Path, text: str) -> list[Manifest]:
    """The manifests of an overlay; DEPLOY in `text` stands for the way to deploy/."""
    relative = Path("../" * len(folder.resolve().parts[1:])) / str(DEPLOY)[1:]
    (folder / "kustomization.yaml").write_text(text.replace("DEPLOY", str(relative)))
    return build(folder)


def one(manifests: list[Manifest], kind: str, name: str = "") -> Manifest:
    """The one manifest of that kind, and name if one is given."""
    found = [
        each
        for each in manifests
        if each["kind"] == kind and name in {"", each["metadata"]["name"]}
    ]
    assert len(found) == 1, [each["metadata"]["name"] for each in found]
    return found[0]


def identity(manifest: Manifest) -> tuple[str, str, str, str]:
    """What tells an object from another."""
    metadata = manifest["metadata"]
    return (
        manifest["apiVersion"].rpartition("/")[0],
        manifest["kind"],
        metadata.get("namespace", ""),
        metadata["name"],
    )

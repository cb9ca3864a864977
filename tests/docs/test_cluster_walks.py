"""The pages that need a whole cluster, one after the other, on a real API server."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import pytest

from sandbox.controlplane import ASSETS_VARIABLE
from tests.docs.test_inline import kubectl_commands
from tests.docs.test_walks import ON_A_CLUSTER
from tests.support.cluster import Cluster, wait_until
from tests.support.docnodes import ClusterWalk, cluster_walk
from tests.support.docpages import DOCS
from tests.support.kustomize import KUBECTL, NO_KUBECTL

pytestmark = [pytest.mark.slow, pytest.mark.envtest, pytest.mark.timeout(400)]

PAGES = [
    "quickstart.md",
    "run/uninstall.md",
    "run/install.md",
    "run/upgrade.md",
    "guides/tenants.md",
]
PASSWORD = "correct horse battery staple"


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[ClusterWalk]:
    if not KUBECTL:
        pytest.skip(NO_KUBECTL)
    with (
        Cluster(Path(os.environ[ASSETS_VARIABLE])) as cluster,
        cluster_walk(cluster, tmp_path) as walk,
    ):
        yield walk


def test_from_nothing_to_a_login_and_back_to_nothing_and_installed_again(
    reader: ClusterWalk,
) -> None:
    assert {DOCS / page for page in PAGES} == ON_A_CLUSTER
    start, uninstall, *again = (DOCS / page for page in PAGES)
    reader.go(start)
    lldap = reader.nodes.lldap
    assert lldap is not None
    assert lldap.login("alice", PASSWORD) == 200
    run_what_sentences_name(reader)
    reader.go(uninstall)
    assert lldap.login("alice", PASSWORD) == 200, "the uninstall took somebody away"
    wait_until(lambda: _is_gone(reader), "the operator's namespace is gone")
    for page in again:
        reader.go(page)


def run_what_sentences_name(reader: ClusterWalk) -> None:
    """All in one shell, which says before each what it is; a pipe may find nothing."""
    commands = sorted(kubectl_commands())
    assert len(commands) > 10
    text = "\n".join(f"echo {quote(f'$ {each}')}; {each} || [ $? = 1 ]" for each in commands)
    _, output = reader.shell.run(text, lambda: None)
    assert not re.search("^(error|unable)", output, re.MULTILINE | re.IGNORECASE), output
    assert output.count("$ kubectl") == len(commands), output


def _is_gone(reader: ClusterWalk) -> bool:
    code, _ = reader.shell.run("! kubectl get namespace lldap-operator", lambda: None)
    return code == 0

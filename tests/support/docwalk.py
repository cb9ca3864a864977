"""Walks through a page as a reader does: applies its manifests, runs its commands."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from controller.api import API_VERSION
from informers import StatusError
from lldap import AttributeSchema, AttributeType, Target
from sandbox.apiserver.http import ApiServerHttp
from sandbox.lldap.http import LldapServer
from tests.support.bed import ADMIN_PASSWORD, Bed
from tests.support.docpages import Block, blocks
from tests.support.docshell import Shell, shows
from tests.support.migration import apply_object, client_of

HOME = "lldap-operator"
NAMESPACES = ("default", HOME, "kube-system")
SHELL = frozenset({"sh"})
MANIFEST = frozenset({"yaml"})
OUTPUT = frozenset({"text"})


class Walk:
    """One reader with a cluster, an lldap and an operator, all in this process but the commands."""

    def __init__(self, bed: Bed, shell: Shell) -> None:
        self.bed = bed
        self.shell = shell
        self._real = time.monotonic()
        self._output = ""
        self.ran = 0

    def go(self, page: Path) -> None:
        """All blocks of the page, in order."""
        for block in blocks(page):
            if block.not_run:
                continue
            if block.language in SHELL:
                self._command(block)
            elif block.language in MANIFEST:
                self._manifest(block)
            elif block.language in OUTPUT and self._output:
                output, self._output = self._output, ""
                missing = shows(block.text, output)
                assert not missing, f"{block}: no line {missing!r} in:\n{output}"

    def _command(self, block: Block) -> None:
        code, self._output = self.shell.run(block.text, self._meanwhile)
        assert code == 0, f"{block} ends with {code}:\n{self._output}"
        self._settle()
        self.ran += 1

    def _manifest(self, block: Block) -> None:
        self._output = ""
        self.ran += 1
        if block.file:
            path = self.shell.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
            return
        documents = [each for each in yaml.safe_load_all(block.text) if each]
        for document in documents:
            document["metadata"].setdefault("namespace", "default")
            apply_object(self.bed, document)
        self._settle()
        for document in documents:
            if document["apiVersion"] == API_VERSION:
                self._check(block, document)

    def _check(self, block: Block, document: dict[str, Any]) -> None:
        kind, metadata = document["kind"], document["metadata"]
        name, namespace = metadata["name"], metadata["namespace"]
        _, reason = self.bed.ready(kind, name, namespace)
        wanted = block.becomes or "Verified"
        message = self.bed.message(kind, name, namespace)
        assert reason == wanted, f"{block}: {kind} {name} is {reason}: {message}"

    def _settle(self) -> None:
        self.bed.run(3.0)

    def _meanwhile(self) -> None:
        now = time.monotonic()
        self.bed.clock.advance(now - self._real)
        self._real = now
        self.bed.step()


@contextmanager
def walk(folder: Path, *, peopled: bool = False) -> Iterator[Walk]:
    """A reader with an operator in the namespace lldap-operator, for as long as the block.

    `peopled`: there are people in lldap that were made by hand.
    """
    bed = Bed(virtual_group_namespace=HOME)
    if peopled:
        _people(bed)
    for name in NAMESPACES:
        with suppress(StatusError):  # some are there
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            bed.admin.post("/api/v1/namespaces", body)
    bed.settle()
    with ExitStack() as stack:
        api = stack.enter_context(ApiServerHttp(bed.api))
        lldap = stack.enter_context(LldapServer(bed.lldap))
        config = folder / "kubeconfig"
        api.kubeconfig(config)
        pod = {
            "LLDAP_URL": lldap.url,
            "LLDAP_ADMIN_PASSWORD": ADMIN_PASSWORD,
            "POD_NAMESPACE": HOME,
            "KUBECONFIG": str(config),
        }
        yield Walk(bed, Shell(folder, {"KUBECONFIG": str(config)}, pod, lldap.url))


def _people(bed: Bed) -> None:
    client = client_of(bed)
    client.add_attribute(Target.USER, AttributeSchema("phone", AttributeType.STRING))
    client.create_user("zoe", "zoe@example.org", attributes={"phone": ["+41 44 000 00 00"]})
    client.create_user("svc-backup", "backup@example.org")
    family = client.create_group_with_details("family")
    client.add_user_to_group("zoe", family.id)

"""YAML documents and the way to an API server for them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from controller.api import KINDS, Kind
from controller.api.names import API_VERSION
from controller.cluster import api_client
from informers import ApiClientTransport, ApiFailure, PatchType, RestClient
from sandbox.demo.failure import DemoError

Document = dict[str, Any]

ROOT = Path(__file__).parents[2]
CRDS = ROOT / "deploy" / "crds"
POLICIES = ROOT / "deploy" / "policies"
OPERATOR = ROOT / "deploy" / "operator"
EXAMPLES = ROOT / "docs" / "examples"
RIGHTS = ("clusterrole", "role")  # how the names of the files in OPERATOR begin

MANAGER = "demo"
CALL_SECONDS = 10.0
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_COLLECTIONS = {
    "Namespace": "/api/v1/namespaces",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "ValidatingAdmissionPolicy": f"{_ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{_ADMISSION}/validatingadmissionpolicybindings",
    "ClusterRole": f"{_RBAC}/clusterroles",
    "ClusterRoleBinding": f"{_RBAC}/clusterrolebindings",
    "Role": f"{_RBAC}/namespaces/{{namespace}}/roles",
    "RoleBinding": f"{_RBAC}/namespaces/{{namespace}}/rolebindings",
    **{kind.kind: f"/apis/{API_VERSION}/namespaces/{{namespace}}/{kind.plural}" for kind in KINDS},
}


def documents(folder: Path, prefix: str = "") -> Iterator[Document]:
    """The documents of a folder's YAML files, by the files' names. Raises DemoError."""
    files = sorted(folder.glob(f"{prefix}*.yaml"))
    if not files:
        msg = f"{folder} has no manifests: the demo runs in a checkout of the project"
        raise DemoError(msg)
    for file in files:
        yield from (document for document in yaml.safe_load_all(file.read_text()) if document)


def key_of(document: Document) -> str:
    """Kind, namespace and name, for people."""
    metadata = document["metadata"]
    return f"{document['kind']} {metadata.get('namespace', '')}/{metadata['name']}".replace(
        " /", " "
    )


class Cluster:
    """An API server, as whoever the kubeconfig says. One thread."""

    def __init__(self, kubeconfig: Path) -> None:
        self._transport = ApiClientTransport(api_client(str(kubeconfig)), user_agent=MANAGER)
        self._rest = RestClient(self._transport, call_seconds=CALL_SECONDS)

    def close(self) -> None:
        """Let go of the connections."""
        self._transport.close()

    def apply(self, document: Document) -> None:
        """Server-side apply, as `kubectl apply --server-side`. Raises DemoError."""
        metadata = document["metadata"]
        collection = _COLLECTIONS[document["kind"]].format(namespace=metadata.get("namespace", ""))
        try:
            self._rest.patch(
                f"{collection}/{metadata['name']}",
                document,
                content_type=PatchType.APPLY,
                field_manager=MANAGER,
                force=True,
                query=[("fieldValidation", "Strict")],
            )
        except ApiFailure as error:
            msg = f"{key_of(document)} cannot be applied: {error}"
            raise DemoError(msg) from None

    def serves(self, kind: Kind) -> bool:
        """Whether objects of a kind can be listed: a new CRD takes two seconds."""
        try:
            self.list(kind)
        except ApiFailure:
            return False
        return True

    def list(self, kind: Kind) -> list[Document]:
        """All objects of a kind. Raises ApiFailure."""
        found: list[Document] = self._rest.get(f"/apis/{API_VERSION}/{kind.plural}")["items"]
        return found

    def table(self, kind: Kind) -> Document:
        """The same as a Table. Raises ApiFailure."""
        return self._rest.get(f"/apis/{API_VERSION}/{kind.plural}", accept=TABLE)

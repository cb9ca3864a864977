"""The example manifests, as documents."""

from pathlib import Path
from typing import Any

import yaml

from controller.api import API_VERSION, KINDS

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
OPERATOR_NAMESPACE = "lldap-operator"
PLURALS = {kind.kind: kind.plural for kind in KINDS}


def documents() -> list[dict[str, Any]]:
    """All of them, in the order of the files' names."""
    return [
        document
        for path in sorted(FOLDER.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
    ]


def path_of(document: dict[str, Any]) -> str:
    """Where an object is on the API server."""
    metadata = document["metadata"]
    place = f"namespaces/{metadata['namespace']}"
    if document["kind"] == "Secret":
        return f"/api/v1/{place}/secrets/{metadata['name']}"
    return f"/apis/{API_VERSION}/{place}/{PLURALS[document['kind']]}/{metadata['name']}"

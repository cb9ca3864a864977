"""What an object says, of the generation that is there."""

from typing import Any

import pytest

from controller.api import GROUP
from informers import StatusError
from tests.support.bed import Bed
from tests.support.directory import Directory

VERIFIED = ("True", "Verified")
VIRTUAL = "lldap-system"  # the namespace of the virtual groups
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"


def ready(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> tuple[str, str]:
    """Status and reason of Ready; ("?", "?") while it is about an older spec, or not there."""
    obj = bed.get(kind, name, namespace)
    for condition in obj.get("status", {}).get("conditions", []):
        current = condition["observedGeneration"] == obj["metadata"]["generation"]
        if condition["type"] == "Ready" and current:
            return condition["status"], condition["reason"]
    return "?", "?"


def becomes(
    bed: Bed,
    kind: str,
    name: str,
    expected: tuple[str, str] = VERIFIED,
    namespace: str = "team-a",
) -> None:
    """Work until Ready says so."""
    bed.until(lambda: ready(bed, kind, name, namespace) == expected)


def goes(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> None:
    """Work until the object is gone."""
    bed.until(lambda: not bed.exists(kind, name, namespace))


def delete(bed: Bed, kind: str, name: str, namespace: str = "team-a") -> None:
    """Delete the object and work until it is gone."""
    bed.delete(kind, name, namespace)
    goes(bed, kind, name, namespace)


def annotate(bed: Bed, kind: str, name: str, annotation: str, value: str | None) -> None:
    patch(bed, kind, name, {"metadata": {"annotations": {f"{GROUP}/{annotation}": value}}})


def patch(
    bed: Bed, kind: str, name: str, change: dict[str, Any], namespace: str = "team-a"
) -> None:
    bed.admin.patch(bed.path(kind, namespace, name), change, content_type=MERGE)


def alice_in_devs(bed: Bed, *, user: str = "Delete", group: str = "Delete") -> Directory:
    """Alice with a managed password, in devs, with these deletionPolicies."""
    bed.secret("pw", b"first-password")
    reference = {"name": "pw", "key": "password"}
    bed.user("alice", passwordPolicy="Manage", passwordSecretRef=reference, deletionPolicy=user)
    bed.group("devs", deletionPolicy=group)
    bed.membership("alice", "devs")
    becomes(bed, "LldapMembership", "alice-devs")
    becomes(bed, "LldapUser", "alice")
    return Directory(bed)


def refusal(bed: Bed, kind: str, name: str, change: dict[str, Any]) -> str:
    """The fields that the API server names when it refuses a change as invalid."""
    with pytest.raises(StatusError) as refused:
        patch(bed, kind, name, change)
    assert refused.value.code == 422
    return str(refused.value).rpartition("(")[2].rstrip(")")


def served(bed: Bed, crd: str) -> bool:
    """Whether a CRD is there."""
    try:
        bed.admin.get(f"{CRDS}/{crd}")
    except StatusError as error:
        if error.code != 404:
            raise
        return False
    return True

"""The Roles of deploy/ as the sandbox's API server takes them, which serves no RBAC objects."""

from collections.abc import Iterable

from sandbox.apiserver.authorization import Rule
from sandbox.demo.manifests import Document


def rules_of(documents: Iterable[Document]) -> list[Rule]:
    """What ClusterRoles allow everywhere, and Roles in their namespace.

    Who is bound to them is not looked at: all of deploy/ are one account's.
    """
    return [
        _rule(rule, None if role["kind"] == "ClusterRole" else (role["metadata"]["namespace"],))
        for role in documents
        if role["kind"] in {"ClusterRole", "Role"}
        for rule in role["rules"]
    ]


def _rule(rule: Document, namespaces: tuple[str, ...] | None) -> Rule:
    return Rule(
        verbs=rule["verbs"],
        groups=rule["apiGroups"],
        resources=rule["resources"],
        names=rule.get("resourceNames", ()),
        namespaces=namespaces,
    )

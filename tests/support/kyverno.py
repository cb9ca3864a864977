"""The Kyverno policies of docs/kyverno, evaluated without Kyverno.

Their CEL is that of Kubernetes' own admission policies, so the validating ones are evaluated twice:
here, by the sandbox's engine, and as ValidatingAdmissionPolicies by a real API server.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from controller.api import LLDAP_GROUP, LLDAP_MEMBERSHIP, LLDAP_USER, Kind
from sandbox.apiserver import cel
from tests.support.docpages import DOCS
from tests.support.envtest import Key, manifest

FOLDER = DOCS / "kyverno"
PATTERNS = ["default-group", "group-names", "own-secrets"]
CRDS = Path(__file__).parents[1] / "data" / "kyverno"
APP = "app.kubernetes.io/name"
FUNCTIONS = {**cel.FUNCTIONS, "join": lambda texts, by: by.join(texts)}
Manifest = dict[str, Any]


def documents(name: str) -> list[Manifest]:
    return list(yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text()))


def policy(name: str) -> Manifest:
    return documents(name)[0]


class Evaluation:
    """One policy over one write."""

    def __init__(
        self, spec: Manifest, new: Manifest, old: Manifest | None, groups: Sequence[str]
    ) -> None:
        self._spec = spec
        operation = "UPDATE" if old else "CREATE"
        request = {"operation": operation, "userInfo": {"groups": list(groups)}}
        variables = {"object": new, "oldObject": old, "request": request}
        self._scope = cel.Scope(variables, FUNCTIONS)
        self._namespace = new["metadata"]["namespace"]

    def matches(self) -> bool:
        """Whether the policy looks at it at all. The resources are not compared."""
        if not self._in_namespace(self._spec["matchConstraints"].get("namespaceSelector", {})):
            return False
        return all(self._value(each) for each in self._spec.get("matchConditions", ()))

    def _in_namespace(self, selector: Manifest) -> bool:
        wanted = selector.get("matchLabels", {}).get("kubernetes.io/metadata.name", self._namespace)
        left_out = [name for e in selector.get("matchExpressions", ()) for name in e["values"]]
        return wanted == self._namespace and self._namespace not in left_out

    def variables(self) -> dict[str, Any]:
        found = {}
        for each in self._spec["variables"]:
            found[each["name"]] = self._value(each)
            self._scope.add(each["name"], found[each["name"]])
        return found

    def denial(self) -> str:
        """What the policy says against it; "" if nothing."""
        if not self.matches():
            return ""
        self.variables()
        for each in self._spec["validations"]:
            if self._value(each) is not True:
                return str(self._value(each, "messageExpression") or each["message"])
        return ""

    def _value(self, holder: Manifest, key: str = "expression") -> Any:
        return cel.Expression(holder[key]).evaluate(self._scope) if key in holder else None


def as_admission_policy(found: Manifest) -> list[Manifest]:
    """A ValidatingPolicy as Kubernetes' own kind, with its binding."""
    spec = dict(found["spec"])
    actions = spec.pop("validationActions")
    name = found["metadata"]["name"]
    version = "admissionregistration.k8s.io/v1"
    return [
        {
            "apiVersion": version,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": spec,
        },
        {
            "apiVersion": version,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": actions},
        },
    ]


@dataclass(frozen=True)
class Case:
    """Somebody of `groups` writes an object; the policy `says` something against it, or nothing."""

    policy: str
    kind: Kind
    namespace: str
    spec: Manifest
    says: str = ""
    groups: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)

    def new(self, name: str) -> Manifest:
        obj = manifest(self.kind, Key(self.namespace, name), self.spec)
        obj["metadata"]["labels"] |= self.labels
        return obj

    def __str__(self) -> str:
        who = "+".join(self.groups) or "anybody"
        app = self.labels.get(APP, "")
        named = self.spec.get("displayName") or self.spec.get("groupName") or self._secret()
        return f"{self.policy}: {who} in {self.namespace} {app} {self.kind.kind} {named}"

    def _secret(self) -> str:
        return str(self.spec.get("passwordSecretRef", {}).get("name", "none"))


def _group(namespace: str, name: str, says: str = "", *groups: str) -> Case:
    return Case("group-names", LLDAP_GROUP, namespace, {"displayName": name}, says, groups)


def _member(namespace: str, name: str, says: str = "", *groups: str) -> Case:
    spec = {"userName": "alice", "groupName": name}
    return Case("group-names", LLDAP_MEMBERSHIP, namespace, spec, says, groups)


def _user(app: str | None, secret: str | None, says: str = "") -> Case:
    spec: Manifest = {"username": "grafana", "email": "grafana@example.org"}
    if secret is None:
        spec["passwordPolicy"] = "Ignore"
    else:
        spec["passwordSecretRef"] = {"name": secret, "key": "password"}
    labels = {} if app is None else {APP: app}
    return Case("own-secrets", LLDAP_USER, "team-x", spec, says, labels=labels)


ASCII = "may have only letters, digits and signs of ASCII"
CASES = [
    _group("team-x", "team-x.devs"),
    _group("team-x", "Team-X.Devs"),
    _group("team-x", "devs", "must begin with team-x."),
    _group("team", "team-x.devs", "must begin with team."),
    _group("people", "anything"),
    _group("people", "payroll", "may be named only by: hr-admins"),
    _group("people", "PayRoll", "may be named only by: hr-admins"),
    _group("people", "payroll", "", "hr-admins"),
    _group("people", "team-\u212a", ASCII),
    _group("people", "Größe", ASCII),
    _group("lldap-operator", "anything"),
    _member("team-x", "TEAM-X.devs"),
    _member("team-x", "devs", "must begin with team-x."),
    _member("team-x", "vpn", "may be named only by: hr-admins, network-team"),
    _member("team-x", "VPN", "", "network-team"),
    _member("team-x", "vpn", "may be named only by: hr-admins, network-team", "others"),
    _member("lldap-operator", "lldap_admin"),
    _user("grafana", "grafana-lldap-login"),
    _user("grafana", None),
    _user(None, None),
    _user(None, "grafana-lldap-login", "needs the label app.kubernetes.io/name"),
    _user("grafana", "payroll-lldap-login", "must begin with grafana-lldap-"),
    _user("grafana", "grafana", "must begin with grafana-lldap-"),
    _user("graf", "grafana-lldap-login", "must begin with graf-lldap-"),
    _user("a-lldap", "a-lldap-lldap-x", 'must not have "-lldap" in it'),
]

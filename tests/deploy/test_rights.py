"""What the Roles grant is what the code asks for, in every variant, and nothing else."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from controller.configuration.config import Config, load
from controller.doctor.rights import Right, needed
from tests.deploy.test_folders import SECURE
from tests.support.kustomize import Manifest, build, overlay

DETECTED = {"leader_elect": "true", "log_format": "json", "pod_name": "p"}


def config(namespace: str, **environ: str) -> Config:
    enough = {"LLDAP_URL": "http://lldap", "LLDAP_ADMIN_PASSWORD": "x", "POD_NAMESPACE": namespace}
    return load({**enough, **environ}, {}, DETECTED)


def granted(manifests: list[Manifest]) -> set[Right]:
    """The rights that the bindings of `manifests` give to the operator's account."""
    roles = {(each["kind"], each["metadata"]["name"]): each for each in manifests}
    found: set[Right] = set()
    for binding in manifests:
        if binding["kind"] not in {"RoleBinding", "ClusterRoleBinding"}:
            continue
        (subject,) = binding["subjects"]
        assert subject["kind"] == "ServiceAccount"
        role = roles[binding["roleRef"]["kind"], binding["roleRef"]["name"]]
        found.update(_expanded(role["rules"], binding["metadata"].get("namespace", "")))
    return found


def _expanded(rules: list[dict[str, Any]], namespace: str) -> Iterator[Right]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for path in rule["resources"]:
                resource, _, subresource = path.partition("/")
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", [""]):
                        yield Right(verb, group, resource, subresource, namespace, name)


def asked(config: Config) -> set[Right]:
    """What the code needs, as Roles can say it: a namespace is read with a cluster's right."""
    return {
        replace(right, namespace="") if right.resource == "namespaces" else right
        for right in needed(config)
    }


def test_the_operator_for_all_namespaces() -> None:
    assert granted(build("operator")) == asked(config("lldap-operator"))


def test_the_operator_for_its_own_namespace() -> None:
    only = config("lldap-operator", WATCH_NAMESPACES="lldap-operator")
    assert granted(build("operator-namespaced")) == asked(only)


def test_one_more_namespace(tmp_path: Path) -> None:
    (tmp_path / "team-a").mkdir()
    text = "{namespace: team-a, resources: [DEPLOY/watched-namespace]}"
    more = overlay(tmp_path / "team-a", text)
    (binding,) = more
    assert binding["metadata"]["namespace"] == "team-a"
    two = config("lldap-operator", WATCH_NAMESPACES="lldap-operator,team-a")
    assert granted([*build("operator-namespaced"), *more]) == asked(two)


def test_a_second_instance() -> None:
    second = config("lldap-operator-team", LLDAP_INSTANCE="team")
    assert granted(build("second-instance")) == asked(second)


def test_the_component_adds_the_two_reviews(tmp_path: Path) -> None:
    secure = replace(config("lldap-operator"), metrics_auth=True)
    found = granted(overlay(tmp_path, SECURE))
    assert found == asked(secure)
    assert found - granted(build("operator")) == {
        Right("create", "authentication.k8s.io", "tokenreviews"),
        Right("create", "authorization.k8s.io", "subjectaccessreviews"),
    }


@pytest.mark.parametrize(
    "folder", ["operator", "operator-namespaced", "second-instance", "user-roles", "all-in-one"]
)
def test_no_rule_has_a_wildcard(folder: str) -> None:
    rules = [rule for each in build(folder) for rule in each.get("rules") or ()]
    assert rules
    assert b"*" not in orjson.dumps(rules)

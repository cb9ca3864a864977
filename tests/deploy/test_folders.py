"""The folders of deploy/, as kubectl builds them without a network or a cluster."""

import re
from pathlib import Path

import pytest
import yaml

from controller.api import GROUP, KINDS
from controller.configuration.config import Config, configuration_table, load
from controller.manager import STOP_SECONDS
from controller.version import VERSION
from tests.support.kustomize import DEPLOY, FOLDERS, build, identity, one, overlay

OPERATORS = ["operator", "operator-namespaced", "second-instance", "all-in-one"]
SECURE = """
resources: [DEPLOY/operator]
components: [DEPLOY/components/secure-metrics]
"""


def test_the_folders_are_those_of_the_page() -> None:
    page = (DEPLOY / "README.md").read_text()
    named = set(re.findall(r"`([a-z/-]+)`", page.partition("\n## ")[0]))
    assert set(FOLDERS) <= named, "each folder has a row"
    assert all((DEPLOY / name).is_dir() for name in named if "/" in name)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_builds_alone_and_names_nothing_twice(folder: str) -> None:
    manifests = build(folder)
    assert manifests
    identities = [identity(each) for each in manifests]
    assert len(set(identities)) == len(identities)


@pytest.mark.parametrize("folder", [name for name in FOLDERS if name != "crds"])
def test_no_folder_brings_the_kinds_along(folder: str) -> None:
    # Deleted with it, they would take every object of the four kinds with them.
    assert not [each for each in build(folder) if each["kind"] == "CustomResourceDefinition"]


def test_the_kinds_are_in_a_folder_of_their_own() -> None:
    assert {identity(each)[3] for each in build("crds")} == {kind.crd_name for kind in KINDS}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_folder_makes_a_secret(folder: str) -> None:
    assert not [each for each in build(folder) if each["kind"] == "Secret"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_only_what_the_page_says_has_no_namespace_of_its_own(folder: str) -> None:
    homeless = {
        each["kind"]
        for each in build(folder)
        if each["kind"] in {"Role", "RoleBinding", "ServiceAccount", "Deployment", "Service"}
        and "namespace" not in each["metadata"]
    }
    assert homeless == ({"RoleBinding"} if folder == "watched-namespace" else set())


def test_the_first_look_is_everything_but_the_kinds_and_the_scraping() -> None:
    parts = ["policies", "user-roles", "operator", "lldap"]
    expected = {identity(each) for part in parts for each in build(part)}
    assert {identity(each) for each in build("all-in-one")} == expected


def test_a_second_instance_shares_no_object_with_the_first() -> None:
    first = {identity(each) for each in build("operator")}
    assert not first & {identity(each) for each in build("second-instance")}


# --- the Deployment ------------------------------------------------------------------------------


def _settings(folder: str) -> dict[str, str]:
    """The environment that the operator gets from a folder; a field reference is its path."""
    manifests = build(folder)
    operator = [
        each
        for each in manifests
        if each["kind"] == "Deployment" and each["metadata"]["name"].startswith("lldap-operator")
    ]
    container = operator[0]["spec"]["template"]["spec"]["containers"][0]
    (source,) = container["envFrom"]
    settings: dict[str, str] = dict(
        one(manifests, "ConfigMap", source["configMapRef"]["name"])["data"]
    )
    for variable in container["env"]:
        settings[variable["name"]] = variable.get("value") or str(
            variable["valueFrom"]["fieldRef"]["fieldPath"]
        )
    return settings


def _loaded(folder: str, tmp_path: Path) -> Config:
    settings = _settings(folder)
    for name in ("LLDAP_ADMIN_PASSWORD_FILE", "LLDAP_PASSWORD_HASH_KEY_FILE"):
        (tmp_path / name).write_text("k" * 32)
        settings[name] = str(tmp_path / name)
    settings["POD_NAMESPACE"] = one(build(folder), "ServiceAccount")["metadata"]["namespace"]
    detected = {"leader_elect": "true", "log_format": "json", "pod_namespace": "", "pod_name": "p"}
    return load(settings, {}, detected)


@pytest.mark.parametrize("folder", ["operator", "operator-namespaced", "second-instance"])
def test_the_configuration_can_be_used(folder: str, tmp_path: Path) -> None:
    known = {row.variable for row in configuration_table()}
    assert set(_settings(folder)) <= known
    config = _loaded(folder, tmp_path)
    assert config.leader_elect
    assert config.lldap_password_hash_key_file is not None


def test_the_variants_differ_in_what_they_are_for(tmp_path: Path) -> None:
    assert _loaded("operator", tmp_path).watch_namespaces == ()
    assert _loaded("operator-namespaced", tmp_path).watch_namespaces == ("lldap-operator",)
    second = _loaded("second-instance", tmp_path)
    assert second.lldap_instance == "team"
    assert second.lease_name == "lldap-operator-team"


@pytest.mark.parametrize("folder", OPERATORS)
def test_the_deployment_fits_the_program(folder: str) -> None:
    deployment = next(
        each
        for each in build(folder)
        if each["kind"] == "Deployment" and "operator" in each["metadata"]["name"]
    )
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert deployment["spec"]["replicas"] == 2
    assert container["image"] == f"lldap-operator:{VERSION}"
    assert spec["terminationGracePeriodSeconds"] >= 2 * STOP_SECONDS
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {"metrics": 8080, "health": 8081}
    probes = {name: container[name]["httpGet"]["path"] for name in PROBES}
    assert probes == PROBES
    mounts = {each["mountPath"]: each for each in container["volumeMounts"]}
    assert mounts["/etc/lldap-operator"]["readOnly"]
    assert "/tmp" in mounts, "a shared object is unpacked there"
    secret = next(each["secret"] for each in spec["volumes"] if each["name"] == "credentials")
    assert "optional" not in secret
    assert {item["key"] for item in secret["items"]} == {"password", "hash-key"}


PROBES = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}


@pytest.mark.parametrize("folder", OPERATORS)
def test_everything_that_selects_the_operator_finds_it(folder: str) -> None:
    manifests = [
        each
        for each in build(folder)
        if each["metadata"].get("namespace", "").startswith("lldap-operator")
    ]
    deployment = one(manifests, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    selectors = [
        deployment["spec"]["selector"]["matchLabels"],
        one(manifests, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        one(manifests, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    ]
    selectors += [
        each["labelSelector"]["matchLabels"]
        for each in deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
    ]
    assert all(selector.items() <= labels for selector in selectors)
    for folder_of_monitor, kind in (("podmonitor", "PodMonitor"), ("servicemonitor", "Service")):
        monitor = one(build(f"monitoring/{folder_of_monitor}"), kind)
        selector = monitor["spec"]["selector"]
        assert selector.get("matchLabels", selector).items() <= labels


def test_the_service_of_the_metrics_is_what_the_service_monitor_looks_for() -> None:
    manifests = build("monitoring/servicemonitor")
    service, monitor = one(manifests, "Service"), one(manifests, "ServiceMonitor")
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    assert wanted <= service["metadata"]["labels"].items()
    ports = {each["name"] for each in service["spec"]["ports"]}
    assert {each["port"] for each in monitor["spec"]["endpoints"]} <= ports


def test_the_component_serves_metrics_over_tls_to_who_may_read_them(tmp_path: Path) -> None:
    manifests = overlay(tmp_path, SECURE)
    deployment = one(manifests, "Deployment")["spec"]["template"]["spec"]
    name = deployment["containers"][0]["envFrom"][0]["configMapRef"]["name"]
    settings = one(manifests, "ConfigMap", name)["data"]
    mounted = {
        mount["mountPath"]: volume["secret"]["secretName"]
        for mount in deployment["containers"][0]["volumeMounts"]
        for volume in deployment["volumes"]
        if volume["name"] == mount["name"] and "secret" in volume
    }
    folder, _, _ = settings["METRICS_TLS_CERT_FILE"].rpartition("/")
    assert mounted[folder] == "lldap-operator-metrics"
    assert settings["METRICS_TLS_KEY_FILE"].startswith(folder)
    assert settings["METRICS_AUTH"] == "true"
    reader = one(manifests, "ClusterRole", "lldap-operator-metrics-reader")
    assert reader["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]


# --- what people get -----------------------------------------------------------------------------


def test_nobody_is_granted_a_status_or_the_verb_of_an_operator() -> None:
    for role in build("user-roles"):
        for rule in role["rules"]:
            assert rule["apiGroups"] == [GROUP]
            assert not [name for name in rule["resources"] if "/" in name or "*" in name]
            assert not {"*", "operate"} & set(rule["verbs"])


def _aggregated_to(role: str) -> dict[str, set[str]]:
    """Verbs by resource that a built-in role gains."""
    gained: dict[str, set[str]] = {}
    for each in build("user-roles"):
        label = f"rbac.authorization.k8s.io/aggregate-to-{role}"
        if each["metadata"]["labels"].get(label) == "true":
            for rule in each["rules"]:
                for resource in rule["resources"]:
                    gained.setdefault(resource, set()).update(rule["verbs"])
    return gained


def test_admin_and_edit_write_all_kinds_but_the_schema_and_view_reads_all() -> None:
    reading = {"get", "list", "watch"}
    writing = reading | {"create", "delete", "deletecollection", "patch", "update"}
    for role in ("admin", "edit"):
        assert _aggregated_to(role) == {
            kind.plural: reading if kind.kind == "LldapAttributeSchema" else writing
            for kind in KINDS
        }
    assert _aggregated_to("view") == {kind.plural: reading for kind in KINDS}


def test_each_kind_has_an_editor_and_a_viewer() -> None:
    names = {role["metadata"]["name"] for role in build("user-roles")}
    assert names == {
        f"lldap-operator-{kind.singular}-{word}" for kind in KINDS for word in ("editor", "viewer")
    }


def test_the_argo_cd_patch_holds_the_script_once_a_kind() -> None:
    folder = DEPLOY / "gitops" / "argocd"
    data = yaml.safe_load((folder / "argocd-cm.yaml").read_text())["data"]
    prefix = f"resource.customizations.health.{GROUP}_"
    assert set(data) == {prefix + kind.kind for kind in KINDS}
    assert set(data.values()) == {(folder / "health.lua").read_text()}

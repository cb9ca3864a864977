import argparse
import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from controller.configuration.config import (
    Config,
    ConfigError,
    add_flags,
    configuration_table,
    load,
)
from controller.configuration.values import Address, Adoption, LogFormat, LogLevel
from controller.configuration.variable import detect
from tests.support.certificates import Authority

SECRET = "S3cr3t-CANARY-é"
ENOUGH = {"LLDAP_URL": "http://lldap:17170", "LLDAP_ADMIN_PASSWORD": SECRET}
DETECTED = {
    "pod_namespace": "lldap-system",
    "pod_name": "operator-0",
    "leader_elect": "true",
    "log_format": "json",
}


def made(*detected: dict[str, str], **environ: str) -> Config:
    return load({**ENOUGH, **environ}, {}, detected[0] if detected else DETECTED)


def mistakes(*flags: dict[str, str | None], **environ: str) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        load({**ENOUGH, **environ}, flags[0] if flags else {}, DETECTED)
    assert SECRET not in str(caught.value)
    return dict(caught.value.mistakes)


def test_the_defaults_are_those_of_the_table() -> None:
    assert made() == Config(
        lldap_url="http://lldap:17170",
        lldap_admin_username="admin",
        lldap_admin_password=SECRET,
        lldap_admin_password_file=None,
        lldap_ca_file=None,
        lldap_instance="default",
        watch_namespaces=(),
        pod_namespace="lldap-system",
        pod_name="operator-0",
        lldap_virtual_group_namespace="lldap-system",
        lldap_cluster_id=None,
        lldap_dead_clusters=(),
        lldap_adoption=Adoption.IF_UNPRIVILEGED,
        lldap_allow_unmanaged_references=False,
        lldap_require_attribute_schema=True,
        lldap_password_hash_key_file=None,
        lldap_max_deletions_per_minute=60,
        resync_seconds=600.0,
        workers=16,
        leader_elect=True,
        lease_name="lldap-operator-default",
        lease_namespace="lldap-system",
        lease_seconds=15,
        renew_seconds=10.0,
        retry_seconds=2.0,
        call_seconds=8.0,
        metrics_address=Address("", 8080),
        metrics_tls_cert_file=None,
        metrics_tls_key_file=None,
        metrics_auth=False,
        health_address=Address("", 8081),
        log_level=LogLevel.INFO,
        log_format=LogFormat.JSON,
        kubeconfig=None,
    )


def everything(folder: Path) -> dict[str, str]:
    """Each variable set to something that is not its default."""
    for name, content in {"password": "from-file\n", "key": "k" * 32}.items():
        (folder / name).write_text(content)
    Authority("ca").issue(folder / "tls.crt", folder / "tls.key")
    return {
        "LLDAP_URL": "https://ldap.example.com/sub/",
        "LLDAP_ADMIN_USERNAME": "operator",
        "LLDAP_ADMIN_PASSWORD_FILE": str(folder / "password"),
        "LLDAP_INSTANCE": "home",
        "WATCH_NAMESPACES": "team-a, team-b,team-a,",
        "POD_NAMESPACE": "ops",
        "POD_NAME": "pod-1",
        "LLDAP_VIRTUAL_GROUP_NAMESPACE": "groups",
        "LLDAP_CLUSTER_ID": "east-1",
        "LLDAP_DEAD_CLUSTERS": "west-1,west-2",
        "LLDAP_ADOPTION": "Never",
        "LLDAP_ALLOW_UNMANAGED_REFERENCES": "TRUE",
        "LLDAP_REQUIRE_ATTRIBUTE_SCHEMA": "false",
        "LLDAP_PASSWORD_HASH_KEY_FILE": str(folder / "key"),
        "LLDAP_MAX_DELETIONS_PER_MINUTE": "0",
        "RESYNC_SECONDS": "0",
        "WORKERS": "1",
        "LEADER_ELECT": "false",
        "LEASE_NAME": "a.b",
        "LEASE_NAMESPACE": "leases",
        "LEASE_SECONDS": "30",
        "RENEW_SECONDS": "20",
        "RETRY_SECONDS": "2.5",
        "CALL_SECONDS": "25.5",
        "METRICS_ADDRESS": "127.0.0.1:9090",
        "METRICS_TLS_CERT_FILE": str(folder / "tls.crt"),
        "METRICS_TLS_KEY_FILE": str(folder / "tls.key"),
        "METRICS_AUTH": "true",
        "HEALTH_ADDRESS": "0",
        "LOG_LEVEL": "debug",
        "LOG_FORMAT": "text",
        "KUBECONFIG": "/home/me/.kube/config",
    }


def test_every_variable_can_be_set_by_environment(tmp_path: Path) -> None:
    config = load(everything(tmp_path), {}, DETECTED)

    assert config.lldap_url == "https://ldap.example.com/sub"
    assert config.watch_namespaces == ("team-a", "team-b")
    assert config.lldap_dead_clusters == ("west-1", "west-2")
    assert config.lease_name == "a.b"
    assert config.call_seconds == 25.5
    assert config.metrics_address == ("127.0.0.1", 9090)
    assert config.health_address is None
    assert config.kubeconfig == "/home/me/.kube/config"
    default = made()
    same = [
        field.name
        for field in dataclasses.fields(Config)
        if getattr(config, field.name) == getattr(default, field.name)
    ]
    assert same == ["lldap_ca_file"]


def test_defaults_follow_what_they_depend_on() -> None:
    config = made(LLDAP_INSTANCE="home", POD_NAMESPACE="ops")

    assert config.lease_name == "lldap-operator-home"
    assert config.lease_namespace == "ops"
    assert config.lldap_virtual_group_namespace == "ops"


def test_an_empty_text_is_as_good_as_none() -> None:
    assert made(WATCH_NAMESPACES="", LLDAP_CA_FILE="", WORKERS="") == made()


def test_a_flag_wins_over_the_environment() -> None:
    environ = {**ENOUGH, "WORKERS": "3", "LLDAP_INSTANCE": "home"}

    config = load(environ, {"workers": "5", "lldap_instance": None}, DETECTED)

    assert config.workers == 5
    assert config.lldap_instance == "home"
    assert load(environ, {"lldap_instance": ""}, DETECTED).lldap_instance == "default"


def test_there_is_a_flag_for_every_variable_and_its_value_arrives() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_flags(parser)
    flags = vars(parser.parse_args(["--lldap-url", "http://other", "--workers=7"]))
    assert set(flags) == {field.name for field in dataclasses.fields(Config)}

    config = load(ENOUGH, flags, DETECTED)

    assert (config.lldap_url, config.workers) == ("http://other", 7)
    assert "--lldap-admin-password-file" in parser.format_help()
    assert "--lldap-admin-password " not in parser.format_help()


def test_B14_a_password_on_the_command_line_is_refused_without_quoting_it() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_flags(parser)
    flags = vars(parser.parse_args([f"--lldap-admin-password={SECRET}"]))

    found = mistakes(flags)

    assert "command line" in found["LLDAP_ADMIN_PASSWORD"]
    assert "LLDAP_ADMIN_PASSWORD_FILE" in found["LLDAP_ADMIN_PASSWORD"]


def test_B14_no_secret_is_in_the_repr() -> None:
    assert SECRET not in repr(made())
    assert "lldap_url='http://lldap:17170'" in repr(made())


def test_all_mistakes_are_reported_at_once_by_name() -> None:
    found = mistakes(
        LLDAP_URL="ldap://x", LLDAP_INSTANCE="Upper", WORKERS="0", LLDAP_ADOPTION="always"
    )

    assert list(found) == ["LLDAP_URL", "LLDAP_INSTANCE", "LLDAP_ADOPTION", "WORKERS"]
    assert "Always, IfUnprivileged, Never" in found["LLDAP_ADOPTION"]


def test_one_mistake_is_not_reported_for_all_that_depend_on_it() -> None:
    assert list(mistakes(POD_NAMESPACE="Not a name", LLDAP_INSTANCE="x_y")) == [
        "LLDAP_INSTANCE",
        "POD_NAMESPACE",
    ]


def test_the_message_says_what_to_write() -> None:
    with pytest.raises(ConfigError) as caught:
        load({}, {}, DETECTED)

    text = str(caught.value)
    assert "LLDAP_URL: is not set. Write this: Base URL of lldap" in text
    assert "LLDAP_ADMIN_PASSWORD_FILE: is not set, nor is LLDAP_ADMIN_PASSWORD." in text


def test_two_passwords_are_one_too_many(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("x")

    found = mistakes(LLDAP_ADMIN_PASSWORD_FILE=str(tmp_path / "password"))

    assert list(found) == ["LLDAP_ADMIN_PASSWORD"]


def test_the_surroundings_are_detected(tmp_path: Path) -> None:
    file = tmp_path / "namespace"
    file.write_text("lldap-system\n")

    inside = detect({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, terminal=False, namespace_file=file)
    outside = detect({}, terminal=True, namespace_file=tmp_path / "none")

    assert inside["pod_namespace"] == "lldap-system"
    assert (inside["leader_elect"], inside["log_format"]) == ("true", "json")
    assert outside["pod_namespace"] == "default"
    assert (outside["leader_elect"], outside["log_format"]) == ("false", "text")
    assert made(outside).pod_namespace == "default"


def test_the_docs_table_has_every_variable_once() -> None:
    table = configuration_table()

    assert [row.variable.lower() for row in table] == [f.name for f in dataclasses.fields(Config)]
    rows = {row.variable: row for row in table}
    assert rows["LLDAP_URL"].default == "required"
    assert rows["RESYNC_SECONDS"].default == "600"
    assert rows["WATCH_NAMESPACES"].default == "all"
    assert rows["LEASE_NAME"].default == "lldap-operator-INSTANCE"
    assert rows["LLDAP_ADMIN_PASSWORD"].flag == ""
    assert rows["LEADER_ELECT"].flag == "--leader-elect"
    assert all(row.meaning.endswith(".") for row in table)
    assert all("{" not in row.default for row in table)


def test_the_configuration_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        made().workers = 3  # type: ignore[misc]


def test_reading_the_configuration_needs_no_kubernetes() -> None:
    code = "import sys, controller.configuration.config; assert 'kubernetes' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)  # a mistake shows at once

"""What the reconcilers decide by."""

import pytest

from controller.configuration.config import Config, ConfigError, load
from controller.configuration.rules import Rules
from controller.configuration.values import Adoption


def rules(**given: object) -> Rules:
    base = {
        "instance": "default",
        "cluster": "cluster-1",
        "own_user": "admin",
        "virtual_group_namespace": "lldap-system",
    }
    return Rules(**{**base, **given})  # type: ignore[arg-type]  # a test's shorthand


@pytest.mark.parametrize(
    ("adoption", "namespace", "privileged", "allowed"),
    [
        (Adoption.ALWAYS, "team-a", False, True),
        (Adoption.ALWAYS, "team-a", True, True),
        (Adoption.ALWAYS, "lldap-system", True, True),
        (Adoption.IF_UNPRIVILEGED, "team-a", False, True),
        (Adoption.IF_UNPRIVILEGED, "team-a", True, False),
        (Adoption.IF_UNPRIVILEGED, "lldap-system", True, True),
        (Adoption.NEVER, "team-a", False, False),
        (Adoption.NEVER, "team-a", True, False),
        (Adoption.NEVER, "lldap-system", False, False),
        (Adoption.NEVER, "lldap-system", True, False),
    ],
)
def test_what_is_nobodys_is_adopted_by_the_setting(
    adoption: Adoption, namespace: str, privileged: bool, allowed: bool
) -> None:
    assert rules(adoption=adoption).may_adopt(namespace, privileged=privileged) is allowed


@pytest.mark.parametrize(
    ("adoption", "namespace", "allowed"),
    [
        (Adoption.ALWAYS, "team-a", True),
        (Adoption.IF_UNPRIVILEGED, "team-a", False),
        (Adoption.IF_UNPRIVILEGED, "lldap-system", True),
        (Adoption.NEVER, "team-a", False),
        (Adoption.NEVER, "lldap-system", True),
    ],
)
def test_a_privileged_account_is_written_from_one_namespace_or_with_always(
    adoption: Adoption, namespace: str, allowed: bool
) -> None:
    assert rules(adoption=adoption).may_write_privileged(namespace) is allowed


def test_all_namespaces_are_watched_unless_some_are_named() -> None:
    assert rules().watches("anywhere")
    assert rules(namespaces=frozenset({"team-a"})).watches("team-a")
    assert not rules(namespaces=frozenset({"team-a"})).watches("team-b")


def config(**environ: str) -> Config:
    given = {
        "LLDAP_URL": "http://lldap:17170",
        "LLDAP_ADMIN_USERNAME": "Admin",
        "LLDAP_ADMIN_PASSWORD": "admin-password-1",
        "POD_NAMESPACE": "lldap-system",
        "LEADER_ELECT": "false",
    }
    return load({**given, **environ}, {}, {})


def test_the_rules_follow_the_configuration() -> None:
    made = Rules.of(
        config(
            LLDAP_INSTANCE="prod",
            LLDAP_DEAD_CLUSTERS="old-1,old-2",
            LLDAP_ADOPTION="Never",
            WATCH_NAMESPACES="team-a,team-b",
            LLDAP_VIRTUAL_GROUP_NAMESPACE="admins",
        ),
        "cluster-1",
    )
    assert made.cluster == "cluster-1"
    assert made.instance == "prod"
    assert made.own_user == "admin"  # as lldap keeps it
    assert made.dead_clusters == {"old-1", "old-2"}
    assert made.adoption is Adoption.NEVER
    assert made.namespaces == frozenset(
        {"team-a", "team-b", "admins"}
    )  # the virtual groups' always


def test_a_cluster_whose_id_was_looked_up_cannot_be_dead_either() -> None:
    with pytest.raises(ConfigError, match="LLDAP_DEAD_CLUSTERS"):
        Rules.of(config(LLDAP_DEAD_CLUSTERS="old-1,cluster-1"), "cluster-1")

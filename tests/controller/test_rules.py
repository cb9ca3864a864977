"""What the reconcilers decide by."""

import pytest

from controller.config_values import Adoption
from controller.rules import Rules


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

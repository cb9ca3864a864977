"""Names as lldap compares them."""

import pytest

from lldap import Target
from lldap.models import Schema
from lldap.names import (
    BUILT_IN_ATTRIBUTES,
    BUILT_IN_GROUPS,
    READ_ONLY_ATTRIBUTES,
    attribute_key,
    email_key,
    group_key,
    user_key,
)
from tests.lldap.recordings import DATABASES, exchange


@pytest.mark.parametrize("key", [user_key, attribute_key])
def test_A02_user_ids_and_attribute_names_lose_the_case_of_ascii_letters_only(key: object) -> None:
    assert callable(key)
    assert key("Alice.Smith-_1Z") == "alice.smith-_1z"
    for other in ("Ä", "İ", "ß", "\N{KELVIN SIGN}", "Σ"):
        assert key(other) == other


@pytest.mark.parametrize("key", [group_key, email_key])
def test_A03_group_names_and_emails_lose_the_case_of_all_letters(key: object) -> None:
    assert callable(key)
    assert key("Ärzte ENGINEERING") == "ärzte engineering"
    assert key("\N{KELVIN SIGN}") == "k"
    assert key("ß") == "ß"  # lower case, not case folding


def test_A03_letters_with_a_rule_of_their_own_are_lowered_as_rust_does() -> None:
    # Each pair was made with Rust's str::to_lowercase.
    assert group_key("ΟΔΥΣΣΕΥΣ") == "οδυσσευς"
    assert group_key("ΑΣ.") == "ας."
    assert group_key("ΟΔ.ΣΟ") == "οδ.σο"  # noqa: RUF001  (Greek is what this is about)
    assert group_key("İSTANBUL") == "i\N{COMBINING DOT ABOVE}stanbul"
    assert group_key("Ǆ ǅ") == "ǆ ǆ"


@pytest.mark.parametrize("database", DATABASES)
def test_C07_the_built_in_attributes_are_those_of_a_real_server(database: str) -> None:
    schema = exchange("schema", database).answered["data"]["schema"]
    for target, part in ((Target.USER, "userSchema"), (Target.GROUP, "groupSchema")):
        attributes = schema[part]["attributes"]
        assert BUILT_IN_ATTRIBUTES[target] == {each["name"] for each in attributes}
        read_only = {each["name"] for each in attributes if each["isReadonly"]}
        assert READ_ONLY_ATTRIBUTES[target] == read_only
    assert Schema().of(Target.USER) == {}


@pytest.mark.parametrize("database", DATABASES)
def test_the_built_in_groups_are_those_of_a_real_server(database: str) -> None:
    groups = exchange("built-in groups", database).answered["data"]["groups"]
    assert {group["displayName"] for group in groups} == BUILT_IN_GROUPS

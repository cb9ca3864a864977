"""What an error holds and what it does not."""

from lldap import Conflict, InvalidValue, LldapError, UnknownAttribute
from lldap.errors import MAX_SERVER_TEXT


def test_the_servers_text_is_cut_and_not_in_the_message() -> None:
    error = LldapError("createUser: no", server_text="x" * 1000)
    assert error.server_text == "x" * MAX_SERVER_TEXT
    assert str(error) == "createUser: no"
    assert "xxx" not in repr(error)


def test_an_invalid_value_names_the_attribute_and_the_reason() -> None:
    error = InvalidValue("age", "is not a number")
    assert (error.attribute, error.reason) == ("age", "is not a number")
    assert str(error) == "attribute age: is not a number"


def test_an_unknown_attribute_is_named() -> None:
    assert UnknownAttribute("nosuch").name == "nosuch"


def test_a_conflict_has_the_servers_code() -> None:
    assert Conflict("HTTP 409", "opaque_v07_version").error_code == "opaque_v07_version"

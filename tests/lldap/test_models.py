"""What the models promise beyond being dataclasses."""

import pytest

from lldap import User
from lldap.models import (
    LARGE_VALUE,
    CompactAttributes,
    Digest,
    digested,
    short,
    single,
    without,
)

ATTRIBUTES = CompactAttributes(("mail", "tags", "none"), ("a@b.c", ("x", "y"), ()))


def test_compact_attributes_are_a_mapping_of_names_to_tuples() -> None:
    assert dict(ATTRIBUTES) == {"mail": ("a@b.c",), "tags": ("x", "y"), "none": ()}
    assert ATTRIBUTES == {"mail": ("a@b.c",), "tags": ("x", "y"), "none": ()}
    assert "nosuch" not in ATTRIBUTES
    assert ATTRIBUTES.get("nosuch") is None
    with pytest.raises(KeyError):
        ATTRIBUTES["nosuch"]
    assert repr(ATTRIBUTES) == repr(dict(ATTRIBUTES))


def test_a_single_value_is_one_of_a_list_of_one() -> None:
    assert single(ATTRIBUTES, "mail") == "a@b.c"
    assert single(ATTRIBUTES, "tags") is None
    assert single(ATTRIBUTES, "none") is None
    assert single({"mail": ("a@b.c",)}, "mail") == "a@b.c"


def test_an_attribute_can_be_left_out() -> None:
    assert dict(without(ATTRIBUTES, "tags")) == {"mail": ("a@b.c",), "none": ()}
    assert without(ATTRIBUTES, "nosuch") == ATTRIBUTES


def test_only_long_values_become_digests() -> None:
    long = "x" * (LARGE_VALUE + 1)
    found = digested({"note": (long, "y"), "photo": (long,), "mail": ("a@b.c",)})
    assert dict(found) == {
        "note": (Digest.of(long), "y"),
        "photo": (Digest.of(long),),
        "mail": ("a@b.c",),
    }
    assert isinstance(found["photo"][0], Digest)
    assert not isinstance(short("x" * LARGE_VALUE), Digest)


def test_a_digest_of_a_digest_is_itself() -> None:
    once = digested({"note": ("x" * 9999,)})
    assert digested(once) == once


def test_the_dates_of_an_account_are_among_its_attributes() -> None:
    dates = {"modified_date": ("2030",), "password_modified_date": ("2031",)}
    user = User("al", "", "", "", "", "u", "2029", dates)
    assert (user.modified_date, user.password_modified_date) == ("2030", "2031")
    older = User("al", "", "", "", "", "u", "2029")
    assert (older.modified_date, older.password_modified_date) == (None, None)

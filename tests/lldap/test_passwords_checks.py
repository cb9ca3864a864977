"""What a password must be before it is sent."""

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lldap.passwords import (
    PasswordRejected,
    PasswordWarning,
    check_password,
    password_warnings,
)

CANARY = b"S3cr3t-CANARY-\xff"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "the password is empty"),
        (b"p" * 4097, "the password has 4097 bytes, more than 4096"),
        ("é".encode() * 2048 + b"e", "the password has 4097 bytes, more than 4096"),
        (b"\xff", "the password is not UTF-8 text"),
        (b"\xed\xa0\x80", "the password is not UTF-8 text"),
    ],
)
def test_a_value_that_people_cannot_type_is_rejected(value: bytes, reason: str) -> None:
    with pytest.raises(PasswordRejected) as caught:
        check_password(value)

    assert str(caught.value) == reason


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=1024))
def test_text_of_at_most_4096_bytes_is_accepted(text: str) -> None:
    check_password(text.encode())


@given(st.binary(min_size=1, max_size=64))
def test_bytes_are_accepted_exactly_when_they_are_text(value: bytes) -> None:
    try:
        check_password(value)
    except PasswordRejected:
        assert "\N{REPLACEMENT CHARACTER}" in value.decode(errors="replace")
    else:
        assert value.decode().encode() == value


def test_B14_a_rejected_value_is_nowhere_in_the_exception() -> None:
    with pytest.raises(PasswordRejected) as caught:
        check_password(CANARY)

    assert "S3cr3t" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None, "a UnicodeDecodeError carries the whole value"


@pytest.mark.parametrize(
    ("value", "warnings"),
    [
        (b"eight888", ()),
        (b"seven77", (PasswordWarning.SHORT,)),
        ("sieb€n7".encode(), (PasswordWarning.SHORT,)),
        (b"long enough\n", (PasswordWarning.TRAILING_NEWLINE,)),
        (b"long enough\r\n", (PasswordWarning.TRAILING_NEWLINE,)),
        (b"s\n", (PasswordWarning.TRAILING_NEWLINE, PasswordWarning.SHORT)),
        (b"long\nenough", ()),
    ],
)
def test_an_odd_password_earns_a_warning(
    value: bytes, warnings: tuple[PasswordWarning, ...]
) -> None:
    check_password(value)

    assert password_warnings(value) == warnings

"""What a password must be before it is sent, seen by its bytes alone."""

import enum

MAX_BYTES = 4096
ADVISED_CHARACTERS = 8


class PasswordRejected(Exception):  # noqa: N818 - as in lldap.errors
    """The value cannot be a password; the text is the reason, and never quotes the value."""


class PasswordWarning(enum.Enum):
    """Why a password that is accepted may not be the one that was meant."""

    TRAILING_NEWLINE = "the password ends with a newline, which then is part of it"
    SHORT = f"the password has fewer than {ADVISED_CHARACTERS} characters"


def check_password(value: bytes) -> None:
    """PasswordRejected unless people can type `value`: UTF-8, 1 to 4,096 bytes."""
    if not value:
        raise PasswordRejected("the password is empty")
    if len(value) > MAX_BYTES:
        raise PasswordRejected(f"the password has {len(value)} bytes, more than {MAX_BYTES}")
    if _text(value) is None:
        raise PasswordRejected("the password is not UTF-8 text")


def password_warnings(value: bytes) -> tuple[PasswordWarning, ...]:
    """What is odd about a password that passes `check_password`."""
    text = _text(value) or ""
    found = {
        PasswordWarning.TRAILING_NEWLINE: text.endswith("\n"),
        PasswordWarning.SHORT: len(text) < ADVISED_CHARACTERS,
    }
    return tuple(warning for warning, applies in found.items() if applies)


def _text(value: bytes) -> str | None:
    """The value as text. Its UnicodeDecodeError would carry the password, so it ends here."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None

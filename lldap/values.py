"""Attribute values by type: what lldap takes, and which of them are the same.

lldap parses values and prints them anew (`+007` comes back as `7`), so texts differ where values
do not. `parse` takes what lldap takes and refuses, before any call, what lldap would refuse; of a
photo it sees only that it begins like a JPEG. Pure functions: any thread.
"""

import base64
import binascii
import datetime
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lldap.errors import InvalidValue
from lldap.models import AttributeSchema, AttributeType, Digest, short


class Instant(NamedTuple):
    """A point in time: seconds since the year 1, and nanoseconds (from 10⁹ on: a leap second)."""

    seconds: int
    nanoseconds: int


Scalar = str | int | Instant | bytes
Value = tuple[Scalar, ...]

_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,19})")
_INTEGER_RANGE = range(-(2**63), 2**63)

_DATE_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+\N{MINUS SIGN}-])([0-9]{2}):([0-9]{2}))"
)
_DAY = 86_400
_SECOND = 10**9  # nanoseconds
_FOUR_CENTURIES = 146_097  # days, after which the calendar repeats; Python has no year 0
_LAST_DAY = datetime.date.max.toordinal()

_JPEG_BEGINS = b"\xff\xd8"


def parse(schema: AttributeSchema, values: Sequence[str]) -> Value | None:
    """The value that lldap makes of `values`; None if they mean that the attribute is unset.

    One empty string means unset, for lists too: updateUser takes it so. Raises InvalidValue.
    """
    if list(values) == [""]:
        return None
    if not schema.is_list and len(values) != 1:
        raise InvalidValue(schema.name, f"needs exactly one value, not {len(values)}")
    parse_one = _PARSERS[schema.attribute_type]
    try:
        return tuple([parse_one(text) for text in values])
    except ValueError as error:
        reason = str(error)
    raise InvalidValue(schema.name, reason)


def to_strings(schema: AttributeSchema, value: Value) -> tuple[str, ...]:
    """`value` as lldap prints it; the value must be one of `parse` with the same schema."""
    print_one = _PRINTERS[schema.attribute_type]
    return tuple([print_one(scalar) for scalar in value])


def equal(
    schema: AttributeSchema, wanted: Sequence[str] | None, live: Sequence[str] | None
) -> bool:
    """Whether `live`, as read from lldap, is the value of `wanted`. None is an unset attribute.

    `live` may hold digests. Raises InvalidValue if `wanted` is none of the type.
    """
    goal = None if wanted is None else parse(schema, wanted)
    if live is None:
        return goal is None
    if any(isinstance(text, Digest) for text in live):
        return goal is not None and _equals_digests(to_strings(schema, goal), live)
    try:
        return parse(schema, live) == goal
    except InvalidValue:
        return False


def _equals_digests(wanted: Sequence[str], live: Sequence[str]) -> bool:
    shortened = [short(text) for text in wanted]
    return shortened == list(live) and list(map(type, shortened)) == list(map(type, live))


def _parse_string(text: str) -> str:
    return text


def _parse_integer(text: str) -> int:
    """As Rust reads an i64: one sign, ASCII digits, leading zeros, no blanks."""
    found = _INTEGER.fullmatch(text)
    if found and (number := int(found[1] + found[2])) in _INTEGER_RANGE:
        return number
    raise ValueError("is not a whole number from -2^63 to 2^63-1 in digits")


def _parse_date_time(text: str) -> Instant:
    """As chrono reads RFC 3339: a time zone is needed, digits after the ninth are dropped."""
    found = _DATE_TIME.fullmatch(text)
    if not found:
        raise ValueError("is not a date and time of RFC 3339, such as 2024-02-29T12:00:00Z")
    year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
    offset = _offset(found[8], found[9], found[10])
    leap = second == 60
    try:
        days = _days(year, month, day)
        datetime.time(hour, minute, second - leap)
    except ValueError:
        raise ValueError("is a date or time that does not exist") from None
    instant = Instant(
        days * _DAY + hour * 3600 + minute * 60 + second - leap - offset,
        int((found[7] or "0")[:9].ljust(9, "0")) + leap * _SECOND,
    )
    if not -365 <= instant.seconds // _DAY <= _LAST_DAY:
        raise ValueError("is not within the years 0 to 9999 of UTC")
    return instant


def _offset(sign: str | None, hours: str | None, minutes: str | None) -> int:
    """Seconds east of UTC."""
    if sign is None or hours is None or minutes is None:
        return 0
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError("has a time zone that does not exist")
    seconds = int(hours) * 3600 + int(minutes) * 60
    return seconds if sign == "+" else -seconds


def _days(year: int, month: int, day: int) -> int:
    if year == 0:
        return datetime.date(400, month, day).toordinal() - _FOUR_CENTURIES
    return datetime.date(year, month, day).toordinal()


def _parse_photo(text: str) -> bytes:
    try:
        photo = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not base64") from None
    if base64.b64encode(photo).decode() != text:
        raise ValueError("is not base64 in its one right form")
    if photo and not photo.startswith(_JPEG_BEGINS):
        raise ValueError("is not a JPEG image")
    return photo


def _print_date_time(instant: Instant) -> str:
    days, rest = divmod(instant.seconds, _DAY)
    leap, nanoseconds = divmod(instant.nanoseconds, _SECOND)
    shift = days < 1  # the year 0
    date = datetime.date.fromordinal(days + shift * _FOUR_CENTURIES)
    time = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60 + leap:02}"
    return f"{date.year - shift * 400:04}-{date:%m-%d}T{time}{_fraction(nanoseconds)}+00:00"


def _fraction(nanoseconds: int) -> str:
    """In groups of three digits, as many as are needed."""
    if not nanoseconds:
        return ""
    digits = f"{nanoseconds:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}"


def _print_photo(photo: bytes) -> str:
    return base64.b64encode(photo).decode()


_PARSERS: dict[AttributeType, Callable[[str], Scalar]] = {
    AttributeType.STRING: _parse_string,
    AttributeType.INTEGER: _parse_integer,
    AttributeType.DATE_TIME: _parse_date_time,
    AttributeType.JPEG_PHOTO: _parse_photo,
}
# Each gets what the parser of the same type made.
_PRINTERS: dict[AttributeType, Callable[..., str]] = {
    AttributeType.STRING: str,
    AttributeType.INTEGER: str,
    AttributeType.DATE_TIME: _print_date_time,
    AttributeType.JPEG_PHOTO: _print_photo,
}

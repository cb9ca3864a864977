"""Attribute values and dates, parsed and printed again as lldap does."""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

_DATE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[Tt ]"
    r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d+))?"
    r"(?:[Zz]|(?P<sign>[-+\N{MINUS SIGN}])(?P<hours>[01]\d|2[0-3]):(?P<minutes>[0-5]\d))",
    re.ASCII,
)
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)
_INTEGER_LIMIT = 1 << 63
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def lower_ascii(text: str) -> str:
    """Lower-case the ASCII letters only, as lldap does with user ids and attribute names."""
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def canonical(values: Sequence[str], kind: str, is_list: bool) -> list[str]:
    """Return the values as they read back. ValueError: lldap would refuse them.

    Equal results mean equal values, so lldap's filters can compare them.
    """
    if not is_list and len(values) != 1:
        raise ValueError("one value needed")
    return [_PARSERS[kind](value) for value in values]


def timestamp(nanoseconds: int) -> str:
    """Print a moment (nanoseconds since the epoch) in UTC."""
    seconds, fraction = divmod(nanoseconds, 10**9)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}{_fraction(f'{fraction:09}')}+00:00"


def _fraction(digits: str) -> str:
    """Print nanoseconds with 0, 3, 6 or 9 digits, the fewest that hold them."""
    kept = digits.rstrip("0")
    return f".{kept.ljust(-(-len(kept) // 3) * 3, '0')}" if kept else ""


def _date(text: str) -> str:
    found = _DATE.fullmatch(text)
    if not found:
        raise ValueError("not a date")
    part = {name: int(value) for name, value in found.groupdict("0").items() if name != "sign"}
    leap = part["second"] == 60
    # The calendar repeats every 400 years: any year can be computed within Python's range.
    era = part["year"] // 400 * 400 - 2000
    local = datetime(  # noqa: DTZ001 the offset is taken off below
        part["year"] - era, part["month"], part["day"], part["hour"], part["minute"],
        59 if leap else part["second"],
    )  # fmt: skip
    offset = timedelta(hours=part["hours"], minutes=part["minutes"])
    moment = local - offset if found["sign"] == "+" else local + offset
    year = moment.year + era
    second = 60 if leap else moment.second
    return (
        (f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}")
        + f"{moment:-%m-%dT%H:%M:}{second:02}"
        + _fraction((found["fraction"] or "")[:9].ljust(9, "0"))
        + "+00:00"
    )


def _integer(text: str) -> str:
    if not _INTEGER.fullmatch(text) or not -_INTEGER_LIMIT <= int(text) < _INTEGER_LIMIT:
        raise ValueError("not a signed 64-bit integer")
    return str(int(text))


def _photo(text: str) -> str:
    try:
        photo = base64.b64decode(text, validate=True)
    except (binascii.Error, UnicodeError) as error:
        raise ValueError("not base64") from error
    if base64.b64encode(photo).decode() != text:
        raise ValueError("not canonical base64")
    if photo and not _is_jpeg(photo):
        raise ValueError("not a JPEG")
    return text


def _is_jpeg(data: bytes) -> bool:
    """Whether the segments up to the first scan are there; the scan itself is not decoded."""
    if data[:2] != b"\xff\xd8":
        return False
    seen: set[int] = set()
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF:
            position += 1
            continue
        end = position + 2 + int.from_bytes(data[position + 2 : position + 4])
        if end > len(data):
            return False
        if marker in _FRAME_MARKERS:
            if not any(data[position + 5 : position + 7]) or not any(
                data[position + 7 : position + 9]
            ):
                return False
            marker = 0xC0
        if marker == 0xDA:
            return seen >= {0xC0, 0xC4, 0xDB}
        seen.add(marker)
        position = end
    return False


_PARSERS: dict[str, Callable[[str], str]] = {
    "STRING": str,
    "INTEGER": _integer,
    "DATE_TIME": _date,
    "JPEG_PHOTO": _photo,
}

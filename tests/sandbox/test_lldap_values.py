"""Values are accepted, refused and printed again as a real lldap was seen to do."""

import base64
import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.lldap.values import canonical, lower_ascii, timestamp

# A grey JPEG of one pixel.
SEGMENTS = {
    "SOI": "ffd8",
    "APP0": "ffe000104a46494600010100000100010000",
    "DQT": "ffdb004300" + "01" * 64,
    "SOF": "ffc0000b080001000101011100",
    "DHT": "ffc4001f0000010501010101010100000000000000000102030405060708090a0b",
    "SOS": "ffda0008010100003f00",
    "scan": "d2cf20",
    "EOI": "ffd9",
}


def jpeg(**replaced: str) -> str:
    return base64.b64encode(bytes.fromhex("".join({**SEGMENTS, **replaced}.values()))).decode()


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("STRING", "", ""),
        ("INTEGER", "-007", "-7"),
        ("INTEGER", "-0", "0"),
        ("INTEGER", "+5", "5"),
        ("INTEGER", "-9223372036854775808", "-9223372036854775808"),
        ("DATE_TIME", "2024-02-29T12:00:00Z", "2024-02-29T12:00:00+00:00"),
        ("DATE_TIME", "2024-02-29t12:00:00z", "2024-02-29T12:00:00+00:00"),
        ("DATE_TIME", "2024-02-29 12:00:00Z", "2024-02-29T12:00:00+00:00"),
        ("DATE_TIME", "2024-02-29T12:00:00.5+02:00", "2024-02-29T10:00:00.500+00:00"),
        ("DATE_TIME", "2024-02-29T12:00:00.1234Z", "2024-02-29T12:00:00.123400+00:00"),
        ("DATE_TIME", "2024-02-29T12:00:00.1234567891Z", "2024-02-29T12:00:00.123456789+00:00"),
        ("DATE_TIME", "2024-02-29T12:00:00.000Z", "2024-02-29T12:00:00+00:00"),
        ("DATE_TIME", "2024-02-29T12:00:00+23:59", "2024-02-28T12:01:00+00:00"),
        ("DATE_TIME", "2024-02-29T12:00:00\N{MINUS SIGN}02:00", "2024-02-29T14:00:00+00:00"),
        ("DATE_TIME", "2024-02-29T23:59:60.5Z", "2024-02-29T23:59:60.500+00:00"),
        ("DATE_TIME", "0001-01-01T00:00:00+02:00", "0000-12-31T22:00:00+00:00"),
        ("DATE_TIME", "9999-12-31T23:59:59-02:00", "+10000-01-01T01:59:59+00:00"),
        ("JPEG_PHOTO", "", ""),
        ("JPEG_PHOTO", jpeg(), jpeg()),
        ("JPEG_PHOTO", jpeg(EOI=""), jpeg(EOI="")),
        ("JPEG_PHOTO", jpeg(EOI="ffd96a756e6b"), jpeg(EOI="ffd96a756e6b")),
        ("JPEG_PHOTO", jpeg(SOI="ffd8ff"), jpeg(SOI="ffd8ff")),
    ],
)
def test_a_value_reads_back_as_lldap_prints_it(kind: str, text: str, shown: str) -> None:
    assert canonical([text], kind, is_list=False) == [shown]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *[
            ("INTEGER", text)
            for text in (
                "",
                "-",
                "+-5",
                "1_0",
                "1.0",
                " 1",
                "1 ",
                "0x10",
                "\N{FULLWIDTH DIGIT ONE}",
            )
        ],
        ("INTEGER", "9223372036854775808"),
        ("DATE_TIME", "2024-02-29T12:00:00"),
        ("DATE_TIME", "2024-02-29T12:00Z"),
        ("DATE_TIME", "2024-02-29T12:00:00.Z"),
        ("DATE_TIME", "2024-02-29T12:00:00+0200"),
        ("DATE_TIME", "2024-02-29T12:00:00+24:00"),
        ("DATE_TIME", "2023-02-29T12:00:00Z"),
        ("DATE_TIME", "2024-02-29T24:00:00Z"),
        ("DATE_TIME", "2024-02-29T12:00:61Z"),
        ("DATE_TIME", "10000-01-01T00:00:00Z"),
        ("DATE_TIME", "2024-02-29T12:00:00Z "),
        ("JPEG_PHOTO", "***"),
        ("JPEG_PHOTO", "aGVsbG8="),
        ("JPEG_PHOTO", jpeg(EOI="ffd900").rstrip("=")),
        ("JPEG_PHOTO", jpeg(SOI="")),
        ("JPEG_PHOTO", jpeg(DQT="")),
        ("JPEG_PHOTO", jpeg(DHT="")),
        ("JPEG_PHOTO", jpeg(SOF="")),
        ("JPEG_PHOTO", jpeg(SOF="ffc0000b080000000001011100")),
        ("JPEG_PHOTO", jpeg(SOS="ffda0008010100003f", scan="", EOI="")),
    ],
)
def test_a_wrong_value_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        canonical([text], kind, is_list=False)


def test_a_single_value_is_exactly_one_and_a_list_keeps_order_and_duplicates() -> None:
    for values in ([], ["1", "2"]):
        with pytest.raises(ValueError, match="one value"):
            canonical(values, "STRING", is_list=False)
    assert canonical(["b", "a", "a"], "STRING", is_list=True) == ["b", "a", "a"]
    assert canonical([], "INTEGER", is_list=True) == []


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_64_bit_integer_reads_back_as_itself(number: int) -> None:
    assert canonical([str(number)], "INTEGER", is_list=False) == [str(number)]


@given(
    st.datetimes(
        timezones=st.integers(-1439, 1439).map(
            lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes))
        ),
        min_value=datetime.datetime(2, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
        max_value=datetime.datetime(9998, 12, 31),  # noqa: DTZ001 - as above
    )
)
def test_a_date_means_the_same_moment_and_reads_back_unchanged(moment: datetime.datetime) -> None:
    (shown,) = canonical([moment.isoformat()], "DATE_TIME", is_list=False)
    assert datetime.datetime.fromisoformat(shown) == moment
    assert canonical([shown], "DATE_TIME", is_list=False) == [shown]


@given(st.integers(0, 2**62))
def test_the_servers_own_dates_are_values_too(nanoseconds: int) -> None:
    shown = timestamp(nanoseconds)
    assert canonical([shown], "DATE_TIME", is_list=False) == [shown]


def test_only_ascii_letters_are_lowered() -> None:
    assert lower_ascii("ALICE-É_İ") == "alice-É_İ"

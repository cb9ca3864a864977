"""Values by type: what lldap takes, and which are the same."""

import base64
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lldap import AttributeSchema, AttributeType, InvalidValue
from lldap.models import Digest, short
from lldap.values import equal, parse, to_strings
from tests.lldap.recordings import exchange

STRING = AttributeSchema("department", AttributeType.STRING)
INTEGER = AttributeSchema("age", AttributeType.INTEGER)
DATE = AttributeSchema("hired", AttributeType.DATE_TIME)
PHOTO = AttributeSchema("photo", AttributeType.JPEG_PHOTO)
STRINGS = AttributeSchema("aliases", AttributeType.STRING, is_list=True)
INTEGERS = AttributeSchema("ports", AttributeType.INTEGER, is_list=True)
DATES = AttributeSchema("days", AttributeType.DATE_TIME, is_list=True)
PHOTOS = AttributeSchema("photos", AttributeType.JPEG_PHOTO, is_list=True)
ALL = (STRING, INTEGER, DATE, PHOTO, STRINGS, INTEGERS, DATES, PHOTOS)

JPEG = base64.b64encode(b"\xff\xd8\xff\xe0 and so on").decode()


def printed(schema: AttributeSchema, *values: str) -> tuple[str, ...]:
    value = parse(schema, values)
    assert value is not None
    return to_strings(schema, value)


# What lldap makes of a text was seen on a real one.


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00+00:00"),
        ("2024-05-01T12:00:00Z", "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T12:00:00.500Z", "2024-05-01T12:00:00.500+00:00"),
        ("2024-02-29T12:00:00.5+02:00", "2024-02-29T10:00:00.500+00:00"),
        ("2024-05-01t12:00:00z", "2024-05-01T12:00:00+00:00"),
        ("2024-05-01 12:00:00Z", "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T12:00:00.000001Z", "2024-05-01T12:00:00.000001+00:00"),
        ("2024-05-01T12:00:00.1234567899Z", "2024-05-01T12:00:00.123456789+00:00"),
        ("2024-05-01T12:00:00.000Z", "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T12:00:00-00:00", "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T12:00:00\N{MINUS SIGN}01:30", "2024-05-01T13:30:00+00:00"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:60+00:00"),
        ("2016-12-31T23:59:60.25+01:00", "2016-12-31T22:59:60.250+00:00"),
        ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00+00:00"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999+00:00"),
        ("2024-01-01T00:00:00+23:59", "2023-12-31T00:01:00+00:00"),
    ],
)
def test_A05_dates_are_read_back_in_utc_and_are_the_same(text: str, live: str) -> None:
    assert printed(DATE, text) == (live,)
    assert equal(DATE, [text], [live])


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01",
        "2024-13-01",
        "2024-05-01T12:00:00",
        "2024-05-01T12:00Z",
        "2024-05-01T12:00:00.Z",
        "2024-05-01T12:00:00,5Z",
        "2024-02-30T12:00:00Z",
        "2023-02-29T12:00:00Z",
        "2024-05-01T24:00:00Z",
        "2024-05-01T12:60:00Z",
        "2024-05-01T12:00:61Z",
        "2024-05-01T12:00:00+24:00",
        "2024-05-01T12:00:00+12:60",
        "2024-05-01T12:00:00+0200",
        "2024-05-01T12:00:00+02",
        "24-05-01T12:00:00Z",
        "+2024-05-01T12:00:00Z",
        " 2024-05-01T12:00:00Z",
        "2024-05-01T12:00:00Z ",
        "2024-05-01T12:00:00Z\n",
        "٢٠٢٤-05-01T12:00:00Z",
        "2024-05-01_12:00:00Z",
        "now",
    ],
)
def test_A05_what_is_no_date_with_time_and_zone_is_invalid(text: str) -> None:
    with pytest.raises(InvalidValue, match="attribute hired: ") as caught:
        parse(DATE, [text])
    assert caught.value.attribute == "hired"


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01"])
def test_A05_a_date_that_lldap_would_print_in_a_form_it_does_not_read_is_invalid(text: str) -> None:
    with pytest.raises(InvalidValue, match="years 0 to 9999"):
        parse(DATE, [text])


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("007", "7"),
        ("+5", "5"),
        ("-0", "0"),
        ("+0", "0"),
        ("-007", "-7"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("0" * 5000 + "7", "7"),
    ],
)
def test_A06_integers_are_read_back_as_they_are_printed_and_are_the_same(
    text: str, live: str
) -> None:
    assert printed(INTEGER, text) == (live,)
    assert equal(INTEGER, [text], [live])


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775808",
        "-9223372036854775809",
        "9" * 5000,
        "1e3",
        " 5",
        "5 ",
        "5\n",
        "+",
        "-",
        "--5",
        "1_000",
        "0x10",
        "5.0",
        "\N{ARABIC-INDIC DIGIT FIVE}",
        "\N{SUPERSCRIPT TWO}",
        "forty",
    ],
)
def test_A06_what_is_no_signed_64_bit_number_is_invalid(text: str) -> None:
    with pytest.raises(InvalidValue, match="attribute age: ") as caught:
        parse(INTEGER, [text])
    assert caught.value.attribute == "age"
    assert text not in str(caught.value) or len(text) < 3


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_A07_one_empty_string_means_unset(schema: AttributeSchema) -> None:
    assert parse(schema, [""]) is None
    assert equal(schema, [""], None)
    assert equal(schema, None, [""])
    assert equal(schema, [""], [""])


def test_A07_an_unset_attribute_is_no_value() -> None:
    assert equal(STRING, None, None)
    assert not equal(STRING, None, ["x"])
    assert not equal(STRING, ["x"], None)
    assert not equal(INTEGER, None, ["no number"])


@pytest.mark.parametrize("schema", [STRING, INTEGER, DATE, PHOTO], ids=lambda schema: schema.name)
@pytest.mark.parametrize("values", [[], ["1", "1"]], ids=len)
def test_A10_a_single_value_must_be_exactly_one(schema: AttributeSchema, values: list[str]) -> None:
    with pytest.raises(InvalidValue, match=f"exactly one value, not {len(values)}"):
        parse(schema, values)


def test_A10_lists_keep_order_and_duplicates_and_may_be_empty() -> None:
    assert parse(STRINGS, ["b", "a", "a"]) == ("b", "a", "a")
    assert parse(STRINGS, []) == ()
    assert parse(STRINGS, ["", ""]) == ("", "")
    assert equal(STRINGS, [], [])
    assert not equal(STRINGS, [], None)
    assert not equal(STRINGS, ["a", "b"], ["b", "a"])
    assert not equal(STRINGS, ["a", "a"], ["a"])
    assert equal(INTEGERS, ["01", "+2"], ["1", "2"])


def test_strings_are_compared_to_the_letter() -> None:
    assert not equal(STRING, ["Sales"], ["sales"])
    assert not equal(STRING, ["Sales "], ["Sales"])


def test_photos_are_base64_of_something_that_begins_like_a_jpeg() -> None:
    assert parse(PHOTO, [JPEG]) == (base64.b64decode(JPEG),)
    assert printed(PHOTO, JPEG) == (JPEG,)
    assert parse(PHOTOS, [JPEG, ""]) == (base64.b64decode(JPEG), b"")  # lldap's empty photo


@pytest.mark.parametrize(
    "text",
    [
        "***",
        "aGVsbG8=",  # no JPEG
        JPEG.rstrip("="),
        JPEG + "\n",
        " " + JPEG,
        "/9j/" + "AB==",  # bits are left over
        "_9j_",
    ],
)
def test_what_is_no_photo_is_invalid(text: str) -> None:
    with pytest.raises(InvalidValue, match="attribute photo: "):
        parse(PHOTO, [text])


def test_a_live_value_that_is_none_of_the_type_is_another_value() -> None:
    assert not equal(INTEGER, ["5"], ["five"])
    assert not equal(DATE, ["2024-05-01T12:00:00Z"], ["1", "2"])


def test_a_wanted_value_that_is_none_of_the_type_is_an_error_whatever_is_live() -> None:
    with pytest.raises(InvalidValue):
        equal(INTEGER, ["five"], ["five"])
    with pytest.raises(InvalidValue):
        equal(INTEGER, ["five"], None)


def test_a_digest_is_equal_to_the_value_that_it_was_made_of() -> None:
    long = "x" * 600
    assert equal(STRING, [long], [Digest.of(long)])
    assert not equal(STRING, [long + "y"], [Digest.of(long)])
    assert not equal(STRING, None, [Digest.of(long)])
    assert not equal(STRING, ["short"], [Digest.of(long)])
    assert equal(STRINGS, ["a", long], ["a", Digest.of(long)])
    assert not equal(STRINGS, ["a"], ["a", Digest.of(long)])


def test_the_text_of_a_digest_is_not_the_digest() -> None:
    long = "x" * 600
    text = str(Digest.of(long))
    assert not equal(STRING, [long], [text])
    assert not equal(STRING, [text], [Digest.of(long)])
    assert equal(STRING, [text], [text])


def test_a_photo_is_compared_by_the_digest_of_its_text() -> None:
    photo = base64.b64encode(b"\xff\xd8" + bytes(1000)).decode()
    assert equal(PHOTO, [photo], [short(photo)])


# What the recordings show: each written value and what was read back.


def test_what_was_recorded_is_equal() -> None:
    read = exchange("alice after 2").answered["data"]["user"]["attributes"]
    live = {attribute["name"]: attribute["value"] for attribute in read}
    assert equal(INTEGER, ["-007"], live["age"])
    assert equal(STRINGS, [], live["tags"])
    assert equal(STRING, [""], live.get("phone"))
    read = exchange("alice after 3").answered["data"]["user"]["attributes"]
    live = {attribute["name"]: attribute["value"] for attribute in read}
    assert equal(DATE, ["2024-02-29T12:00:00.5+02:00"], live["hired"])
    assert equal(STRING, ["9"], live["phone"])
    assert equal(INTEGER, None, live.get("age"))


@pytest.mark.parametrize(
    "case",
    [
        "updateUser integer not a number",
        "updateUser integer overflow",
        "updateUser two values to a single",
        "updateUser empty value list single",
        "updateUser date bad",
        "updateUser photo not a jpeg",
        "updateUser photo not base64",
    ],
)
def test_what_was_refused_is_refused_before_any_call(case: str) -> None:
    schemas = {"age": INTEGER, "phone": STRING, "hired": DATE, "photo": PHOTO}
    (attribute,) = exchange(case).body["variables"]["u"]["insertAttributes"]
    with pytest.raises(InvalidValue):
        parse(schemas[attribute["name"]], attribute["value"])


# Properties

integers = st.integers(-(2**63), 2**63 - 1).flatmap(
    lambda number: st.sampled_from([str(number), f"{number:+}", f"{number:+040}"])
)
dates = st.builds(
    "{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}{}{}".format,
    st.integers(1, 9998),
    st.integers(1, 12),
    st.integers(1, 28),
    st.sampled_from("Tt "),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 60),
    st.one_of(st.just(""), st.text(string.digits, min_size=1, max_size=12).map(".{}".format)),
    st.sampled_from(["Z", "z", "+00:00", "-23:59", "+23:59", "\N{MINUS SIGN}05:30"]),
)
photos = st.binary(max_size=80).map(lambda rest: base64.b64encode(b"\xff\xd8" + rest).decode())
valid = st.one_of(
    st.tuples(st.just(STRINGS), st.lists(st.text())),
    st.tuples(st.just(INTEGERS), st.lists(integers)),
    st.tuples(st.just(DATES), st.lists(dates)),
    st.tuples(st.just(PHOTOS), st.lists(photos)),
)


@given(valid)
def test_what_is_printed_is_parsed_to_the_same_value(
    case: tuple[AttributeSchema, list[str]],
) -> None:
    schema, values = case
    value = parse(schema, values)
    if value is None:
        assert values == [""]
        return
    texts = to_strings(schema, value)
    assert parse(schema, texts) == value or texts == ("",)
    assert to_strings(schema, value) == texts
    assert equal(schema, values, texts)
    assert equal(schema, values, [short(text) for text in texts])


@given(st.sampled_from(ALL), st.lists(st.text()))
def test_only_invalid_value_comes_out_and_it_names_the_attribute(
    schema: AttributeSchema, values: list[str]
) -> None:
    try:
        parse(schema, values)
    except InvalidValue as error:
        named = error.attribute
    else:
        named = schema.name
    assert named == schema.name


@given(st.sampled_from(ALL), st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3))
def test_equality_is_that_of_the_parsed_values(
    schema: AttributeSchema, wanted: list[str], live: list[str]
) -> None:
    try:
        goal, found = parse(schema, wanted), parse(schema, live)
    except InvalidValue:
        return
    assert equal(schema, wanted, live) == (goal == found)

"""From bytes to events: any chunking gives the same, and only declared errors come out."""

import contextlib
import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers import ConnectionFailed, EndOfStream, GarbledStream, Object, WatchEvent
from informers.watchstream import RestWatchStream, decode_event
from tests.informers.faketransport import Bytes, line


def events(stream: RestWatchStream) -> list[WatchEvent | None]:
    found = []
    try:
        while True:
            found.append(stream.next())
    except EndOfStream:
        return found


def read(pieces: Iterable[bytes | None], max_line: int = 1 << 20) -> list[WatchEvent | None]:
    return events(RestWatchStream(Bytes(pieces), max_line))


UNICODE: Object = {"spec": {"displayName": "Žofie 王 😀"}, "metadata": {"name": "ž"}}


def test_F11_characters_survive_a_cut_at_each_offset() -> None:
    data = line("ADDED", UNICODE)
    assert b"\xf0\x9f\x98\x80" in data
    for cut in range(len(data) + 1):
        assert read([data[:cut], data[cut:]] if 0 < cut < len(data) else [data]) == [
            ("ADDED", UNICODE)
        ]


def test_F11_one_event_over_many_pieces_and_many_in_one() -> None:
    data = line("ADDED", UNICODE) + line("MODIFIED", {"a": 1}) + line("DELETED", {})
    expected = [("ADDED", UNICODE), ("MODIFIED", {"a": 1}), ("DELETED", {})]
    assert read(data[i : i + 1] for i in range(len(data))) == expected
    assert read([data]) == expected


def test_F11_a_line_of_a_mebibyte() -> None:
    big: Object = {"text": "é" * (1 << 19)}
    data = line("ADDED", big)
    assert len(data) > 1 << 20
    pieces = [data[i : i + 65536] for i in range(0, len(data), 65536)]
    assert read(pieces, max_line=2 << 20) == [("ADDED", big)]


def test_F11_carriage_returns_and_empty_lines_are_no_events() -> None:
    first, second = line("ADDED", UNICODE), line("MODIFIED", {"a": 1})
    data = b"\r\n\n" + first.replace(b"\n", b"\r\n") + b"\n  \n" + second
    for cut in range(1, len(data)):
        assert read([data[:cut], data[cut:]]) == [("ADDED", UNICODE), ("MODIFIED", {"a": 1})]


def test_nothing_now_is_passed_on_and_loses_nothing() -> None:
    data = line("ADDED", UNICODE)
    assert read([None, data[:5], None, data[5:]]) == [None, None, ("ADDED", UNICODE)]


def test_half_a_line_at_the_end_is_no_event() -> None:
    data = line("ADDED", UNICODE)
    assert read([data, data[:-1]]) == [("ADDED", UNICODE)]


@pytest.mark.parametrize("pieces", [[b"x" * 101], [b"x" * 60, b"x" * 60], [b"{}\n" + b"x" * 101]])
def test_a_line_above_the_bound_is_garbled_before_its_end_comes(pieces: list[bytes]) -> None:
    with pytest.raises(GarbledStream, match="longer than 100 bytes"):
        events(RestWatchStream(Bytes(pieces), 100))


def test_a_whole_line_above_the_bound_is_garbled() -> None:
    with pytest.raises(GarbledStream):
        read([line("ADDED", {"a": "x" * 100})], max_line=100)


@pytest.mark.parametrize(
    "bad",
    [
        b"garbage",
        b"null",
        b"[]",
        b"{}",
        b'{"type":"ADDED"}',
        b'{"type":1,"object":{}}',
        b'{"type":"ADDED","object":[]}',
        b'{"type":"ADDED","object":null}',
        b'{"type":"ADDED","object":{}}{}',
        b'{"type":"ADDED","object":{"a":"\xff"}}',
        b'{"type":"ADDED","object":{"a":NaN}}',
        b"<html>secret</html>",
        b"[" * 100_000,
    ],
)
def test_what_is_no_event_is_garbled_and_not_quoted(bad: bytes) -> None:
    with pytest.raises(GarbledStream) as caught:
        decode_event(bad)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None  # orjson's own error keeps the whole document


def test_events_before_the_garbage_come_first() -> None:
    stream = RestWatchStream(Bytes([line("ADDED", UNICODE) + b"garbage\n"]))
    assert stream.next() == ("ADDED", UNICODE)
    with pytest.raises(GarbledStream):
        stream.next()


def test_errors_of_the_transport_pass_through() -> None:
    stream = RestWatchStream(Bytes([b"{"], ConnectionFailed("reset", sent=True)))
    with pytest.raises(ConnectionFailed):
        stream.next()


def test_close_closes_the_transport_s_stream() -> None:
    inner = Bytes([])
    RestWatchStream(inner).close()
    assert inner.closed


json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), json, max_size=4)


@given(
    st.lists(st.tuples(st.sampled_from(["ADDED", "BOOKMARK", "é"]), objects), max_size=6),
    st.lists(st.integers(0, 4000), max_size=20),
    st.sampled_from([b"", b"\r\n", b"\n \n"]),
)
def test_any_chunking_gives_the_same_events(
    expected: list[tuple[str, Object]], cuts: list[int], between: bytes
) -> None:
    data = between.join([b"", *(line(kind, obj) for kind, obj in expected)])
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[a:b] for a, b in itertools.pairwise(ends)]
    assert read(pieces) == expected


@given(
    st.lists(
        st.binary(min_size=1, max_size=40) | st.sampled_from([b"\n", b'{"type":"A",']), max_size=20
    )
)
def test_only_declared_errors_come_out_of_any_bytes(pieces: list[bytes]) -> None:
    with contextlib.suppress(GarbledStream):
        read(pieces, max_line=64)

"""Bodies in chunks, as http.client reads them, wherever they are cut."""

import itertools
from http.client import HTTPException, HTTPResponse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from informers.chunks import MAX_LINE_BYTES, Chunks
from tests.support.responseheads import Received

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
NEXT = b"HTTP/1.1 200 OK"


@st.composite
def bodies(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """What a body holds, and how it is sent."""
    parts = draw(st.lists(st.binary(min_size=1, max_size=40), max_size=5))
    size = draw(st.sampled_from(["%x", "%X", "%04x", "%x;a=b", "%x ", '%x ; a="1"']))
    sent = b"".join((size % len(part)).encode() + b"\r\n" + part + b"\r\n" for part in parts)
    trailers = draw(st.sampled_from([b"", b"X: y\r\n", b"X: y\r\nZ: 0\r\n"]))
    return b"".join(parts), sent + b"0\r\n" + trailers + b"\r\n"


def cut(data: bytes, at: list[int]) -> list[bytes]:
    ends = sorted({0, len(data), *(n % (len(data) + 1) for n in at)})
    return [data[begin:end] for begin, end in itertools.pairwise(ends)]


def fed(pieces: list[bytes]) -> tuple[bytes, Chunks]:
    chunks = Chunks()
    return b"".join([chunks.feed(piece) for piece in pieces]), chunks


@given(bodies(), st.lists(st.integers(0, 400), max_size=8), st.sampled_from([b"", NEXT]))
def test_a_body_is_what_its_chunks_hold(
    body: tuple[bytes, bytes], at: list[int], behind: bytes
) -> None:
    held, sent = body
    found, chunks = fed(cut(sent + behind, at))
    assert found == held
    assert chunks.ended
    if len(cut(sent + behind, at)) == 1:
        assert chunks.rest == behind


@given(bodies(), st.integers(0, 200), st.binary(max_size=3))
def test_what_is_understood_http_client_understands_alike(
    body: tuple[bytes, bytes], where: int, dirt: bytes
) -> None:
    sent = body[1]
    at = where % (len(sent) + 1)
    broken = sent[:at] + dirt + sent[at + len(dirt) :]
    chunks = Chunks()
    try:
        found = chunks.feed(broken)
    except HTTPException:
        return
    if chunks.ended:
        assert read(broken) == found


def read(sent: bytes) -> bytes | None:
    with HTTPResponse(Received(HEAD + sent), method="GET") as response:  # type: ignore[arg-type]
        response.begin()
        return response.read()


@pytest.mark.parametrize(
    "sent",
    [
        *(b"x\r\n", b"-1\r\n", b"\r\n", b"\n", b"3\nabc", b"1_0\r\n", b"0x1\r\n"),
        *(b"3\r\nabcd\r\n", b"3\r\nabc\n0\r\n\r\n", b"1" * 16 + b"\r\n", b";a\r\n", b"3\r\nabcX\r"),
    ],
)
def test_what_are_no_chunks_is_refused(sent: bytes) -> None:
    with pytest.raises(HTTPException):
        Chunks().feed(sent)


@pytest.mark.parametrize("begun", [b"", b"3\r\nabc\r\n", b"0\r\n"])
def test_a_line_without_an_end_is_refused_in_time(begun: bytes) -> None:
    chunks = Chunks()
    chunks.feed(begun)
    chunks.feed(b"1;" * (MAX_LINE_BYTES // 2))
    with pytest.raises(HTTPException):
        chunks.feed(b"1")


def test_a_body_that_is_not_whole_has_no_end() -> None:
    whole = b"3\r\nabc\r\n0\r\n\r\n"
    for size in range(len(whole)):
        assert not fed([whole[:size]])[1].ended

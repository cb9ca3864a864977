"""Every answer other than success, as the error it becomes."""

import json
from pathlib import Path

import orjson
import pytest

from informers import (
    StatusKind,
)
from tests.informers.faketransport import FakeTransport, refusal

RECORDINGS = Path(__file__).parent.parent / "data" / "kubernetes" / "kube-apiserver-1.37.json"


def status(code: int, reason: str, message: str = "m", **details: object) -> bytes:
    return orjson.dumps(
        {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}
    )


def caused(code: int, cause: str) -> bytes:
    return status(code, "", causes=[{"reason": cause}])


KINDS = [
    (410, status(410, "Expired"), StatusKind.EXPIRED),
    (410, b"", StatusKind.EXPIRED),
    (504, caused(504, "ResourceVersionTooLarge"), StatusKind.RESOURCE_VERSION_TOO_LARGE),
    (504, status(504, "Timeout"), StatusKind.SERVER_FAULT),
    (429, b"Too many requests, please try again later.", StatusKind.TOO_MANY_REQUESTS),
    (429, status(429, "TooManyRequests"), StatusKind.TOO_MANY_REQUESTS),
    (404, status(404, "NotFound"), StatusKind.NOT_FOUND),
    (404, b"404 page not found\n", StatusKind.UNKNOWN_RESOURCE),
    (404, b"<html>404</html>", StatusKind.UNKNOWN_RESOURCE),
    (404, b'{"reason": "NotFound"}', StatusKind.UNKNOWN_RESOURCE),
    (409, status(409, "AlreadyExists"), StatusKind.ALREADY_EXISTS),
    (409, status(409, "Conflict"), StatusKind.CONFLICT),
    (409, b"", StatusKind.CONFLICT),
    (401, status(401, "Unauthorized"), StatusKind.UNAUTHORIZED),
    (403, status(403, "Forbidden"), StatusKind.FORBIDDEN),
    (403, caused(403, "NamespaceTerminating"), StatusKind.NAMESPACE_TERMINATING),
    (422, status(422, "Invalid"), StatusKind.INVALID),
    (500, status(500, "", ".status.y: field not declared in schema"), StatusKind.SCHEMA_MISMATCH),
    (500, status(500, "InternalError", "etcdserver: too large"), StatusKind.SERVER_FAULT),
    (502, b"<html>bad gateway</html>", StatusKind.SERVER_FAULT),
    (400, status(400, "BadRequest"), StatusKind.REFUSED),
    (413, b"", StatusKind.REFUSED),
    (415, status(415, "UnsupportedMediaType"), StatusKind.REFUSED),
    (302, b"", StatusKind.REFUSED),
]


@pytest.mark.parametrize(("code", "body", "kind"), KINDS)
def test_the_table_of_refusals(code: int, body: bytes, kind: StatusKind) -> None:
    error = refusal(FakeTransport(code, body))
    assert error.kind is kind
    assert error.code == code
    assert error.body_is_status == (b'"Status"' in body)
    assert str(error).startswith(f"GET /x: {code}")


def test_every_kind_of_refusal_is_in_the_table() -> None:
    assert {kind for _, _, kind in KINDS} == set(StatusKind)


@pytest.mark.parametrize(
    ("header", "date", "seconds"),
    [
        ("3", "", 3.0),
        (" 120 ", "", 120.0),
        ("0", "", 0.0),
        ("Tue, 01 Jan 2030 12:00:30 GMT", "", 30.0),
        ("Tue, 01 Jan 2030 12:00:30 GMT", "Tue, 01 Jan 2030 12:00:20 GMT", 10.0),
        ("Tue, 01 Jan 2030 11:00:00 GMT", "", 0.0),
        ("Tue, 01 Jan 2030 12:00:30 -0000", "", 30.0),
        ("", "", None),
        ("soon", "", None),
        ("-5", "", None),
        ("1e9", "", None),
        ("nan", "", None),
        ("٣", "", None),
        ("9" * 5000, "", 999999999.0),
        ("Tue, 99 Foo 2030 12:00:30 GMT", "", None),
    ],
)
def test_F06_the_pause_is_taken_from_the_header_in_either_form(
    header: str, date: str, seconds: float | None
) -> None:
    headers = {"Retry_After": header} | ({"Date": date} if date else {})
    error = refusal(FakeTransport(429, b"Too many requests", **headers))
    assert error.retry_after == seconds
    assert not error.body_is_status
    assert error.message == "Too many requests"


def test_the_pause_in_a_status_counts_where_there_is_no_header() -> None:
    body = status(429, "TooManyRequests", retryAfterSeconds=7)
    assert refusal(FakeTransport(429, body)).retry_after == 7.0
    assert refusal(FakeTransport(429, body, retry_after="2")).retry_after == 2.0


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind": "Status", "code": "410", "reason": 3, "message": [], "details": []}',
        b'{"kind": "Status", "details": {"causes": {}, "retryAfterSeconds": "1"}}',
        b'{"kind": "Status", "details": {"causes": [1, null], "retryAfterSeconds": -1}}',
        b'{"kind": "Status", "details": {"retryAfterSeconds": true}}',
        b"\xff\xfe\x00",
    ],
)
def test_a_strange_status_is_still_an_error_with_the_code_of_the_answer(body: bytes) -> None:
    error = refusal(FakeTransport(500, body))
    assert (error.code, error.kind, error.retry_after) == (500, StatusKind.SERVER_FAULT, None)
    assert error.causes == []


@pytest.mark.parametrize("code", [400, 422])
def test_where_the_server_quotes_the_object_only_the_fields_are_shown(code: int) -> None:
    causes = [
        {"reason": "FieldValueInvalid", "field": "spec.email", "message": "hunter2"},
        {"reason": "FieldValueInvalid", "field": "spec.email", "message": "hunter2"},
        {"reason": "FieldValueInvalid", "field": "spec.username"},
        {"reason": "NoField"},
    ]
    error = refusal(FakeTransport(code, status(code, "Invalid", "hunter2", causes=causes)))
    assert str(error) == f"GET /x: {code} Invalid (spec.email, spec.username)"
    assert "hunter2" not in repr(error)
    assert error.message == "hunter2"


def test_a_long_message_is_cut() -> None:
    assert len(str(refusal(FakeTransport(403, status(403, "Forbidden", "x" * 9999))))) < 400
    assert len(refusal(FakeTransport(502, b"x" * 9999)).message) == 300


def test_every_recorded_refusal_is_understood() -> None:
    seen = set()
    for exchange in json.loads(RECORDINGS.read_text()):
        code, body = exchange["status"], exchange["body"]
        if code < 400:
            continue
        raw = body.encode() if isinstance(body, str) else orjson.dumps(body)
        error = refusal(
            FakeTransport(
                code, raw, **{k: v for k, v in exchange["headers"].items() if k == "Retry-After"}
            )
        )
        assert error.code == code
        assert error.kind is not StatusKind.SERVER_FAULT or code >= 500
        seen.add(error.kind)
    assert seen >= set(StatusKind) - {StatusKind.TOO_MANY_REQUESTS, StatusKind.EXPIRED}

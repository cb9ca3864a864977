"""Reads the few protobuf bodies that kubectl sends; everything is answered in JSON."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from sandbox.apiserver.objects import Value

MAGIC = b"k8s\x00"
BYTES, TEXT, MAP = "bytes", "text", "map"
Shape = dict[int, tuple[str, Value]]  # field number → name, and TEXT, BYTES, MAP or a shape

META: Shape = {1: ("name", TEXT), 2: ("generateName", TEXT), 3: ("namespace", TEXT)}
ATTRIBUTES: Shape = {
    1: ("namespace", TEXT),
    2: ("verb", TEXT),
    3: ("group", TEXT),
    4: ("version", TEXT),
    5: ("resource", TEXT),
    6: ("subresource", TEXT),
    7: ("name", TEXT),
}
PATHS: Shape = {1: ("path", TEXT), 2: ("verb", TEXT)}
SHAPES: dict[str, Shape] = {
    "Secret": {1: ("metadata", META), 2: ("data", MAP), 3: ("type", TEXT)},
    "Namespace": {1: ("metadata", META)},
    "SelfSubjectReview": {},
    "SelfSubjectAccessReview": {
        2: ("spec", {1: ("resourceAttributes", ATTRIBUTES), 2: ("nonResourceAttributes", PATHS)})
    },
}


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a message; numbers are passed over."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        size, at = _varint(data, at)
        if tag & 7 == 2:
            yield tag >> 3, data[at : at + size]
            at += size


def _read(data: bytes, shape: Shape) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for number, raw in _fields(data):
        name, kind = shape.get(number, ("", None))
        if isinstance(kind, dict):
            found[name] = _read(raw, kind)
        elif kind == MAP:
            entry = dict(_fields(raw))
            value = base64.b64encode(entry.get(2, b"")).decode()
            found.setdefault(name, {})[entry.get(1, b"").decode()] = value
        elif kind == TEXT and raw:
            found[name] = raw.decode()
    return found


def decode(body: bytes) -> dict[str, Value]:
    """Return the object of a body. Raises ValueError for what is none of the known kinds."""
    if not body.startswith(MAGIC):
        raise ValueError("no protobuf of Kubernetes")
    try:
        envelope = dict(_fields(body[len(MAGIC) :]))
        meta = _read(envelope[1], {1: ("apiVersion", TEXT), 2: ("kind", TEXT)})
        return {**meta, **_read(envelope.get(2, b""), SHAPES[meta["kind"]])}
    except (IndexError, KeyError, UnicodeDecodeError) as error:
        raise ValueError("a protobuf body that is not understood") from error

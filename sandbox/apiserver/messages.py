"""Requests and answers without HTTP, and which resource a path means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from sandbox.apiserver.objects import Value

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """One call. Names of headers are lower-case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def flag(self, name: str) -> bool:
        """A boolean parameter, as the server reads one."""
        return self.query.get(name, "").lower() in {"1", "true", "t"}


def parse_target(target: str) -> tuple[str, dict[str, str]]:
    """Split a path with a query string."""
    parts = urlsplit(target)
    return unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True))


class Stream(Protocol):
    """A body that comes bit by bit."""

    def read(self) -> bytes | None:
        """Return what there is now: None is nothing yet, b"" the end."""
        ...

    def close(self) -> None:
        """Nobody reads on."""
        ...


@dataclass(slots=True)
class Response:
    """One answer: a whole body, or a stream."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    stream: Stream | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a path under /api or /apis means."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str
    subresource: str
    watch: bool  # the old way: /watch/ before the resource

    @classmethod
    def parse(cls, path: str) -> Target | None:
        """Read a path; None if it is no resource's."""
        parts = [part for part in path.split("/") if part]
        if parts[:1] == ["api"]:
            group, rest = "", parts[1:]
        elif parts[:1] == ["apis"] and len(parts) > 1:
            group, rest = parts[1], parts[2:]
        else:
            return None
        if len(rest) < 2:
            return None
        version, *rest = rest
        watch = rest[0] == "watch"
        rest = rest[watch:]
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in {"finalize", "status"}:
            _, namespace, *rest = rest
        plural, name, subresource, *more = [*rest, "", "", ""]
        if any(more) or not plural:
            return None
        return cls(
            group=group,
            version=version,
            plural=plural,
            namespace=namespace,
            name=name,
            subresource=subresource,
            watch=watch,
        )


def response_headers(response: Response) -> dict[str, Value]:
    """The headers that go out with an answer, warnings joined as HTTP allows."""
    headers = {"Content-Type": response.content_type, **response.headers}
    if response.warnings:
        headers["Warning"] = ", ".join(response.warnings)
    return headers

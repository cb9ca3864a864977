"""HTTP with nothing around it: one kept-alive connection, one call at a time. One thread."""

import contextlib
import http.client
import socket
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson

CALL_SECONDS = 900.0  # lldap puts a plain list of 50,000 together for minutes
Json = Any  # as it was parsed

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


class CallFailed(Exception):  # noqa: N818 - what happened
    """An answer other than 2xx, or GraphQL errors."""


class Connection:
    """One connection to one server; opened anew if the server closed it while it was idle."""

    def __init__(self, url: str, *, ca: str = "", token: str = "") -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=ca)
            self._http: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=CALL_SECONDS, context=context
            )
        else:
            self._http = http.client.HTTPConnection(
                parts.hostname, parts.port, timeout=CALL_SECONDS
            )
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def authorize(self, token: str) -> None:
        """Send this token from now on."""
        self._headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, body: object = None, content_type: str = JSON) -> Json:
        """The parsed answer."""
        answer = self.open(method, path, body, content_type)
        data = answer.read()
        if answer.status >= 300:
            raise CallFailed(f"{method} {path}: {answer.status} {data[:300]!r}")
        return orjson.loads(data) if data else None

    def open(
        self, method: str, path: str, body: object = None, content_type: str = JSON
    ) -> http.client.HTTPResponse:
        """The answer before its body was read."""
        headers = self._headers | {"Accept": JSON}
        data = None
        if body is not None:
            data = orjson.dumps(body)
            headers = headers | {"Content-Type": content_type}
        try:
            self._http.request(method, path, data, headers)
            return self._http.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self._http.close()
            self._http.request(method, path, data, headers)
            return self._http.getresponse()

    def cut(self) -> None:
        """End a read that waits in another thread. Any thread."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._http.sock, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it."""
        self._http.close()


class LldapConnection(Connection):
    """A connection to lldap, logged in."""

    def __init__(self, url: str, password: str, token: str = "") -> None:
        super().__init__(url)
        if not token:
            login = {"username": "admin", "password": password}
            token = self.call("POST", "/auth/simple/login", login)["token"]
        self.token = token
        self.authorize(token)

    def graphql(self, query: str, variables: Mapping[str, object] | None = None) -> Json:
        """The data of the answer."""
        body = {"query": query, "variables": variables or {}}
        answer = self.call("POST", "/api/graphql", body)
        if answer.get("errors"):
            raise CallFailed(str(answer["errors"])[:300])
        return answer["data"]

"""Answers: objects and failures written down in the form that was asked for."""

from __future__ import annotations

import orjson
import yaml

from sandbox.apiserver.errors import StatusError, quote
from sandbox.apiserver.messages import JSON, YAML, Request, Response
from sandbox.apiserver.negotiation import error_type
from sandbox.apiserver.objects import Object, meta
from sandbox.apiserver.resources import Resource


def encode(status: int, body: Object, media_type: str = JSON) -> Response:
    """Write an object down."""
    if media_type == YAML:
        text = yaml.dump(body, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=True)
        return Response(status, text.encode(), YAML)
    return Response(status, orjson.dumps(body), JSON)


def failure(error: StatusError, request: Request, warnings: list[str] | None = None) -> Response:
    """Write a failure down; what the client was warned of goes with it."""
    media_type = error_type(request.headers.get("accept", ""))
    response = encode(error.code, error.status(), media_type)
    if error.retry_after:
        response.headers["Retry-After"] = str(error.retry_after)
    response.warnings = warning_headers(warnings or [])
    return response


def warning_headers(texts: list[str]) -> list[str]:
    """Each text once, as HTTP has it."""
    return [f"299 - {quote(text)}" for text in dict.fromkeys(texts)]


def deleted(resource: Resource, obj: Object) -> Object:
    """The Status of success of a deletion."""
    details = {"name": meta(obj)["name"], "group": resource.group, "kind": resource.plural}
    filled: Object = {key: value for key, value in details.items() if value}
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**head, "details": {**filled, "uid": meta(obj)["uid"]}}

"""What is no resource: health, version, discovery, OpenAPI."""

from __future__ import annotations

import orjson

from sandbox.apiserver import discovery, openapi
from sandbox.apiserver.crd import ServedResources
from sandbox.apiserver.messages import JSON, TEXT, Request, Response
from sandbox.apiserver.negotiation import DISCOVERY, negotiate
from sandbox.apiserver.objects import Object

AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as={DISCOVERY}"
HEALTH = {"/healthz", "/livez", "/readyz"}


class NonResource:
    """Any thread."""

    def __init__(self, served: ServedResources) -> None:
        self._served = served

    def answer(self, request: Request) -> Response | None:
        """Return the answer to a GET, None for a path that is not known."""
        path = request.path.rstrip("/")
        if request.method != "GET":
            return None
        if path in HEALTH:
            return Response(200, b"ok", TEXT)
        if path in {"/api", "/apis"}:
            return self._groups(request, core=path == "/api")
        body = self._document(path)
        if body is None:
            return None
        return Response(200, orjson.dumps(body), TEXT if path == "/openapi/v3" else JSON)

    def _groups(self, request: Request, *, core: bool) -> Response:
        form = negotiate(request.headers.get("accept", ""), shown=(DISCOVERY,))
        resources = self._served.all()
        if form.shown_as:
            body = discovery.aggregated(resources, core=core)
            return Response(200, orjson.dumps(body), AGGREGATED)
        body = discovery.api_versions() if core else discovery.api_group_list(resources)
        return Response(200, orjson.dumps(body))

    def _document(self, path: str) -> Object | None:
        resources = self._served.all()
        match path.strip("/").split("/"):
            case ["version"]:
                return discovery.VERSION
            case ["openapi", "v3", *group_version]:
                asked = "/".join(group_version)
                return openapi.document(resources, asked) if asked else openapi.index(resources)
            case ["api", version]:
                return discovery.api_resource_list(resources, "", version)
            case ["apis", group, version]:
                return discovery.api_resource_list(resources, group, version)
            case ["apis", group]:
                return discovery.api_group(resources, group)
        return None

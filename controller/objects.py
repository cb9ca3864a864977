"""All objects of the four kinds, read page by page, without informers."""

from collections.abc import Iterator

from controller.api import Kind
from controller.harness.resource import Resource
from controller.kube import GROUP_PATH
from informers import RestClient, StatusError, StatusKind, UnexpectedAnswer

PAGE = 500


def listed(rest: RestClient, kind: Kind, namespace: str | None) -> Iterator[Resource]:
    """The objects of a kind in a namespace, or in all; none if the kind is not served.

    Raises what the REST client raises.
    """
    scope = "" if namespace is None else f"/namespaces/{namespace}"
    path = f"{GROUP_PATH}{scope}/{kind.plural}"
    token = ""
    while True:
        query = [("limit", str(PAGE)), *([("continue", token)] if token else [])]
        try:
            page = rest.get(path, query=query)
        except StatusError as error:
            if error.kind is StatusKind.UNKNOWN_RESOURCE and not token:
                return
            raise
        items, metadata = page.get("items"), page.get("metadata")
        if not isinstance(items, list) or not isinstance(metadata, dict):
            raise UnexpectedAnswer(f"GET {path}: no list")
        yield from (Resource(item) for item in items)
        token = metadata.get("continue") or ""
        if not token:
            return

"""The operator's own requests to the API server, one method a purpose."""

from urllib.parse import quote

from controller.api import KINDS, Kind
from controller.api.names import API_VERSION, FIELD_MANAGER
from controller.harness.resource import Object, Resource
from controller.watching.ownwrites import OwnWrites
from informers import PatchType, RestClient, UnexpectedAnswer

GROUP_PATH = f"/apis/{API_VERSION}"


def _segment(text: str) -> str:
    """One path segment: a name from a spec never leaves its place in the path."""
    return quote(text, safe="")


def _whole(answer: Object) -> Object:
    """The answer, if it is an object with an identity; anything else was not understood."""
    metadata = answer.get("metadata")
    if isinstance(metadata, dict) and metadata.get("uid") and metadata.get("resourceVersion"):
        return answer
    raise UnexpectedAnswer("the answer is no object with a uid and a resourceVersion")


class Kube:
    """Reads and writes of single objects. Any thread; nothing is retried here.

    Every method raises the REST client's errors as they come, UnexpectedAnswer also for an answer
    that is no object.
    """

    def __init__(self, rest: RestClient, own_writes: OwnWrites) -> None:
        self._rest = rest
        self._own_writes = own_writes
        self._plurals = {kind.kind: kind.plural for kind in KINDS}

    def path(self, kind: str, namespace: str, name: str = "") -> str:
        """Where an object, or the collection, is."""
        base = f"{GROUP_PATH}/namespaces/{_segment(namespace)}/{self._plurals[kind]}"
        return f"{base}/{_segment(name)}" if name else base

    def get(self, kind: str, namespace: str, name: str) -> Object:
        """One of our objects as it is now, not as the lister has it."""
        return _whole(self._rest.get(self.path(kind, namespace, name)))

    def objects(self, kind: str, namespace: str) -> list[Object]:
        """All objects of one of our kinds in a namespace as they are now: many bytes."""
        answer = self._rest.get(self.path(kind, namespace))
        items = answer.get("items")
        if not isinstance(items, list):
            raise UnexpectedAnswer("the answer is no list of objects")
        return [{**_whole(item), "kind": kind} for item in items]

    def apply_status(self, resource: Resource, status: Object | None) -> Object:
        """Apply the whole of our status; None gives all of it back.

        Carries the resourceVersion that the status was computed from: the server ignores the
        uid here, so a late write would land on a new object of the same name.
        """
        body: Object = {
            "apiVersion": API_VERSION,
            "kind": resource.kind,
            "metadata": {
                "name": resource.name,
                "namespace": resource.namespace,
                "resourceVersion": resource.resource_version,
            },
        }
        if status is not None:
            body["status"] = status
        path = self.path(resource.kind, resource.namespace, resource.name) + "/status"
        return self._apply(path, body)

    def json_patch(self, resource: Resource, operations: list[Object]) -> Object:
        """Change metadata, or undo a spec; `operations` test what they were computed from."""
        path = self.path(resource.kind, resource.namespace, resource.name)
        return self._written(
            self._rest.patch(
                path, operations, content_type=PatchType.JSON, field_manager=FIELD_MANAGER
            )
        )

    def apply(self, kind: str, namespace: str, name: str, body: Object) -> Object:
        """Server-side apply of an object of ours, with force: the virtual groups."""
        return self._apply(self.path(kind, namespace, name), body)

    def _apply(self, path: str, body: Object) -> Object:
        return self._written(
            self._rest.patch(
                path, body, content_type=PatchType.APPLY, field_manager=FIELD_MANAGER, force=True
            )
        )

    def _written(self, answer: Object) -> Object:
        self._own_writes.note(_whole(answer))
        return answer

    def secret(self, namespace: str, name: str) -> Object:
        """A Secret with its values: the caller keeps none of it."""
        path = f"/api/v1/namespaces/{_segment(namespace)}/secrets/{_segment(name)}"
        return _whole(self._rest.get(path))

    def custom_resource_definition(self, kind: Kind) -> Object:
        """The metadata of the CRD of one of our kinds: its schema is a thousand lines."""
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind.crd_name}"
        return self._rest.get_metadata(path)

    def namespace(self, name: str) -> Object:
        """The metadata of one namespace."""
        return self._rest.get_metadata(f"/api/v1/namespaces/{_segment(name)}")

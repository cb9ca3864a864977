"""Our finalizer on an object: put on and taken off without touching anybody else's.

Every change is a JSON patch that tests what it was computed from, so that neither a namesake
nor another controller's entry is hit; a test that fails means read again. The list that the
lister holds is never written to.
"""

from controller.harness.resource import Object, Resource
from controller.kube import Kube
from informers import StatusError, StatusKind

ATTEMPTS = 3  # a patch loses against a writer in between; more than that is left to the queue

# A failed test of a JSON patch is 422 with one text for all, a stale resourceVersion 409.
_TEST_FAILED = frozenset({StatusKind.INVALID, StatusKind.CONFLICT})


class ObjectGone(Exception):  # noqa: N818 - what happened, and no fault
    """The object, or the one with this uid, is not there any more: the key is done."""


class StaleObject(Exception):  # noqa: N818 - what happened, and no fault
    """The object changed under this pass: reconcile it again from what it is now."""


def should_process_deletion(resource: Resource, finalizer: str) -> bool:
    """Whether the object is being deleted and waits for us."""
    return resource.deleting and finalizer in resource.finalizers


def ensure_finalizer(kube: Kube, resource: Resource, finalizer: str) -> bool:
    """Put the finalizer on, unless it is there; True if that took a write.

    Raises ObjectGone, StaleObject and what the REST client raises.
    """
    for left in reversed(range(ATTEMPTS)):
        if finalizer in resource.finalizers:
            return False
        if resource.deleting:  # the server refuses new finalizers then
            raise StaleObject
        if _patched(kube, resource, _addition(resource, finalizer), left):
            return True
    raise StaleObject


def remove_finalizer(kube: Kube, resource: Resource, finalizer: str) -> bool:
    """Take the finalizer off, wherever it stands; True if that took a write.

    An object that is gone is done. Raises StaleObject and what the REST client raises.
    """
    for left in reversed(range(ATTEMPTS)):
        if finalizer not in resource.finalizers:
            return False
        try:
            if _patched(kube, resource, _removal(resource, finalizer), left):
                return True
        except ObjectGone:
            return False
    raise StaleObject


def _test(path: str, value: str) -> Object:
    return {"op": "test", "path": path, "value": value}


def _addition(resource: Resource, finalizer: str) -> list[Object]:
    """The patch that puts it on.

    `add` to an absent list would replace one that came in between, and `add` to a list could
    make a second entry beside another replica's: so the version is tested as well.
    """
    if resource.finalizers:
        add: Object = {"op": "add", "path": "/metadata/finalizers/-", "value": finalizer}
    else:
        add = {"op": "add", "path": "/metadata/finalizers", "value": [finalizer]}
    return [
        _test("/metadata/uid", resource.uid),
        _test("/metadata/resourceVersion", resource.resource_version),
        add,
    ]


def _removal(resource: Resource, finalizer: str) -> list[Object]:
    path = f"/metadata/finalizers/{resource.finalizers.index(finalizer)}"
    return [
        _test("/metadata/uid", resource.uid),
        _test(path, finalizer),
        {"op": "remove", "path": path},
    ]


def _patched(kube: Kube, resource: Resource, operations: list[Object], left: int) -> bool:
    """Send the patch; False if a test failed: then `resource` is what the object is now.

    A 422 that stays though nothing changes was no failed test: the object itself is refused.
    """
    computed_from = resource.resource_version
    try:
        resource.refreshed(kube.json_patch(resource, operations))
    except StatusError as error:
        if error.kind is StatusKind.NOT_FOUND:
            raise ObjectGone from None
        if error.kind not in _TEST_FAILED:
            raise
        reread(kube, resource)
        unchanged = resource.resource_version == computed_from
        if not left and unchanged and error.kind is StatusKind.INVALID:
            raise
        return False
    return True


def reread(kube: Kube, resource: Resource) -> None:
    """Take over what the object is now, as far as this pass may go on with it.

    Raises ObjectGone if it is not there or is another one, StaleObject if its spec changed or
    its deletion began: what was decided from the old one may be wrong.
    """
    generation = resource.generation
    try:
        now = kube.get(resource.kind, resource.namespace, resource.name)
    except StatusError as error:
        if error.kind is StatusKind.NOT_FOUND:
            raise ObjectGone from None
        raise
    if now["metadata"]["uid"] != resource.uid:
        raise ObjectGone
    if now["metadata"].get("generation") != generation:
        raise StaleObject
    resource.refreshed(now)

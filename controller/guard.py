"""Whether a deletion is meant: an uninstall deletes objects too, and must empty nothing."""

from controller.api import Kind
from controller.kube import Kube
from controller.reasoned import fail
from controller.reasons import Reason
from informers import ApiFailure, StatusError, StatusKind


class UninstallGuard:
    """Asks right before each deletion in lldap. Any thread."""

    def __init__(self, kube: Kube, namespace: str) -> None:
        self._kube = kube
        self._namespace = namespace

    def uninstalling(self, kind: Kind) -> bool:
        """True: the CRD or the operator's namespace goes, so every deletion counts as Retain.

        Raises ReasonedError when the API server gave no clear answer: the deletion waits.
        """
        return self._definition_goes(kind) or self._namespace_goes()

    def _definition_goes(self, kind: Kind) -> bool:
        try:
            definition = self._kube.custom_resource_definition(kind)
        except StatusError as error:
            if error.kind is StatusKind.NOT_FOUND:
                return True
            raise self._unclear(f"the CustomResourceDefinition {kind.crd_name}") from error
        except ApiFailure as error:
            raise self._unclear(f"the CustomResourceDefinition {kind.crd_name}") from error
        return "deletionTimestamp" in definition["metadata"]

    def _namespace_goes(self) -> bool:
        try:
            namespace = self._kube.namespace(self._namespace)
        except ApiFailure as error:
            raise self._unclear(f"the namespace {self._namespace}") from error
        return "deletionTimestamp" in namespace["metadata"]

    def _unclear(self, what: str) -> Exception:
        return fail(
            Reason.DELETING,
            f"nothing is deleted in lldap until the API server says whether {what} is being "
            "deleted: check the operator's rights to read it",
        )
